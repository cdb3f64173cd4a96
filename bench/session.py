"""Replays a session with a live model: the second part of `make demo`.

A model, reached over a hosted model's wire format, kept a small memory: it wrote texts, split a page that overflowed,
and searched across two links. The traces of these operations are the model here: `recorded:cassettes/session`. A live
model made every decision, and the replay gives the same bytes, without a key or a network.

    python -m bench.session                                    replay the session and show it
    python -m bench.session --full                             the same, with everything that the model saw
    python -m bench.session --record anthropic:<model>         record it again; needs a key, or ANTHROPIC_BASE_URL
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_v2 import Memory
from memory_v2.agent.load import load_model
from memory_v2.cli.story import story
from memory_v2.models.base import Model
from memory_v2.operations.results import SearchResults, WriteResult
from memory_v2.settings import Limits
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.trace.recorded import RecordedModel
from memory_v2.trace.recording import Trace

FOLDER = Path(__file__).resolve().parents[1] / "cassettes" / "session"
BEGAN = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
SMALL = 2_048
PATIENT = Limits(turns=16, tokens=1_000_000, seconds=36_000, money=100)

NOTES: tuple[tuple[str, str | None], ...] = (
    (
        """\
# The team

- Dana leads Silica, the memory service; she wants small pull requests and answers in the morning.
- Tomasz keeps the build machines, and nobody else has their passwords.
- Ruth runs the customer calls, each Thursday at 14:00; notes go to `calls/` on the day itself.
- Ines came in April 2026 from the search company in Porto; she speaks Portuguese with the two customers there.
""",
        None,
    ),
    (
        """\
# Silica

- The repository is `git.example.org/agents/silica`; work goes to `trunk`, releases are tagged `v*`.
- Tests run with pytest, about four minutes; the linter is ruff with a line length of 120.
- Silica runs on Python 3.11 since 2025-10-06.
- Staging is deployed on every merge, production on Tuesdays at 10:00.
- A tag becomes a release only when the keeper of the build machines has signed it.
""",
        None,
    ),
    (
        "Since 2026-04-20 Silica runs on Python 3.12; the move took one week, only the image library made trouble.\n",
        None,
    ),
    (
        """\
- 2026-04-09, Fjordbank, Bergen: 40 agents since January; wants its memory on its own S3 bucket, in Frankfurt, by
  September. Their auditor asks how long deleted notes can be brought back; Ruth promised an answer in writing.
- 2026-04-09, Casa do Livro, Porto: 6 agents that answer letters; writes in Portuguese, and wants to find `ação` by
  `acao`. Ines showed them how; they want it in the manual as well.
- 2026-04-09, Hotel Aurora, Lisbon: 12 agents for bookings; lost three bookings on 2026-03-14, when two agents wrote at
  once with the service they had before. It is the reason why they came, and they ask after it in each call.
""",
        "customers",
    ),
    (
        """\
- 2026-04-16, Fjordbank: the answer to the auditor went out on 2026-04-14; they want ninety days instead of thirty, and
  would pay for it. Dana has to say what that costs in storage.
- 2026-04-16, Casa do Livro: the chapter of the manual is read and liked; two spelling mistakes, mended by Ines.
- 2026-04-16, Hotel Aurora: a fourth booking seemed lost, and was found on another page where a waiter had put it by
  hand. They would like to see who wrote a line, and when.
""",
        "customers",
    ),
    (
        """\
- 2026-04-30, Fjordbank: signed; the bucket has to be ready on 2026-08-15 already. Ines does it, Dana looks over it.
- 2026-04-30, Casa do Livro: two more agents from June, for the shop in Braga; the same prices hold.
- 2026-04-30, Hotel Aurora: wants to see the test with eight writers at once before they renew in July. Tomasz shows it
  to them on a machine of its own, so that nothing of ours stands still.
""",
        "customers",
    ),
    (
        """\
- 2026-05-07, Fjordbank: their auditor was here for two hours and saw an undo of a whole day; he was content, and wrote
  that ninety days are enough. Ines has the bucket, the keys come from their side.
- 2026-05-07, Casa do Livro: a letter was answered twice on 2026-05-05; it was their own script, not the memory.
- 2026-05-07, Hotel Aurora: the test is on 2026-05-21 at 15:00, with eight writers; the manager comes herself.
""",
        "customers",
    ),
)
QUESTIONS = (
    "Who has to sign before a release of the service that Dana leads goes out?",
    "Which Python does Silica run on, and since when?",
    "What does the colleague who came from Porto have to do for the bank in Bergen, and by when?",
    "How much does Fjordbank pay a month?",
)


def main() -> None:
    """Replays the session or records it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="show everything that the model saw")
    parser.add_argument("--record", metavar="MODEL", help="record the session again with this model")
    given = parser.parse_args()
    if given.record:
        record(load_model(given.record))
    else:
        show(given.full)


def show(full: bool = False) -> None:
    """Replays the session and shows it step by step. Fails if the recording does not fit to the end."""
    model = RecordedModel.load(FOLDER)
    print(
        f"A recorded session: {len(NOTES)} texts are written and {len(QUESTIONS)} questions asked. A page is split at "
        f"{SMALL:,} bytes, so that one is split early."
    )
    with tempfile.TemporaryDirectory() as folder:
        for number, (_, trace) in enumerate(play(Path(folder), model), 1):
            print(f"\n──── {number} {'─' * 100}\n")
            print("\n".join(story(trace.events, full)))
        with Memory(LocalStorage(Path(folder)), threshold=SMALL) as memory:
            problems = [finding for finding in memory.check() if finding.severity == "error"]
            pages = memory.list_files()
    if problems or model.left:
        sys.exit(f"the replay failed: {problems or f'{model.left} recorded answers were not used'}")
    print(f"\nall is well: {len(pages)} pages, the largest of {max(page.size_bytes for page in pages):,} bytes.")


def record(model: Model) -> None:
    """Records the session again, and keeps its traces if the model made every decision."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for memory, trace in play(Path(folder), model):
            print("\n".join(story(trace.events)), flush=True)
            names.append(memory.traces()[-1])
            if any(event["reason"] for event in trace.of("decided")):
                sys.exit("the model did not make this decision, so nothing is kept")
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        for name in names:
            shutil.copy(Path(folder) / ".metadata" / "traces" / f"{name}.jsonl", FOLDER / f"{name}.jsonl")


def play(folder: Path, model: Model) -> Iterator[tuple[Memory, Trace]]:
    """The operations of the session in order: the memory after each, and its trace."""
    minutes = iter(range(10_000))
    memory = Memory(
        LocalStorage(folder),
        model,
        threshold=SMALL,
        limits=PATIENT,
        now=lambda: BEGAN + timedelta(minutes=next(minutes)),
    )
    with memory:
        for text, path in NOTES:
            told: WriteResult | SearchResults = memory.write(text, path)
            yield memory, memory.trace(told.trace)
        for question in QUESTIONS:
            told = memory.search(question, 3)
            yield memory, memory.trace(told.trace)


if __name__ == "__main__":
    main()
