"""The days that a question asks for."""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from memory_v2.index.places import PAGES, Kind, packed
from memory_v2.text.dates import PartialDate, Span

ON_A_DAY = "since <= (SELECT last FROM asked WHERE first <= until ORDER BY first DESC LIMIT 1)"
"""The condition that a passage falls on one of the days `asked`, of which no two overlap."""

_MOST_YEARS = 60
_YEAR = 364
"""How many days after its first one a year ends, at least."""


@dataclass(frozen=True)
class Days:
    """Spans of days as ordinals, first and last, in the order in which the question names them."""

    spans: tuple[tuple[int, int], ...]
    of_any_year: bool = False
    """Whether the question names a day or a month without a year."""

    @cached_property
    def merged(self) -> list[tuple[int, int]]:
        """The same days in order; spans that overlap or follow each other are one."""
        merged: list[tuple[int, int]] = []
        for first, last in sorted(self.spans):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(merged[-1][1], last))
            else:
                merged.append((first, last))
        return merged

    def include(self, since: int | None, until: int | None, vaguely: bool = False) -> bool:
        """Whether any day from `since` to `until` is one of these; if the year is not said, a whole year or more is so
        only `vaguely`: what is said of 2028 is not said of July."""
        if since is None or until is None or (self.of_any_year and until - since >= _YEAR and not vaguely):
            return False
        before = bisect_right(self.merged, until, key=lambda span: span[0])
        return before > 0 and since <= self.merged[before - 1][1]

    def named(self, since: int | None, until: int | None) -> tuple[int, int] | None:
        """The first span, as the question names them, that has a day from `since` to `until`."""
        if since is None or until is None or not self.include(since, until):
            return None
        return next((span for span in self.spans if since <= span[1] and span[0] <= until), None)

    def ask(self, tables: sqlite3.Connection) -> None:
        """Puts these days into the table `asked` of this connection."""
        tables.execute("DELETE FROM asked")
        rows = "SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?)"
        tables.execute(f"INSERT INTO asked {rows}", (packed(self.merged),))


def known_days(tables: sqlite3.Connection, dates: Collection[Span | PartialDate], kind: Kind = PAGES) -> Days:
    """The days that are meant; a day or month of no year in particular is one of each year that a passage is about."""
    of_any_year = any(isinstance(asked, PartialDate) for asked in dates)
    years = _years(tables, kind) if of_any_year else range(0)
    return Days(tuple(dict.fromkeys(span for asked in dates for span in _spans(asked, years))), of_any_year)


def _years(tables: sqlite3.Connection, kind: Kind) -> range:
    # One by one each end is read off the index; asked for at once they take a walk over all of it.
    first, last = (
        tables.execute(f"SELECT {end}(since) FROM {kind}passages WHERE since IS NOT NULL").fetchone()[0]
        for end in ("min", "max")
    )
    if first is None:
        return range(0)
    return range(date.fromordinal(first).year, date.fromordinal(last).year + 1)[-_MOST_YEARS:]


def _spans(asked: Span | PartialDate, years: Iterable[int]) -> Iterator[tuple[int, int]]:
    if isinstance(asked, Span):
        yield asked.start.toordinal(), asked.end.toordinal()
        return
    for year in years:
        try:
            first = date(year, asked.month, asked.day or 1)
        except ValueError:  # 29 February
            continue
        following = first + timedelta(days=1) if asked.day else date(year + asked.month // 12, asked.month % 12 + 1, 1)
        yield first.toordinal(), following.toordinal() - 1
