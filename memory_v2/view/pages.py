"""The tree, a page, its lines with where they came from, and editing it in place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import islice

from memory_v2.errors import InvalidPath, NotAllowed, PageExists, PageNotFound, SilicaError, StorageConflict
from memory_v2.operations.results import PageInfo
from memory_v2.storage.history import PageChange
from memory_v2.text.kept import kept
from memory_v2.tree.block import encode, readable, split_lines
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page, page_source, parse_page
from memory_v2.tree.path import ROOT, page_path, similar_paths
from memory_v2.view.markdown import LineLabels, PageAddress, parts_of, to_html
from memory_v2.view.visit import Visit
from memory_v2.view.web import Response, see

MOST_ROWS = 300
"""Pages that the tree shows at once; of a larger one it shows as many whole levels as fit, the first in any case."""
MOST_LEVELS = 12
"""Levels that the tree shows at once: deeper ones would leave no room for their names."""
MOST_OPEN = 60
"""Pages that the tree shows with all branches open; with more, those below the first level open by a click."""
MOST_SIBLINGS = 100
"""Children of a page that are shown at once."""
MOST_NEWEST = 8
"""Pages that are named as changed lately."""
MOST_LINES = 2_000
"""Lines of a page that are shown with what brought them."""
VERSION_LENGTH = 32
"""Hexadecimal digits of the version of a page in the form that edits it."""


@dataclass(frozen=True)
class TreeRow:
    """A page in the tree, and how many pages are `below` it, shown or not."""

    page: PageInfo
    about: str
    children: tuple[TreeRow, ...] = ()
    below: int = 0


def tree(visit: Visit) -> Response:
    """The pages as a tree, as many levels as there is room for; a branch is opened by its own address."""
    infos = {info.path: info for info in visit.memory.list_files()}
    if not infos:
        return visit.show("empty", entries=any(visit.memory.entries.store.places()))
    graph = visit.memory.graph()
    top = visit.asked("under") or ROOT
    if top not in infos:
        raise PageNotFound(top)
    first = visit.number("from")
    shown = _room(graph, top, first)
    changed: dict[str, datetime] = {}
    for path, when in _changes(visit):
        changed.setdefault(path, when)
    updated = {path: changed.get(path, info.last_updated) for path, info in infos.items()}
    return visit.show(
        "tree",
        way=graph.breadcrumb(top),
        row=_row(graph, infos, top, shown, _below(graph)),
        first=first,
        siblings=len(graph.children.get(top, ())),
        most=MOST_SIBLINGS,
        rows=len(shown),
        most_open=MOST_OPEN,
        loose=list(islice(graph.unreachable, MOST_SIBLINGS)) if top == ROOT and not first else [],
        loose_count=len(graph.unreachable),
        count=len(infos),
        bytes=sum(info.size_bytes for info in infos.values()),
        newest=[infos[path] for path in islice((each for each in changed if each in infos), MOST_NEWEST)],
        updated=updated,
        now=visit.calendar.now(),
    )


def _changes(visit: Visit, path: str | None = None) -> Iterator[tuple[str, datetime]]:
    """The pages that were changed, or the one at `path`, and when, newest first, by the history: what a page says of
    itself is older after it was put back."""
    with suppress(NotAllowed):
        for past in visit.memory.history(path):
            yield from ((each, past.when) for each in past.paths if path in (None, each))


def _room(graph: Graph, top: str, first: int) -> set[str]:
    """The pages that are shown below this one."""
    level = graph.children.get(top, [])[first : first + MOST_SIBLINGS]
    shown = {top}
    for _ in range(MOST_LEVELS):
        if len(shown) + len(level) > MOST_ROWS:
            break
        shown.update(level)
        level = [child for path in level for child in graph.children.get(path, ())]
    return shown


def _below(graph: Graph) -> dict[str, int]:
    """How many pages are below each."""
    below: dict[str, int] = {}
    for path in reversed(graph.parents):  # children come after their parents in it
        below[graph.parents[path]] = below.get(graph.parents[path], 0) + below.get(path, 0) + 1
    return below


def _row(graph: Graph, infos: dict[str, PageInfo], path: str, shown: set[str], below: dict[str, int]) -> TreeRow:
    family = [child for child in graph.children.get(path, ()) if child in shown and child in infos]
    rows = tuple(_row(graph, infos, child, shown, below) for child in family)
    return TreeRow(infos[path], graph.descriptions.get(path, ""), rows, below.get(path, 0))


def page(visit: Visit, path: str) -> Response:
    """A page, rendered; each block has the day on which it was said. `at` names a line, `part` a part of a large
    page."""
    path = _named(visit, path)
    text = visit.memory.read(path)
    read = parse_page(path, text)
    parts = list(parts_of([block.text for block in parse_page(path, without_metadata(read)).blocks]))
    if line := visit.number("at"):
        part = max((number for number, (above, _, _) in enumerate(parts) if above < line), default=0)
        starts = [dated.lines[0] for dated in visit.memory.days(path) if dated.lines[0] <= line]
        return see(visit.at("page", path, anchor=f"L{max(starts, default=1)}", part=part))
    number = min(visit.number("part"), max(len(parts) - 1, 0))
    above, shown, is_piece = parts[number] if parts else (0, "", False)
    graph = visit.memory.graph()
    lines = LineLabels(visit.memory.days(path), visit.at("lines", path), above)
    return visit.show(
        "page",
        path=path,
        title=read.title,
        html=None if is_piece else to_html(shown, pages_at(visit, graph), lines),
        piece=shown if is_piece else "",
        number=number,
        parts=len(parts),
        way=graph.breadcrumb(path),
        children=graph.children.get(path, [])[:MOST_SIBLINGS],
        child_count=len(graph.children.get(path, ())),
        linked_from=sorted(graph.sources.get(path, ()))[:MOST_SIBLINGS],
        source=page_source(read),
        bytes=len(encode(text)),
        updated=next(_changes(visit, path), (path, read.last_updated))[1],
        now=visit.calendar.now(),
    )


def without_metadata(read: Page) -> str:
    """The text of a page without the section that the program alone writes."""
    return read.text.removesuffix(read.metadata) if read.metadata else read.text


def pages_at(visit: Visit, graph: Graph) -> PageAddress:
    """Where the pages of a graph are seen."""

    def address(key: str, heading: str) -> str | None:
        path = graph.known.get(key)
        return visit.at("page", path, anchor=f"h-{heading}" if heading else "") if path else None

    return address


def raw(visit: Visit, path: str) -> Response:
    """A page as it is stored, as plain text."""
    return Response(encode(visit.memory.read(_named(visit, path))), kind="text/plain; charset=utf-8")


def lines(visit: Visit, path: str) -> Response:
    """Each line of a page with the day it was said, and the change that brought it."""
    path = _named(visit, path)
    own = without_metadata(parse_page(path, visit.memory.read(path)))
    blamed = visit.memory.blame(path)[: len(split_lines(own))]
    shown, place = visit.part(blamed, MOST_LINES)
    days = {}
    for dated in visit.memory.days(path):
        days.update(dict.fromkeys(range(dated.lines[0], dated.lines[1] + 1), dated))
    return visit.show(
        "lines",
        path=path,
        way=visit.memory.graph().breadcrumb(path),
        blamed=shown,
        days=days,
        **place,
        made_by=next(iter(visit.memory.history(path)[-1:]), None),
    )


def edit(visit: Visit, path: str) -> Response:
    """The form that edits a page, or makes one."""
    path = page_path(path)
    try:
        text = visit.memory.read(path)
    except PageNotFound:
        title = path.rpartition("/")[2].replace("-", " ").capitalize()
        return _form(visit, path, f"# {title}\n\n", "")
    return _form(visit, path, text, text)


def save(visit: Visit, path: str) -> Response:
    """Stores what was edited, if the page is still what the form was filled with. Else both texts are shown."""
    path, form = page_path(path), visit.request.form
    try:
        present = visit.memory.read(path)
    except PageNotFound:
        present = ""
    mine = restored(present, form.get("text", ""))
    if version(present) != form.get("version", ""):
        return _form(visit, path, mine, present, 409)
    try:
        result = visit.memory.edit(path, mine, present) if present else visit.memory.create(path, mine)
    except (StorageConflict, PageExists):
        return _form(visit, path, mine, visit.memory.read(path), 409)
    except SilicaError as error:
        return _form(visit, path, mine, present, 400, str(error))
    return see(visit.at("page", path), result.changed_pages)


def _form(visit: Visit, path: str, mine: str, present: str, status: int = 200, problem: str = "") -> Response:
    """The form with a text. After a conflict it holds the visitor's, and shows how the present one differs."""
    diff = PageChange(path, encode(present), encode(mine)).diff if status == 409 else ""
    return visit.show(
        "edit", status, path=path, text=mine, present=present, version=version(present), diff=diff, problem=problem
    )


