"""Hits as a person can read them: each a statement, and those that touch are one; or as many as fit into a number of
tokens, each below a line that says where it is.

The lines are those of the page, in its order. Where lines between them are left out, a line `…` stands for them, and
the lines of the result are all from the first to the last.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from memory_v2.errors import InvalidSetting, Unreadable
from memory_v2.operations.results import EntryResult, SearchResult
from memory_v2.settings import is_count
from memory_v2.text.statement import Lines
from memory_v2.text.words import tokens
from memory_v2.tree.block import BYTE_ORDER_MARK, is_blank, readable, split_lines
from memory_v2.tree.page import Page

LEFT_OUT = "…"
"""The line that stands for lines that are left out."""
LARGEST = 320
"""How large hits that touch may become as one, in tokens: what a reader takes in at a glance."""


def statements(results: Iterable[SearchResult], find: Callable[[str], Page | None], most: int) -> list[SearchResult]:
    """The first results, at most so many, each with as much around it as makes it a statement, in the same order; those
    that touch or overlap are one in the place of the better, if they are of one section, day and source or one holds
    the other. What is no longer on its page as it was found stays as it is."""
    joined: list[Excerpt | SearchResult] = []
    for excerpt in excerpts(results, find):
        if isinstance(excerpt, Excerpt):
            _add(joined, excerpt)
        else:
            joined.append(excerpt)
        if len(joined) > most:
            joined.pop()
            break
    return [one.result() if isinstance(one, Excerpt) else one for one in joined]


def excerpts(results: Iterable[SearchResult], find: Callable[[str], Page | None]) -> Iterator[Excerpt | SearchResult]:
    """Each result with as much around it as makes it a statement; one that is no longer on its page as it is."""
    pages: dict[str, _Text | None] = {}
    for result in results:
        if isinstance(result, EntryResult):  # it is whole, and no part of a page
            yield result
            continue
        if result.path not in pages:
            pages[result.path] = _text(result.path, find)
        text = pages[result.path]
        yield (text.excerpt(result) if text else None) or result


def _text(path: str, find: Callable[[str], Page | None]) -> _Text | None:
    try:
        page = find(path)
    except Unreadable:
        return None
    if page is None:
        return None
    body, rest = (
        split_lines(readable(text)) for text in (page.body.removeprefix(BYTE_ORDER_MARK), page.links + page.metadata)
    )
    return _Text(body, rest)


def _add(joined: list[Excerpt | SearchResult], excerpt: Excerpt) -> None:
    """Adds an excerpt: to the last one if they touch, or to the best that overlaps it."""
    for place, one in enumerate(joined):
        is_last = place == len(joined) - 1
        if isinstance(one, Excerpt) and one.joins(excerpt, is_last):
            joined[place] = one.with_lines_of(excerpt)
            return
    joined.append(excerpt)


class _Text:
    """The lines of a page, with what makes those of its body statements."""

    def __init__(self, body: Sequence[str], rest: Sequence[str]) -> None:
        self.lines = (*body, *rest)
        self.structure = Lines(body)

    def excerpt(self, result: SearchResult) -> Excerpt | None:
        """The excerpt of a result; `None` if the page says something else there."""
        first, last = result.lines[0] - 1, result.lines[1] - 1
        there = "".join(self.lines[first : last + 1]).strip("\r\n")
        if there != result.excerpt.strip("\r\n"):
            if first != last or result.excerpt not in there:
                return None
            pieces = {first: (result.excerpt,)}
        else:
            pieces = {}
        return Excerpt(self, result, self.structure.statement(first, last), pieces)


@dataclass(frozen=True, eq=False)
class Excerpt:
    """The lines (from 0) that are shown for a result; of a very long one only some pieces are shown."""

    text: _Text
    best: SearchResult
    shown: Sequence[int]
    pieces: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def joins(self, other: Excerpt, is_next: bool) -> bool:
        """Whether a lesser one becomes part of this: they share lines, or the next best goes on where this one ends.
        They must be of one section, day and source, and not too large as one, unless one holds the other.

        What touches but is of another rank stays apart, and so does what is above. Joined as well, they cost a
        fifth of the evidence in the first five turns (`bench.locomo`: .582 for .745)."""
        if self.text is not other.text:
            return False
        mine, others = set(self.shown), set(other.shown)
        is_whole = not (self.pieces or other.pieces)
        if is_whole and (mine <= others or others <= mine):
            return True
        gap = self.text.lines[self.shown[-1] + 1 : other.shown[0]]
        goes_on = is_next and self.shown[-1] < other.shown[0] and all(map(is_blank, gap))
        return (
            bool(goes_on or mine & others)
            and self.belongs_with(other)
            and tokens(self.with_lines_of(other).words) <= LARGEST
        )

    def belongs_with(self, other: Excerpt) -> bool:
        """Whether both are of one section, day and source."""
        mine, others = self.best, other.best
        return self.text is other.text and (
            (mine.section, mine.date, mine.source) == (others.section, others.date, others.source)
        )

    def with_lines_of(self, other: Excerpt) -> Excerpt:
        """Both as one."""
        pieces = dict(self.pieces)
        for number, found in other.pieces.items():
            pieces[number] = (*pieces.get(number, ()), *found)
        return replace(self, shown=self.text.structure.without_gaps({*self.shown, *other.shown}), pieces=pieces)

    @property
    def words(self) -> str:
        """The text of the lines."""
        parts = [self._line(self.shown[0])]
        for before, number in pairwise(self.shown):
            if number > before + 1:
                parts.append(f"{LEFT_OUT}\n")
            parts.append(self._line(number))
        return "".join(parts).strip("\r\n")

    def _line(self, number: int) -> str:
        line = self.text.lines[number]
        if number not in self.pieces:
            return line
        pieces = sorted(dict.fromkeys(self.pieces[number]), key=line.find)
        return f"\n{LEFT_OUT}\n".join(pieces) + "\n"

    def result(self) -> SearchResult:
        """The result with its excerpt."""
        return replace(self.best, excerpt=self.words, lines=(self.shown[0] + 1, self.shown[-1] + 1))


LEAST_TOKENS = 100
"""The smallest number of tokens that can be asked for: the longest path and a line have room."""
SMALLEST = 15
"""How many tokens the smallest answers have, so that no more are looked for than can fit."""
_CUT = " …"


def check_tokens(max_tokens: int | None) -> None:
    """Raises `InvalidSetting` for too few tokens."""
    if max_tokens is not None and not is_count(max_tokens, LEAST_TOKENS):
        raise InvalidSetting(f"max_tokens must be at least {LEAST_TOKENS}, not {max_tokens!r}")


def fitting(results: Sequence[SearchResult], find: Callable[[str], Page | None], max_tokens: int) -> list[SearchResult]:
    """The best results that together, as `SearchResults.text` has them, have at most so many tokens: each as a
    statement, those of one section, day and source as one below one citation. The best is there, cut if it must be."""
    found: list[Excerpt | SearchResult] = []
    left = max_tokens + 1  # there is no blank line below the last
    for excerpt in excerpts(results, find):
        place, joined = _joined(found, excerpt)
        if not found and _size(joined) > left:
            joined = _cut(results[0], max_tokens)
        more = _size(joined) - sum(map(_size, found[place : place + 1]))
        if more <= left:
            left -= more
            found[place : place + 1] = [joined]
    return [one.result() if isinstance(one, Excerpt) else one for one in found]


def _joined(found: Sequence[Excerpt | SearchResult], one: Excerpt | SearchResult) -> tuple[int, Excerpt | SearchResult]:
    """One more, as a part of the one that it belongs with, and in its place; else behind the others."""
    for place, other in enumerate(found):
        if isinstance(other, Excerpt) and isinstance(one, Excerpt) and other.belongs_with(one):
            return place, other.with_lines_of(one)
    return len(found), one


def _size(one: Excerpt | SearchResult) -> int:
    """How many tokens it takes, with the blank line below it."""
    return tokens((one.result() if isinstance(one, Excerpt) else one).quoted) + 1


def _cut(result: SearchResult, max_tokens: int) -> SearchResult:
    """What was found, or the beginning of it that fits."""
    if tokens(result.quoted) <= max_tokens:
        return result
    result = replace(result, section=())

    def cut(length: int) -> SearchResult:
        excerpt = result.excerpt[:length]
        last = result.lines[0] + excerpt.rstrip("\r\n").count("\n")
        return replace(result, excerpt=excerpt + _CUT, lines=(result.lines[0], last))

    fits = bisect_right(range(len(result.excerpt)), max_tokens, key=lambda length: tokens(cut(length).quoted))
    return cut(max(fits - 1, 0))
