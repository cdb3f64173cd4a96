"""The graph of the pages, from the tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from memory_v2.index.packed import packed
from memory_v2.tree.graph import Edge, Graph, Node
from memory_v2.tree.path import fold

_LINKS = "SELECT path, target, label, child FROM pages JOIN links ON page = id"


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link as the tables have it: `target` is the folded path of a page, which need not exist."""

    source: str
    target: str
    label: str
    child: int


@dataclass(frozen=True, slots=True)
class GraphChange:
    """The pages that a transaction has changed, `None` for a removed one, and all links from the pages `linking`."""

    pages: dict[str, Node | None]
    linking: Collection[str]
    links: Collection[LinkRow]

    def applied(self, graph: Graph) -> Graph:
        """The graph after the transaction."""
        graph = graph.changed(self.pages, {})
        edges = _edges(self.links, graph)
        return graph.changed({}, {source: edges.get(source, ()) for source in self.linking})


def read_graph(tables: sqlite3.Connection) -> Graph:
    """The pages and their links, as `tree.graph.build_graph` makes them of the pages themselves."""
    rows = tables.execute("SELECT path, size, title FROM pages ORDER BY path")
    nodes = Graph({path: Node(path, size, title) for path, size, title in rows}, {})
    return Graph(nodes.pages, _edges(_read_links(tables, f"{_LINKS} ORDER BY page, place"), nodes))


def read_change(tables: sqlite3.Connection, paths: Collection[str], come_and_gone: Iterable[str]) -> GraphChange:
    """What the transaction has changed on the pages `paths`, and by adding or removing those that have `come_and_gone`,
    to which other pages may link."""
    rows = tables.execute(
        "SELECT path, size, title FROM pages WHERE path IN (SELECT value FROM json_each(?))", (packed(paths),)
    )
    pages: dict[str, Node | None] = dict.fromkeys(paths)
    pages |= {path: Node(path, size, title) for path, size, title in rows}
    linking = {path for path, node in pages.items() if node}
    if keys := [fold(path) for path in come_and_gone]:
        target_in = "target IN (SELECT value FROM json_each(?))"
        asked = f"SELECT DISTINCT path FROM links JOIN pages ON id = page WHERE {target_in}"
        linking |= {path for (path,) in tables.execute(asked, (packed(keys),))}
    asked = f"{_LINKS} WHERE path IN (SELECT value FROM json_each(?)) ORDER BY page, place"
    return GraphChange(pages, linking, _read_links(tables, asked, packed(linking)))


def _read_links(tables: sqlite3.Connection, query: str, *given: object) -> list[LinkRow]:
    return [LinkRow(*row) for row in tables.execute(query, given)]


def _edges(links: Iterable[LinkRow], graph: Graph) -> dict[str, tuple[Edge, ...]]:
    """The edges from each source: one for each target."""
    found: dict[str, dict[str, Edge]] = {}
    for link in links:
        target = graph.known.get(link.target)
        if target and target != link.source:
            edge = Edge(link.source, target, link.label, bool(link.child))
            found.setdefault(link.source, {}).setdefault(target, edge)
    return {source: tuple(edges.values()) for source, edges in found.items()}
