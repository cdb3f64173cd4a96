"""What benches of search share: memories, flat baselines, which text a hit shows, what searching costs."""

from __future__ import annotations

import re
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, date, datetime
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from statistics import quantiles
from typing import Any, TypeAlias, TypeVar

from markdown_it import MarkdownIt

from bench.tables import Figures
from memory_v2 import Memory
from memory_v2.index.full_text import FullTextIndex
from memory_v2.operations.results import SearchResult, SearchResults
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.text.lists import stopwords
from memory_v2.text.words import tokens, words
from memory_v2.tree.block import decode, split_lines

LOOKED_AHEAD = 30
"""How many lines are compared to tell from which of two texts a line is that both have."""
LONG = 40
"""A line of so many characters that no text has is part of a longer line, if one of them has it."""
FLAT = 1 << 30
"""The threshold of a page that is never split, in bytes."""
TRIALS = 2
"""How often an index is built, and the pages are parsed: the fastest counts."""

Found = TypeVar("Found")

Search: TypeAlias = Callable[[str], SearchResults]
"""Finds what answers a question, best first."""
Baseline: TypeAlias = Callable[[str, int], list[int]]
"""Finds texts for a question: the numbers of at most so many, from 0, best first."""
Shown: TypeAlias = Callable[[str], Mapping[int, int]]
"""Finds texts for a question: their numbers, best first, each with the tokens that are read to come to it."""


def full_text(texts: Sequence[str]) -> Baseline:
    """SQLite's full text (FTS5, bm25, Porter stems): any word of the question except stopwords."""
    search = scored(texts)
    return lambda question, limit: [number for number, _ in search(question, limit)]


def scored(texts: Sequence[str]) -> Callable[[str, int], list[tuple[int, float]]]:
    """The same, each with its score: more is better."""
    table = sqlite3.connect(":memory:")
    table.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter unicode61')")
    rows = [(text.encode("utf-8", "replace").decode(),) for text in texts]
    table.executemany("INSERT INTO texts (text) VALUES (?)", rows)

    def search(question: str, limit: int) -> list[tuple[int, float]]:
        asked = [word for word in re.findall(r"\w+", question.casefold()) if word not in stopwords()]
        match = " OR ".join(f'"{word}"' for word in asked)
        sql = "SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank, rowid LIMIT ?"
        return [(row - 1, -rank) for row, rank in table.execute(sql, (match, limit))] if match else []

    return search


def grep(texts: Sequence[str]) -> Baseline:
    """Those with the line that has most words of the question, in the order of the texts."""
    lines = [[line.casefold() for line in text.splitlines()] for text in texts]

    def search(question: str, limit: int) -> list[int]:
        asked = {word for word in words(question) if word not in stopwords()}
        best = [max((sum(word in line for word in asked) for line in text), default=0) for text in lines]
        found = sorted((number for number, count in enumerate(best) if count), key=lambda number: -best[number])
        return found[:limit]

    return search


def of_texts(baseline: Callable[[Sequence[str]], Baseline], texts: Sequence[SearchResult], limit: int) -> Search:
    """The best of these texts by a flat baseline, which tells an absence by finding nothing."""
    find = baseline([text.excerpt for text in texts])

    def search(question: str) -> SearchResults:
        found = SearchResults(texts[number] for number in find(question, limit))
        found.verdict = "answered" if found else "no"
        return found

    return search


def a_text(text: str, day: date | None = None, path: str = "", lines: tuple[int, int] = (1, 1)) -> SearchResult:
    """A text as a hit shows it."""
    return SearchResult(path, text, 0.0, "", lines, day, ())


ENCODED_WITHIN = 60
"""Within how many searches, each of which encodes for two seconds, all texts of a memory have vectors."""


def of_memory(memory: Memory, limit: int) -> Search:
    """The search of a memory for so many hits, once all its texts have vectors."""

    def search(question: str) -> SearchResults:
        for _ in range(ENCODED_WITHIN):
            found = memory.search(question, limit)
            if not found.degraded:
                return found
        sys.exit(found.degraded)  # such as: what the extra needs is not installed

    return search


def shown(search: Search, texts: Callable[[SearchResult], Iterable[int]]) -> Shown:
    """The texts of which the hits show a line; `texts` tells those of a hit."""

    def search_texts(question: str) -> dict[int, int]:
        found, read = dict[int, int](), 0
        for hit in search(question):
            read += tokens(hit.excerpt)
            for number in texts(hit):
                found.setdefault(number, read)
        return found

    return search_texts


def shown_of(baseline: Callable[[Sequence[str]], Baseline], texts: Sequence[str], limit: int) -> Shown:
    """The texts that a flat baseline finds, which are read one by one."""
    find = baseline(texts)

    def search_texts(question: str) -> dict[int, int]:
        found = find(question, limit)
        return dict(zip(found, accumulate(tokens(texts[number]) for number in found), strict=True))

    return search_texts


def memory_of(pages: Mapping[str, bytes | str]) -> Memory:
    """A memory that has these pages as they are."""
    return Memory(_stored(pages), dense=False)


def _stored(pages: Mapping[str, bytes | str]) -> VolatileStorage:
    storage = VolatileStorage()
    for path, page in pages.items():
        storage.write(path, page.encode() if isinstance(page, str) else page)
    return storage


def new_memory(dense: bool = False, **settings: Any) -> Memory:
    """An empty memory that lives in this process, and goes by words unless told otherwise."""
    return Memory(VolatileStorage(), dense=dense, **settings)


