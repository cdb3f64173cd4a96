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
    """The children that are drawn, level by level as long as a whole family fits, and how many pages there are."""
    children: dict[str, list[str]] = {}
    drawn, count, level = {top}, 1, [top]
    while level:
        below: list[str] = []
        for path in level:
            listed = family.get(path, [])
            count += len(listed)
            below += listed
            room = listed[: MOST_PAGES - 1] if path == top else listed
            if room and path in drawn and len(drawn) + len(room) <= MOST_PAGES:
                children[path] = room
                drawn.update(room)
        level = below
    return children, count
