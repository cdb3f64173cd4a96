"""Splitting offline: by section, by date for a log, by what is alike, and by size as a last resort."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from memory_v2.models.base import ToolCall
from memory_v2.models.briefs import SplitBrief
from memory_v2.models.offline.clusters import Point, clusters
from memory_v2.models.offline.describing import describe_page
from memory_v2.models.offline.grouping import group_links
from memory_v2.models.offline.likeness import middle_of, vectors
from memory_v2.models.offline.measured_page import LEAST_ALIKE, MAX_CHILDREN, Group, MeasuredPage
from memory_v2.models.offline.naming import Names, Terms, heading_name, name_for, texts_of, undated
from memory_v2.models.offline.outline import Section, dated_runs, find_sections
from memory_v2.models.offline.page_features import is_conversation, telling_terms
from memory_v2.models.offline.periods import by_time, day_name
from memory_v2.models.offline.topics import bare, is_common_heading, subject_of, topics_of
from memory_v2.text.dates import find_dates, named_span
from memory_v2.text.plain import capitalized, plain, shorten
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.words import stem, words
from memory_v2.tree.block import encode, readable
from memory_v2.tree.headings import Outline
from memory_v2.tree.numbers import parse_numbers, show_numbers
from memory_v2.tree.page import Page
from memory_v2.tree.path import child_path

Strategy = Literal["topic", "chronological", "entity", "size"]

NOTES_TO_A_GROUP = (3, 5, 8, 12)
"""How many different notes there should be for each group of them, in the order in which that is tried. On the notes of
two people, 3 to 6 put together most notes of one subject; of larger groups, more move."""
FEWEST_GROUPS = 3
"""The least groups of notes that are tried: with two, most of a page only moves."""
MOST_TOLD = 12
"""How many words tell a page of notes at most."""
MAX_COLLECTION_LINE = 120
"""Limits the line of a page of notes, in characters: a page lists many."""
MOST_OF_CHILD = 40
"""How many blocks of a child are compared with the notes that may go there."""
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


def divide(brief: SplitBrief, plainly: bool = False) -> tuple[ToolCall, ...]:
    """The tool call that splits the page; `plainly` splits by size alone."""
    page = MeasuredPage(brief)
    if brief.crowded:
        room = brief.target - page.brief.view.page.size + page.links
        call = _call(page, "topic", [], names := Names(brief), group_links(brief, names, room, brief.most_children))
        if call.arguments["children"] and _left_after(brief, call) <= brief.target:
            return (call,)
    strategies: list[Callable[[MeasuredPage], tuple[Strategy, list[Group]]]] = [_by_section, _by_date, _by_likeness]
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


def _by_size_and_links(page: MeasuredPage) -> ToolCall:
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


def _by_section(page: MeasuredPage) -> tuple[Strategy, list[Group]]:
    sections = find_sections(page.blocks, page.body)
    if len(sections) < 2:
        return "topic", []
    dated = [section for section in sections if section.span]
    if page.size(n for s in dated for n in s.numbers) >= 0.6 * page.size(page.body):
        runs = [(section.span, section.numbers) for section in dated if section.span]
        if groups := by_time(page, runs):
            return "chronological", groups
    return "topic", _largest(page, sections)


def _largest(page: MeasuredPage, sections: Sequence[Section]) -> list[Group]:
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


def _section_group(page: MeasuredPage, heading: str, numbers: tuple[int, ...]) -> Group:
    """A section, named by its heading; a second one of that name is told apart by the day in its heading."""
    told = plain(heading)
    also = next((day_name(span) for span, _, _ in find_dates(told) if span.granularity == "day"), "")
    return Group(numbers, _section_name(page, told, numbers), told, told, also)


def _section_name(page: MeasuredPage, heading: str, numbers: Sequence[int]) -> str:
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


def _by_date(page: MeasuredPage) -> tuple[Strategy, list[Group]]:
    runs = dated_runs(page.blocks, page.body)
    if page.size(n for _, numbers in runs for n in numbers) < 0.6 * page.size(page.body):
        return "chronological", []
    return "chronological", by_time(page, runs)


def _by_likeness(page: MeasuredPage) -> tuple[Strategy, list[Group]]:
    """Notes that are alike, also to those on a child that is there, in as many groups as move enough. A conversation
    and the parts of one text are not torn by what they speak of."""
    units = [unit for unit in page.units if any(page.blocks[number - 1].kind != "heading" for number in unit)]
    body = [page.blocks[number - 1] for number in page.body]
    if len(units) < LEAST_ALIKE or page.brief.view.page.properties.get("source") or is_conversation(body):
        return "entity", []
    homes = page.collections
    said = ["".join(page.blocks[number - 1].text for number in unit) for unit in units]
    there = [
        [block.text for block in home.blocks[home.top :] if block.kind != "heading"][:MOST_OF_CHILD] for home in homes
    ]
    found = iter(vectors([*said, *(text for texts in there for text in texts)], page.brief.meaning()))
    own = [next(found) for _ in said]
    points = [Point(middle_of([next(found) for _ in texts]), len(texts), is_group=True) for texts in there]
    points += [Point(vector) for vector in own if vector]
    told = [unit for unit, vector in zip(units, own, strict=True) if vector]
    most = max(0, page.most_children - len(homes)) if homes else page.most_children
    different = len({frozenset(vector) for vector in own if vector})
    for size in NOTES_TO_A_GROUP:
        count = len(homes) + min(most, max(FEWEST_GROUPS, different // size))
        groups = list(_alike(page, homes, told, clusters(points, count)))
        if groups and page.left(groups) <= page.brief.target:
            return "entity", groups
    return "entity", []


def _alike(
    page: MeasuredPage,
    homes: Sequence[Page],
    units: Sequence[tuple[int, ...]],
    found: Iterable[Sequence[int]],
) -> Iterator[Group]:
    """The groups of these clusters, whose places count the homes first. Few notes that are like no others stay."""
    for places in found:
        numbers = tuple(sorted(n for place in places if place >= len(homes) for n in units[place - len(homes)]))
        home = next((homes[place] for place in places if place < len(homes)), None)
        if home and numbers:
            yield Group(numbers, home.path.rsplit("/", 1)[-1], home.title, kept=home, is_collection=True)
        elif len(places) >= LEAST_ALIKE // 2 and page.size(numbers) >= MIN_CHILD_BYTES:
            yield Group(numbers, is_collection=True)


def _by_size(page: MeasuredPage, most: int) -> list[Group]:
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
    page: MeasuredPage, strategy: Strategy, groups: Sequence[Group], names: Names, links: Sequence[dict[str, Any]] = ()
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


def _run_of_sections(page: MeasuredPage, numbers: tuple[int, ...]) -> Group | None:
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


def _child(page: MeasuredPage, group: Group, names: Names) -> dict[str, Any]:
    telling = page.terms.telling((bisect_left(page.body, number) for number in group.numbers), MOST_TOLD)
    terms = [term for term in telling if not page.above.issuperset(map(stem, words(term)))]
    fallback = shorten(page.blocks[group.numbers[0] - 1].content, 40)
    if not group.title and not group.is_collection:
        group = _run_of_sections(page, group.numbers) or group
    if group.kept or (group.name in page.children and named_span(group.name)):
        name = group.name  # an older part of the same period has this page
    elif group.name:
        name = _name_told_apart(group, terms, names, fallback)
    else:
        name = name_for(terms, names, fallback)
    title = group.title or next((term for term in map(plain, terms) if slug(term) == name), "") or fallback or name
    title = (title if group.title else capitalized(title))[:110]
    blocks = [page.blocks[number - 1] for number in group.numbers]
    if group.kept:
        blocks = [*group.kept.blocks, *blocks]
        terms = Terms(texts_of(blocks), page.all_terms).telling(range(len(blocks)), MOST_TOLD)
    if group.is_collection:
        description = collection_line(title, terms)
    else:
        description = describe_page(group.lead or title, blocks, terms)
    return {"name": name, "title": title, "description": description or fallback, "blocks": show_numbers(group.numbers)}


def collection_line(title: str, terms: Sequence[str]) -> str:
    """The line of a page of notes: its title, and the words that tell most of it."""
    said = set(map(stem, words(title)))
    others = [term for term in map(plain, terms) if not said.issuperset(map(stem, words(term)))]
    while others and len(line := f"{title}: {', '.join(others)}") > MAX_COLLECTION_LINE:
        others.pop()
    return line if others else title
