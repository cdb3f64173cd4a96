"""Briefs: the task of each operation as data, with everything that the model may see. Of the pages of the tree it sees
those that are likely, and of long ones what was found there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import NamedTuple, TypeAlias, TypeVar

from memory_v2.index.base import Hit
from memory_v2.text.words import content_words
from memory_v2.tree.block import Block, readable, size_of
from memory_v2.tree.graph import Graph
from memory_v2.tree.headings import Outline
from memory_v2.tree.page import ChildLink, Page
from memory_v2.tree.path import TakenPaths
from memory_v2.tree.source import NO_SOURCE, Source

NO_PAGES = Graph({}, {})
"""A tree without a page."""
T = TypeVar("T")


class ViewRow(NamedTuple):
    """One line of a view: a numbered block or link; or the numbers of a gap, with neither."""

    first: int
    last: int
    block: Block | None = None
    link: ChildLink | None = None


@dataclass(frozen=True, slots=True)
class PageView:
    """A page as the model sees it: blocks numbered from 1, links numbered `L1`, `L2`, …

    `blocks` and `links` are the numbers of those that are shown, or `None` for all. `listed` is the description of the
    page on each page that lists it, by path; it is only told where it may be changed."""

    page: Page
    breadcrumb: tuple[str, ...] = ()
    blocks: frozenset[int] | None = None
    links: frozenset[int] | None = None
    listed: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_part(self) -> bool:
        """Whether something of the page is not shown."""
        return self.blocks is not None or self.links is not None

    @property
    def block_rows(self) -> list[ViewRow]:
        """The blocks that are shown, and the gaps between them."""
        return [ViewRow(first, last, block) for first, last, block in _rows(self.page.blocks, self.blocks)]

    @property
    def link_rows(self) -> list[ViewRow]:
        """The links that are shown, and the gaps between them."""
        return [ViewRow(first, last, None, link) for first, last, link in _rows(self.page.children, self.links)]


def _rows(items: Sequence[T], shown: Collection[int] | None) -> Iterator[tuple[int, int, T | None]]:
    """Each item that is shown with its number, twice; each gap with its first and last number."""
    gap = 0
    for number, item in enumerate(items, 1):
        if shown is None or number in shown:
            if gap:
                yield gap, number - 1, None
            yield number, number, item
            gap = 0
        else:
            gap = gap or number
    if gap:
        yield gap, len(items), None


LIKELY_PAGES = 3
"""How many pages a model is shown because of similar places, best first, and how many because they contain the text."""
LIKELY = 0.7
"""How much of what speaks for the likeliest page must speak for another that is shown."""
WHOLE = 2_500
"""The largest body of the likeliest page that is shown whole, in bytes: about 600 tokens."""
BRIEF = 600
"""The same for the other pages."""
AROUND = 0.6
"""How much of that is shown of a longer body around what was found on it."""
OUTLINE = 0.3
"""How much of it is shown of its headings, the upper levels first."""
OPENING = 300
"""The largest block that is shown because it is first or last, in bytes."""
GAP = 60
"""The largest gap, in bytes, that is shown all the same: to mark it would cost as much."""
LINKS = 16
"""How many links of a longer list are shown."""
HUB_LINKS = 8
"""How many links of the page that lists the likeliest one."""


def likely_pages(places: Sequence[Hit], text: str) -> list[str]:
    """The pages where a text may belong, likeliest first: by the place on them, with its headings, that has most of the
    text's words, of which those in few places tell most."""
    wanted = set(content_words(text))
    around = ("\n".join((hit.path.replace("/", " ").replace("-", " "), *hit.section, hit.text)) for hit in places)
    shared = [wanted.intersection(content_words(words)) for words in around]
    spread = Counter(word for words in shared for word in words)
    best: dict[str, float] = {}
    for hit, words in zip(places, shared, strict=True):
        told = math.fsum(math.log(1 + len(places) / spread[word]) for word in words)  # in no order of its own
        best[hit.path] = max(best.get(hit.path, 0.0), told)
    ranked = sorted(best, key=lambda path: -best[path])[:LIKELY_PAGES]
    return [path for path in ranked if best[path] >= LIKELY * best[ranked[0]]]


