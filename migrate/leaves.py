"""The pages of a memory as they leave it: in the order of the tree, each with what is known beside its text."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import date

from memory_v2.errors import PageNotFound, Unreadable
from memory_v2.files.left_out import LeftOut
from memory_v2.memory import Memory
from memory_v2.migrate.pieces import cut_blocks
from memory_v2.progress import with_progress
from memory_v2.text.calendar import iso_day
from memory_v2.tree.block import Block, decode, split_lines
from memory_v2.tree.exact import is_bare, text_of
from memory_v2.tree.graph import Graph, build_graph
from memory_v2.tree.page import Page, read_page
from memory_v2.tree.path import ROOT
from memory_v2.tree.sections import CHILD_LINK, OURS
from memory_v2.tree.source import DATE, SOURCE, page_source

TAGS = "tags"
"""The key in the metadata of a page: tags that are not in its text, between commas."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Child:
    """A page that is listed below another."""

    path: str
    title: str
    description: str


@dataclass(frozen=True)
class Leaf:
    """One page: `page` without what the program writes below it, and with a block that was cut into pieces whole again;
    `depth` is 0 for the root. `properties` are what a person noted below it."""

    page: Page
    parent: str
    depth: int
    description: str
    children: tuple[Child, ...]
    source: str
    day: date | None
    tags: tuple[str, ...]
    links: tuple[str, ...]
    properties: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text of the page, to the letter."""
        return text_of(self.page)


def leaves(memory: Memory) -> tuple[list[Leaf], list[LeftOut]]:
    """All pages in the order of the tree, then those that are out of reach; and the pages that cannot be read."""
    memory.recover()
    pages, left_out = _pages(memory)
    whole = _with_whole_blocks(pages)
    graph = build_graph(whole.values())
    return [_leaf(whole[path], depth, graph) for path, depth in _in_order(graph)], left_out


def _pages(memory: Memory) -> tuple[dict[str, Page], list[LeftOut]]:
    pages, left_out = {}, []
    for path in with_progress(memory.storage.list_files(), "pages read"):
        try:
            pages[path] = read_page(path, memory.storage.read(path).data).gathered()
        except PageNotFound:  # removed just now
            continue
        except Unreadable as error:
            logger.warning("the page %r is left out: %s", path, error)
            left_out.append(LeftOut(path, str(error)))
    return pages, left_out


def _with_whole_blocks(pages: dict[str, Page]) -> dict[str, Page]:
    """The pages; a block that was cut stands on the page that listed its pieces, instead of them."""
    whole = dict(pages)
    for path, pieces in cut_blocks(pages.values()).items():
        if path not in pages:
            continue
        block = Block(decode(b"".join(piece.piece_data for piece in pieces)), "piece")
        parts = {page.path for page in pages.values() if page.path.startswith(f"{path}/part-")}
        gone = {part for part in parts if pages[part].piece or is_bare(pages[part])}
        for part in gone:
            del whole[part]
        page = pages[path]
        links = "".join(line for line in split_lines(page.links) if not _lists(line, gone))
        whole[path] = replace(page, links=links).with_body([page.blocks, (block,)])
    return whole


def _lists(line: str, pages: Collection[str]) -> bool:
    """Whether a line of `## Links` lists one of these pages."""
    found = CHILD_LINK.match(line)
    return found is not None and found[1].strip() in pages


def _in_order(graph: Graph) -> Iterator[tuple[str, int]]:
    """The paths, each with its depth: a page, then what is below it."""
    waiting = [(ROOT, 0)] if ROOT in graph.pages else []
    while waiting:
        path, depth = waiting.pop()
        yield path, depth
        waiting += [(child, depth + 1) for child in reversed(graph.children.get(path, []))]
    yield from ((path, 1) for path in graph.unreachable)


def _leaf(page: Page, depth: int, graph: Graph) -> Leaf:
    edges = graph.links.get(page.path, ())
    source, own = page_source(page), page.properties
    told = [tag.strip() for tag in own.get(TAGS, "").split(",")]
    known = {*OURS, SOURCE, DATE, TAGS}
    return Leaf(
        page=replace(page, links="", metadata=""),
        parent=graph.parents.get(page.path, ""),
        depth=depth,
        description=graph.descriptions.get(page.path, ""),
        children=tuple(Child(one.target, graph.pages[one.target].title, one.label) for one in edges if one.child),
        source=source.name,
        day=source.day or iso_day(own.get(DATE)) or page.front_matter.date,
        tags=tuple(dict.fromkeys(filter(None, (*page.front_matter.tags, *told)))),
        links=tuple(edge.target for edge in edges if not edge.child),
        properties={key: value for key, value in own.items() if key not in known},
    )
