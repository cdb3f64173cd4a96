"""Answers without tables, from the pages themselves: slow and simple, for when the index has failed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date

from memory_v2.errors import PageNotFound, Unreadable
from memory_v2.index.base import Hit, PageRow, PageSource
from memory_v2.index.page_tables import last_updated
from memory_v2.text.calendar import Calendar
from memory_v2.tree.block import readable, split_lines
from memory_v2.tree.page import Page, read_page

_WORD = re.compile(r"\w+")


def read_pages(source: PageSource) -> tuple[list[Page], dict[str, Unreadable]]:
    """Every page, sorted by path, and those that cannot be read: they are among the pages, without their text."""
    pages: list[Page] = []
    unreadable: dict[str, Unreadable] = {}
    for path in sorted(stamp.path for stamp in source.stamps()):
        try:
            pages.append(read_page(path, source.read(path).data))
        except PageNotFound:  # removed meanwhile
            continue
        except Unreadable as error:
            unreadable[path] = error
            pages.append(read_page(path, b""))
    return pages, unreadable


def find_words(
    pages: Iterable[Page], query: str, limit: int, within: Collection[str] | None, calendar: Calendar
) -> list[Hit]:
    """The blocks that have most words of a query, to the letter but for case; best first."""
    asked = frozenset(_words(query))
    found = (hit for page in pages if within is None or page.path in within for hit in _hits(page, asked, calendar))
    return sorted(found, key=lambda hit: (-hit.score, hit.path, hit.first_line))[:limit]


def find_same(pages: Iterable[Page], texts: Iterable[str]) -> dict[str, tuple[str, int]]:
    """The page and block of each of these texts that is in the tree already, regardless of spacing and case."""
    said: dict[str, tuple[str, int]] = {}
    for page in pages:
        for number, block in enumerate(page.blocks, 1):
            said.setdefault(" ".join(_words(block.text)), (page.path, number))
    return {text: said[plain] for text in texts if (plain := " ".join(_words(text))) in said and plain}


def page_day(pages: Iterable[Page], path: str, calendar: Calendar) -> date | None:
    """The day of the last change of a page, according to its metadata."""
    moment = next((page.last_updated for page in pages if page.path == path), None)
    return min(calendar.day(moment), calendar.today) if moment else None


def list_rows(source: PageSource, pages: Iterable[Page]) -> list[PageRow]:
    """The rows of these pages."""
    return [PageRow(page.path, page.title, page.size, last_updated(source, page)) for page in pages]


def _hits(page: Page, asked: frozenset[str], calendar: Calendar) -> Iterator[Hit]:
    line = 1
    for number, block in enumerate(page.blocks, 1):
        text = readable(block.content)
        first = line + len(split_lines(block.text[: block.text.find(block.content)]))
        line += len(split_lines(block.text))
        if matched := asked.intersection(_words(text)):
            last, day = first + len(split_lines(text)) - 1, page_day([page], page.path, calendar)
            score = len(matched) / len(asked)
            yield Hit(page.path, number, first, last, text, score, day, (), ", ".join(sorted(matched)))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
