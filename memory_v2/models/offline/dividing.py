"""Splitting offline: by section, by date for a log, by recurring subject, and by size as a last resort."""

from __future__ import annotations

import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from memory_v2.models.base import ToolCall
from memory_v2.models.briefs import SplitBrief
from memory_v2.models.offline.describing import describe_page
from memory_v2.models.offline.grouping import group_links
from memory_v2.models.offline.naming import Names, Terms, heading_name, name_for, texts_of, undated
from memory_v2.models.offline.outline import Section, dated_runs, find_sections, find_units, recurring_subjects
from memory_v2.models.offline.page_features import telling_terms
from memory_v2.models.offline.topics import bare, is_common_heading, subject_of, topics_of
from memory_v2.text.dates import Span, covers, find_dates, leading_date, named_span
from memory_v2.text.plain import capitalized, plain, shorten
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.words import stem, words
from memory_v2.tree.block import Block, encode, readable
from memory_v2.tree.headings import Outline
from memory_v2.tree.numbers import parse_numbers, show_numbers
from memory_v2.tree.path import ROOT, child_path

Runs = Sequence[tuple[Span, tuple[int, ...]]]
Strategy = Literal["topic", "chronological", "entity", "size"]

TARGET_SHARE = 0.45
"""How much a split leaves on the page, as a share of the threshold: less than half, so that the page can grow again."""
MAX_CHILD_SHARE = 0.75
"""Limits the size of a new child, as a share of the threshold, so that it can grow. A single larger block exceeds
it."""
MAX_CHILDREN = 12
"""Limits the new children of one split: more lines under `## Links` are hard to choose from."""
MAX_IN_ONE = 0.75
"""Limits a single child, as a share of the page: moving more than this to one child only moves the problem."""
MIN_PERIOD_SHARE = 0.12
"""The least size of a month or day with a page of its own, as a share of the threshold; a smaller one joins the
next."""
LINK_BYTES = 230
"""An estimate of one line under `## Links` in bytes, without the path of the parent: a name and a description."""
MIN_CHILD_BYTES = 350
"""The least size of a section or subject with a page of its own, in bytes: a link to less costs nearly as much."""
LEAST_NUMBERED = 3
"""From how many numbered sections they are a series, which is not torn."""
MOST = 0.6
"""From which share of a group one section gives it its name."""
MAX_SUBJECT = 36
"""Limits each of two subjects that name a run of sections, in characters."""
_CLOCK = re.compile(r"\W*(\d{1,2}:\d{2})(?!\d)")
_COUNTED = re.compile(r"\W*([^\W\d_]+) (\d{1,3})(?![\w.])")
_NUMBERED = re.compile(r"\W*(?:[^\W\d_]+ )?(?:\d{1,2}|[A-Za-z])(?:[.):]|\s[-–—])\s")


@dataclass(frozen=True)
class Group:
    """One new child: its blocks, and its name if that is clear already; `also` tells it from others of that name."""

    numbers: tuple[int, ...]
    name: str = ""
    title: str = ""
    lead: str = ""
    also: str = ""


