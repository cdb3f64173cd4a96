"""Replays a session with a live model: the second part of `make demo`.

A model, reached over a hosted model's wire format, kept a small memory: it wrote texts, split a page that overflowed,
and searched across two links. The traces of these operations are the model here: `recorded:cassettes/session`. A live
model made every decision, and the replay gives the same bytes, without a key or a network.

    python -m demo.session                                    replay the session and show it
    python -m demo.session --full                             the same, with everything that the model saw
    python -m demo.session --record anthropic:<model>         record it again; needs a key, or ANTHROPIC_BASE_URL
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.data import own_texts
from memory_v2 import Memory
from memory_v2.agent.load import load_model
from memory_v2.cli.traces import story
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

_TEXTS = own_texts("session")
NOTES: list[tuple[str, str | None]] = _TEXTS["notes"]
"""The texts that were written, each with its page if it was given."""
QUESTIONS: list[str] = _TEXTS["questions"]


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
        dense=False,  # what is shown is then the same everywhere
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
