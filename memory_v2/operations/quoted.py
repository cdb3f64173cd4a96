"""Answers for a prompt: as many as fit into a number of tokens, each below a line that says where it stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memory_v2.errors import InvalidSetting
from memory_v2.operations.results import SearchResult
from memory_v2.settings import is_count
from memory_v2.text.tokens import tokens

LEAST_TOKENS = 100
"""The smallest number of tokens that can be asked for: the longest path and a line have room."""
SMALLEST = 15
"""How many tokens the smallest answers have, so that no more are looked for than can fit."""
_CUT = " …"


def check_tokens(max_tokens: int | None) -> None:
    """Raises `InvalidSetting` for too few tokens."""
    if max_tokens is not None and not is_count(max_tokens, LEAST_TOKENS):
        raise InvalidSetting(f"max_tokens must be at least {LEAST_TOKENS}, not {max_tokens!r}")


def fitting(results: Sequence[SearchResult], narrow: SearchResult | None, max_tokens: int) -> list[SearchResult]:
    """The best results that together, as `SearchResults.text` has them, have at most so many tokens. If the best one is
    too large, `narrow`, which is what was found of it, is there in its place, cut if it must be."""
    found = list(_that_fit(results, max_tokens))
    if not results or results[0] in found:
        return found
    best = narrow or results[0]
    if tokens(best.quoted) > max_tokens:
        best = _cut(replace(best, section=()), max_tokens)
    return [best, *_that_fit(results[1:], max_tokens - tokens(best.quoted) - 1)]


def _that_fit(results: Sequence[SearchResult], max_tokens: int) -> Iterator[SearchResult]:
    for result in results:
        if (size := tokens(result.quoted) + 1) <= max_tokens:  # and a blank line
            max_tokens -= size
            yield result


def _cut(result: SearchResult, max_tokens: int) -> SearchResult:
    """The beginning of a result that fits."""

    def cut(length: int) -> SearchResult:
        excerpt = result.excerpt[:length]
        last = result.lines[0] + excerpt.rstrip("\r\n").count("\n")
        return replace(result, excerpt=excerpt + _CUT, lines=(result.lines[0], last))

    fits = bisect_right(range(len(result.excerpt)), max_tokens, key=lambda length: tokens(cut(length).quoted))
    return cut(max(fits - 1, 0))
