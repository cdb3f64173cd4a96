"""Whether searches stay right and quick while another process writes: `python -m bench.freshness`.

A memory of many pages is asked questions, first in quiet and then while another process writes to it without a pause:
lines without a path, and pages that it deletes at once. Of each second search the question is the name of something
that the writer has just been told is stored, or is deleted. Figures: searches that failed; deleted things that were
still shown; stored things that were not found; and the times of the other searches, whose questions are the same in
quiet. `to quiet` is their 95th percentile, relative to that in quiet. Exits with status 1 if one of the first three
is not 0.
"""

from __future__ import annotations

import multiprocessing
import random
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path
from queue import Empty

from bench.searching import Watch
from bench.tables import Figures, parser, report
from memory_v2 import Memory
from memory_v2.errors import SilicaError
from memory_v2.operations.results import SearchResults

PAGES = 1_000
SEARCHES = 300
"""How many searches are watched in each phase."""
RESULTS = 10
SUBJECTS = ("harbour", "night train", "release", "kitchen", "contract", "staging", "garden", "ferry", "lantern")
DOES = ("moved", "waits for", "depends on", "replaces", "asked", "closes", "paid", "delayed", "signed")
LATE = 30.0
"""How many seconds the writer may take to begin."""


def main() -> None:
    """Prints the figures in quiet and while another process writes."""
    arguments = parser("Whether searches stay right and quick while another process writes.")
    arguments.add_argument("--pages", type=int, default=PAGES, help="how many pages the memory has")
    arguments.add_argument("--searches", type=int, default=SEARCHES, help="how many searches are watched in each phase")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as place:
        fill(Path(place), chosen.pages)
        rows = measure(Path(place), chosen.searches)
    report({f"searches of {chosen.pages:,} pages": rows}, chosen.json)
    busy = rows["while another writes"]
    raise SystemExit(any(busy[name] for name in ("failed", "deleted but shown", "stored but not found")))


def fill(folder: Path, pages: int) -> None:
    """Writes the files of a memory, and lets it index them."""
    paths = [f"topics/topic-{number:05}" for number in range(pages)]
    (folder / "topics").mkdir()
    chance = random.Random(0)
    for path in paths:
        lines = "\n".join(f"- {_sentence(chance)}" for _ in range(10))
        (folder / f"{path}.md").write_text(f"# {path[7:]}\n\n{lines}\n", "utf-8")
    with Memory.open(folder, "offline") as memory:
        memory.search("harbour")


def measure(folder: Path, searches: int) -> dict[str, Figures]:
    """The figures of both phases."""
    context = multiprocessing.get_context("spawn")
    stop, told = context.Event(), context.Queue()
    with Memory.open(folder, "offline") as memory:
        quiet = _Reader(memory)
        quiet.ask(searches)
        writer = context.Process(target=_write, args=(folder, stop, told), daemon=True)
        writer.start()
        busy = _Reader(memory, told)
        try:
            busy.wait()
            began = time.perf_counter()
            busy.ask(searches)
            seconds = time.perf_counter() - began
        finally:
            stop.set()
            writer.join(LATE)
    before, after = quiet.watch.figures(), busy.watch.figures()
    ratios = {
        f"{kind}to quiet": (after[f"{kind}p95 ms"] or 0) / (before[f"{kind}p95 ms"] or 1) for kind in ("", "CPU ")
    }
    told_figures = {"writes a second": busy.heard / seconds, "asked for": busy.checked}
    return {"in quiet": before, "while another writes": {**after, **ratios, **told_figures, **busy.wrong}}


class _Reader:
    """Asks questions, and for what a writer has told."""

    def __init__(self, memory: Memory, told: Queue[tuple[str, str]] | None = None) -> None:
        self._memory, self._told = memory, told
        self.watch = Watch()
        self.heard = self.checked = 0
        self._latest = {"stored": "", "deleted": ""}
        self.wrong = {"failed": 0, "deleted but shown": 0, "stored but not found": 0}

    def wait(self) -> None:
        """Until the writer has told something."""
        assert self._told is not None
        kind, name = self._told.get(timeout=LATE)
        self._latest[kind] = name

    def ask(self, searches: int) -> None:
        """Asks so many questions, and after each whether the latest that was told is so."""
        chance = random.Random(1)
        timed = self.watch.timed(self._search)
        for number in range(searches):
            timed(_sentence(chance))
            self._listen()
            kind = ("stored", "deleted")[number % 2]
            if name := self._latest[kind]:
                self.checked += 1
                is_shown = any(name in result.excerpt for result in self._search(name))
                self.wrong["deleted but shown"] += kind == "deleted" and is_shown
                self.wrong["stored but not found"] += kind == "stored" and not is_shown

    def _search(self, question: str) -> SearchResults:
        try:
            return self._memory.search(question, RESULTS)
        except SilicaError as error:
            self.wrong["failed"] += 1
            print(f"failed: {error}")
            return SearchResults()

    def _listen(self) -> None:
        while self._told is not None:
            try:
                kind, name = self._told.get_nowait()
            except Empty:
                return
            if kind == "failed":
                raise SystemExit(f"the writer failed: {name}")
            self.heard += 1
            self._latest[kind] = name


def _write(folder: Path, stop: Event, told: Queue[tuple[str, str]]) -> None:
    """Writes and deletes until it is stopped, and tells what is stored and what is deleted once that is so."""
    try:
        with Memory.open(folder, "offline") as memory:
            for number, line in enumerate(_lines()):
                if stop.is_set():
                    return
                if number % 2:
                    memory.write(f"- {line}")
                    told.put(("stored", line.split()[0]))
                else:
                    memory.write(f"{line}\n", f"passing-{number}")
                    memory.delete(f"passing-{number}")
                    told.put(("deleted", line.split()[0]))
    except SilicaError as error:
        told.put(("failed", str(error)))


def _lines() -> Iterator[str]:
    chance, number = random.Random(2), 0
    while True:
        yield f"Marker{number:06}x {_sentence(chance)}"
        number += 1


def _sentence(chance: random.Random) -> str:
    one, other = chance.sample(SUBJECTS, 2)
    return f"The {one} {chance.choice(DOES)} the {other} number {chance.randrange(1_000)}."


if __name__ == "__main__":
    main()
