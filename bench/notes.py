"""Whether search answers questions about people's notes, and says so if they do not: `python -m bench.notes`.

Each folder of notes is a memory of its own, its files are the pages. Of the questions (`bench/texts/notes.json`)
forty are answered by a line of their folder, and twenty by none. A hit answers if it shows such a line. Beside the
search stand the same ranker over a flat list, which is one page with all notes of the folder; plain full text over
paragraphs (SQLite FTS5, bm25); and grep (the lines with most words of the question).

Figures: answered by the first, by one of three and of ten hits; absent answers told; answerable questions refused;
tokens of a hit, on average over the hits of a question. Plain full text and grep tell an absence by finding nothing.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from bench.data import data_file, own_texts
from bench.searching import Search, Watch, a_text, full_text, grep, index_figures, memory_of, of_memory, of_texts
from bench.tables import Figures, parser, report
from memory_v2.operations.results import SearchResult, SearchResults
from memory_v2.text.words import tokens
from memory_v2.tree.block import close_block, decode, encode, is_blank, readable, split_lines
from memory_v2.tree.page import read_page

DEPTHS = (1, 3, 10)
SOME_NOTE = "notes/clawvault-own-vault/projects/helios.md"
"""A file by which the folder of all notes is found."""

Pages: TypeAlias = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a folder. `answers` are the lines that answer it, as `page:line:digest`, so that none of
    the text stands in this repository; the digest is the start of the SHA-256 of the line without blanks around it."""

    language: str
    folder: str
    question: str
    answers: tuple[str, ...]


QUESTIONS = [
    Asked(language, folder, question, tuple(lines)) for language, folder, question, lines in own_texts("notes")
]
"""Sixty questions, written before any search was asked; a third have no answer in their folder."""


Replies: TypeAlias = dict[Asked, SearchResults]


def main() -> None:
    """Prints the figures."""
    chosen = parser("Whether search answers questions about people's notes.").parse_args()
    notes = data_file(SOME_NOTE).parents[2]
    folders = {name: pages_of(notes / name) for name in sorted({asked.folder for asked in QUESTIONS})}
    problems = [problem for asked in QUESTIONS for problem in _moved(asked, folders[asked.folder])]
    if problems:
        sys.exit("these notes are not those of the questions:\n  " + "\n  ".join(problems))
    replies, watch = dict[str, Replies](), Watch()
    for name, prepare in SEARCHES.items():
        searches = {folder: watch.timed(name, prepare(pages)) for folder, pages in folders.items()}
        replies[name] = {asked: searches[asked.folder](asked.question) for asked in QUESTIONS}
    figures = {name: _figures(found) for name, found in replies.items()}
    for language in dict.fromkeys(asked.language for asked in QUESTIONS):
        part = {asked: found for asked, found in replies["memory"].items() if asked.language == language}
        figures[f"memory, {language}"] = _figures(part)
    index = {"all folders": index_figures(*folders.values())}
    searched = f"a search for {max(DEPTHS)} hits"
    report({"answered": figures, searched: watch.rows, "the index": index}, chosen.json)


def pages_of(folder: Path) -> dict[str, bytes]:
    """The notes of a folder, each by the path of its page."""
    return {
        "/".join(part.lstrip(".") for part in file.relative_to(folder).with_suffix("").parts): file.read_bytes()
        for file in sorted(folder.rglob("*.md"))
    }


def memory_search(pages: Pages) -> Search:
    """The search of a memory that has these pages."""
    return of_memory(memory_of(pages), max(DEPTHS))


def flat_search(pages: Pages) -> Search:
    """The search of a memory that has one page with all of them."""
    starts, text = dict[int, str](), ""
    for path, data in pages.items():
        starts[len(split_lines(text))] = path
        text += _closed(path, data)
    flat = of_memory(memory_of({"memory": encode(text)}), max(DEPTHS))

    def search(question: str) -> SearchResults:
        found = flat(question)
        for number, hit in enumerate(found):
            start = max(start for start in starts if start < hit.lines[0])
            found[number] = replace(hit, path=starts[start], lines=(hit.lines[0] - start, hit.lines[1] - start))
        return found

    return search


def _closed(path: str, data: bytes) -> str:
    """A page and a blank line. A fence that it leaves open is closed: it would swallow the pages after it."""
    text, blocks = decode(data), read_page(path, data).blocks
    if blocks:
        text += close_block(blocks[-1]).text.removeprefix(blocks[-1].text)
    return text + ("\n" if text.endswith("\n") else "\n\n")


def full_text_search(pages: Pages) -> Search:
    """Plain full text over paragraphs."""
    paragraphs = [paragraph for path in pages for paragraph in _paragraphs(path, pages[path])]
    return of_texts(full_text, paragraphs, max(DEPTHS))


def grep_search(pages: Pages) -> Search:
    """The lines that have most words of the question, in the order of the files."""
    lines = ((path, number, line) for path in pages for number, line in enumerate(_lines(pages[path]), 1))
    return of_texts(grep, [a_text(line, path=path, lines=(at, at)) for path, at, line in lines], max(DEPTHS))


SEARCHES: Mapping[str, Callable[[Pages], Search]] = {
    "memory": memory_search,
    "flat list": flat_search,
    "FTS5 over paragraphs": full_text_search,
    "grep over lines": grep_search,
}


def _paragraphs(path: str, data: bytes) -> Iterator[SearchResult]:
    lines, start = [*_lines(data), ""], 0
    for number, line in enumerate(lines):
        if is_blank(line):
            if start < number:
                yield a_text("\n".join(lines[start:number]), path=path, lines=(start + 1, number))
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


def answers_in(asked: Asked, path: str, first: int, last: int) -> bool:
    """Whether one of these lines of a page answers a question."""
    answers = ((page, int(number)) for page, number, _ in (answer.split(":") for answer in asked.answers))
    return any(page == path and first <= number <= last for page, number in answers)


def rank(asked: Asked, found: SearchResults) -> int | None:
    """The rank, from 1, of the first hit that shows an answer."""
    return next((place for place, hit in enumerate(found, 1) if answers_in(asked, hit.path, *hit.lines)), None)


def _figures(replies: Replies) -> Figures:
    ranks = [rank(asked, reply) for asked, reply in replies.items() if asked.answers]
    told = [not reply.answered for asked, reply in replies.items() if not asked.answers]
    refused = [not reply.answered for asked, reply in replies.items() if asked.answers]
    sizes = [fmean(tokens(hit.excerpt) for hit in reply) for reply in replies.values() if reply]
    return {
        **{f"@{depth}": fmean(place is not None and place <= depth for place in ranks) for depth in DEPTHS},
        "absent": fmean(told) if told else 0.0,
        "refused": sum(refused),
        "tokens": fmean(sizes) if sizes else 0.0,
    }


if __name__ == "__main__":
    main()
