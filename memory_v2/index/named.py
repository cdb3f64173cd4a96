"""The days that places name as those on which they were said: headings, sources and pages name them for all below."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from memory_v2.index.lines import line_id
from memory_v2.text.calendar import named_day
from memory_v2.text.dates import Span, find_dates, named_span
from memory_v2.text.own_day import heading_day
from memory_v2.tree.block import split_lines
from memory_v2.tree.page import Page
from memory_v2.tree.source import Source


class Named(NamedTuple):
    """A day, or days from `since` to `until` (as ordinals), that a place names as those on which it was said. If they
    stand in a line for the whole page, that has this `line` id: what was written after it has another day."""

    since: int
    until: int
    line: int | None = None


def named_by(span: Span, line: int | None = None) -> Named:
    """These days, as named by a line for the whole page if its id is given."""
    return Named(span.start.toordinal(), span.end.toordinal(), line)


def day_of_source(source: Source) -> tuple[Named, ...]:
    """The day of a source, or the one in its name; none if it has neither."""
    day = source.day or named_day(source.name)
    return (named_by(Span(day, day)),) if day else ()


def days_of_page(page: Page) -> tuple[Named, ...]:
    """The days of the page as a whole: as it was said, or as its path says."""
    last = page.path.rsplit("/", 1)[-1]
    by_name = [
        span
        for span in (named_span(last) or next((span for span, _, _ in find_dates(last)), None), heading_day(page.title))
        if span
    ]
    if (day := page.said_on) is None:
        return tuple(map(named_by, by_name))
    told = next((line for line in _told(page) if str(day) in line and not line.startswith("last_updated")), "")
    return tuple(map(named_by, (Span(day, day), *by_name), (line_id(told), *(None for _ in by_name))))


def _told(page: Page) -> Iterator[str]:
    """The lines of the metadata and of the front matter."""
    yield from split_lines(page.metadata)
    if page.blocks[:1] and page.blocks[0].kind == "front matter":
        yield from split_lines(page.blocks[0].text)
