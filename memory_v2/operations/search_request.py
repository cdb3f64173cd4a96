"""What a search is asked, in which part of the memory (below a path, near a page, of some days, from some source), and
whether what was found answers it.

The index knows the days that a text names for itself or in a heading. On which day a line was written, or its source
said it, is known only of what was found. So that is looked through, and what was said on the days that a question names
comes before what was said later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal

from memory_v2.errors import InvalidPath, InvalidSetting, PageNotFound
from memory_v2.index.base import Hit
from memory_v2.index.coverage import ALL, BEST, FLOOR
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.lookup import CANDIDATES
from memory_v2.index.ranking import raised
from memory_v2.index.terms import asked_at_once, asked_before, says_as_written
from memory_v2.index.weights import AFTERWARDS, DAY, QUESTION, SAID_AFTERWARDS, SAID_THEN
from memory_v2.operations.results import EntryResult, SearchResult, Verdict
from memory_v2.settings import is_count
from memory_v2.text.dates import PartialDate, Span, question_dates
from memory_v2.text.days import asks_for_days_alone
from memory_v2.text.lists import present
from memory_v2.tree.graph import Graph
from memory_v2.tree.path import page_path
from memory_v2.validate import checked_day


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The arguments of a search, as they were given; `Memory.search` says what they mean. Whoever reads one checks
    it."""

    query: str
    max_results: int = 10
    max_tokens: int | None = None
    under: str | None = None
    since: date | str | None = None
    until: date | str | None = None
    source: str | None = None
    near: str | None = None
    steps: int = 1
    regex: bool = False
    only: Literal["pages", "entries"] | None = None
    agent: str | None = None
    domain: str | None = None
    tags: Iterable[str] = ()
    min_confidence: float | None = None
    cross: bool = False
    archived: bool = False


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
        """Whether it has what is on this page, was said on this day and came from this source."""
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


def spans_meant(days: Iterable[Span | PartialDate], today: date) -> list[Span]:
    """The times that are asked for; a month or a day without a year is one of the last years."""
    return [span for one in days for span in (one.latest(today) if isinstance(one, PartialDate) else [one])]


POOL = CANDIDATES
"""Among how many of the best places those of the days asked for are looked for. The index proposes as many anyway."""


def ranked_by_day(hits: Sequence[Hit], query: str, days: Sequence[Span | PartialDate], today: date) -> list[Hit]:
    """The hits, best first, with points for the day on which they were said, too: for those of a day asked for, and
    against those said later, unless the question asks for what has been so since. Who asks for what was so before a day
    asks neither for what names it nor for what was said from then on. Entries have theirs."""
    begun = [span for span in spans_meant(days, today) if span.start <= today]
    last = date.max if says_as_written(present(), query) else max((span.end for span in begun), default=date.max)
    afterwards, (_, ends) = SAID_AFTERWARDS, asked_before(query)
    if until := [span.start for span in spans_meant(ends, today) if span.start <= today]:
        days, last = [one for one in days if one not in ends], max(until) - timedelta(days=1)
        hits, afterwards = [_without_day(hit) for hit in hits], -QUESTION[DAY]
    return sorted((_ranked_by_day(hit, days, last, afterwards) for hit in hits), key=lambda hit: -hit.score)


def _without_day(hit: Hit) -> Hit:
    points = dict(hit.signs).get(DAY, 0.0)
    signs = tuple(one for one in hit.signs if one[0] != DAY)
    return replace(hit, score=raised(hit.score, -points), signs=signs) if points else hit


def _ranked_by_day(hit: Hit, days: Sequence[Span | PartialDate], last: date, afterwards: float) -> Hit:
    if hit.entry or not hit.date or DAY in dict(hit.signs):
        return hit
    if any(_has(span, hit.date) for span in days):
        sign, points = DAY, SAID_THEN
    elif hit.date > last:
        sign, points = AFTERWARDS, afterwards
    else:
        return hit
    return replace(hit, score=raised(hit.score, points), signs=(*hit.signs, (sign, points)))


def is_of(days: Sequence[Span | PartialDate], hit: Hit) -> bool:
    """Whether a hit was said on one of these days, or names it."""
    return DAY in dict(hit.signs) or (hit.date is not None and any(_has(span, hit.date) for span in days))


def _has(days: Span | PartialDate, day: date) -> bool:
    return days.matches(Span(day, day)) if isinstance(days, PartialDate) else days.start <= day <= days.end


NEAR = 0.25
"""How near in meaning, as a cosine, a place is at least that may be an answer whatever its words."""


def with_confidence(
    found: Sequence[SearchResult], query: str, index: FullTextIndex, with_entries: bool = False
) -> list[SearchResult]:
    """The results, each with how much of what a question asks for it tells. What is surely no answer is not called an
    earlier one: of a question that nothing answers, a newer place that shares a name is no newer answer."""
    shares = index.told(query, [(_told(one.path, one.section, one.excerpt), one.date) for one in found], with_entries)
    return [
        replace(one, confidence=round(share, 2), earlier=one.earlier and share >= ALL)
        for one, share in zip(found, shares, strict=True)
    ]


def verdict(
    found: Sequence[SearchResult],
    places: Sequence[Hit],
    query: str,
    index: FullTextIndex,
    with_entries: bool = False,
) -> Verdict:
    """Whether one of the best results or places is an answer: surely if it tells almost all of what is asked for;
    perhaps if it tells enough of it, or of one of the questions that are asked at once, or is near in meaning. Places
    count too, as a few results only may be asked for; entries that are past do not. What is of a day is an answer to a
    question that asks for it alone."""
    days = question_dates(query)
    if days and asks_for_days_alone(query) and any(is_of(days, place) for place in places):
        return "answered"
    past = {hit.entry.id for hit in places if hit.entry and hit.entry.past}
    found = [one for one in found if not (isinstance(one, EntryResult) and one.entry in past)]
    places = [hit for hit in places if not (hit.entry and hit.entry.past)]
    texts = [(_told(one.path, one.section, one.excerpt), one.date) for one in found[:BEST]]
    texts += [(_told(place.path, place.section, place.text), place.date) for place in places[:BEST]]
    best, *of_each = (max(index.told(asked, texts, with_entries), default=0.0) for asked in asked_at_once(query))
    if max(best, min(of_each, default=0.0)) >= ALL:
        return "answered"
    is_near = any(place.near >= NEAR for place in places)
    return "perhaps" if is_near or max(best, *of_each, 0.0) >= FLOOR else "no"


def _told(path: str, section: Iterable[str], text: str) -> str:
    return "\n".join((path.replace("/", " ").replace("-", " "), *section, text))
