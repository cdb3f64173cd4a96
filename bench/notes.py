"""Whether search answers questions about people's notes, and says so if they do not: `python -m bench.notes`.

Each folder of notes is a memory of its own, its files are the pages. Of the questions (`bench/notes_questions.py`)
forty are answered by a line of their folder, and twenty by none. A hit answers if it shows such a line. Beside the
search stand plain full text over paragraphs (SQLite FTS5, bm25) and grep (the lines with most words of the question).

Figures: answered by the first, by one of three and of ten hits; absent answers told; answerable questions refused;
tokens of a hit, on average over the hits of a question. Plain full text and grep tell an absence by finding nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import TypeAlias

from bench.data import data_file
from bench.notes_questions import QUESTIONS, Asked
from memory_v2 import Memory
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.text.lists import stopwords
from memory_v2.text.tokens import tokens
from memory_v2.text.words import words
from memory_v2.tree.block import decode, is_blank, readable, split_lines

DEPTHS = (1, 3, 10)
SOME_NOTE = "notes/clawvault-own-vault/projects/helios.md"
"""A file by which the folder of all notes is found."""

Pages: TypeAlias = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Found:
    """A hit: where it stands, and what it shows."""

    path: str
    first: int
    last: int
    shown: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What was found, best first, and whether it is told to be an answer."""

    found: Sequence[Found]
    answered: bool


Search: TypeAlias = Callable[[str], Reply]


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description="Whether search answers questions about people's notes.")
    parser.add_argument("--misses", action="store_true", help="print what the search misses, too")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    chosen = parser.parse_args()
    notes = data_file(SOME_NOTE).parents[2]
    folders = {name: pages_of(notes / name) for name in sorted({asked.folder for asked in QUESTIONS})}
    problems = [problem for asked in QUESTIONS for problem in _moved(asked, folders[asked.folder])]
    if problems:
        sys.exit("these notes are not those of the questions:\n  " + "\n  ".join(problems))
    replies = {
        name: _asked({folder: prepare(pages) for folder, pages in folders.items()})
        for name, prepare in (("silica", memory_search), ("FTS5, paragraphs", full_text), ("grep", grep))
    }
    figures = {name: _figures(found) for name, found in replies.items()}
    if chosen.json:
        json.dump(figures, sys.stdout)
        return
    print(f"{'':18}" + "".join(f"{name:>9}" for name in figures["silica"]))
    for name, row in figures.items():
        print(f"{name:18}" + "".join(f"{value:>9.2f}" for value in row.values()))
    for language in dict.fromkeys(asked.language for asked in QUESTIONS):
        part = _figures({asked: found for asked, found in replies["silica"].items() if asked.language == language})
        print(f"{'  silica, ' + language:18}" + "".join(f"{value:>9.2f}" for value in part.values()))
    if chosen.misses:
        for asked, reply in replies["silica"].items():
            for line in _miss(asked, reply):
                print(line)


def pages_of(folder: Path) -> dict[str, bytes]:
    """The notes of a folder, each by the path of its page."""
    return {
        "/".join(part.lstrip(".") for part in file.relative_to(folder).with_suffix("").parts): file.read_bytes()
        for file in sorted(folder.rglob("*.md"))
    }


def memory_search(pages: Pages) -> Search:
    """The search of a memory that has these pages."""
    storage = VolatileStorage()
    for path, data in pages.items():
        storage.write(path, data)
    memory = Memory(storage)

    def search(question: str) -> Reply:
        results = memory.search(question, max(DEPTHS))
        found = [Found(one.path, *one.lines, one.excerpt) for one in results]
        return Reply(found, getattr(results, "answered", bool(found)))

    return search


