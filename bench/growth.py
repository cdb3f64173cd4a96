"""What the size of a memory and of a text costs: `python -m bench.growth --picture growth.svg`.

Three things grow: the pages of an open memory (searches, writes, undos and looks at all pages), the list items of one
text that is written, and the files of a folder that is taken in. Beside each time stands its ratio to that of the
smallest size, and for the pages its ratio to a bare write of a flushed file of 4 KB, measured in between. Everything
is offline. The times of a busy machine say nothing; their ratios say a little.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from memory_v2 import Memory

PAGES = (100, 1_000, 10_000)
BLOCKS = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
FILES = (500, 1_000, 2_000, 5_000)
TIMES = 20
"""How often each operation is timed."""
BLOCKS_OF_A_PAGE = 10
FILE_BYTES = 2_000
WORDS = (
    "harbour night train release auditor index kitchen waits moved depends paid replaces asked closes spring sale",
    "contract staging engineers blue key review garden ferry lantern invoice pepper cellar orchard violin",
)
WIDTH, HEIGHT, MARGIN = 640, 420, 60
"""Of the picture, in pixels."""


@dataclass(frozen=True, slots=True)
class Curve:
    """What grows, and the seconds at each size."""

    name: str
    points: tuple[tuple[int, float], ...]


def main() -> None:
    """Prints the tables, and draws the picture if one is asked for."""
    parser = argparse.ArgumentParser(description="What the size of a memory and of a text costs.")
    parser.add_argument("--pages", type=int, nargs="*", default=PAGES)
    parser.add_argument("--blocks", type=int, nargs="*", default=BLOCKS)
    parser.add_argument("--files", type=int, nargs="*", default=FILES)
    parser.add_argument("--picture", type=Path, help="an SVG file")
    chosen = parser.parse_args()
    curves = [*of_pages(chosen.pages), *of_texts(chosen.blocks), *of_folders(chosen.files)]
    if chosen.picture:
        chosen.picture.write_text(picture(curves), "utf-8")


def of_pages(sizes: Sequence[int]) -> list[Curve]:
    """Times operations in open memories of so many pages."""
    if sizes:
        print(f"{'pages':>8}  {'operation':12}{'p50 ms':>9}{'p95 ms':>9}{'to smallest':>13}{'to bare write':>15}")
    found: dict[str, list[tuple[int, float]]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "memory"
            make_tree(folder, size)
            with Memory.open(folder, "offline") as memory:
                memory.write("The lantern is new.", "g0/p0", "append")  # takes all pages in
                for name, act in _operations(memory).items():
                    took, bare = _timed(act, Path(place) / "bare")
                    points = found.setdefault(name, [])
                    points.append((size, took[len(took) // 2]))
                    row = (took[len(took) // 2] * 1e3, took[int(len(took) * 0.95)] * 1e3, points[-1][1] / points[0][1])
                    cells = f"{row[0]:9.1f}{row[1]:9.1f}{row[2]:13.2f}{points[-1][1] / bare:15.1f}"
                    print(f"{size:8,}  {name:12}{cells}", flush=True)
    return [Curve(f"{name} among pages", tuple(points)) for name, points in found.items()]


def of_texts(sizes: Sequence[int]) -> list[Curve]:
    """Times the write of one text with so many list items into an empty memory."""

    def written(size: int, folder: Path) -> None:
        chance = random.Random(size)
        text = "".join(f"- {_words(chance, 4)} {number}\n" for number in range(size))
        with Memory.open(folder, "offline") as memory:
            memory.write(text)

    return _grown("items of a text", sizes, lambda _, __: None, written)


def of_folders(sizes: Sequence[int]) -> list[Curve]:
    """Times how long a folder of so many files, which others have made, takes until it can be searched and written."""

    def made(size: int, folder: Path) -> None:
        folder.mkdir()
        chance = random.Random(size)
        for number in range(size):
            paragraphs = [f"{_words(chance, 30)} n{number}.\n" for _ in range(FILE_BYTES // 200)]
            (folder / f"note-{number}.md").write_text(f"# Note {number}\n\n" + "\n".join(paragraphs), "utf-8")

    def taken_in(_: int, folder: Path) -> None:
        with Memory.open(folder, "offline") as memory:
            assert memory.search("n1 harbour")
            memory.write("The lantern is new.", "note-0", "append")

    return _grown("files taken in", sizes, made, taken_in)


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


def _timed(act: Callable[[int], object], bare: Path) -> tuple[list[float], float]:
    """The seconds of each time, sorted, and those of a bare write in between, the median."""
    took, bare_took = [], []
    for number in range(TIMES):
        took.append(_seconds(partial(act, number)))
        bare_took.append(_seconds(partial(_flushed, bare)))
    return sorted(took), sorted(bare_took)[TIMES // 2]


def _flushed(file: Path) -> None:
    with file.open("wb") as opened:
        opened.write(b"x" * 4_096)
        opened.flush()
        os.fsync(opened.fileno())


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _grown(
    name: str, sizes: Sequence[int], prepare: Callable[[int, Path], None], act: Callable[[int, Path], None]
) -> list[Curve]:
    points: list[tuple[int, float]] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "memory"
            prepare(size, folder)
            points.append((size, _seconds(partial(act, size, folder))))
        if size == sizes[0]:
            print(f"\n{name:>16}{'seconds':>10}{'to smallest':>13}{'sizes':>8}")
        (least, first), (size, took) = points[0], points[-1]
        print(f"{size:16,}{took:10.2f}{took / first:13.2f}{size / least:8.1f}", flush=True)
    return [Curve(name, tuple(points))] if points else []


def picture(curves: Sequence[Curve]) -> str:
    """The curves as SVG, both axes logarithmic and each curve relative to its first point: what grows with its size
    runs along the diagonal."""
    most = max((size / curve.points[0][0] for curve in curves for size, _ in curve.points), default=1.0)
    high = max([most, *(took / curve.points[0][1] for curve in curves for _, took in curve.points)])

    def place(x: float, y: float) -> str:
        across = MARGIN + (WIDTH - 2 * MARGIN) * math.log(max(x, 1)) / math.log(max(most, 2))
        up = HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * math.log(max(y, 1)) / math.log(max(high, 2))
        return f"{across:.1f},{up:.1f}"

    lines = [f'<polyline points="{place(1, 1)} {place(most, most)}" stroke="#bbb" stroke-dasharray="4" fill="none"/>']
    for number, curve in enumerate(curves):
        colour = f"hsl({360 * number // len(curves)},70%,40%)"
        points = " ".join(place(size / curve.points[0][0], took / curve.points[0][1]) for size, took in curve.points)
        lines.append(f'<polyline points="{points}" stroke="{colour}" stroke-width="2" fill="none"/>')
        lines.append(f'<text x="{MARGIN + 10}" y="{MARGIN + 16 * number}" fill="{colour}">{curve.name}</text>')
    lines.append(f'<text x="{MARGIN}" y="{HEIGHT - 20}">times the smallest size, up to {most:.0f}</text>')
    lines.append(f'<text x="10" y="30">times its seconds, up to {high:.0f}; dashed: linear</text>')
    body = "\n".join(lines)
    style = 'font-family="sans-serif" font-size="13"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" {style}>\n{body}\n</svg>\n'


if __name__ == "__main__":
    main()
