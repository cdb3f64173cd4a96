"""The link graph: nodes, edges, and the tree that a walk from the root finds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from memory_v2.tree.page import Page
from memory_v2.tree.path import ROOT, fold


@dataclass(frozen=True, slots=True)
class Node:
    """A page: its path, its size in bytes, its title."""

    path: str
    size: int
    title: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A link between two pages; a `child` is listed under `## Links`, and `label` is its description there."""

    source: str
    target: str
    label: str = ""
    child: bool = False


@dataclass(frozen=True)
class Graph:
    """The pages and the links between them. Links to missing pages are not edges."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @cached_property
    def parents(self) -> dict[str, str]:
        """The parent of each reachable page but the root. The walk from the root is breadth first, and follows children
        before mentions."""
        out: dict[str, list[Edge]] = {}
        for edge in self.edges:
            out.setdefault(edge.source, []).append(edge)
        parents: dict[str, str] = {}
        queue = deque([ROOT])
        later: deque[Edge] = deque()
        while queue or later:
            if not queue:
                edge = later.popleft()
                if edge.target != ROOT and edge.target not in parents:
                    parents[edge.target] = edge.source
                    queue.append(edge.target)
                continue
            source = queue.popleft()
            for edge in out.get(source, ()):
                if not edge.child:
                    later.append(edge)
                elif edge.target != ROOT and edge.target not in parents:
                    parents[edge.target] = source
                    queue.append(edge.target)
        return parents

    @cached_property
    def unreachable(self) -> tuple[str, ...]:
        """The pages that cannot be reached from the root."""
        return tuple(n.path for n in self.nodes if n.path != ROOT and n.path not in self.parents)

    @cached_property
    def children(self) -> dict[str, list[str]]:
        """The children of each page in that walk, in the order of its links."""
        children: dict[str, list[str]] = {}
        for path, parent in self.parents.items():
            children.setdefault(parent, []).append(path)
        return children

    def breadcrumb(self, path: str) -> tuple[str, ...]:
        """The way from the root to a page, both included; the page alone if it cannot be reached."""
        way = [path]
        while way[0] in self.parents and len(way) <= len(self.nodes):
            way.insert(0, self.parents[way[0]])
        return tuple(way)

    def to_dict(self) -> dict[str, Any]:
        """`{"nodes": [{"id", "size", "label"}], "edges": [{"from", "to", "label"}]}`."""
        return {
            "nodes": [{"id": n.path, "size": n.size, "label": n.title} for n in self.nodes],
            "edges": [{"from": e.source, "to": e.target, "label": e.label} for e in self.edges],
        }

    def to_mermaid(self) -> str:
        """A Mermaid flow chart: solid arrows to children, dotted arrows to pages that are only mentioned."""
        names = {node.path: f"n{number}" for number, node in enumerate(self.nodes)}
        lines = ["graph TD"]
        lines += [f'  {names[n.path]}["{_mermaid(n.path)}"]' for n in self.nodes]
        lines += [f"  {names[e.source]} {'-->' if e.child else '-.->'} {names[e.target]}" for e in self.edges]
        return "\n".join(lines) + "\n"

    def to_dot(self) -> str:
        """A Graphviz digraph."""
        lines = ["digraph memory {", "  rankdir=LR;", "  node [shape=box];"]
        lines += [f"  {_quoted(n.path)} [label={_quoted(n.title)}];" for n in self.nodes]
        for edge in self.edges:
            style = "" if edge.child else " [style=dotted]"
            lines.append(f"  {_quoted(edge.source)} -> {_quoted(edge.target)}{style};")
        return "\n".join([*lines, "}"]) + "\n"


def build_graph(pages: Iterable[Page]) -> Graph:
    """The graph of these pages."""
    ordered = sorted(pages, key=lambda page: (page.path != ROOT, page.path))
    known = {fold(page.path): page.path for page in ordered}
    nodes = tuple(Node(page.path, page.size, page.title) for page in ordered)
    return Graph(nodes, tuple(edge for page in ordered for edge in edges_of(page, known)))


def edges_of(page: Page, known: Mapping[str, str]) -> list[Edge]:
    """The edges from a page to pages in `known` (folded path → path): one for each target, children first."""
    labels = {child.target: child.description for child in page.children}
    found: dict[str, Edge] = {}
    for link, child in sorted(page.found_links, key=lambda pair: not pair[1]):
        target = known.get(link.key or "")
        if target and target != page.path and target not in found:
            found[target] = Edge(page.path, target, labels.get(link.target.strip(), "") if child else "", child)
    return list(found.values())


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def _mermaid(text: str) -> str:
    return text.replace('"', "#quot;")
