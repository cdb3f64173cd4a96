"""What a decision is shown of the pages of the tree: those that are likely, and of long ones what was found there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from memory_v2.index.base import Hit
from memory_v2.models.briefs import PageView
from memory_v2.text.words import content_words
from memory_v2.tree.block import Block, readable
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page

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
