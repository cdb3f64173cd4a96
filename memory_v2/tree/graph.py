"""The link graph: nodes, edges, and the tree that a walk from the root finds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from memory_v2.tree.block import encode
from memory_v2.tree.page import Page
from memory_v2.tree.path import ROOT, TakenPaths, fold


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


MAX_OWN = 400
"""How many bytes besides its links a group has at most: its title and metadata."""
_OF_PAGES = ("known", "taken")
_OF_LINKS = ("sources", "parents", "children", "unreachable", "descriptions")
_OF_TITLES = ("listing",)
"""What is computed from the paths of the pages only, what from these and the links, and what from the titles too."""


@dataclass(frozen=True, slots=True)
class ListingText:
    """A line for each of the `paths`, all in one `text`, which is searched much faster than one by one: its path, its
    title, its description, in lower case and without hyphens. `starts` tells where each line begins, and the end."""

    paths: list[str]
    text: str
    starts: list[int]


@dataclass(frozen=True)
class Graph:
    """The pages by path, and the links from each to others. Links to missing pages are not edges, and a page without
    edges is not among the `links`."""

    pages: Mapping[str, Node]
    links: Mapping[str, tuple[Edge, ...]]

    def changed(self, pages: Mapping[str, Node | None], links: Mapping[str, Iterable[Edge]]) -> Graph:
        """The graph with these pages, `None` for a removed one, and these edges from each source. What does not depend
        on the difference is not computed again."""
        added = {path: node for path, node in pages.items() if node is not None}
        removed = {path for path in pages if path in self.pages and path not in added}
        new_pages = {**self.pages, **added}
        for path in removed:
            del new_pages[path]
        new_links = {source: tuple(edges) for source, edges in links.items()}
        for source in {source for path in removed for source in self.sources.get(path, ())}:
            edges = new_links.get(source, self.links.get(source, ()))
            new_links[source] = tuple(edge for edge in edges if edge.target not in removed)
        new_links |= dict.fromkeys(removed, ())
        new_links = {source: edges for source, edges in new_links.items() if edges != self.links.get(source, ())}
        all_links = {**self.links, **new_links}
        for source in [source for source, edges in new_links.items() if not edges]:
            del all_links[source]
        graph = Graph(new_pages, all_links)
        if not removed and added.keys() <= self.pages.keys():
            kept: tuple[str, ...] = _OF_PAGES if new_links else _OF_PAGES + _OF_LINKS
            if not new_links and all(node.title == self.pages[path].title for path, node in added.items()):
                kept += _OF_TITLES
            graph.__dict__.update({name: self.__dict__[name] for name in kept if name in self.__dict__})
        elif not removed and "known" in self.__dict__ and "taken" in self.__dict__:
            new = {fold(path): path for path in added if path not in self.pages}
            if len(self.known) + len(new) == len(new_pages) and new.keys().isdisjoint(self.known):
                graph.__dict__["known"] = self.known | new
                graph.__dict__["taken"] = self.taken.with_paths(new.values())
        return graph

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The pages: the root first, then by path."""
        return tuple(sorted(self.pages.values(), key=lambda node: (node.path != ROOT, node.path)))

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """The links, in the order of the pages that they come from."""
        return tuple(edge for node in self.nodes for edge in self.links.get(node.path, ()))

    @cached_property
    def known(self) -> dict[str, str]:
        """Each path by its folded form."""
        return {fold(path): path for path in sorted(self.pages)}

    @cached_property
    def taken(self) -> TakenPaths:
        """The paths that a new page cannot have."""
        return TakenPaths(self.pages)

    def lists_only(self, path: str) -> bool:
        """Whether a page is a group: it lists pages, and has hardly a text of its own."""
        lines = [edge for edge in self.links.get(path, ()) if edge.child]
        listed = sum(len(encode(f"- [[{line.target}]] - {line.label}\n")) for line in lines)
        return len(lines) > 1 and path != ROOT and self.pages[path].size - listed <= MAX_OWN

    @cached_property
    def sources(self) -> dict[str, list[str]]:
        """The pages that link to each page."""
        sources: dict[str, list[str]] = {}
        for source, edges in self.links.items():
            for edge in edges:
                sources.setdefault(edge.target, []).append(source)
        return sources

    @cached_property
    def parents(self) -> dict[str, str]:
        """The parent of each reachable page but the root. The walk from the root is breadth first, and follows children
        before mentions."""
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
            for edge in self.links.get(source, ()):
                if not edge.child:
                    later.append(edge)
                elif edge.target != ROOT and edge.target not in parents:
                    parents[edge.target] = source
                    queue.append(edge.target)
        return parents

    @cached_property
    def unreachable(self) -> tuple[str, ...]:
        """The pages that cannot be reached from the root."""
        return tuple(sorted(self.pages.keys() - self.parents.keys() - {ROOT}))

    @cached_property
    def children(self) -> dict[str, list[str]]:
        """The children of each page in that walk, in the order of its links."""
        children: dict[str, list[str]] = {}
        for path, parent in self.parents.items():
            children.setdefault(parent, []).append(path)
        return children

    def below(self, path: str) -> list[str]:
        """The pages below a page in that walk."""
        found = list(self.children.get(path, ()))
        for page in found:
            found += self.children.get(page, ())
        return found

    @cached_property
    def descriptions(self) -> dict[str, str]:
        """The line by which each page is listed, where it has words."""
        links = self.links.values()
        return {edge.target: edge.label for edges in links for edge in edges if edge.child and edge.label}

    @cached_property
    def listing(self) -> ListingText:
        """What a reader of the links finds: a line for each page that can be reached, except the root."""
        paths = [path for path in self.pages if path != ROOT and path in self.parents]
        lines = "\n".join([f"  {path} {self.pages[path].title} {self.descriptions.get(path, '')}" for path in paths])
        text = lines.casefold().replace("-", " ").replace("/", " ").replace("_", " ")
        return ListingText(paths, text, list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0)))

    def breadcrumb(self, path: str) -> tuple[str, ...]:
        """The way from the root to a page, both included; the page alone if it cannot be reached."""
        way = [path]
        while way[0] in self.parents and len(way) <= len(self.pages):
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
        lines += [f'  {names[n.path]}["{mermaid_escaped(n.path)}"]' for n in self.nodes]
        lines += [f"  {names[e.source]} {'-->' if e.child else '-.->'} {names[e.target]}" for e in self.edges]
        return "\n".join(lines) + "\n"

    def to_dot(self) -> str:
        """A Graphviz digraph."""
        lines = ["digraph memory {", "  rankdir=LR;", "  node [shape=box];"]
        lines += [f"  {dot_quoted(n.path)} [label={dot_quoted(n.title)}];" for n in self.nodes]
        for edge in self.edges:
            style = "" if edge.child else " [style=dotted]"
            lines.append(f"  {dot_quoted(edge.source)} -> {dot_quoted(edge.target)}{style};")
        return "\n".join([*lines, "}"]) + "\n"


