"""Splitting offline: by section; a log by date, that is by month, the page of one month by day, and many years by year;
by what is alike; and by size as a last resort."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from memory_v2.models.base import ToolCall
from memory_v2.models.briefs import SplitBrief
from memory_v2.models.offline.describing import describe_page
from memory_v2.models.offline.grouping import group_links
from memory_v2.models.offline.likeness import Likeness, middle_of, vectors
from memory_v2.models.offline.measured_page import LEAST_ALIKE, MAX_CHILDREN, MAX_RUNS, MeasuredPage, NewChild
from memory_v2.models.offline.naming import MAX_TITLE, Names, bare, heading_name, keyword_line
from memory_v2.models.offline.outline import MAX_SECTION_SHARE, OF_A_LOG, DatedSection, dated_runs, find_sections
from memory_v2.text.dates import Span, covers, find_dates, leading_date, named_span
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.words import capitalized, plain, shorten, stem, words
from memory_v2.tree.block import encode, readable
from memory_v2.tree.edit import parse_numbers, show_numbers
from memory_v2.tree.page import page_source
from memory_v2.tree.path import ROOT, child_path
from memory_v2.tree.source import told_sources

Strategy = Literal["topic", "chronological", "entity", "size"]
Division = tuple[Strategy, list[NewChild]]

NOTES_TO_A_GROUP = (3, 5, 8, 12)
"""How many different notes there should be for each group of them, in the order in which that is tried. On the notes of
two people, 3 to 6 put together most notes of one subject; of larger groups, more move."""
FEWEST_GROUPS = 3
"""The least groups of notes that are tried: with two, most of a page only moves."""
MOST_TOLD = 12
"""How many words tell a page of notes at most."""
MAX_COLLECTION_LINE = 120
"""Limits the line of a page of notes, in characters: a page lists many."""
MIN_CHILD_BYTES = 350
"""The least size of a section or subject with a page of its own, in bytes: a link to less costs nearly as much."""
LEAST_NUMBERED = 3
"""From how many numbered sections they are a series, which is not torn."""
MOST = 0.6
"""From which share of a group one section gives it its name."""
MAX_SUBJECT = 36
"""Limits each of two subjects that name a run of sections, in characters."""
_CLOCK = re.compile(r"\W*(\d{1,2}:\d{2})(?!\d)")
_NUMBERED = re.compile(r"\W*(?:[^\W\d_]+ )?(?:\d{1,2}|[A-Za-z])(?:[.):]|\s[-–—])\s")


def divide(brief: SplitBrief, plainly: bool = False) -> tuple[ToolCall, ...]:
    """The tool call that splits the page; `plainly` splits by size alone."""
    page = MeasuredPage(brief)
    if brief.crowded:
        room = brief.target - page.page.size + page.links
        links = group_links(brief, names := Names(brief), room, brief.most_children)
        if links and _left_after(brief, call := _call(page, "topic", [], names, links)) <= brief.target:
            return (call,)
    strategies: list[Callable[[MeasuredPage], Division]] = [_by_section, _by_date, _by_likeness]
    if page.is_talk:
        strategies = [_by_date]  # it is not torn by what it speaks of
    for strategy in [] if plainly else strategies:
        kind, groups = strategy(page)
        if groups and _left_after(brief, call := _call(page, kind, groups, Names(brief))) <= brief.target:
            return (call,)
    if page.page.size <= brief.threshold:
        reason = "the page is small, and no part of it is large enough for a page of its own"
        return (ToolCall("leave_whole", {"reason": reason}),)
    return (_by_size_and_links(page),)


def _by_section(page: MeasuredPage) -> Division:
    """A log by the dates of its sections; else the largest sections, until enough has moved; those too small for a page
    stay. Numbered ones go together."""
    sections = find_sections(page.blocks, page.body)
    dated = [(section.span, section.numbers) for section in sections if section.span]
    if _is_most(page, [numbers for _, numbers in dated]) and (groups := by_time(page, dated)):
        return "chronological", groups
    numbered = [section for section in sections if _NUMBERED.match(plain(section.heading))]
    if LEAST_NUMBERED <= len(numbered) <= MAX_CHILDREN:
        groups = [_section_group(section.heading, section.numbers) for section in numbered]
        if page.left(groups) <= page.brief.target:
            return "topic", groups
    chosen: list[DatedSection] = []
    left = page.page.size
    for section in sorted(sections, key=lambda section: (-page.size(section.numbers), section.numbers)):
        if left <= page.goal or (len(chosen) >= MAX_CHILDREN and left <= page.brief.target):
            break
        if (size := page.size(section.numbers)) >= MIN_CHILD_BYTES:
            chosen.append(section)
            left -= size - page.listed
    if left > page.brief.target:
        return "topic", []
    chosen.sort(key=lambda section: section.numbers)
    return "topic", [_section_group(section.heading, section.numbers) for section in chosen]


def _is_most(page: MeasuredPage, runs: Sequence[tuple[int, ...]]) -> bool:
    return bool(runs) and page.size(number for run in runs for number in run) >= OF_A_LOG * page.size(page.body)


def _section_group(heading: str, numbers: tuple[int, ...]) -> NewChild:
    """A section, named by its heading; a second one of that name is told apart by the day in its heading."""
    told = plain(heading)
    also = next((f"{span.start}" for span, _, _ in find_dates(told) if span.granularity == "day"), "")
    return NewChild(numbers, heading_name(told), told, also)


def _by_date(page: MeasuredPage) -> Division:
    runs = dated_runs(page.blocks, page.body)
    return "chronological", by_time(page, runs) if _is_most(page, [numbers for _, numbers in runs]) else []


def _by_likeness(page: MeasuredPage) -> Division:
    """Notes that are alike, also to those on a child that is there, in as many groups as move enough. The parts of one
    text are not torn by what they speak of."""
    units = [unit for unit in page.units if any(page.blocks[number - 1].kind != "heading" for number in unit)]
    if len(units) < LEAST_ALIKE or page_source(page.page).is_document or not any(page.terms.terms):
        return "entity", []
    homes, there = page.collections, len(page.collections)
    parts = [page.places(unit) for unit in units]
    known = [[place] for home in homes for place in page.places((), home)]
    texts = ["\n".join(page.terms.texts[place] for place in part) for part in [*parts, *known]]
    found = vectors([page.terms.counts(part) for part in [*parts, *known]], texts, page.brief.meaning())
    of_homes = iter(found[len(parts) :])
    weights = [len(page.places((), home)) for home in homes]
    points = [middle_of([next(of_homes) for _ in range(weight)]) for weight in weights]
    told = [unit for unit, vector in zip(units, found, strict=False) if vector]
    points += [vector for vector in found[: len(units)] if vector]
    different = len({frozenset(vector) for vector in points[there:]})
    most, likeness = max(0, page.room_for(MAX_CHILDREN) - there), Likeness(points, weights)
    for size in NOTES_TO_A_GROUP:
        count = there + min(most, max(FEWEST_GROUPS, different // size))
        groups = []
        for places in likeness.groups(count):
            numbers = tuple(sorted(n for place in places if place >= there for n in told[place - there]))
            if places[0] < there and numbers:
                home = homes[places[0]]
                groups.append(
                    NewChild(numbers, home.path.rsplit("/", 1)[-1], home.title, is_collection=True, kept=home)
                )
            elif len(places) >= LEAST_ALIKE // 2 and page.size(numbers) >= MIN_CHILD_BYTES:
                groups.append(NewChild(numbers, is_collection=True))
        largest = max((page.size(group.numbers) for group in groups), default=0)
        if largest > max(page.brief.threshold, MAX_SECTION_SHARE * page.page.size):
            break  # nearly all are alike
        if groups and page.left(groups) <= page.brief.target:
            return "entity", groups
    return "entity", []


def _by_size_and_links(page: MeasuredPage) -> ToolCall:
    """Splits by size, into as many children as the page has room to list. If that is not enough, links move too."""
    brief, room = page.brief, page.room_for(MAX_RUNS)
    for links_too in (False, True) if page.page.children else (False,):
        for count in (room, *(count for count in (4, 3, 2) if count < room)):
            names = Names(brief)
            links = group_links(brief, names, brief.target // 2, brief.most_children - room) if links_too else ()
            call = _call(page, "size", list(_by_size(page, count)), names, links)
            if call.arguments["children"] and _left_after(brief, call) <= brief.target:
                return call
    return call


def _by_size(page: MeasuredPage, most: int) -> Iterator[NewChild]:
    """Runs of neighbours, from the top; the last run stays if it is small enough. There are at most `most` runs; on a
    page many times too large, the runs themselves are split next."""
    full = max(page.full, page.size(page.body) / most + 1)
    runs: list[list[tuple[int, ...]]] = [[]]
    left, size = page.page.size, 0
    for unit in page.units:
        own = page.size(unit)
        if runs[-1] and size + own > full:
            left -= size - page.listed
            if left <= page.goal:
                break
            runs.append([])
            size = 0
        runs[-1].append(unit)
        size += own
    else:
        if left <= page.goal:
            runs.pop()
    if len(runs) == 1 and size > page.full and len(runs[0]) > 1:
        middle = len(runs[0]) // 2
        runs = [runs[0][:middle], runs[0][middle:]]
    for run in filter(None, runs):
        yield _run_of_sections(page, tuple(number for unit in run for number in unit))


def _run_of_sections(page: MeasuredPage, numbers: tuple[int, ...]) -> NewChild:
    """A group that was made by size, named by the sections that stand whole in it: by the one that is most of it, or by
    the first and the last one. A conversation is named by its days, as far as they were told."""
    said = told_sources(page.blocks) if page.is_talk else {}
    days = sorted({f"{said[number].day}" for number in numbers if number in said and said[number].day})
    if days and days[0][:YEAR] == days[-1][:YEAR]:
        period = period_of([days[0], days[-1]], numbers)
        return replace(period, name=f"{period.name} log", is_period=False)
    outline, inside, done = page.brief.outline, set(numbers), 0
    sections: dict[str, range] = {}
    for number in numbers:
        section = range(number, outline.ends[number] + 1)
        if number > done and outline.levels[number] and inside.issuperset(section):
            sections[plain(readable(page.blocks[number - 1].words))] = section
            done = section[-1]
    clocks = [found[1] for heading in sections if (found := _CLOCK.match(heading))]
    if len(clocks) > 1 and 2 * len(clocks) >= len(sections):
        return NewChild(numbers, f"{clocks[0]} to {clocks[-1]} log", f"{clocks[0]} to {clocks[-1]}")
    size = page.size(numbers)
    large = [heading for heading, section in sections.items() if page.size(section) > MOST * size]
    first, largest, last = (next(filter(_is_telling, some), "") for some in (sections, large, reversed(sections)))
    if not first:
        return NewChild(numbers)
    if largest or first == last:
        only = largest or first
        is_all = len(sections[only]) == len(numbers)
        return _section_group(only if is_all else bare(only), numbers)  # a day would be that of the others, too
    first, last = (shorten(heading_name(heading), MAX_SUBJECT) for heading in (first, last))
    title = first if first == last else f"{first} to {last}"
    return NewChild(numbers, title, title)


def _is_telling(heading: str) -> bool:
    """Whether a page may be named by a heading."""
    return is_meaningful(slug(heading_name(heading)))


# the call


def _left_after(brief: SplitBrief, call: ToolCall) -> int:
    """The bytes left on the page once the call is carried out."""
    page = brief.view.page
    left = page.size
    homes = [0] * (len(page.blocks) + 1)
    for place, child in enumerate(call.arguments["children"], 1):
        path = child_path(page.path, child["name"])
        left += len(encode(f"- [[{path}]] - {child['description']}\n"))
        left -= sum(len(encode(link.line)) for link in page.children if link.target == path)
        for number in parse_numbers(child["blocks"], len(page.blocks)) if child.get("blocks") else []:
            homes[number] = place
        for number in parse_numbers(child["links"], len(page.children), "l") if child.get("links") else []:
            left -= len(encode(page.children[number - 1].line))
    homes = brief.outline.settled(homes, page.fixed)
    return left - sum(block.size for block, home in zip(page.blocks, homes[1:], strict=True) if home)


def _call(
    page: MeasuredPage,
    strategy: Strategy,
    groups: Sequence[NewChild],
    names: Names,
    links: Sequence[dict[str, Any]] = (),
) -> ToolCall:
    children = [_child(page, group, names) for group in groups]
    return ToolCall("split_page", {"strategy": strategy, "children": [*children, *links]})


def _child(page: MeasuredPage, group: NewChild, names: Names) -> dict[str, Any]:
    places = page.places(group.numbers, group.kept)
    telling = page.terms.telling(places, MOST_TOLD)
    terms = [term for term in telling if not page.above.issuperset(map(stem, words(term)))]
    of_most = [term for term in terms if page.terms.is_of_most(places, term)]
    fallback = shorten(page.blocks[group.numbers[0] - 1].content, 40)
    name, title = group.name, group.title
    if not (group.kept or (group.is_period and name in page.children)):  # else an older part of it has this page
        # Notes that merely mention somebody are not called by the name: by two, if none is of most of them.
        named = of_most or ([", ".join(terms[:2]), *terms] if group.is_collection else terms)
        name, told = names.give(_candidates(group, named), fallback)
        title = title or capitalized(shorten(told, MAX_TITLE))
    title = shorten(title, MAX_TITLE) or name
    blocks = [page.blocks[number - 1] for number in group.numbers]
    if group.is_collection:
        description = keyword_line(title, terms, MAX_COLLECTION_LINE)
    else:
        description = describe_page(title, blocks, terms)
    return {"name": name, "title": title, "description": description or fallback, "blocks": show_numbers(group.numbers)}


def _candidates(group: NewChild, terms: Sequence[str]) -> list[str]:
    """The names that a group may have: its own, then the same with its day or with a telling term."""
    if not group.name or not is_meaningful(slug(group.name)):
        return [*filter(None, [group.name]), *terms]
    if named_span(slug(group.name)):
        return [group.name]
    more = [term for term in (group.also, *terms) if term and slug(term) not in slug(group.name)]
    return [group.name, *(f"{group.name} {term}" for term in more)]


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