def full_text(pages: Pages) -> Search:
    """Plain full text over paragraphs: any word of the question, except stopwords."""
    table, paragraphs = sqlite3.connect(":memory:"), [one for path in pages for one in _paragraphs(path, pages[path])]
    table.execute("CREATE VIRTUAL TABLE paragraphs USING fts5(text, tokenize='porter unicode61')")
    table.executemany("INSERT INTO paragraphs (text) VALUES (?)", [(one.shown,) for one in paragraphs])

    def search(question: str) -> Reply:
        asking = [word for word in re.findall(r"\w+", question.casefold()) if word not in stopwords()]
        match = " OR ".join(f'"{word}"' for word in asking)
        sql = "SELECT rowid FROM paragraphs WHERE paragraphs MATCH ? ORDER BY rank, rowid LIMIT ?"
        found = [paragraphs[row - 1] for (row,) in table.execute(sql, (match, max(DEPTHS)))] if match else []
        return Reply(found, bool(found))

    return search


def grep(pages: Pages) -> Search:
    """The lines that have most words of the question, in the order of the files."""

    def search(question: str) -> Reply:
        asking = {word for word in words(question) if word not in stopwords()}
        lines = [
            (sum(word in line.casefold() for word in asking), Found(path, number, number, line))
            for path, data in pages.items()
            for number, line in enumerate(_lines(data), 1)
        ]
        best = sorted((one for one in lines if one[0]), key=lambda one: -one[0])
        return Reply([found for _, found in best[: max(DEPTHS)]], bool(best))

    return search


def _paragraphs(path: str, data: bytes) -> Iterator[Found]:
    lines, start = [*_lines(data), ""], 0
    for number, line in enumerate(lines):
        if is_blank(line):
            if start < number:
                yield Found(path, start + 1, number, "\n".join(lines[start:number]))
            start = number + 1


def _lines(data: bytes) -> list[str]:
    return [line.rstrip("\r\n") for line in split_lines(readable(decode(data)))]


def _moved(asked: Asked, pages: Pages) -> Iterator[str]:
    """The lines of a question that are not what they were."""
    for answer in asked.answers:
        path, number, digest = answer.split(":")
        lines = split_lines(decode(pages.get(path, b"")))
        line = lines[int(number) - 1] if int(number) <= len(lines) else ""
        if hashlib.sha256(line.strip().encode("utf-8", "surrogateescape")).hexdigest()[:8] != digest:
            yield f"{asked.folder}: {answer}"


def _asked(searches: Mapping[str, Search]) -> dict[Asked, Reply]:
    return {asked: searches[asked.folder](asked.question) for asked in QUESTIONS}


def rank(asked: Asked, found: Sequence[Found]) -> int | None:
    """The rank, from 1, of the first hit that shows an answer."""
    answers = [(path, int(number)) for path, number, _ in (answer.split(":") for answer in asked.answers)]
    for place, one in enumerate(found, 1):
        if any(one.path == path and one.first <= number <= one.last for path, number in answers):
            return place
    return None


def _figures(replies: Mapping[Asked, Reply]) -> dict[str, float]:
    ranks = [rank(asked, reply.found) for asked, reply in replies.items() if asked.answers]
    told = [not reply.answered for asked, reply in replies.items() if not asked.answers]
    refused = [not reply.answered for asked, reply in replies.items() if asked.answers]
    sizes = [mean(tokens(one.shown) for one in reply.found) for reply in replies.values() if reply.found]
    return {
        **{f"@{depth}": mean(place is not None and place <= depth for place in ranks) for depth in DEPTHS},
        "absent": mean(told) if told else 0.0,
        "refused": float(sum(refused)),
        "tokens": mean(sizes) if sizes else 0.0,
    }


def _miss(asked: Asked, reply: Reply) -> Iterator[str]:
    place = rank(asked, reply.found)
    if asked.answers and place != 1:
        yield f"answer at rank {place or '-'}: {asked.question}"
        for one in reply.found[: min(3, (place or 4) - 1)]:
            yield f"    {one.path}:{one.first}-{one.last}  {' '.join(one.shown.split())[:100]}"
    if reply.answered != bool(asked.answers):
        best = " ".join(reply.found[0].shown.split())[:100] if reply.found else ""
        yield f"{'refused' if asked.answers else 'absence not told'}: {asked.question}  {best}"


if __name__ == "__main__":
    main()
