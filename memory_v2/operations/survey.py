"""Looking at the tree as a whole."""

from __future__ import annotations

from memory_v2.operations.environment import Environment
from memory_v2.operations.record import refresh
from memory_v2.operations.results import PageInfo
from memory_v2.tree.graph import Graph


def graph(environment: Environment) -> Graph:
    """The pages and their links, as they are now."""
    refresh(environment)
    return environment.index.graph()


def list_pages(environment: Environment) -> list[PageInfo]:
    """Every page, the root first, then by path."""
    links = graph(environment)
    to: dict[str, list[str]] = {}
    back: dict[str, list[str]] = {}
    for edge in links.edges:
        to.setdefault(edge.source, []).append(edge.target)
        back.setdefault(edge.target, []).append(edge.source)
    rows = {row.path: row for row in environment.index.rows()}
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