@dataclass(frozen=True)
class _Page:
    """The page that is split, with everything that is measured on it."""

    brief: SplitBrief

    @cached_property
    def children(self) -> frozenset[str]:
        """The names of children that the page already lists."""
        view = self.brief.view.page
        names = {entry.target: entry.target.rsplit("/", 1)[-1] for entry in view.children}
        return frozenset(name for target, name in names.items() if child_path(view.path, name) == target)

    @cached_property
    def above(self) -> frozenset[str]:
        """The stems of the names of the page and the pages above it: they do not set a part of it apart."""
        view = self.brief.view.page
        return frozenset(stem(word) for word in words(f"{view.title} {view.path.replace('/', ' ').replace('-', ' ')}"))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return self.brief.view.page.blocks

    @cached_property
    def outline(self) -> Outline:
        """The headings of the page."""
        return Outline(self.blocks)

    @cached_property
    def sizes(self) -> list[int]:
        """The size of each block, by its number."""
        return [0, *(block.size for block in self.blocks)]

    @cached_property
    def units(self) -> list[tuple[int, ...]]:
        """What moves as one."""
        return find_units(self.blocks, self.body, self.full, self.size)

    @cached_property
    def terms(self) -> Terms:
        """The terms of all blocks that may move, in the order of `body`."""
        return Terms(texts_of(self.blocks[number - 1] for number in self.body))

    @cached_property
    def body(self) -> list[int]:
        """The numbers of all blocks that may move."""
        fixed = self.brief.view.page.fixed
        return [number for number in range(1, len(self.blocks) + 1) if number not in fixed]

    @property
    def goal(self) -> float:
        """How many bytes should be left on the page."""
        return min(TARGET_SHARE * self.brief.threshold, 0.9 * self.brief.target)

    @property
    def full(self) -> float:
        """How many bytes a child should have at most."""
        return MAX_CHILD_SHARE * self.brief.threshold

    def size(self, numbers: Iterable[int]) -> int:
        return sum(self.sizes[number] for number in numbers)

    @property
    def listed(self) -> int:
        """The estimated size of a child's line under `## Links`, in bytes."""
        return LINK_BYTES + len(self.brief.view.page.path.encode())

    @property
    def links(self) -> int:
        """The size of the lines under `## Links`, in bytes."""
        return sum(len(encode(link.line)) for link in self.brief.view.page.children)

    @property
    def most_children(self) -> int:
        """How many new children the page has room to list."""
        room = self.brief.target - (self.brief.view.page.size - self.size(self.body))
        return max(2, min(MAX_CHILDREN, room // self.listed))

    def left(self, groups: Sequence[Group]) -> int:
        """The bytes left on the page when these groups move, including a link to each."""
        return self.brief.view.page.size - sum(self.size(group.numbers) - self.listed for group in groups)


def divide(brief: SplitBrief, plainly: bool = False) -> tuple[ToolCall, ...]:
    """The tool call that splits the page; `plainly` splits by size alone."""
    page = _Page(brief)
    if brief.crowded:
        room = brief.target - page.brief.view.page.size + page.links
        call = _call(page, "topic", [], names := Names(brief), group_links(brief, names, room, brief.most_children))
        if call.arguments["children"] and _left_after(brief, call) <= brief.target:
            return (call,)
    strategies: list[Callable[[_Page], tuple[Strategy, list[Group]]]] = [_by_section, _by_date, _by_subject]
    for strategy in [] if plainly else strategies:
        kind, groups = strategy(page)
        if groups and _left_after(brief, call := _call(page, kind, groups, Names(brief))) <= brief.target:
            return (call,)
    if brief.view.page.size <= brief.threshold:
        return (
            ToolCall(
                "leave_whole", {"reason": "the page is small, and no part of it is large enough for a page of its own"}
            ),
        )
    return (_by_size_and_links(page),)


def _by_size_and_links(page: _Page) -> ToolCall:
    """Splits by size, into as many children as the page has room to list. If that is not enough, links move too."""
    brief, room = page.brief, page.most_children
    counts = [room, *(count for count in (4, 3, 2) if count < room)]
    most_groups = brief.most_children - room
    for links_too in (False, True) if brief.view.page.children else (False,):
        for count in counts:
            names = Names(brief)
            links = group_links(brief, names, brief.target // 2, most_groups) if links_too else ()
            call = _call(page, "size", _by_size(page, count), names, links)
            if call.arguments["children"] and _left_after(brief, call) <= brief.target:
                return call
    return call


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
    homes = Outline(page.blocks).settled(homes, page.fixed)
    return left - sum(block.size for block, home in zip(page.blocks, homes[1:], strict=True) if home)


def _by_section(page: _Page) -> tuple[Strategy, list[Group]]:
    sections = find_sections(page.blocks, page.body)
    if len(sections) < 2:
        return "topic", []
    dated = [section for section in sections if section.span]
    if page.size(n for s in dated for n in s.numbers) >= 0.6 * page.size(page.body):
        runs = [(section.span, section.numbers) for section in dated if section.span]
        if groups := _by_time(page, runs):
            return "chronological", groups
    return "topic", _largest(page, sections)


def _largest(page: _Page, sections: Sequence[Section]) -> list[Group]:
    """The largest sections, until enough has moved; sections too small for a page stay. Numbered ones go together."""
    numbered = [section for section in sections if _NUMBERED.match(plain(section.heading))]
    if LEAST_NUMBERED <= len(numbered) <= MAX_CHILDREN:
        groups = [_section_group(page, section.heading, section.numbers) for section in numbered]
        if page.left(groups) <= page.brief.target:
            return groups
    groups = []
    for section in sorted(sections, key=lambda s: (-page.size(s.numbers), s.numbers)):
        left = page.left(groups)
        if left <= page.goal or (len(groups) >= MAX_CHILDREN and left <= page.brief.target):
            break
        if page.size(section.numbers) >= MIN_CHILD_BYTES:
            groups.append(_section_group(page, section.heading, section.numbers))
    if page.left(groups) > page.brief.target:
        return []
    return sorted(groups, key=lambda group: group.numbers)


def _section_group(page: _Page, heading: str, numbers: tuple[int, ...]) -> Group:
    """A section, named by its heading; a second one of that name is told apart by the day in its heading."""
    told = plain(heading)
    also = next((_day(span) for span, _, _ in find_dates(told) if span.granularity == "day"), "")
    return Group(numbers, _section_name(page, told, numbers), told, told, also)


def _section_name(page: _Page, heading: str, numbers: Sequence[int]) -> str:
    """The subject of a heading: behind one that stands in notes of any kind, such as `Update: The new pier`, or else of
    what stands below it."""
    name, said = heading_name(heading), subject_of(heading)
    if not is_common_heading(name):
        return name
    if not is_common_heading(said):
        return heading_name(said)
    if heading_name(whole := bare(undated(said))) == whole:
        return name  # one that has nothing behind it, such as `Key findings`
    below = topics_of([page.blocks[number - 1] for number in numbers], heading, keep_values=True)
    return next((topic.words for topic in below if not topic.is_said), name)


def _by_date(page: _Page) -> tuple[Strategy, list[Group]]:
    runs = dated_runs(page.blocks, page.body)
    if page.size(n for _, numbers in runs for n in numbers) < 0.6 * page.size(page.body):
        return "chronological", []
    return "chronological", _by_time(page, runs)


def _by_time(page: _Page, runs: Runs) -> list[Group]:
    """By month; on the page of one month by day; over many years by year. The newest days stay if there is room."""
    months = {_month(span) for span, _ in runs}
    key = _day if len(months) == 1 else _month if len(months) <= MAX_CHILDREN * 2 else _year
    periods: dict[str, list[tuple[Span, tuple[int, ...]]]] = {}
    for span, numbers in runs:
        periods.setdefault(key(span), []).append((span, numbers))
    if key is _day and len(periods) == 1 and _is_day(page):
        return []
    if key is _day and not _is_within(page, min(months)):
        return _month_so_far(page, months.pop(), [periods[day] for day in sorted(periods)])
    groups: list[Group] = []
    for names in _full_enough(page, periods):
        if groups and page.left(groups) <= page.goal:
            break
        groups.append(_period(names, [run for name in names for run in periods[name]]))
    return groups


def _full_enough(page: _Page, periods: Mapping[str, Runs]) -> list[list[str]]:
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


def _is_day(page: _Page) -> bool:
    """Whether the page is named after one day or a few days."""
    span = leading_date(page.brief.view.page.path.rsplit("/", 1)[-1])
    return span is not None and span.granularity == "day"


def _is_within(page: _Page, month: str) -> bool:
    """Whether the page, or one above it, is named after this month or a part of it."""
    spans = filter(None, map(named_span, page.brief.view.page.path.split("/")))
    return any(_month(span) == month == _month(Span(span.end, span.end)) for span in spans)


def _month_so_far(page: _Page, month: str, days: list[Runs]) -> list[Group]:
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


def _day(span: Span) -> str:
    return f"{span.start:%Y-%m-%d}"


def _whole(span: Span, name: str) -> Span:
    """The whole year, month or day that a page with this name covers."""
    start = span.start
    if len(name) == 4:
        return Span(start.replace(month=1, day=1), start.replace(month=12, day=31))
    if len(name) == 7:
        return Span(start.replace(day=1), start.replace(day=monthrange(start.year, start.month)[1]))
    return Span(start, start)


def _by_subject(page: _Page) -> tuple[Strategy, list[Group]]:
    """Recurring people and subjects, most frequent first, until enough has moved."""
    groups: list[Group] = []
    for subject, numbers in recurring_subjects(page.blocks, page.units, page.above):
        if page.left(groups) <= page.goal or len(groups) == MAX_CHILDREN:
            break
        if page.size(numbers) >= MIN_CHILD_BYTES:
            groups.append(Group(numbers, name=subject, title=plain(subject), lead=plain(subject)))
    return "entity", groups


def _by_size(page: _Page, most: int) -> list[Group]:
    """Runs of neighbours, from the top; the last run stays if it is small enough. There are at most `most` runs; on a
    page many times too large, the runs themselves are split next."""
    full = max(page.full, page.size(page.body) / most + 1)
    runs: list[list[tuple[int, ...]]] = []
    run: list[tuple[int, ...]] = []
    left, size = page.brief.view.page.size, 0
    for unit in page.units:
        own = page.size(unit)
        if run and size + own > full:
            runs.append(run)
            left -= size - page.listed
            if left <= page.goal:
                return _groups(runs)
            run, size = [], 0
        run.append(unit)
        size += own
    if run and left > page.goal:
        runs.append(run)
    return _groups(_halved(runs[0]) if len(runs) == 1 and size > page.full else runs)


def _halved(run: list[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
    middle = len(run) // 2
    return [run[:middle], run[middle:]] if middle else [run]


def _groups(runs: Sequence[Sequence[tuple[int, ...]]]) -> list[Group]:
    return [Group(tuple(number for unit in run for number in unit)) for run in runs]


def _call(
    page: _Page, strategy: Strategy, groups: Sequence[Group], names: Names, links: Sequence[dict[str, Any]] = ()
) -> ToolCall:
    children = [_child(page, group, names) for group in groups]
    return ToolCall("split_page", {"strategy": strategy, "children": [*children, *links]})


def _name_told_apart(group: Group, terms: Sequence[str], names: Names, fallback: str) -> str:
    """The name of the group, if it is free; else the same with its day, or with a telling term."""
    name = slug(group.name)
    if named_span(name) or not is_meaningful(name):
        return name_for([group.name, *terms] if not named_span(name) else [group.name], names, fallback)
    apart = [f"{name} {more}" for more in (group.also, *terms) if more and slug(more) not in name]
    return name_for([name, *apart], names, fallback)


def _run_of_sections(page: _Page, numbers: tuple[int, ...]) -> Group | None:
    """A group that was made by size, named by the sections that stand whole in it: by the one that is most of it, or by
    the first and the last one. `None` if it has none that say something."""
    outline, inside, done = page.outline, set(numbers), 0
    sections: list[range] = []
    for number in numbers:
        section = range(number, outline.ends[number] + 1)
        if number > done and outline.levels[number] and inside.issuperset(section):
            sections.append(section)
            done = section[-1]
    headings = [plain(readable(page.blocks[section[0] - 1].words)) for section in sections]
    clocks = [found[1] for heading in headings if (found := _CLOCK.match(heading))]
    if len(clocks) > 1 and 2 * len(clocks) >= len(headings):
        return _range(numbers, f"{clocks[0]} to {clocks[-1]}", "log")
    told = [place for place, heading in enumerate(headings) if is_meaningful(slug(heading_name(heading)))]
    if not told:
        return None
    largest = max(told, key=lambda place: (page.size(sections[place]), -place))
    if len(told) == 1 or page.size(sections[largest]) > MOST * page.size(numbers):
        return _section_group(page, headings[largest], numbers)
    return _range(numbers, _from_to([headings[place] for place in told]))


def _range(numbers: tuple[int, ...], title: str, of: str = "") -> Group:
    return Group(numbers, f"{title} {of}".strip(), title, title)


def _from_to(headings: Sequence[str]) -> str:
    """What a run of sections is called: `Chapter 8 to 15`, what all their headings say, or the first and the last."""
    first, last = (_COUNTED.match(heading) for heading in (headings[0], headings[-1]))
    if first and last and first[1].casefold() == last[1].casefold():
        return f"{first[1]} {first[2]} to {last[2]}"
    subjects = [heading_name(subject_of(heading)) for heading in headings]
    common = set[str].intersection(*(set(words(subject)) for subject in subjects))
    shared = [word for word in subjects[0].split() if common.issuperset(words(word))]
    if telling_terms(" ".join(shared)):
        return " ".join(shared)
    return f"{shorten(subjects[0], MAX_SUBJECT)} to {shorten(subjects[-1], MAX_SUBJECT)}"


def _child(page: _Page, group: Group, names: Names) -> dict[str, Any]:
    telling = page.terms.telling(bisect_left(page.body, number) for number in group.numbers)
    terms = [term for term in telling if not page.above.issuperset(map(stem, words(term)))]
    fallback = shorten(page.blocks[group.numbers[0] - 1].content, 40)
    if not group.title:
        group = _run_of_sections(page, group.numbers) or group
    if group.name in page.children and named_span(group.name):
        name = group.name  # an older part of the same period has this page
    elif group.name:
        name = _name_told_apart(group, terms, names, fallback)
    else:
        name = name_for(terms, names, fallback)
    title = group.title or next((term for term in map(plain, terms) if slug(term) == name), "") or fallback or name
    blocks = [page.blocks[number - 1] for number in group.numbers]
    return {
        "name": name,
        "title": (title if group.title else capitalized(title))[:110],
        "description": describe_page(group.lead or title, blocks, terms) or fallback,
        "blocks": show_numbers(group.numbers),
    }
