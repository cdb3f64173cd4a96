"""The graph of the pages, from the tables."""

from __future__ import annotations

import sqlite3

from memory_v2.tree.graph import Edge, Graph, Node
from memory_v2.tree.path import ROOT, fold


def read_graph(tables: sqlite3.Connection) -> Graph:
    """The pages and their links, as `tree.graph.build_graph` makes them of the pages themselves."""
    pages = tables.execute("SELECT path, size, title, id FROM pages").fetchall()
    pages.sort(key=lambda row: (row[0] != ROOT, row[0]))
    known = {fold(path): path for path, *_ in pages}
    edges: dict[int, dict[str, Edge]] = {number: {} for *_, number in pages}
    paths = {number: path for path, _, _, number in pages}
    for page, target, label, child in tables.execute(
        "SELECT page, target, label, child FROM links ORDER BY page, place"
    ):
        path = known.get(target)
        if path and path != paths[page] and path not in edges[page]:
            edges[page][path] = Edge(paths[page], path, label, bool(child))
    nodes = tuple(Node(path, size, title) for path, size, title, _ in pages)
    return Graph(nodes, tuple(edge for *_, number in pages for edge in edges[number].values()))
