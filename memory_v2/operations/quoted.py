"""Answers for a prompt: as many as fit into a number of tokens, each below a line that says where it stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace

from memory_v2.errors import InvalidSetting
from memory_v2.operations.excerpts import Excerpt, excerpts
from memory_v2.operations.results import SearchResult
from memory_v2.settings import is_count
from memory_v2.text.tokens import tokens
from memory_v2.tree.page import Page

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
    for one in excerpts(results, find):
        place, joined = _joined(found, one)
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
