"""Splitting a page that lists too much, offline: its links move to new pages in between, and to groups that it has.

What the pages say of themselves comes first: the folder of their source, and the days they are named for. What is left
is grouped by what it is alike in, and alphabetically if that is nothing. Each group is listed by the words that most of
its titles have and few others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from posixpath import commonpath
from typing import Any

from memory_v2.models.briefs import SplitBrief
from memory_v2.models.offline.likeness import Likeness, vectors
from memory_v2.models.offline.naming import (
    MAX_RUN,
    Names,
    Term,
    Terms,
    keyword_line,
    telling_terms,
    unnaming,
)
from memory_v2.text.dates import covers, find_dates, named_span
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.words import capitalized, has_cjk, plain, shorten, stem, unbroken_words, words
from memory_v2.tree.block import encode, readable
from memory_v2.tree.edit import show_numbers
from memory_v2.tree.front_matter import read_front_matter
from memory_v2.tree.page import MAX_DESCRIPTION, ChildLink, Page
from memory_v2.tree.path import child_path, fold, link_key, title_of_path

MAX_GROUPS = 28
"""How many lines are left on a page at most when its links are grouped, so that more can be added."""
LINE_BYTES = 30
"""An estimate of the line of a group in bytes, without the path of the parent and the description."""
MAX_IN_ONE = 0.7
"""The largest share of a page, in bytes, that goes to one new group."""
MAX_END = 24
"""Limits the first and the last title in the name of an alphabetical group, in characters."""
MAX_TITLE = 60
"""Limits the title of a group, in characters: it leads the line, which has other words to say."""
SHORTEST = 60
"""The least room for a description, in bytes; with less, there are fewer groups."""
PAGES_TO_A_GROUP = 5
"""How many pages there should be for each group: few are found at a glance, and more will join them."""
MOST_TOLD = 40
"""How many words a line has at most."""
TITLE_COUNT = 20
"""How many mentions in the text a word of the title is worth, and a tag."""
MAX_TEXT = 4_000
"""How much of a page is read for what it is about, in characters: the beginning says it, and pages are many."""
MAX_ASKED = 3
"""How many of the pages that a group lists are asked for their folder: they were put together by it or not."""
_NOT_PROSE = frozenset(["fence", "code", "html", "front matter"])
_OF_A_LOG = frozenset(["daily", "weekly", "monthly", "log", "diary", "journal", "memory", "session", "report", "sync"])
"""Words that say no more than that something was noted."""
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True)
class Listed:
    """A listed page. `text` is the beginning of its prose, `tags` and `folder` are where its author put it. A group is
    a page made for links only, to which more may be added; `below` are the titles of what it lists."""

    number: int
    link: ChildLink
    title: str
    text: str = ""
    tags: tuple[str, ...] = ()
    folder: str = ""
    is_group: bool = False
    below: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.link.target.rsplit("/", 1)[-1]

    @property
    def titles(self) -> tuple[str, ...]:
        """Its title, and those of what it lists."""
        return (self.title, *self.below)

    @cached_property
    def period(self) -> str:
        """The month of a page that is named for a day and nothing else, or the year of one named for a month."""
        for said in (self.name, self.title):
            if (span := named_span(said)) and said[4:]:
                return said[:4] if len(said) == 7 else f"{span.start:%Y-%m}"
        found = find_dates(self.title)
        if len(found) != 1 or found[0][0].granularity != "day":
            return ""
        span, start, end = found[0]
        rest = telling_terms(f"{self.title[:start]} {self.title[end:]}")
        return f"{span.start:%Y-%m}" if _OF_A_LOG.issuperset(rest) else ""


@dataclass(frozen=True)
class Group:
    """Listed pages that go to one page: a new one, or `home`, a group that is there. `title` is empty if nothing but
    the pages themselves can name it, and `name` where it follows from that."""

    members: tuple[Listed, ...]
    home: Listed | None = None
    title: str = ""
    name: str = ""


class ListedTerms:
    """The terms of listed pages, counted once: of what they and their lines say, of their titles with their tags, and
    what somebody may look for of their titles."""

    def __init__(self, listed: Sequence[Listed]) -> None:
        self._places = {each.number: place for place, each in enumerate(listed)}
        self.said = Terms([f"{plain(each.link.description)}\n{each.text}" for each in listed])
        self.tagged = Terms(["\n".join([*each.titles, *each.tags]) for each in listed])
        self.titles = Terms(["\n".join(each.titles) for each in listed], title_terms)

    def places(self, some: Iterable[Listed]) -> list[int]:
        """Where these pages are among the terms."""
        return [self._places[each.number] for each in some]

    def counts(self, each: Listed) -> Counter[str]:
        """How often a page mentions each word; those of the title and the tags count many times."""
        found = self.said.counts(self.places([each]))
        found.update(dict.fromkeys(self.tagged.counts(self.places([each])), TITLE_COUNT))
        return found


def group_links(brief: SplitBrief, names: Names, room: int, most: int) -> list[dict[str, Any]]:
    """The children to which links move, so that at most `most` lines are left, which take at most `room` bytes, if they
    can."""
    listed = [_listed(brief, number, link) for number, link in enumerate(brief.view.page.children, 1)]
    vocabulary = ListedTerms(listed)
    own = LINE_BYTES + len(encode(child_path(brief.view.page.path, "x"))) - 1
    homes = [each for each in listed if each.is_group]
    if len(homes) >= most or sum(len(encode(home.link.line)) for home in homes) > room:
        listed, homes = [replace(each, is_group=False) for each in listed], []
    least = max(2, len(homes) + (len(homes) < most))
    most = max(least, min(MAX_GROUPS, most, room // (own + SHORTEST)))
    while True:
        groups = grouped(listed, most, vocabulary)
        sizes = (sum(len(encode(member.link.line)) for member in group.members) for group in groups)
        if max(sizes, default=0) > MAX_IN_ONE * brief.view.page.size:  # little is won
            listed = [replace(each, is_group=False) for each in listed]
            groups = _by_alphabet(listed, max(2, min(most, len(listed) // PAGES_TO_A_GROUP)))
        moved = {each.number for group in groups for each in (*group.members, group.home) if each}
        stay = sum(len(encode(each.link.line)) for each in listed if each.number not in moved)
        each = (room - stay) // max(1, len(groups)) - own
        if each >= SHORTEST or most == least:
            return _children(groups, vocabulary, names, max(SHORTEST, each))
        most = max(least, most * 4 // 5)


def grouped(listed: Sequence[Listed], most: int, vocabulary: ListedTerms) -> list[Group]:
    """The groups to which links move, so that at most `most` lines are left."""
    homes = [each for each in listed if each.is_group]
    leaves = [each for each in listed if not each.is_group]
    groups = _by_folder(leaves, homes, most - len(homes))
    groups += _by_period(_left(leaves, groups), homes)
    wanted = (len(leaves) + sum(len(home.below) for home in homes)) // PAGES_TO_A_GROUP
    made = sum(1 for group in groups if group.home is None)
    free = [home for home in homes if all(group.home is not home for group in groups)]
    count = min(most, max(wanted, len(homes) + 1, 2)) - made - len(homes) + len(free)
    apart = [leaf for leaf in _left(leaves, groups) if not named_span(leaf.name)]
    groups += _by_likeness(apart, free, max(count, len(free), 1), vocabulary)
    lines = len(homes) + sum(1 for group in groups if group.home is None)
    left = _left(leaves, groups)
    return groups if lines + len(left) <= most else [*groups, *_by_alphabet(left, max(1, most - lines))]


def _left(leaves: Sequence[Listed], groups: Sequence[Group]) -> list[Listed]:
    moved = {member.number for group in groups for member in group.members}
    return [leaf for leaf in leaves if leaf.number not in moved]


def _by_folder(leaves: Sequence[Listed], homes: Sequence[Listed], most: int) -> list[Group]:
    """By folder, below the one that all have in common. The folders below those are told apart when that group lists
    too much itself."""
    folders = [each.folder for each in (*leaves, *homes) if each.folder]
    shared = commonpath(folders) if folders else ""
    depth = shared.count("/") + bool(shared)

    def key(each: Listed) -> str:
        parts = each.folder.split("/")[depth : depth + 2]
        return "/".join(parts if parts and not is_meaningful(slug(parts[0])) else parts[:1])

    there = {key(home): home for home in reversed(homes)}
    return [Group(members, home, title_of_path(folder)) for folder, members, home in _by_key(leaves, key, there, most)]


def _by_period(leaves: Sequence[Listed], homes: Sequence[Listed]) -> list[Group]:
    """Days by month, months by year."""
    found = _by_key(leaves, lambda leaf: leaf.period, {home.name: home for home in homes}, len(leaves))
    spans = [(named_span(period), period, members, home) for period, members, home in found]
    return [Group(members, home, covers(span), period) for span, period, members, home in spans if span]


def _by_key(
    leaves: Sequence[Listed], key_of: Callable[[Listed], str], there: Mapping[str, Listed], most: int
) -> Iterator[tuple[str, tuple[Listed, ...], Listed | None]]:
    """The keys that several pages have, or a group that is there, with these; of new ones at most so many, the largest
    ones."""
    together: dict[str, list[Listed]] = {}
    for leaf in leaves:
        together.setdefault(key_of(leaf), []).append(leaf)
    together.pop("", None)
    new = [key for key, members in together.items() if key not in there and 1 < len(members) < len(leaves)]
    largest = sorted(new, key=lambda key: (-len(together[key]), key))[: max(0, most)]
    for key in sorted({*largest, *there} & together.keys()):
        yield key, tuple(together[key]), there.get(key)


def _by_likeness(leaves: Sequence[Listed], homes: Sequence[Listed], count: int, vocabulary: ListedTerms) -> list[Group]:
    """By the words that they have in common. What has none in common with others is left."""
    compared = [*homes, *leaves]
    points = vectors(list(map(vocabulary.counts, compared)), (), None)
    told = [place for place, vector in enumerate(points) if vector or place < len(homes)]
    found = []
    weights = [max(1, len(home.below)) for home in homes]
    for places in Likeness([points[place] for place in told], weights).groups(count):
        members = tuple(compared[told[place]] for place in places if place >= len(homes))
        home = homes[places[0]] if places[0] < len(homes) else None
        if members and (home or 1 < len(members) < len(compared)):
            found.append(Group(members, home))
    return found


def _by_alphabet(leaves: Sequence[Listed], count: int) -> list[Group]:
    """Runs of neighbours in the order of their titles; none if there is nothing to group."""
    ordered = sorted(leaves, key=lambda leaf: (_in_order(leaf.title), leaf.number))
    step = max(1, -(-len(ordered) // count))
    runs = [tuple(ordered[start : start + step]) for start in range(0, len(ordered), step)]
    return [Group(run, None, capitalized(_from_to(run))) for run in runs]


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


# the pages


def _listed(brief: SplitBrief, number: int, link: ChildLink) -> Listed:
    """What is known of a page that the page of the brief lists."""
    page, told = brief.about(link.target), title_in(link)
    if page is None:
        return Listed(number, link, told)
    if _is_group(brief, link, page):
        below = tuple(title_in(child) for child in page.children)
        text = "\n".join(child.description for child in page.children)[: 2 * MAX_TEXT]
        return Listed(number, link, page.title, text, folder=_folder_of_all(brief, page), is_group=True, below=below)
    title = readable(page.title)
    if fold(title) == fold(link.target.rsplit("/", 1)[-1]):  # it has no title of its own
        title = told
    text = "\n".join(readable(block.words) for block in page.blocks if block.kind not in _NOT_PROSE)[:MAX_TEXT]
    tags = read_front_matter(page.body).tags if page.body.startswith(("---", "\ufeff---")) else ()
    return Listed(number, link, plain(title), text, tags, _folder(brief, page))


def title_in(link: ChildLink) -> str:
    """The title of a page in the line by which it is listed: what stands before the last colon."""
    told = plain(link.description)
    return told.rpartition(": ")[0] or told or link.target.rsplit("/", 1)[-1].replace("-", " ")


def _is_group(brief: SplitBrief, link: ChildLink, page: Page) -> bool:
    """Whether a page was made by a split, holds nothing but links, or a log of the time it is named for, and can be
    added to."""
    name = link.target.rsplit("/", 1)[-1]
    own = child_path(brief.view.page.path, name)
    return (
        "split_from" in page.properties
        and bool(page.children)
        and (all(block.kind == "heading" for block in page.blocks) or named_span(name) is not None)
        and link_key(link.target) == fold(own)
        and fold(link.target) != fold(brief.view.page.path)
        and not brief.is_piece(link.target)
    )


def _folder(brief: SplitBrief, page: Page) -> str:
    """The folder of the page's source, or else the folder in which the page stands, below the one of the catalogue."""
    if source := page.properties.get("source", ""):
        return source.replace("\\", "/").rpartition("/")[0].strip("/")
    return page.path.rpartition("/")[0].removeprefix(child_path(brief.view.page.path, "x")[:-1])