def build_graph(pages: Iterable[Page]) -> Graph:
    """The graph of these pages."""
    by_path = {page.path: page for page in pages}
    nodes = {path: node_of(page) for path, page in by_path.items()}
    known = Graph(nodes, {}).known
    links = {path: tuple(edges_of(page, known)) for path, page in by_path.items()}
    return Graph(nodes, {path: edges for path, edges in links.items() if edges})


def node_of(page: Page) -> Node:
    """The node of a page."""
    return Node(page.path, page.size, page.title)


def edges_of(page: Page, known: Mapping[str, str]) -> list[Edge]:
    """The edges from a page to pages in `known` (folded path → path): one for each target, children first."""
    labels = {child.target: child.description for child in page.children}
    found: dict[str, Edge] = {}
    for link, child in sorted(page.found_links, key=lambda pair: not pair[1]):
        target = known.get(link.key or "")
        if target and target != page.path and target not in found:
            found[target] = Edge(page.path, target, labels.get(link.target.strip(), "") if child else "", child)
    return list(found.values())


def dot_quoted(text: str) -> str:
    """A text as Graphviz takes it for an id or a label."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def mermaid_escaped(text: str) -> str:
    """A text as it may stand between the quotes of a Mermaid label."""
    return text.replace('"', "#quot;")
