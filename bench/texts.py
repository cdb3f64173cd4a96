"""Real and broken texts: `python -m bench.texts`. Each is written, found to the letter, searched for, and undone.

Three sources: every message of four chats of BEAM, every file of ten folders of notes, and texts that hypothesis
generates, each of them once. What must hold of a text is in `bench.trial`. A row tells how many texts were refused,
how many were in the tree already, and how many have no word to search for. If a text fails, a part of it that still
fails is shown, and the status is 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from hypothesis import HealthCheck, Phase, assume, given, seed, settings

from bench.data import data_file
from bench.hard_texts import texts as hard_texts
from bench.trial import Trial, smallest

CHATS = tuple(f"beam/100K/{number}/chat.json" for number in range(1, 5))
NOTES = (
    *("actorforth", "brainx-v2", "clawd", "clawvault-own-vault", "dsm-french-docs", "duro", "memory-export"),
    *("peru-ai", "pulsareon", "whatsapp-ai-agent-pt"),
)
MAX_SHOWN = 10
MAX_REDUCED = 300
"""How many parts of a text that fails are tried."""
PROGRESS = 100
"""How many texts are tried between two lines of progress."""


def main() -> None:
    """Prints a row for each source. Exits with status 1 if a text fails."""
    parser = argparse.ArgumentParser(description="Real and broken texts are written, found, searched for and undone.")
    parser.add_argument("--generated", type=int, default=5_000, help="how many texts are generated")
    parser.add_argument("--seed", type=int, default=0, help="generate the texts that begin at this seed")
    parser.add_argument("--every", type=int, default=1, help="take every so many of the real texts")
    parser.add_argument("--part", default="1/1", help="take this part of the generated texts, such as 2/3")
    parser.add_argument("--only", choices=("chats", "notes", "generated"), help="take only this source")
    chosen = parser.parse_args()
    part, parts = map(int, chosen.part.split("/"))
    sources: dict[str, Callable[[Trial], None]] = {
        "chats": lambda trial: _each(messages(), chosen.every, trial),
        "notes": lambda trial: _each(notes(), chosen.every, trial),
        "generated": lambda trial: _generated(chosen.generated, chosen.seed, trial, part % parts, parts),
    }
    print(
        f"{'':10}{'texts':>8}{'refused':>9}{'known':>7}{'no word':>9}{'KB':>8}{'seconds':>9}{'longest':>9}{'failed':>8}"
    )
    is_failed = False
    for name, tried in sources.items():
        if chosen.only in (None, name):
            is_failed |= _row(name, tried)
    sys.exit(is_failed)


def _row(name: str, tried: Callable[[Trial], None]) -> bool:
    """Prints what became of the texts of a source, and returns whether one failed."""
    began, trial = time.perf_counter(), _Told()
    tried(trial)
    tally, seconds = trial.tally, time.perf_counter() - began
    cells = f"{tally.texts:8,}{tally.refused:9}{tally.known:7}{tally.not_searched:9}{tally.bytes // 1000:8,}"
    print(f"{name:10}{cells}{seconds:9.0f}{tally.longest:9.2f}{len(tally.failed):8}", flush=True)
    for problem, text in tally.failed[:MAX_SHOWN]:
        print(f"    {problem[:200]}\n        {_reduced(text, problem)[:400]!r}", flush=True)
    return bool(tally.failed)


def _reduced(text: str, problem: str) -> str:
    """The smallest part found of a text that has a problem of the same kind."""
    kind, again = problem.split(":")[0], Trial()
    return smallest(text, lambda part: again.problem(part).split(":")[0] == kind, MAX_REDUCED)


class _Told(Trial):
    """A trial that tells how far it is."""

    def add(self, text: str) -> None:
        super().add(text)
        if self.tally.texts % PROGRESS == 0:
            print(f"{self.tally.texts:,} texts, {len(self.tally.failed)} failed", file=sys.stderr, flush=True)


def messages() -> Iterator[str]:
    """Every message of the chats."""
    for name in CHATS:
        for batch in json.loads(data_file(name).read_text("utf-8")):
            for turn in batch["turns"]:
                yield from (str(message["content"]) for message in turn)


def notes() -> Iterator[str]:
    """Every file of the folders of notes."""
    for name in NOTES:
        for file in sorted(data_file("README.md").parent.joinpath("notes", name).rglob("*")):
            if file.is_file():
                yield file.read_bytes().decode("utf-8", "replace")


def _each(texts: Iterable[str], every: int, trial: Trial) -> None:
    for text in islice(texts, 0, None, every):
        trial.add(text)


def _generated(count: int, number: int, trial: Trial, part: int = 0, parts: int = 1) -> None:
    """Generates so many different texts, the same ones each time, and tries one of every `parts`."""
    made = set[str]()

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(hard_texts)
    def add(text: str) -> None:
        assume(text not in made)
        made.add(text)
        if len(made) % parts == part:
            trial.add(text)

    add()


if __name__ == "__main__":
    main()
