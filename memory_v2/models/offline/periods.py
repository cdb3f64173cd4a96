"""Splitting a log: by month, the page of one month by day, and many years by year."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from memory_v2.models.offline.measured_page import MAX_CHILDREN, MeasuredPage, NewChild
from memory_v2.text.dates import Span, covers, leading_date, named_span
from memory_v2.tree.path import ROOT

Runs: TypeAlias = Sequence[tuple[Span, tuple[int, ...]]]
YEAR, MONTH, DAY = len("2026"), len("2026-02"), len("2026-02-03")
"""How many characters of a day name each of these."""
MAX_IN_ONE = 0.75
"""Limits a single child, as a share of the page: moving more than this to one child only moves the problem."""
MIN_PERIOD_SHARE = 0.12
"""The least size of a month or day with a page of its own, as a share of the threshold; a smaller one joins the
next."""


def by_time(page: MeasuredPage, runs: Runs) -> list[NewChild]:
    """By month; on the page of one month by day; over many years by year. The newest days stay if there is room."""
    months = {_named(span, MONTH) for span, _ in runs}
    unit = DAY if len(months) == 1 else MONTH if len(months) <= MAX_CHILDREN * 2 else YEAR
    periods: dict[str, list[int]] = {}
    for span, numbers in runs:
        periods.setdefault(_named(span, unit), []).extend(numbers)
    own = leading_date(page.page.path.rsplit("/", 1)[-1])
    if len(periods) == 1 and unit == DAY and own and own.granularity == "day":
        return []
    if unit == DAY and not _is_within(page, min(months)):
        return _month_so_far(page, months.pop(), [periods[day] for day in sorted(periods)])
    groups: list[NewChild] = []
    for names in _full_enough(page, periods):
        if groups and page.left(groups) <= page.goal:
            break
        groups.append(period_of(names, [number for name in names for number in periods[name]]))
    return groups


def _full_enough(page: MeasuredPage, periods: Mapping[str, Sequence[int]]) -> list[list[str]]:
    """The periods in order; neighbours too small for a page of their own share one."""
    together: list[list[str]] = []
    size = 0
    short = max(MIN_PERIOD_SHARE * page.brief.threshold, page.size(page.body) / page.room_for(MAX_CHILDREN))
    for name in sorted(periods):
        own = page.size(periods[name])
        alike = together and together[-1][0][:-3] == name[:-3] and not page.children.intersection([name, *together[-1]])
        if alike and size < short and size + own <= page.full:
            together[-1].append(name)
            size += own
        else:
            together.append([name])
            size = own
    return together


def _is_within(page: MeasuredPage, month: str) -> bool:
    """Whether the page, or one above it, is named after this month or a part of it."""
    spans = filter(None, map(named_span, page.page.path.split("/")))
    return any(_named(span, MONTH) == month == f"{span.end:%Y-%m}" for span in spans)


def _month_so_far(page: MeasuredPage, month: str, days: Sequence[Sequence[int]]) -> list[NewChild]:
    """A page for the current month of the log, with all its days but the newest, or with all of them."""
    for kept in filter(None, (days[:-1], days)):
        group = period_of([month], [number for day in kept for number in day])
        small = page.size(group.numbers) < MAX_IN_ONE * page.page.size
        if page.left([group]) <= page.brief.target and (small or page.page.path == ROOT):
            return [group]
    return []


def period_of(names: Sequence[str], numbers: Sequence[int]) -> NewChild:
    """A child for one or more years, months or days. Of several days, the last is told without its year."""
    first, last = names[0], names[-1]
    if first != last:
        until = last if len(last) < DAY else last[YEAR + 1 :]
        return NewChild(tuple(sorted(numbers)), f"{first}-to-{until}", f"{first} to {until}", is_period=True)
    span = named_span(first)
    return NewChild(tuple(sorted(numbers)), first, covers(span) if span else first, is_period=True)


def _named(span: Span, unit: int) -> str:
    return span.start.isoformat()[:unit]
