"""The tree as a whole: its pages and links."""

from __future__ import annotations

from collections.abc import Sequence

from memory_v2.agent.operation import operation
from memory_v2.operations.context import Context, refresh
from memory_v2.operations.results import DatedLines, PageInfo
from memory_v2.tree.block import decode, readable, split_lines
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import parse_page, sources_of
from memory_v2.tree.path import ROOT, page_path


@operation("watch")
def watch(context: Context) -> None:
    """Refreshes from time to time, if it is called often enough, so that other operations need not."""
    if context.freshness.is_watch_due():
        refresh(context, even_if_fresh=True)


@operation("graph")
def graph(context: Context) -> Graph:
    """The current pages and their links."""
    refresh(context)
    return context.index.graph()


@operation("list_files")
def list_pages(context: Context) -> list[PageInfo]:
    """All pages: the root first, then by path."""
    links = graph(context)
    rows = {row.path: row for row in context.index.rows()}
    return [
        PageInfo(
            path=row.path,
            title=row.title,
            size_bytes=row.size,
            last_updated=row.last_updated,
            links_to=tuple(edge.target for edge in links.links.get(row.path, ())),
            linked_from=_root_first(links.sources.get(row.path, ())),
        )
        for node in links.nodes
        for row in [rows[node.path]]
    ]


def _root_first(paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(paths if len(paths) < 2 else sorted(paths, key=lambda path: (path != ROOT, path)))  # most have one


@operation("days")
def days(context: Context, path: str = ROOT) -> list[DatedLines]:
    """The day on which each block of a page was said, with its lines and its source. Raises `PageNotFound`."""
    path = page_path(path)
    refresh(context)
    page = parse_page(path, decode(context.storage.read(path).data))
    known, dated, line = context.index.days(path), [], 1
    for number, (block, source) in enumerate(zip(page.blocks, sources_of(page), strict=True), 1):
        count = len(split_lines(block.text))
        dated.append(DatedLines((line, line + max(count, 1) - 1), known.get(number), readable(source.name)))
        line += count
    return dated
