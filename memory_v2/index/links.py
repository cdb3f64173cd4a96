"""The graph of the pages, from the tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from memory_v2.index.sql import packed
from memory_v2.index.tables import LINK_BITS, LINKS_OF
from memory_v2.tree.graph import Edge, Graph, Node
from memory_v2.tree.path import fold

MANY = 4
"""If more than one of so many pages have changed, the graph is read anew."""

_LINKS = f"SELECT path, target, label, child FROM pages CROSS JOIN links ON {LINKS_OF}"
"""CROSS JOIN reads the pages first. SQLite would else read all links once for each page."""


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link as the tables have it: `target` is the folded path of a page, which need not exist."""

    source: str
    target: str
    label: str
    child: int


@dataclass(frozen=True, slots=True)
class KeptGraph:
    """The graph, and what tells which pages have changed since: each with its digest, as `digested` has them."""

    graph: Graph
    pages: frozenset[str]


@dataclass(frozen=True, slots=True)
class GraphChange:
    """The pages that have changed, `None` for a removed one, and all links from the pages `linking`; and those changed
    as `digested` had them `before` and has them `now`."""

    pages: dict[str, Node | None]
    linking: Collection[str]
    links: Collection[LinkRow]
    before: frozenset[str]
    now: frozenset[str]

    def applied(self, kept: KeptGraph) -> KeptGraph:
        """The graph after the change."""
        graph = kept.graph.changed(self.pages, {})
        edges = _edges(self.links, graph)
        graph = graph.changed({}, {source: edges.get(source, ()) for source in self.linking})
        return KeptGraph(graph, kept.pages - self.before | self.now)


def read_graph(tables: sqlite3.Connection) -> KeptGraph:
    """The pages and their links, as `tree.graph.build_graph` makes them of the pages themselves."""
    rows = tables.execute("SELECT path, size, title FROM pages ORDER BY path")
    nodes = Graph({path: Node(path, size, title) for path, size, title in rows}, {})
    links = _edges(_read_links(tables, f"{_LINKS} ORDER BY links.id"), nodes)
    return KeptGraph(Graph(nodes.pages, links), digested(tables))


def read_graph_again(tables: sqlite3.Connection, kept: KeptGraph) -> KeptGraph:
    """The same, from that of older tables: a tenth of the work if few pages have changed."""
    now = digested(tables)
    unknown = frozenset(page for page in now if page.startswith("/"))  # they have no digest that could change
    before, after = kept.pages - now | (unknown & kept.pages), now - kept.pages | unknown
    if len(before | after) > len(now) // MANY:
        return read_graph(tables)
    return read_change(tables, before, after).applied(kept)


def digested(tables: sqlite3.Connection, paths: Collection[str] | None = None) -> frozenset[str]:
    """All pages, or these as far as they are indexed: the digest of each before its path."""
    some = "" if paths is None else "WHERE path IN (SELECT value FROM json_each(:paths))"
    asked = f"SELECT json_group_array(hex(digest) || '/' || path) FROM pages {some}"
    return frozenset(json.loads(tables.execute(asked, {"paths": packed(paths or ())}).fetchone()[0]))


def read_change(tables: sqlite3.Connection, before: frozenset[str], now: frozenset[str]) -> GraphChange:
    """What has changed on pages that were digested so `before` and are `now`. To those that have come or gone, other
    pages may link."""
    had, has = ({page.partition("/")[2] for page in pages} for pages in (before, now))
    rows = tables.execute(
        "SELECT path, size, title FROM pages WHERE path IN (SELECT value FROM json_each(?))", (packed(has),)
    )
    pages: dict[str, Node | None] = dict.fromkeys(had)
    pages |= {path: Node(path, size, title) for path, size, title in rows}
    linking = {path for path, node in pages.items() if node}
    if keys := [fold(path) for path in had ^ has]:
        target_in = "target IN (SELECT value FROM json_each(?))"
        asked = f"SELECT DISTINCT path FROM links JOIN pages ON pages.id = links.id >> {LINK_BITS} WHERE {target_in}"
        linking |= {path for (path,) in tables.execute(asked, (packed(keys),))}
    asked = f"{_LINKS} WHERE path IN (SELECT value FROM json_each(?)) ORDER BY links.id"
    return GraphChange(pages, linking, _read_links(tables, asked, packed(linking)), before, now)


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
