"""The tree as a whole: its pages and links."""

from __future__ import annotations

from memory_v2.operations.context import Context
from memory_v2.operations.freshness import refresh
from memory_v2.operations.results import PageInfo
from memory_v2.tree.graph import Graph


def graph(context: Context) -> Graph:
    """The current pages and their links."""
    refresh(context)
    return context.index.graph()


def list_pages(context: Context) -> list[PageInfo]:
    """All pages: the root first, then by path."""
    links = graph(context)
    to: dict[str, list[str]] = {}
    back: dict[str, list[str]] = {}
    for edge in links.edges:
        to.setdefault(edge.source, []).append(edge.target)
        back.setdefault(edge.target, []).append(edge.source)
    rows = {row.path: row for row in context.index.rows()}
    return [
        PageInfo(
            path=row.path,
            title=row.title,
            size_bytes=row.size,
            last_updated=row.last_updated,
            links_to=tuple(to.get(row.path, ())),
            linked_from=tuple(back.get(row.path, ())),
        )
        for node in links.nodes
        for row in [rows[node.path]]
    ]
