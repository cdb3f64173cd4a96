"""The tree of pages, drawn in lines and told as rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory_v2.cli.show import cut, pad, plain, screen_width, style, width
from memory_v2.text.amounts import size
from memory_v2.tree.path import ROOT

if TYPE_CHECKING:
    from memory_v2.tree.graph import Graph, Node

WIDEST_NAME = 48
"""Columns up to which sizes and descriptions are aligned on a terminal; a longer name pushes its own aside."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A page as it is met on the walk; `lead` is what is drawn before it."""

    node: Node
    parent: str | None
    depth: int
    lead: str
    description: str


def tree_lines(graph: Graph) -> Iterator[str]:
    """The tree, then the pages that are not on it; cut to the terminal, if it is one, and with aligned sizes."""
    nodes = {node.path: node for node in graph.nodes}
    branches = list(_walk(graph))
    lost = [Branch(nodes[path], None, 0, "  ", _about(nodes[path], "")) for path in graph.unreachable]
    columns = screen_width()
    widest = min(WIDEST_NAME, columns // 2) if columns else 0
    names = (width(branch.lead + plain(branch.node.path)) for branch in [*branches, *lost])
    aligned = max((name for name in names if name <= widest), default=0)
    sizes = max((len(size(node.size)) for node in graph.nodes), default=0) if columns else 0
    for branch in branches:
        yield _line(branch, aligned, sizes, columns)
    if lost:
        yield "not reachable from the root:"
    for branch in lost:
        yield _line(branch, aligned, sizes, columns)


def tree_rows(graph: Graph) -> list[dict[str, Any]]:
    """The tree in the order in which it is drawn; flat, for it may be deeper than a JSON reader likes."""
    return [
        {
            "path": branch.node.path,
            "parent": branch.parent,
            "depth": branch.depth,
            "title": branch.node.title,
            "description": branch.description,
            "size_bytes": branch.node.size,
        }
        for branch in _walk(graph)
    ]


def _walk(graph: Graph) -> Iterator[Branch]:
    nodes = {node.path: node for node in graph.nodes}
    labels = {(edge.source, edge.target): edge.label for edge in graph.edges}
    if ROOT not in nodes:
        return
    waiting = [(Branch(nodes[ROOT], None, 0, "", _about(nodes[ROOT], "")), "")]
    while waiting:
        branch, above = waiting.pop()
        yield branch
        source = branch.node.path
        children = graph.children.get(source, [])
        for number, child in reversed(list(enumerate(children, 1))):
            last = number == len(children)
            about = _about(nodes[child], labels.get((source, child), ""))
            lead = above + ("└── " if last else "├── ")
            waiting.append(
                (Branch(nodes[child], source, branch.depth + 1, lead, about), above + ("    " if last else "│   "))
            )


def _about(node: Node, label: str) -> str:
    """What the page above says of it, else its title, where that says more than its name."""
    name = node.path.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ")
    return label or ("" if node.title.casefold() == name.casefold() else node.title)


def _line(branch: Branch, aligned: int, sizes: int, columns: int | None) -> str:
    path = plain(branch.node.path)
    extent = pad(size(branch.node.size), sizes, right=True)
    about = plain(branch.description.replace("\t", " "))
    if columns is not None:
        path = cut(path, columns - len(branch.lead))
        name = len(branch.lead) + width(path)
        extent = " " * (aligned - name) + extent
        extent = extent if name + 2 + len(extent) <= columns else ""
        about = cut(about, columns - name - len(extent) - 4) if extent else ""
    parts = [style(branch.lead, dim=True) + style(path, fg="cyan"), style(extent, dim=True), about]
    return "  ".join(filter(None, parts)).rstrip()
