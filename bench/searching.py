"""What searching costs: the time of each search, and the time and the size of an index."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import quantiles
from typing import TypeVar

from markdown_it import MarkdownIt

from bench.tables import Figures
from memory_v2 import Memory
from memory_v2.index.full_text import FullTextIndex
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import decode

TRIALS = 2
"""How often an index is built, and the pages are parsed: the fastest counts."""

Asked = TypeVar("Asked")
Found = TypeVar("Found")


class Watch:
    """How long each of many searches took, on the clock and on the processor."""

    def __init__(self) -> None:
        self._wall: list[float] = []
        self._cpu: list[float] = []

    def timed(self, search: Callable[[Asked], Found]) -> Callable[[Asked], Found]:
        """The same search, watched. Its first question, at which an index may be built, is asked twice."""
        is_new = True

        def watched(asked: Asked) -> Found:
            nonlocal is_new
            if is_new:
                is_new = False
                search(asked)
            wall, cpu = time.perf_counter(), time.process_time()
            found = search(asked)
            self._wall.append(1_000 * (time.perf_counter() - wall))
            self._cpu.append(1_000 * (time.process_time() - cpu))
            return found

        return watched

    def figures(self) -> Figures:
        """The median and the 95th percentile, in milliseconds."""
        row = {"searches": len(self._wall)}
        if len(self._wall) < 2:
            return row
        wall, cpu = (quantiles(times, n=20, method="inclusive") for times in (self._wall, self._cpu))
        return {**row, "p50 ms": wall[9], "p95 ms": wall[18], "CPU p50 ms": cpu[9], "CPU p95 ms": cpu[18]}


def pages_of(memory: Memory) -> dict[str, bytes]:
    """The pages of a memory."""
    return {page.path: memory.read(page.path).encode("utf-8", "surrogateescape") for page in memory.list_files()}


def index_figures(*memories: Mapping[str, bytes]) -> Figures:
    """The time that indexes of these pages take to build, relative to the Markdown parser alone on the same text, which
    is markdown-it as it comes; their size, relative to that of the text; and the peak memory of this process so far."""
    built = parsed = 0.0
    size = text = 0
    for pages in memories:
        text += sum(map(len, pages.values()))
        trials = [_built(pages) for _ in range(TRIALS)]
        built += min(seconds for seconds, _ in trials)
        size += min(bytes_ for _, bytes_ in trials)
        parsed += min(_parsed(pages) for _ in range(TRIALS))
    return {
        "text KB": text // 1_000,
        "index CPU s": built,
        "to parser": built / parsed,
        "index to text": size / text,
        "peak MB": peak(),
    }


def peak() -> int:
    """The peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1_000_000 if sys.platform == "darwin" else 1_000)


def _built(pages: Mapping[str, bytes]) -> tuple[float, int]:
    """The CPU seconds of an index of these pages, and its bytes. It is built in a new process, where no text was parsed
    and no word was stemmed before; that the process starts and imports the package does not count."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_build, dict(pages)).result()


def _build(pages: Mapping[str, bytes]) -> tuple[float, int]:
    storage = VolatileStorage()
    for path, data in pages.items():
        storage.write(path, data)
    with tempfile.TemporaryDirectory() as place:
        index = FullTextIndex(storage, Path(place))
        began = time.process_time()
        index.refresh()
        seconds = time.process_time() - began
        index.close()
        return seconds, sum(file.stat().st_size for file in Path(place).rglob("*") if file.is_file())


def _parsed(pages: Mapping[str, bytes]) -> float:
    parser = MarkdownIt("commonmark").enable("table")
    began = time.process_time()
    for data in pages.values():
        parser.parse(decode(data))
    return time.process_time() - began