def _folder_of_all(brief: SplitBrief, group: Page) -> str:
    """The folder of the first pages that a group lists, if they have one in common."""
    pages = [page for link in group.children[:MAX_ASKED] if (page := brief.about(link.target)) is not None]
    folders = [_folder_of_all(brief, page) if _is_made(page) else _folder(brief, page) for page in pages]
    return commonpath(folders) if folders else ""


def _is_made(page: Page) -> bool:
    return "source" not in page.properties and "split_from" in page.properties and bool(page.children)


# the lines


def title_terms(title: str) -> list[Term]:
    """The stems of the words of a title that somebody may look for. In a script without spaces that is what stands
    between two marks, unless that is long."""
    parts = (part for word in unbroken_words(title) for part in (words(word) if len(word) > MAX_RUN else [word]))
    told = (word for word in parts if (len(word) > 2 or has_cjk(word)) and word not in unnaming())
    return [(stem(word),) for word in told if not word[0].isdigit() or _YEAR.fullmatch(word)]


def _children(groups: Sequence[Group], vocabulary: ListedTerms, names: Names, room: int) -> list[dict[str, Any]]:
    """The arguments for the groups, each with a description of at most so many bytes."""
    children = []
    for group in groups:
        inside = vocabulary.places([*group.members, *([group.home] if group.home else [])])
        named = vocabulary.titles.telling(inside, MOST_TOLD, least=1)
        said = vocabulary.said.telling(inside, 3)
        name, title = (group.home.name, plain(group.home.title)) if group.home else ("", group.title)
        if not group.home:
            told = [*vocabulary.tagged.telling(inside, 3), *said, *named]
            own = group.name or (title if title_terms(title) else "")
            name, first = names.give([*filter(None, [own]), *told], group.members[0].title)
            title = shorten(title if first == plain(own) else capitalized(first), MAX_TITLE)
        line = keyword_line(title, named or said, min(room, MAX_DESCRIPTION))
        links = show_numbers(sorted(member.number for member in group.members), "L")
        children.append({"name": name, "title": title, "description": line, "links": links})
    return children


def told_again(page: Page, group: Page, title: str) -> str:
    """The description by which `page` is to list the group, so that a reader who looks for this title takes it; the
    present one if it leads there already."""
    link = next(link for link in page.children if link.target == group.path)
    looked_for = set(title_terms(title))
    lead = len(looked_for & _said_in(link))
    if lead > max((len(looked_for & _said_in(each)) for each in page.children if each is not link), default=0):
        return link.description
    told = plain(link.description).removeprefix(f"{plain(group.title)}: ").split(", ")
    new = Terms([title], title_terms).telling([0], MOST_TOLD)
    return keyword_line(group.title, [*new, *told], MAX_DESCRIPTION)


def _said_in(link: ChildLink) -> set[Term]:
    return set(title_terms(f"{link.target.rsplit('/', 1)[-1].replace('-', ' ')} {plain(link.description)}"))
