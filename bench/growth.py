"""What the size of a memory costs: `python -m bench.growth --beside CHECKOUT`.

Searches, reads, writes and undos in an open memory of more and more pages. Beside each time stands its ratio to that of
a bare write of a flushed file of 4 KB, measured in between. Everything is offline.

Each size is measured in a process of its own; with `--beside`, another version's checkout is measured right before it,
by this same file. The times of a busy machine say nothing; their ratios say a little.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import median

from bench.tables import seconds, table
from memory_v2 import Memory

SIZES = (100, 1_000, 10_000)
HERE = Path(__file__).parent.parent
TIMES = 100
"""How often each operation is timed."""
SECONDS = 20.0
"""After how many seconds an operation is timed no more, if it was timed `ENOUGH` times."""
ENOUGH = 20
BLOCKS_OF_A_PAGE = 10
WORDS = (
    "harbour night train release auditor index kitchen waits moved depends paid replaces asked closes spring sale",
    "contract staging engineers blue key review garden ferry lantern invoice pepper cellar orchard violin",
)

Times = dict[str, float]
"""The median of each operation, in seconds."""


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description="What the size of a memory costs.")
    parser.add_argument("--pages", type=int, nargs="*", default=SIZES)
    parser.add_argument("--beside", type=Path, help="the checkout of another version, with the same dependencies")
    parser.add_argument("--measure", type=int, metavar="PAGES", help="print the times of one size as JSON")
    chosen = parser.parse_args()
    if chosen.measure:
        _warm_up()
        json.dump(of_pages(chosen.measure), sys.stdout)
        return
    versions = {**({"other": chosen.beside.resolve()} if chosen.beside else {}), "this": HERE}
    for size in chosen.pages:
        times = {version: measured(checkout, size) for version, checkout in versions.items()}
        rows = {
            f"{name}, {version}": {"p50 ms": middle * 1e3, "to bare": middle / taken[BARE]}
            for version, taken in times.items()
            for name, middle in taken.items()
        }
        print(f"{size:,} pages\n{table(rows)}\n", flush=True)


def measured(version: Path, size: int) -> Times:
    """The times of one size, in a process of its own that imports this version."""
    command = [sys.executable, __file__, "--measure", str(size)]
    environment = {**os.environ, "PYTHONPATH": str(version)}
    done = subprocess.run(command, env=environment, cwd=version, stdout=subprocess.PIPE, check=True)
    times: Times = json.loads(done.stdout)
    return times


def _warm_up() -> None:
    """Imports and compiles what the operations need, which is not what is measured."""
    with tempfile.TemporaryDirectory() as place, Memory.open(place, "offline") as memory:
        memory.write("".join(f"- {word} is item {number}\n" for number, word in enumerate(WORDS[0].split() * 20)))
        memory.search("harbour night")


BARE = "bare write"


def of_pages(size: int) -> Times:
    """Times operations in an open memory of so many pages, and bare writes in between."""
    with tempfile.TemporaryDirectory() as place:
        folder, bare = Path(place) / "memory", Path(place) / "bare"
        make_tree(folder, size)
        times: dict[str, list[float]] = {BARE: []}
        with Memory.open(folder, "offline") as memory:
            memory.write("The lantern is new.", "g0/p0", "append")  # takes all pages in
            for name, act in _operations(memory).items():
                took = times[name] = []
                while len(took) < ENOUGH or (len(took) < TIMES and sum(took) < SECONDS):
                    took.append(seconds(partial(act, len(took))))
                    times[BARE].append(seconds(partial(_flushed, bare)))
    return {name: median(took) for name, took in times.items()}


def make_tree(folder: Path, pages: int) -> None:
    """Writes so many pages on three levels, about as many on the second as below each, without the program."""
    chance, groups = random.Random(pages), max(1, math.isqrt(pages))
    names = [f"g{number % groups}/p{number}" for number in range(pages - groups - 1)]
    for name in names:
        text = "\n\n".join(f"{_words(chance, 12)} {name} b{block}." for block in range(BLOCKS_OF_A_PAGE - 1))
        _write(folder / f"{name}.md", f"# {name}\n\n{text}\n")
    for group in range(groups):
        _write(folder / f"g{group}.md", f"# Group {group}\n\n" + _links(names[group::groups]))
    _write(folder / "memory.md", "# Memory\n\n" + _links(f"g{group}" for group in range(groups)))


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def _links(paths: Iterable[str]) -> str:
    return "## Links\n\n" + "".join(f"- [[{path}]] - about {path}\n" for path in paths)


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(" ".join(WORDS).split(), k=count))


def _operations(memory: Memory) -> dict[str, Callable[[int], object]]:
    return {
        "search": lambda number: memory.search(f"b{number % 9} lantern violin p{number}"),
        "read": lambda _: memory.read("g0/p0"),
        "append": lambda number: memory.write(f"- the lantern {number} is new", "g0/p0", "append"),
        "write": lambda number: memory.write(f"The pepper {number} of g0/p0 b1 is new."),
        "undo": lambda _: memory.undo(),
    }


def _flushed(file: Path) -> None:
    with file.open("wb") as opened:
        opened.write(b"x" * 4_096)
        opened.flush()
        os.fsync(opened.fileno())


if __name__ == "__main__":
    main()
