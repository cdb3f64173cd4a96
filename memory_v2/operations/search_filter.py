"""Searching in a part of the memory (below a path, near a page, of some days, from some source), and lifting what was
said on the days that a question names.

The index knows the days that a text names for itself or in a heading. On which day a line was written, or its source
said it, is known only of what was found.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date

from memory_v2.errors import InvalidPath, InvalidSetting, PageNotFound
from memory_v2.index.base import Hit
from memory_v2.index.lookup import CANDIDATES
from memory_v2.index.ranking import raised
from memory_v2.index.weights import MEANING
from memory_v2.operations.search_request import SearchRequest
from memory_v2.settings import is_count
from memory_v2.text.dates import PartialDate, Span
from memory_v2.tree.graph import Graph
from memory_v2.tree.path import page_path
from memory_v2.validate import checked_day


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """A part of the memory: these `pages` (all, if `None`), what was said from `since` to `until`, and what came from a
    source whose name has `source` in it."""

    pages: Collection[str] | None = None
    since: date | None = None
    until: date | None = None
    source: str = ""

    @property
    def is_of_whole_pages(self) -> bool:
        """Whether everything on its pages belongs to it."""
        return not (self.since or self.until or self.source)

    def has(self, path: str, day: date | None, source: str) -> bool:
        """Whether it has what stands on this page, was said on this day and came from this source."""
        if (self.pages is not None and path not in self.pages) or self.source.casefold() not in source.casefold():
            return False
        if day is None:
            return not (self.since or self.until)
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)


def checked_filter(asked: SearchRequest, graph: Graph) -> SearchFilter:
    """The part that is asked for: the page `under` and those below it, those at most `steps` links from the page
    `near`. Raises `PageNotFound`, `InvalidPath`, `InvalidSetting`."""
    first, last = checked_day("since", asked.since), checked_day("until", asked.until)
    if first and last and first > last:
        raise InvalidSetting(f"since must not be after until: {first} is after {last}")
    if not is_count(asked.steps, 1):
        raise InvalidSetting(f"steps must be at least 1, not {asked.steps!r}")
    name = asked.source.strip() if isinstance(asked.source, str) else ""
    if asked.source is not None and not name:
        raise InvalidSetting(f"source must be a part of the name of a source, not {asked.source!r}")
    pages: frozenset[str] | None = None
    if asked.under is not None:
        pages = _below(graph, _path(asked.under))
    if asked.near is not None:
        around = _around(graph, _path(asked.near), asked.steps)
        pages = around if pages is None else pages & around
    return SearchFilter(pages, first, last, name)


def _path(given: object) -> str:
    if not isinstance(given, str):
        raise InvalidPath(f"a path is text, not {type(given).__name__}")
    return page_path(given.removesuffix("/"))


def _below(graph: Graph, path: str) -> frozenset[str]:
    found = frozenset(page for page in graph.pages if page == path or page.startswith(f"{path}/"))
    if not found:
        raise PageNotFound(path)
    return found


def _around(graph: Graph, path: str, steps: int) -> frozenset[str]:
    """The page and those that so many links lead to or come from."""
    if path not in graph.pages:
        raise PageNotFound(path)
    found = last = {path}
    for _ in range(steps):
        linked = {edge.target for one in last for edge in graph.links.get(one, ())}
        last = linked.union(*(graph.sources.get(one, ()) for one in last)) - found
        if not last:
            break
        found = found | last
    return frozenset(found)


POOL = CANDIDATES
"""Among how many of the best places those of the days asked for are looked for. The index proposes as many anyway."""
SIGN = "the day asked for"
"""How a ranking calls it that a place names the day asked for."""


def lifted(hits: Sequence[Hit], days: Sequence[Span | PartialDate]) -> list[Hit]:
    """The hits, best first, with as many points for the day on which they were said as for one that they name. Entries
    have theirs."""
    return sorted((_lifted(hit, days) for hit in hits), key=lambda hit: -hit.score)


def _lifted(hit: Hit, days: Sequence[Span | PartialDate]) -> Hit:
    if hit.entry or not hit.date or SIGN in dict(hit.signs) or not any(_has(span, hit.date) for span in days):
        return hit
    points = MEANING.note.day
    return replace(hit, score=raised(hit.score, points), signs=(*hit.signs, (SIGN, points)))


def _has(days: Span | PartialDate, day: date) -> bool:
    return days.matches(Span(day, day)) if isinstance(days, PartialDate) else days.start <= day <= days.end
