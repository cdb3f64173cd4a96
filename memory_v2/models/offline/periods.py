"""Splitting a log: by month, the page of one month by day, and many years by year."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from memory_v2.models.offline.measured_page import MAX_CHILDREN, Group, MeasuredPage
from memory_v2.text.dates import Span, covers, leading_date, named_span
from memory_v2.tree.path import ROOT

Runs: TypeAlias = Sequence[tuple[Span, tuple[int, ...]]]
MAX_IN_ONE = 0.75
"""Limits a single child, as a share of the page: moving more than this to one child only moves the problem."""
MIN_PERIOD_SHARE = 0.12
"""The least size of a month or day with a page of its own, as a share of the threshold; a smaller one joins the
next."""


def by_time(page: MeasuredPage, runs: Runs) -> list[Group]:
    """By month; on the page of one month by day; over many years by year. The newest days stay if there is room."""
    months = {_month(span) for span, _ in runs}
    key = day_name if len(months) == 1 else _month if len(months) <= MAX_CHILDREN * 2 else _year
    periods: dict[str, list[tuple[Span, tuple[int, ...]]]] = {}
    for span, numbers in runs:
        periods.setdefault(key(span), []).append((span, numbers))
    if key is day_name and len(periods) == 1 and _is_day(page):
        return []
    if key is day_name and not _is_within(page, min(months)):
        return _month_so_far(page, months.pop(), [periods[day] for day in sorted(periods)])
    groups: list[Group] = []
    for names in _full_enough(page, periods):
        if groups and page.left(groups) <= page.goal:
            break
        groups.append(_period(names, [run for name in names for run in periods[name]]))
    return groups


def _full_enough(page: MeasuredPage, periods: Mapping[str, Runs]) -> list[list[str]]:
    """The periods in order; neighbours too small for a page of their own share one."""
    together: list[list[str]] = []
    size = 0
    short = max(MIN_PERIOD_SHARE * page.brief.threshold, page.size(page.body) / page.most_children)
    for name in sorted(periods):
        own = page.size(n for _, numbers in periods[name] for n in numbers)
        alike = together and together[-1][0][:-3] == name[:-3] and not page.children.intersection([name, *together[-1]])
        if alike and size < short and size + own <= page.full:
            together[-1].append(name)
            size += own
        else:
            together.append([name])
            size = own
    return together


def _is_day(page: MeasuredPage) -> bool:
    """Whether the page is named after one day or a few days."""
    span = leading_date(page.brief.view.page.path.rsplit("/", 1)[-1])
    return span is not None and span.granularity == "day"


def _is_within(page: MeasuredPage, month: str) -> bool:
    """Whether the page, or one above it, is named after this month or a part of it."""
    spans = filter(None, map(named_span, page.brief.view.page.path.split("/")))
    return any(_month(span) == month == _month(Span(span.end, span.end)) for span in spans)


def _month_so_far(page: MeasuredPage, month: str, days: list[Runs]) -> list[Group]:
    """A page for the current month of the log, with all its days but the newest, or with all of them."""
    for kept in filter(None, (days[:-1], days)):
        group = _period([month], [run for day in kept for run in day])
        small = page.size(group.numbers) < MAX_IN_ONE * page.brief.view.page.size
        if page.left([group]) <= page.brief.target and (small or page.brief.view.page.path == ROOT):
            return [group]
    return []


def _period(names: Sequence[str], members: Runs) -> Group:
    """A child for one or more years, months or days. Of several days, the last is told without its year."""
    first, last = names[0], names[-1]
    start, end = min(s.start for s, _ in members), max(s.end for s, _ in members)
    numbers = tuple(sorted(n for _, run in members for n in run))
    if first != last:
        until = last if len(last) < len("2026-02-03") else last[len("2026-") :]
        return Group(numbers, name=f"{first}-to-{until}", title=f"{first} to {until}", lead=f"{first} to {until}")
    title = covers(Span(_whole(Span(start, start), first).start, _whole(Span(end, end), last).end))
    return Group(numbers, name=first, title=title, lead=title)


def _year(span: Span) -> str:
    return f"{span.start:%Y}"


def _month(span: Span) -> str:
    return f"{span.start:%Y-%m}"


def day_name(span: Span) -> str:
    """The name of the page of a day."""
    return f"{span.start:%Y-%m-%d}"


def _whole(span: Span, name: str) -> Span:
    """The whole year, month or day that a page with this name covers."""
    start = span.start
    if len(name) == 4:
        return Span(start.replace(month=1, day=1), start.replace(month=12, day=31))
    if len(name) == 7:
        return Span(start.replace(day=1), start.replace(day=monthrange(start.year, start.month)[1]))
    return Span(start, start)
