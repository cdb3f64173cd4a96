"""What the size of a memory and of a text costs: `python -m bench.growth --beside CHECKOUT`.

Four things grow: the pages of an open memory (searches, reads, writes and undos), the pages of a memory that a new
process opens and searches, the list items of one text that is written, and the files of a folder that is taken in.
Beside each time stands its ratio to that of the smallest size, and for the pages its ratio to a bare write of a flushed
file of 4 KB, measured in between. Everything is offline.

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
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from memory_v2 import Memory

SIZES = {
    "pages": (100, 1_000, 10_000),
    "processes": (100, 1_000, 10_000),
    "items": (1_000, 2_000, 4_000, 8_000, 16_000, 32_000),
    "files": (500, 1_000, 2_000, 5_000),
}
HERE = Path(__file__).parent.parent
TIMES = 100
"""How often each operation is timed."""
SECONDS = 20.0
"""After how many seconds an operation is timed no more, if it was timed `ENOUGH` times."""
ENOUGH = 20
BLOCKS_OF_A_PAGE = 10
FILE_BYTES = 2_000
WORDS = (
    "harbour night train release auditor index kitchen waits moved depends paid replaces asked closes spring sale",
    "contract staging engineers blue key review garden ferry lantern invoice pepper cellar orchard violin",
)
PROCESSES = 9
"""How many new processes are timed."""

Times = dict[str, list[float]]
"""The seconds of each operation, sorted."""


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description="What the size of a memory and of a text costs.")
    for what, sizes in SIZES.items():
        parser.add_argument(f"--{what}", type=int, nargs="*", default=sizes)
    parser.add_argument("--beside", type=Path, help="the checkout of another version, with the same dependencies")
    parser.add_argument("--measure", nargs=2, metavar=("WHAT", "SIZE"), help="print the times of one size as JSON")
    chosen = parser.parse_args()
    if chosen.measure:
        _warm_up()
        json.dump(MEASURES[chosen.measure[0]](int(chosen.measure[1])), sys.stdout)
        return
    versions = {**({"other": chosen.beside.resolve()} if chosen.beside else {}), "this": HERE}
    for what in SIZES:
        print(
            f"\n{what:>9}  {'operation':20}{'version':9}{'p50 ms':>10}{'p95 ms':>10}{'to smallest':>13}{'to bare':>9}"
        )
        first: dict[tuple[str, str], float] = {}
        for size in getattr(chosen, what):
            times = {version: measured(checkout, what, size) for version, checkout in versions.items()}
            for name in times["this"]:
                for version, taken in times.items():
                    middle = taken[name][len(taken[name]) // 2]
                    ratio = middle / first.setdefault((name, version), middle)
                    bare = (
                        f"{middle / taken[BARE][len(taken[BARE]) // 2]:9.1f}" if BARE in taken and name != BARE else ""
                    )
                    late = taken[name][int(len(taken[name]) * 0.95)]
                    row = f"{middle * 1e3:10.1f}{late * 1e3:10.1f}{ratio:13.2f}{bare}"
                    print(f"{size:9,}  {name:20}{version:9}{row}", flush=True)


def measured(version: Path, what: str, size: int) -> Times:
    """The times of one size, in a process of its own that imports this version."""
    command = [sys.executable, __file__, "--measure", what, str(size)]
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
        times: Times = {BARE: []}
        with Memory.open(folder, "offline") as memory:
            memory.write("The lantern is new.", "g0/p0", "append")  # takes all pages in
            for name, act in _operations(memory).items():
                took = times[name] = []
                while len(took) < ENOUGH or (len(took) < TIMES and sum(took) < SECONDS):
                    took.append(_seconds(partial(act, len(took))))
                    times[BARE].append(_seconds(partial(_flushed, bare)))
    return {name: sorted(took) for name, took in times.items()}


def of_items(size: int) -> Times:
    """Times the write of one text with so many list items into an empty memory."""
    chance = random.Random(size)
    text = "".join(f"- {_words(chance, 4)} {number}\n" for number in range(size))
    with tempfile.TemporaryDirectory() as place, Memory.open(Path(place) / "memory", "offline") as memory:
        return {"a long text": [_seconds(lambda: memory.write(text))]}


def of_files(size: int) -> Times:
    """Times how long a folder of so many files, which others have made, takes until it was searched and written to."""
    with tempfile.TemporaryDirectory() as place:
        chance = random.Random(size)
        for number in range(size):
            paragraphs = [f"{_words(chance, 30)} n{number}.\n" for _ in range(FILE_BYTES // 200)]
            Path(place, f"note-{number}.md").write_text(f"# Note {number}\n\n" + "\n".join(paragraphs), "utf-8")
        with Memory.open(place, "offline") as memory:
            searched = _seconds(lambda: memory.search("n1 harbour"))
            written = _seconds(lambda: memory.write("The lantern is new.", "note-0", "append"))
    return {"first search": [searched], "first write": [written], "both": [searched + written]}


_NEW_PROCESS = """
import sys, time
from memory_v2 import Memory
began = time.perf_counter()
memory = Memory.open(sys.argv[1], "offline")
assert memory.search("b3 lantern violin p7")
print(time.perf_counter() - began)
"""


def of_processes(size: int) -> Times:
    """Times how long a new process takes to open a memory of so many pages, which is indexed, and to search it."""
    with tempfile.TemporaryDirectory() as place:
        make_tree(Path(place), size)
        command = [sys.executable, "-c", _NEW_PROCESS, place]
        took = [float(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout) for _ in range(PROCESSES + 1)]
    return {"open, never seen": [took[0]], "open and search": sorted(took[1:])}


MEASURES: dict[str, Callable[[int], Times]] = {
    "pages": of_pages,
    "processes": of_processes,
    "items": of_items,
    "files": of_files,
}


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


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