def view_of(page: Page, graph: Graph, near: Iterable[int], about: str, whole: int = WHOLE) -> PageView:
    """The view of a page for a text: `whole` if it has no more bytes, else its headings, its end, the blocks around
    those in `near`, best first, and the links that have most words in common with what the text is about."""
    blocks, links = _blocks(page, near, whole), _links(page, about, LINKS)
    return PageView(page, graph.breadcrumb(page.path), blocks, links, listed_as(graph, page.path))


def hub_of(page: Page, graph: Graph, about: str) -> PageView:
    """The view of a page for the sake of its links."""
    return PageView(
        page, graph.breadcrumb(page.path), _filled(page.blocks, _outline(page, 0)), _links(page, about, HUB_LINKS)
    )


def listed_as(graph: Graph, path: str) -> dict[str, str]:
    """How a page is described on each page that lists it, by path."""
    found = (edge for source in graph.sources.get(path, ()) for edge in graph.links[source])
    return {edge.source: edge.label for edge in found if edge.target == path and edge.child}


def found_on(places: Sequence[Hit], path: str) -> list[int]:
    """The blocks of a page among these places, best first."""
    return [hit.block for hit in places if hit.path == path and hit.block]


def _blocks(page: Page, near: Iterable[int], whole: int) -> frozenset[int] | None:
    """The numbers of the blocks to show; `None` for all."""
    blocks, left = page.blocks, int(AROUND * whole)
    if _size(blocks) <= whole:
        return None
    shown = _outline(page, int(OUTLINE * whole))
    if blocks[-1].size <= OPENING:
        shown.add(len(blocks))
    for found in near:
        for number in (found, found - 1, found + 1, _heading_above(blocks, found)):
            if 1 <= number <= len(blocks) and number not in shown and (size := blocks[number - 1].size) <= left:
                shown.add(number)
                left -= size
    return _filled(blocks, shown)


def _outline(page: Page, most: int) -> set[int]:
    """The numbers of the title, the opening below it if it is short, and the headings down to the lowest level of which
    all have no more than this many bytes together."""
    headings = {number: block for number, block in enumerate(page.blocks, 1) if block.kind == "heading"}
    outline = {1} & headings.keys()
    for level in sorted({block.level for block in headings.values()}):
        upper = {number for number, block in headings.items() if block.level <= level}
        if _size(headings[number] for number in upper) > most:
            break
        outline |= upper
    opening = 2 if 1 in outline else 1
    if opening <= len(page.blocks) and page.blocks[opening - 1].size <= OPENING:
        outline.add(opening)
    return outline


def _heading_above(blocks: Sequence[Block], number: int) -> int:
    """The number of the heading of a block's section; 0 if there is none."""
    return next((n for n in range(min(number, len(blocks)), 0, -1) if blocks[n - 1].kind == "heading"), 0)


def _filled(blocks: Sequence[Block], shown: set[int]) -> frozenset[int] | None:
    """The same blocks and the small gaps between them; `None` if that is all."""
    gap: list[int] = []
    for number in range(1, len(blocks) + 2):
        if number <= len(blocks) and number not in shown:
            gap.append(number)
            continue
        if _size([blocks[n - 1] for n in gap]) <= GAP:
            shown.update(gap)
        gap = []
    return None if len(shown) == len(blocks) else frozenset(shown)


def _links(page: Page, about: str, most: int) -> frozenset[int] | None:
    """The numbers of the links to show; `None` for all."""
    children = page.children
    if len(children) <= most:
        return None
    wanted = set(content_words(about))
    shared = [len(wanted.intersection(content_words(readable(child.line)))) for child in children]
    ranked = sorted(range(len(children)), key=lambda index: (-shared[index], index))
    return frozenset(index + 1 for index in ranked[:most])


def _size(blocks: Iterable[Block]) -> int:
    return sum(block.size for block in blocks)