def told(texts: Iterable[tuple[str, date]], asked_on: date, **settings: Any) -> Memory:
    """A memory after each text was written to it on its day, and all questions are asked on one."""
    day = asked_on
    memory = new_memory(now=lambda: datetime(day.year, day.month, day.day, 10, tzinfo=UTC), **settings)
    for text, day in texts:  # noqa: B007 - the clock reads it
        memory.write(text)
    day = asked_on
    return memory


class Passages:
    """The lines of the pages of a memory, each with the number of the text that it is from."""

    def __init__(self, memory: Memory, texts: Sequence[str]) -> None:
        self._texts = [[line for line in map(_compared, split_lines(text)) if line] for text in texts]
        self._with: dict[str, list[tuple[int, int]]] = {}
        """Where each line stands: the text, and the number of the line in it."""
        for number, lines in enumerate(self._texts):
            for place, line in enumerate(lines):
                self._with.setdefault(line, []).append((number, place))
        self._lines: dict[tuple[str, int], tuple[str, int]] = {}
        """The line at each place of the memory, and its text."""
        for page in memory.list_files():
            self._read(page.path, memory.read(page.path))

    def shown_by(self, result: SearchResult) -> Iterator[int]:
        """The texts that a result shows a line of, or a part of a line, in order."""
        excerpt = result.excerpt.strip()
        for number in range(result.lines[0], result.lines[1] + 1):
            line, text = self._lines.get((result.path, number), ("", -1))
            if line and (line in excerpt or excerpt in line):
                yield text

    def on(self, path: str, first: int, last: int) -> list[int]:
        """The texts on these lines of a page."""
        return [self._lines[path, line][1] for line in range(first, last + 1) if (path, line) in self._lines]

    def lost(self) -> int:
        """How many texts have no line in the memory. What says the same as another to the letter is there with it."""
        there = {tuple(self._texts[text]) for _, text in self._lines.values()}
        return sum(tuple(lines) not in there for lines in self._texts)

    def _read(self, path: str, page: str) -> None:
        lines = [(number, line) for number, line in enumerate(split_lines(page), 1) if line.strip()]
        compared = [_compared(line) for _, line in lines]
        before = (-1, -1)
        for n, (number, line) in enumerate(lines):
            places = self._with.get(compared[n]) or self._parts(compared[n])
            if not places:
                continue
            following = (before[0], before[1] + 1)
            before = following if following in places else max(places, key=lambda one: self._agrees(one, compared[n:]))
            self._lines[path, number] = (line.strip(), before[0])

    def _agrees(self, place: tuple[int, int], lines: Sequence[str]) -> int:
        """How many of these lines follow each other in a text."""
        text = self._texts[place[0]][place[1] : place[1] + LOOKED_AHEAD]
        return next((n for n, (one, other) in enumerate(zip(text, lines, strict=False)) if one != other), len(text))

    def _parts(self, line: str) -> list[tuple[int, int]]:
        if len(line) < LONG:
            return []
        return [
            (number, place)
            for number, lines in enumerate(self._texts)
            for place, whole in enumerate(lines)
            if len(whole) > len(line) and line in whole
        ]


def _compared(line: str) -> str:
    """A line as it is compared: a heading of any level is the same."""
    return re.sub(r"^#{1,6}[ \t]+(.*?)[ \t#]*$", r"# \1", line.strip())


class Watch:
    """How long each of many searches took, by the name of the row, on the clock and on the processor."""

    def __init__(self) -> None:
        self._took: dict[str, list[tuple[float, float]]] = {}

    def timed(self, name: str, search: Callable[[str], Found]) -> Callable[[str], Found]:
        """The same search, watched. Its first question, at which an index may be built, is asked twice."""
        took = self._took.setdefault(name, [])
        is_new = True

        def watched(asked: str) -> Found:
            nonlocal is_new
            if is_new:
                is_new = False
                search(asked)
            wall, cpu = time.perf_counter(), time.process_time()
            found = search(asked)
            took.append((1_000 * (time.perf_counter() - wall), 1_000 * (time.process_time() - cpu)))
            return found

        return watched

    @property
    def rows(self) -> dict[str, Figures]:
        """The median and the 95th percentile, in milliseconds."""
        return {name: _percentiles(took) for name, took in self._took.items()}


def _percentiles(took: Sequence[tuple[float, float]]) -> Figures:
    row = {"searches": len(took)}
    if len(took) < 2:
        return row
    wall, cpu = (quantiles(times, n=20, method="inclusive") for times in zip(*took, strict=True))
    return {**row, "p50 ms": wall[9], "p95 ms": wall[18], "CPU p50 ms": cpu[9], "CPU p95 ms": cpu[18]}


def pages_of(memory: Memory) -> dict[str, bytes]:
    """The pages of a memory."""
    return {page.path: memory.read(page.path).encode("utf-8", "surrogateescape") for page in memory.list_files()}


def index_figures(*memories: Mapping[str, bytes]) -> Figures:
    """The time that indexes of these pages take to build, relative to the Markdown parser alone on the same text, which
    is markdown-it as it comes; their size, relative to that of the text; and the peak memory of this process so far."""
    per_mb = 1_000_000 if sys.platform == "darwin" else 1_000
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
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // per_mb,
    }


def _built(pages: Mapping[str, bytes]) -> tuple[float, int]:
    """The CPU seconds of an index of these pages, and its bytes. It is built in a new process, where no text was parsed
    and no word was stemmed before; that the process starts and imports the package does not count."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_build, dict(pages)).result()


def _build(pages: Mapping[str, bytes]) -> tuple[float, int]:
    storage = _stored(pages)
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
