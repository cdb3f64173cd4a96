"""The graph as a picture, and as a list."""

from __future__ import annotations

from memory_v2.errors import PageNotFound
from memory_v2.text.words import shorten
from memory_v2.tree.block import readable
from memory_v2.tree.path import ROOT
from memory_v2.view.layout import draw
from memory_v2.view.visit import Visit
from memory_v2.view.web import Response

MOST_PAGES = 320
"""Pages in a picture: with more, their names could not be read."""
LONGEST_NAME = 20
"""Characters of a name in the picture."""


def graph(visit: Visit) -> Response:
    """The pages and their links below a page, as far as they can be read in one picture."""
    whole = visit.memory.graph()
    if not whole.pages:
        return visit.show("empty", entries=any(visit.memory.entries.store.places()))
    top = visit.asked("under") or ROOT
    if top not in whole.pages:
        raise PageNotFound(top)
    family = {path: list(listed) for path, listed in whole.children.items()}
    if top == ROOT and whole.unreachable:
        family[ROOT] = [*family.get(ROOT, []), *whole.unreachable]
    children, count = _room(top, family)
    shown = {top, *(child for listed in children.values() for child in listed)}
    stems = {(parent, child) for parent, listed in children.items() for child in listed}
    links = {
        (min(edge.source, edge.target), max(edge.source, edge.target))
        for path in shown
        for edge in whole.links.get(path, ())
        if edge.target in shown and (path, edge.target) not in stems and (edge.target, path) not in stems
    }
    names = {path: shorten(readable(path.rpartition("/")[2]), LONGEST_NAME) for path in shown}
    picture = draw(top, children, sorted(links), {path: whole.pages[path].size for path in shown}, names)
    folded = {path: len(family[path]) for path in shown if family.get(path) and not children.get(path)}
    return visit.show(
        "graph",
        top=top,
        way=whole.breadcrumb(top),
        picture=picture,
        names=names,
        titles={path: readable(whole.pages[path].title) for path in shown},
        folded=folded,
        children=children,
        links=sorted(links),
        shown=len(shown),
        count=count,
    )


def _room(top: str, family: dict[str, list[str]]) -> tuple[dict[str, list[str]], int]:
    """The children that are drawn, level by level as long as a whole level fits, and how many pages there are."""
    children: dict[str, list[str]] = {}
    count, level = 1, [top]
    while level:
        below = [child for path in level for child in family.get(path, ())]
        count += len(below)
        if level == [top]:
            children[top] = below[: MOST_PAGES - 1]
        elif count <= MOST_PAGES:
            children |= {path: family[path] for path in level if family.get(path)}
        level = below
    return children, count
