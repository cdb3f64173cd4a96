"""The cost of committing an edit of one page, and how it grows with the memory: `python -m bench.commit`.

The unit is a bare atomic write of the same bytes in the same run: write a new file, flush it, rename it into place,
flush the folder. Sizes, edits and bare writes take turns, so that a slow moment of the machine affects all of them. The
figures are medians."""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from memory_v2 import Memory
from memory_v2.agent.operation import Operation
from memory_v2.operations.commit import commit
from memory_v2.operations.draft import Draft
from memory_v2.operations.freshness import refresh
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.tree.edit import appended, new_blocks
from memory_v2.tree.page import parse_page
from memory_v2.tree.path import ROOT, child_path

SIZES = (10, 1_000, 10_000)
EDITS = 40
WARM_UP = 5
CHILDREN = 25
"""Children per page; 10,000 pages are then up to three folders deep."""

_WRITTEN = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
_NAMES = (
    *("people", "projects", "customers", "calls", "releases", "machines", "contracts", "letters", "travel", "prices"),
    *("tests", "faults", "plans", "meetings", "budget", "training", "search", "storage", "backup", "access"),
    *("reports", "design", "legal", "support", "hiring"),
)
_SAID = (
    ("Ines", "Tomasz", "Ruth", "Dana", "The auditor", "The hotel", "The bank in Bergen", "The night shift"),
    ("asked for", "signed", "moved", "paid for", "wrote about", "put off", "tested", "found a fault in"),
    ("the contract", "the second release", "the build machines", "the manual", "the S3 bucket", "the May review"),
    ("because the keys had come late", "before the train left", "with forty agents at once", "as was promised"),
)

Act: TypeAlias = Callable[[str, str], float]
"""Puts a text on a page and returns how many seconds it took."""
Costs: TypeAlias = dict[str, tuple[float, float]]
"""For each way of editing: the median time of an edit, and of the bare write after it, in milliseconds."""


def main() -> None:
    """Prints the costs in bare writes and in milliseconds, and how they grow."""
    costs = measured()
    ratios = {pages: {way: edit / bare for way, (edit, bare) in costs[pages].items()} for pages in SIZES}
    first = ratios[SIZES[0]]
    print(f"{'in bare writes':18}" + "".join(f"{way:>22}" for way in first) + f"{'a bare write':>16}")
    for pages in SIZES:
        bare = f"({statistics.median(bare for _, bare in costs[pages].values()):.1f} ms)"
        cells = (f"{ratios[pages][way]:11.1f}{f'({edit:.1f} ms)':>11}" for way, (edit, _) in costs[pages].items())
        print(f"{f'{pages:,} pages':18}{''.join(cells)}{bare:>16}")
    for pages in SIZES[1:]:
        grown = (f"{ratio / first[way]:10.2f}×{'':11}" for way, ratio in ratios[pages].items())
        print(f"{f'{pages:,} : {SIZES[0]}':18}{''.join(grown)}")


def measured() -> dict[int, Costs]:
    """The cost of editing, in a memory of each size."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        scenes = {pages: _prepared(stack, place / str(pages), pages) for pages in SIZES}
        taken: dict[tuple[int, str], list[tuple[float, float]]] = {}
        chance = random.Random(0)
        for number in range(WARM_UP + EDITS):
            for pages, (leaves, ways) in scenes.items():
                for way, (memory, act) in ways.items():
                    path = chance.choice(leaves)
                    edit = act(path, f"- 2026-05-{number % 28 + 1:02}: {_sentence(chance)}")
                    data = memory.storage.read(path).data
                    bare_write(place / "page.md", data)  # flushes what the edit left behind, untimed
                    bare = bare_write(place / "page.md", data)
                    if number >= WARM_UP:
                        taken.setdefault((pages, way), []).append((edit, bare))
    costs: dict[int, Costs] = {pages: {} for pages in SIZES}
    for (pages, way), pairs in taken.items():
        edit, bare = (1000 * statistics.median(side) for side in zip(*pairs, strict=True))
        costs[pages][way] = edit, bare
    return costs


def _prepared(stack: ExitStack, folder: Path, pages: int) -> tuple[list[str], dict[str, tuple[Memory, Act]]]:
    """The pages to edit in a new memory, and the ways to edit them."""
    leaves = grow(folder, pages)
    with Memory(LocalStorage(folder)) as memory:
        memory.write("It begins.", ROOT, "append")  # creates the index and starts the history
        if errors := [finding for finding in memory.check() if finding.severity == "error"]:
            sys.exit(f"the memory to be measured has errors: {errors[0]}")
    memory = stack.enter_context(Memory(LocalStorage(folder)))
    return leaves, {
        "write(append)": (memory, lambda path, text: whole(memory, path, text)),
        "its look around": (memory, lambda path, text: parts(memory, path, text)[0]),
        "its commit": (memory, lambda path, text: parts(memory, path, text)[1]),
    }


def whole(memory: Memory, path: str, text: str) -> float:
    """Times the whole write, as a user calls it."""
    began = time.perf_counter()
    memory.write(text, path, "append")
    return time.perf_counter() - began


def parts(memory: Memory, path: str, text: str) -> tuple[float, float]:
    """Times the search for edits by hand, which walks over all files, and the commit, from the staged page until it is
    stored, recorded and indexed."""
    context = replace(memory._engine.context, operation=Operation())
    began = time.perf_counter()
    refresh(context)
    looked = time.perf_counter()
    work = Draft(context)
    work.put(appended(work.page(path), [new_blocks(text)]))
    staged = time.perf_counter()
    commit(work)
    return looked - began, time.perf_counter() - staged


def bare_write(file: Path, data: bytes) -> float:
    """Times the least work that replaces a file atomically and has it on disk when the call returns."""
    began = time.perf_counter()
    temporary = file.with_name(f"{os.urandom(8).hex()}.tmp")
    with temporary.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
    return time.perf_counter() - began


def grow(folder: Path, pages: int) -> list[str]:
    """Creates a memory with this many pages, as it would have grown; returns the pages without children."""
    paths = [ROOT]
    for number in range(1, pages):
        paths.append(child_path(paths[(number - 1) // CHILDREN], _NAMES[(number - 1) % CHILDREN]))
    for number, path in enumerate(paths):
        chance = random.Random(path)
        name = path.rsplit("/", 1)[-1]
        lines = "".join(f"- {_sentence(chance)}\n" for _ in range(chance.randint(5, 20)))
        page = parse_page(path, f"# {name.capitalize()}\n\n{lines}\n")
        for child in paths[number * CHILDREN + 1 : (number + 1) * CHILDREN + 1]:
            page = page.with_child(child, _sentence(chance))
        file = folder / f"{path}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(page.stamped(_WRITTEN).data)
    return paths[(pages - 2) // CHILDREN + 1 :]


def _sentence(chance: random.Random) -> str:
    return " ".join(chance.choice(words) for words in _SAID) + f", {chance.randint(2, 900)} times."


if __name__ == "__main__":
    main()
