"""Splitting a page that lists too much, offline: its links move to new pages in between, and to groups that it has.

What the pages say of themselves comes first: the folder of their source, and the days they are named for. What is left
is grouped by its vocabulary, and alphabetically if it has none in common.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from memory_v2.models.briefs import SplitBrief
from memory_v2.models.offline.clusters import Point, clusters, weighted
from memory_v2.models.offline.link_keywords import describe_groups
from memory_v2.models.offline.listed import Group, Listed, listed_on, shared_folder
from memory_v2.models.offline.naming import Names
from memory_v2.text.dates import covers, named_span
from memory_v2.text.lists import empty_names
from memory_v2.text.plain import capitalized, shorten
from memory_v2.text.slug import slug
from memory_v2.tree.block import encode
from memory_v2.tree.numbers import show_numbers
from memory_v2.tree.path import child_path

MAX_GROUPS = 28
"""How many lines are left on a page at most when its links are grouped, so that more can be added."""
LINE_BYTES = 30
"""An estimate of the line of a group in bytes, without the path of the parent and the description."""
MAX_IN_ONE = 0.7
"""The largest share of a page, in bytes, that goes to one new group."""
MAX_END = 24
"""Limits the first and the last title in the name of an alphabetical group, in characters."""
SHORTEST = 60
"""The least room for a description, in bytes; with less, there are fewer groups."""
PAGES_TO_A_GROUP = 5
"""How many pages there should be for each group: few are found at a glance, and more will join them."""


def group_links(brief: SplitBrief, names: Names, room: int, most: int) -> list[dict[str, Any]]:
    """The children to which links move, so that at most `most` lines are left, which take at most `room` bytes, if they
    can."""
    listed = listed_on(brief)
    above = len(encode(child_path(brief.view.page.path, "x"))) - 1
    own = LINE_BYTES + above
    homes = [each for each in listed if each.is_group]
    if len(homes) >= most or sum(len(encode(home.link.line)) for home in homes) > room:
        listed, homes = [replace(each, is_group=False) for each in listed], []
    most = max(2, min(MAX_GROUPS, most, room // (own + SHORTEST)))
    least = max(2, len(homes) + (len(homes) < most))
    most = max(least, most)
    while True:
        groups = grouped(listed, most)
        if _is_lopsided(brief, groups):
            spare = brief.most_children - len(homes)
            if spare < 2:
                listed, homes, spare = [replace(each, is_group=False) for each in listed], [], brief.most_children
            leaves = [leaf for leaf in listed if not leaf.is_group]
            groups = _by_alphabet(leaves, max(2, min(most, spare, len(leaves) // PAGES_TO_A_GROUP)))
        moved = {member.number for group in groups for member in group.members}
        joined = {group.home.number for group in groups if group.home}
        stay = sum(len(encode(each.link.line)) for each in listed if each.number not in moved | joined)
        each = (room - stay) // max(1, len(groups)) - own
        if each >= SHORTEST or most == least:
            break
        most = max(least, most * 4 // 5)
    lines = describe_groups(groups, listed, names, max(SHORTEST, each))
    return [
        {
            "name": line.name,
            "title": line.title,
            "description": line.text,
            "links": show_numbers(sorted(member.number for member in group.members), "L"),
        }
        for group, line in zip(groups, lines, strict=True)
    ]


def _is_lopsided(brief: SplitBrief, groups: Sequence[Group]) -> bool:
    """Whether most of the page would go to one group, so that little is won."""
    sizes = (sum(len(encode(member.link.line)) for member in group.members) for group in groups)
    return max(sizes, default=0) > MAX_IN_ONE * brief.view.page.size


def grouped(listed: Sequence[Listed], most: int) -> list[Group]:
    """The groups to which links move, so that at most `most` lines are left."""
    homes = [each for each in listed if each.is_group]
    leaves = [each for each in listed if not each.is_group]
    groups = by_folder(leaves, homes, most)
    groups += _by_period(_left(leaves, groups), homes)
    wanted = (len(leaves) + sum(len(home.below) for home in homes)) // PAGES_TO_A_GROUP
    made = sum(1 for group in groups if group.home is None)
    count = min(most, max(wanted, len(homes) + 1, 2)) - made
    apart = [leaf for leaf in _left(leaves, groups) if not named_span(leaf.name)]
    groups += _by_vocabulary(apart, homes, max(count, len(homes), 1))
    groups = _one_for_each_home(groups)
    lines = len(homes) + sum(1 for group in groups if group.home is None)
    left = _left(leaves, groups)
    if lines + len(left) > most:
        groups += _by_alphabet(left, max(1, most - lines))
    return groups


def _left(leaves: Sequence[Listed], groups: Sequence[Group]) -> list[Listed]:
    moved = {member.number for group in groups for member in group.members}
    return [leaf for leaf in leaves if leaf.number not in moved]


def _by_period(leaves: Sequence[Listed], homes: Sequence[Listed]) -> list[Group]:
    """Days by month, months by year."""
    together: dict[str, list[Listed]] = {}
    for leaf in leaves:
        if leaf.period:
            together.setdefault(leaf.period, []).append(leaf)
    there = {home.name: home for home in homes}
    found = []
    for period, members in sorted(together.items()):
        span = named_span(period)
        if span and (period in there or 1 < len(members) < len(leaves)):
            found.append(Group(tuple(members), there.get(period), period, covers(span)))
    return found


def _by_vocabulary(leaves: Sequence[Listed], homes: Sequence[Listed], count: int) -> list[Group]:
    """By the words that they have in common. What has none in common with others is left."""
    compared = [*homes, *leaves]
    vectors = weighted([each.counts for each in compared])
    points = [
        Point(vector, max(1, len(each.below)), each.is_group)
        for each, vector in zip(compared, vectors, strict=True)
        if vector or each.is_group
    ]
    told = [each for each, vector in zip(compared, vectors, strict=True) if vector or each.is_group]
    found = []
    for places in clusters(points, count):
        members = tuple(told[place] for place in places if not told[place].is_group)
        home = next((told[place] for place in places if told[place].is_group), None)
        if members and (home or 1 < len(members) < len(leaves) + len(homes)):
            found.append(Group(members, home))
    return found


def _one_for_each_home(groups: Sequence[Group]) -> list[Group]:
    """The groups, those that join the same home as one."""
    found: list[Group] = []
    places: dict[int, int] = {}
    for group in groups:
        if group.home and group.home.number in places:
            place = places[group.home.number]
            found[place] = replace(found[place], members=found[place].members + group.members)
        else:
            if group.home:
                places[group.home.number] = len(found)
            found.append(group)
    return found


def _by_alphabet(leaves: Sequence[Listed], count: int) -> list[Group]:
    """Runs of neighbours in the order of their titles; none if there is nothing to group."""
    ordered = sorted(leaves, key=lambda leaf: (_in_order(leaf.title), leaf.number))
    step = max(1, -(-len(ordered) // count))
    runs = [tuple(ordered[start : start + step]) for start in range(0, len(ordered), step)]
    return [Group(run, None, title := _from_to(run), capitalized(title)) for run in runs]


def _from_to(run: Sequence[Listed]) -> str:
    """The first and the last title, or their first words if those differ."""
    titles = [each.title or each.name for each in (run[0], run[-1])]
    first, last = (title.split()[0] for title in titles)
    if first.casefold() == last.casefold():
        first, last = (shorten(title, MAX_END) for title in titles)
    return first if first == last else f"{first} to {last}"


def _in_order(title: str) -> list[tuple[int, str]]:
    """What titles are sorted by: letters without case, and numbers by their value."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", title.casefold())]