@dataclass(frozen=True, slots=True)
class WriteBrief:
    """New text to be worked into the tree.

    `path` is the page it must go to, or `None`. `pages` are shown: that page or the root first, then likely ones;
    `hubs` list likely ones. `places` are passages similar to the new text, best first. `known` maps each new block
    (from 1) that is already in the tree, word for word, to its page and block. `block_count` gives the number of blocks
    of a page. `source` is where the text came from and the day it was said, as far as the caller told. `tree` has the
    names and descriptions of all pages."""

    blocks: tuple[Block, ...]
    path: str | None
    pages: Sequence[PageView]
    places: Sequence[Hit]
    known: Mapping[int, tuple[str, int]]
    threshold: int
    now: datetime
    today: date
    block_count: Callable[[str], int]
    source: Source = NO_SOURCE
    tree: Graph = NO_PAGES
    hubs: Sequence[PageView] = ()

    @property
    def views(self) -> tuple[PageView, ...]:
        """Every page that is shown, whole or in part."""
        return (*self.pages, *self.hubs)

    @property
    def passages(self) -> list[Hit]:
        """The places that are on none of the pages as they are shown."""
        seen = {view.page.path: view.blocks for view in self.views}
        return [hit for hit in self.places if not _is_seen(hit, seen)]

    @property
    def said_on(self) -> frozenset[date]:
        """The days that `today` may be in the text: that of its source, and today."""
        return frozenset(day for day in (self.source.day, self.today) if day)

    @property
    def text(self) -> str:
        """The new text."""
        return "".join(block.text for block in self.blocks)

    @property
    def size(self) -> int:
        """The size of the new text in bytes."""
        return size_of(self.text)


@dataclass(frozen=True, slots=True)
class Observed:
    """What an agent has noted once: some blocks of the new text, from the number `first` to `last`. `source` names it
    and the day on which it was noted, `by` who noted it, and `about` are its tags."""

    source: Source
    by: str
    first: int
    last: int
    about: tuple[str, ...] = ()

    @property
    def numbers(self) -> range:
        """The numbers of its blocks."""
        return range(self.first, self.last + 1)


@dataclass(frozen=True, slots=True)
class ConsolidateBrief(WriteBrief):
    """Observations to be worked into the tree: `observed`, oldest first, are the blocks of the new text. If they were
    sorted into a domain, its page is their `home`, with the domain's `title` and what it is `about`."""

    observed: tuple[Observed, ...] = ()
    home: str = ""
    title: str = ""
    about: str = ""

    @property
    def said_on(self) -> frozenset[date]:
        """The days that `today` may be in the text: those of the observations, and today."""
        return frozenset({self.today, *(one.source.day for one in self.observed if one.source.day)})


def _is_seen(hit: Hit, seen: Mapping[str, frozenset[int] | None]) -> bool:
    blocks = seen.get(hit.path, frozenset())
    return hit.path in seen and (blocks is None or not hit.block or hit.block in blocks)


@dataclass(frozen=True)
class SplitBrief:
    """A page to be split. Afterwards the page must be below `target` bytes and each child below `threshold`; new
    children may not use the paths in `taken`. Most of a `crowded` page are links, which are grouped until at most
    `most_children` are listed. `is_piece` tells whether a child holds a piece of a large block and cannot take in more.
    `about` gives the page that a link leads to, or `None`, and `meaning`, where texts are compared by meaning, what
    gives the vector of one."""

    view: PageView
    threshold: int
    target: int
    taken: TakenPaths
    crowded: bool
    most_children: int
    now: datetime
    today: date
    is_piece: Callable[[str], bool]
    about: Callable[[str], Page | None] = lambda path: None
    meaning: Callable[[], Callable[[str], Sequence[float]] | None] = lambda: None

    @cached_property
    def outline(self) -> Outline:
        """The headings of the page."""
        return Outline(self.view.page.blocks)


@dataclass(frozen=True, slots=True)
class SearchBrief:
    """A question to be answered. `places` are passages from anywhere in the tree, best first; `root` is shown, or the
    part of it that matters. `block_count` gives the number of blocks of a page."""

    query: str
    limit: int
    root: PageView | None
    places: Sequence[Hit]
    today: date
    block_count: Callable[[str], int]


@dataclass(frozen=True, slots=True)
class DomainView:
    """One of the places to sort into: its name, its title, and what belongs there."""

    name: str
    title: str
    about: str


@dataclass(frozen=True, slots=True)
class Unsorted:
    """A text to be sorted, its name, the day on which it was noted, its tags, and what it refers to."""

    name: str
    text: str
    day: date | None
    tags: tuple[str, ...] = ()
    refers_to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RouteBrief:
    """Texts to be sorted into domains, which the rules could not."""

    texts: tuple[Unsorted, ...]
    domains: tuple[DomainView, ...]


Brief: TypeAlias = WriteBrief | SplitBrief | SearchBrief | RouteBrief