def version(text: str) -> str:
    """What a form remembers of the page that it was filled with."""
    return sha256(encode(text)).hexdigest()[:VERSION_LENGTH]


def restored(stored: str, submitted: str) -> str:
    """What a browser submits, with the lines that were not edited as they were stored: forms write every line end as
    CRLF, and cannot hold some characters."""
    old, new = split_lines(stored), split_lines(submitted)
    end = "\r\n" if stored.count("\r\n") * 2 > len(old) else "\n"
    result = [line.rstrip("\r\n") + end if line.endswith(("\r", "\n")) else line for line in new]
    for place, new_place in kept([_as_submitted(line) for line in old], [_as_submitted(line) for line in new]):
        is_inside = new[new_place].endswith("\n") == old[place].endswith(("\r", "\n"))
        result[new_place] = old[place] if is_inside else result[new_place]
    return "".join(result)


def _as_submitted(line: str) -> str:
    return readable(line).rstrip("\r\n").replace("\0", "\ufffd")


def _named(visit: Visit, path: str) -> str:
    """The page of a path, whatever its case; with pages of similar names if there is none."""
    try:
        path = page_path(path)
    except InvalidPath as error:
        raise PageNotFound(path) from error
    graph = visit.memory.graph()
    if path not in graph.pages and not visit.memory.storage.exists(path):
        missing = PageNotFound(path)
        missing.similar = similar_paths(path, graph.pages)
        raise missing
    return path