MIN_FOLDER = 2
"""The least pages of a folder with a group of its own; fewer join the group of the folder above, or are left."""
_COMMON = frozenset(["memory", "docs", "doc", "src", "archive", "content", "data", "main", "notes", "public", "source"])


def by_folder(leaves: Sequence[Listed], homes: Sequence[Listed], most: int) -> list[Group]:
    """A group for each folder, or more of the same folder in the group that it has; nothing if all have one folder.
    While there are more groups than `most`, the smallest folder joins the one above."""
    folders = {each.folder for each in (*leaves, *homes) if each.folder}
    if len(folders) < 2:
        return []
    there = {home.folder: home for home in reversed(homes) if home.folder}
    shared = shared_folder(sorted(folders))
    together: dict[str, list[Listed]] = {}
    for leaf in leaves:
        if leaf.folder:
            together.setdefault(leaf.folder, []).append(leaf)
    while (smallest := _to_join(together, there, most - len(homes))) is not None:
        members, above = together.pop(smallest), smallest.rpartition("/")[0]
        while above and above != shared and not (above in together or above in there or _has_siblings(above, together)):
            above = above.rpartition("/")[0]
        if above and above != shared:
            together[above] = together.get(above, []) + members
    called = _titles([*together, *there])
    return [
        Group(
            tuple(sorted(members, key=lambda leaf: leaf.number)),
            there.get(folder),
            slug(called[folder]),
            called[folder],
        )
        for folder, members in sorted(together.items())
    ]


def _to_join(together: dict[str, list[Listed]], there: dict[str, Listed], most: int) -> str | None:
    """The smallest folder that is too small for a group, or one too many."""
    new = [folder for folder in together if folder not in there]
    smallest = min(new, key=lambda folder: (len(together[folder]), -folder.count("/"), folder), default=None)
    if smallest is None or (len(together[smallest]) >= MIN_FOLDER and len(new) <= most):
        return None
    return smallest


def _has_siblings(above: str, together: dict[str, list[Listed]]) -> bool:
    return any(folder.startswith(f"{above}/") and len(members) < MIN_FOLDER for folder, members in together.items())


def _titles(folders: Sequence[str]) -> dict[str, str]:
    """What each folder is called: its last part, and the part above it if that says little or two have it."""
    last = [folder.rsplit("/", 1)[-1] for folder in folders]
    called = {}
    for folder, name in zip(folders, last, strict=True):
        parts = folder.split("/")
        says_little = name.casefold() in _COMMON or name.casefold() in empty_names()
        if len(parts) > 1 and (says_little or last.count(name) > 1):
            name = parts[-2] if says_little and last.count(name) <= 1 else f"{parts[-2]} {name}"
        called[folder] = capitalized(" ".join(name.replace("-", " ").replace("_", " ").split()))
    return called
