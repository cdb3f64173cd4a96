"""The history of operations: listing, showing, comparing, undoing and restoring; and packing it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from memory_v2.agent.operation import check_id, operation
from memory_v2.errors import NotAllowed, PageNotFound, StorageConflict, StorageError, Unreadable
from memory_v2.operations.commit import commit, follow_lines
from memory_v2.operations.context import Context, refresh
from memory_v2.operations.draft import Draft, page_above
from memory_v2.operations.overgrown import split_overgrown
from memory_v2.operations.results import Result
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.history import EXTERNAL, Change, History, PageChange, Revision, compared
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.text.kept import kept
from memory_v2.tree.block import decode, split_lines
from memory_v2.tree.graph import build_graph
from memory_v2.tree.page import Page, parse_page, read_page
from memory_v2.tree.path import ROOT, fold, is_entry, link_key, page_path

UNDO = "undo"
SPLIT = "split"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PastOperation:
    """An operation in the history, with its revisions, newest first. `id` is the id of the newest; `undone_by` is the
    id of the undo that undid it, empty if there is none."""

    revisions: tuple[Revision, ...]
    undone_by: str = ""

    @property
    def id(self) -> str:
        """The id for commands, as in `undo <id>`: the first twelve digits of its newest revision's."""
        return self.revisions[0].id[:12]

    @property
    def first(self) -> Revision:
        """Its first revision: the write, before the splits that followed it."""
        return self.revisions[-1]

    @property
    def when(self) -> datetime:
        """The time of its newest revision."""
        return self.revisions[0].when

    @property
    def is_beginning(self) -> bool:
        """Whether it is the beginning of the history: the pages that existed then."""
        return self.first.kind == EXTERNAL and self.first.is_first

    @property
    def is_next(self) -> bool:
        """Whether an undo without an id may undo it: the newest such operation is undone."""
        return self.first.kind != UNDO and not self.undone_by and bool(self.paths) and not self.is_beginning

    @property
    def paths(self) -> tuple[str, ...]:
        """The pages it changed."""
        return tuple(sorted({path for revision in self.revisions for path in revision.paths}))

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the operation as a whole, with all models that decided."""
        revisions = self.revisions[::-1]
        return {
            "id": self.id,
            "when": self.when,
            "kind": self.first.kind,
            "summary": self.first.summary,
            "agent": self.first.agent,
            "decided_by": list(dict.fromkeys(revision.decided_by for revision in revisions if revision.decided_by)),
            "degraded": [revision.degraded for revision in revisions if revision.degraded],
            "changed_pages": self.paths,
            "undone_by": self.undone_by,
        }


@dataclass(frozen=True, slots=True)
class BlamedLine:
    """A line of a page and the revision that brought it: `None` for a line that is not in the history yet."""

    number: int
    text: str
    revision: Revision | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the revision's fields are null for a line that is not in the history yet."""
        brought = {name: getattr(self.revision, name, None) for name in ("id", "when", "kind", "decided_by")}
        return {"line": self.number, "text": self.text, **brought}


@operation("history")
def history(context: Context, path: str | None = None) -> list[PastOperation]:
    """The operations, newest first, including edits by hand; with `path`, only those that changed this page. Raises
    `PageNotFound` for a page that never was."""
    path = None if path in (None, "") else page_path(path)
    recorded = _history(context)
    operations = [past for past in _operations(recorded) if path is None or path in past.paths]
    if path is not None and not operations and not context.storage.exists(path):
        raise PageNotFound(path)
    return operations


@operation("show")
def changes(context: Context, revision: str) -> tuple[PastOperation, Change]:
    """An operation and its changes. Raises `NotAllowed` if no operation has this id."""
    recorded = _history(context)
    operation = _find(recorded, revision)
    return operation, Change(_page_changes(recorded, operation), operation.revisions[0])


@operation("diff")
def difference(context: Context, old: str, new: str | None = None) -> Change:
    """The pages that differ after operation `old` and after operation `new`, or now if `new` is left out. Raises
    `NotAllowed` if no operation has this id."""
    recorded = _history(context)
    then = _find(recorded, old).revisions[0]
    if new is not None:
        later = _find(recorded, new).revisions[0]
        return Change(recorded.difference(then.id, later.id), later)
    before = recorded.pages(then.id)
    return Change(compared(before, _now(context, before)))


@operation("undo", changes="tree", recorded=True, recovers=False)  # what is to be undone need not be split first
def undo(context: Context, revision: str | None = None) -> Result:
    """Undoes an operation: restores the pages that it changed, byte for byte, and splits those that are overgrown,
    unless the operation was a split. Without an id it undoes the newest operation that is not an undo and is not
    undone; with an id, an undo can be undone too. Raises `NotAllowed` if the pages have changed since, or if other
    pages now depend on them; then nothing was changed."""
    with context.storage.lock():  # else a text that is forgotten meanwhile would come back
        result, is_split = _undone(context, revision)
    return result if is_split else settled(context, result)


def _undone(context: Context, revision: str | None) -> tuple[Result, bool]:
    """The result of undoing, and whether it was a split that was undone."""
    recorded = _history(context)
    operation = next_undo(recorded) if revision is None else _find(recorded, revision)
    if operation is None:
        raise NotAllowed("there is nothing to undo")
    if operation.is_beginning:
        raise NotAllowed(f"{operation.id} is where the history begins; there is nothing before it to go back to")
    if operation.undone_by:
        raise NotAllowed(f"{operation.id} was undone already, by {operation.undone_by[:12]}")
    changed = _page_changes(recorded, operation)
    if not changed:
        raise NotAllowed(f"{operation.id} has changed no page, so there is nothing to undo")
    draft, has_other_lines = Draft(context), False
    for change in changed:
        if change.path in draft.staged:
            raise NotAllowed(f"{change.path!r} was changed by others in the middle of {operation.id}; restore the page")
        try:
            draft.take(PageChange(change.path, change.after, change.before))
        except StorageConflict as error:
            now = None if is_entry(change.path) else draft.before(change.path)
            if now and (page := _as_listed_before(now, change)):  # its lines follow their pages
                del draft.staged[change.path]
                if page.links != now.links:
                    draft.put(page.stamped(context.now()))
                has_other_lines = True
                continue
            raise NotAllowed(
                f"{change.path!r} was changed after {operation.id}; undo what came later first, or restore the page"
                + (" (edits of an entry by hand are in the history once a check has seen them)" * is_entry(change.path))
            ) from error
    if has_other_lines:
        follow_lines(draft)
    context.operation.trace.add("undo", of=operation.first.operation or operation.first.id)
    is_split = operation.first.kind == SPLIT
    try:
        try:
            made = commit(draft, exact=True, may_be_large=is_split)
        except StorageConflict:
            if not _is_as_before(draft, recorded, operation):
                raise
            made = commit(draft, exact=True, may_be_large=is_split, may_be_out_of_reach=True)
    except StorageConflict as error:
        raise NotAllowed(f"{operation.id} cannot be undone: other pages link to what it made, or hang on it") from error
    return Result(changed[0].path, (made,) if made else ()), is_split


def _as_listed_before(now: Page, change: PageChange) -> Page | None:
    """A page that has changed since, without the links that a change of it added, and with those that it took away;
    `None` if the change was of more than links."""
    if change.before is None or change.after is None:
        return None
    before, after = (read_page(change.path, data) for data in (change.before, change.after))
    if before.body != after.body:
        return None
    had, has, listed = ({link_key(child.target): child for child in page.children} for page in (before, after, now))
    page = now.without_children(lambda child: link_key(child.target) in has.keys() - had.keys())
    gone = [had[key] for key in had if key not in has and key not in listed]
    return page.with_children((child.target, child.description) for child in gone)


@operation("restore", changes="tree", recorded=True)
def restore(context: Context, revision: str, path: str | None = None) -> Result:
    """Restores a page, or the whole tree, as it was after an operation. The current state stays in the history. A
    restored page does not list children that no longer exist. Raises `NotAllowed`, and `PageNotFound` if the page did
    not exist then."""
    with context.storage.lock():  # else a text that is forgotten meanwhile would come back
        result = _restored(context, revision, path)
    return settled(context, result)


def _restored(context: Context, revision: str, path: str | None) -> Result:
    recorded = _history(context, even_if_fresh=True)
    then = recorded.pages(_find(recorded, revision).revisions[0].id)
    if path is None:
        return put_back(context, then)
    draft = Draft(context)
    path = page_path(path)
    if path not in then:
        raise PageNotFound(path)
    known = {fold(there) for there in (*draft.paths(), path)}
    page = parse_page(path, decode(then[path])).without_children(lambda child: link_key(child.target) not in known)
    if draft.find(path) is None:
        above = draft.page(page_above(draft, path))
        draft.put(above.with_child(path, page.title))
    draft.put(page)
    made = commit(draft)
    return Result(path, (made,) if made else ())


def put_back(context: Context, pages: Mapping[str, bytes], entries: Iterable[PageChange] = ()) -> Result:
    """Makes the tree these pages, byte for byte, and stores these changes of entries in the same revision. Call it
    under the storage's lock, with pages that were read under it, and `settled` after it."""
    draft = Draft(context)
    draft.beside += entries
    for gone in draft.paths() - pages.keys():
        draft.staged[gone] = None
    for path, data in pages.items():
        draft.before(path)
        draft.staged[path] = parse_page(path, decode(data))
    made = commit(draft, exact=True, may_be_out_of_reach=True)
    return Result(ROOT, (made,) if made else ())


def _is_as_before(draft: Draft, recorded: History, operation: PastOperation) -> bool:
    """Whether every page that the undo would leave out of reach is so now, or was so before the operation: then the
    undo takes nothing away. Pages that linked before the operation to what it made are staged as they are, for they may
    do so again. It reads the pages themselves, since they may link to pages that do not exist now."""
    stored = {path: read_page(path, data) for path, data in _now(draft.context, {}).items()}
    old = recorded.before(operation.first.id)
    then = {path: read_page(path, data) for path, data in recorded.pages(old).items()} if old else {}
    gone = {fold(path) for path, page in draft.staged.items() if page is None}
    for path in stored.keys() & then.keys() - draft.staged.keys():
        if (led := gone & stored[path].link_keys) and led <= then[path].link_keys:
            draft.staged[path] = draft.before(path)
    staged = [page for page in (stored | draft.staged).values() if page is not None]
    lost = set(build_graph(staged).unreachable) - set(build_graph(stored.values()).unreachable)
    return lost <= set(build_graph(then.values()).unreachable)


def settled(context: Context, result: Result) -> Result:
    """The result after the pages that it left overgrown are split: others may have written to them meanwhile."""
    pages = [path for path in result.changed_pages if not is_entry(path)]
    return result.with_splits(*split_overgrown(context, pages))


@operation("blame")
def blame(context: Context, path: str = ROOT) -> list[BlamedLine]:
    """Every line of a page with the revision that wrote it, on whichever page that was: a split, a merge or a new name
    only moves it, and an undo or a restore only brings it back. Raises `PageNotFound`."""
    path = page_path(path)
    recorded = _history(context)
    now = split_lines(decode(context.storage.read(path).data))
    known: dict[str, list[_Blamed]] = {}
    left: _Left = {}
    states = _states(recorded, path, known)
    brought = _brought(states[-1] if states else _Blamed(None, [], []), now, None)
    written = [
        _written_by(recorded, revision, line, path, known, left) if revision and line.strip() else revision
        for line, revision in zip(now, brought, strict=True)
    ]
    return [BlamedLine(number, *blamed) for number, blamed in enumerate(zip(now, written, strict=True), 1)]


class _Blamed(NamedTuple):
    """The lines of a page after a revision, and the revision that brought each."""

    revision: Revision | None
    lines: list[str]
    brought: list[Revision | None]


_Left: TypeAlias = dict[str, dict[str, Mapping[str, Revision | None]]]
"""By revision and page: the lines that then left the page."""


def _states(recorded: History, path: str, known: dict[str, list[_Blamed]]) -> list[_Blamed]:
    """A page after each revision that changed it, oldest first; read once for each page."""
    if path not in known:
        known[path] = []
        state = _Blamed(None, [], [])
        gone: dict[str, Revision | None] = {}
        for revision, data in recorded.states(path):
            after = split_lines(decode(data)) if data is not None else []
            gone |= _lines_that_left(state, after)
            brought = _brought(state, after, revision)
            if revision.brings_back:
                pairs = zip(after, brought, strict=True)
                brought = [gone.get(line, one) if one is revision else one for line, one in pairs]
            state = _Blamed(revision, after, brought)
            known[path].append(state)
    return known[path]


def _written_by(
    recorded: History, revision: Revision, line: str, path: str, known: dict[str, list[_Blamed]], left: _Left
) -> Revision:
    """The revision that wrote a line which this one brought to a page: an older one if it took the line from another
    page."""
    if revision.id not in left:
        changes = () if revision.is_first else recorded.difference(recorded.before(revision.id), revision.id)
        left[revision.id] = {
            change.path: _lines_that_left(before, after.lines)
            for change in changes
            if not is_entry(change.path)
            for before, after in pairwise(_states(recorded, change.path, known))
            if after.revision == revision
        }
    for other, lines in left[revision.id].items():
        if other != path and line in lines:
            older = lines[line]
            return _written_by(recorded, older, line, other, known, left) if older else revision
    return revision


def _lines_that_left(before: _Blamed, after: list[str]) -> dict[str, Revision | None]:
    """The lines that a page has fewer of `after` a change, each with the revision that brought the first of it."""
    fewer = Counter(before.lines) - Counter(after)
    pairs = zip(reversed(before.lines), reversed(before.brought), strict=True)  # of equal lines the first comes last
    return {line: brought for line, brought in pairs if line in fewer}


def _brought(before: _Blamed, after: list[str], revision: Revision | None) -> list[Revision | None]:
    """The revision that brought each of the lines after one: an older one if the line was there before."""
    brought = [revision] * len(after)
    for place, new_place in kept(before.lines, after):
        brought[new_place] = before.brought[place]
    return brought


def _history(context: Context, even_if_fresh: bool = False) -> History:
    """The history, begun if it was not, with the edits by hand that were made since."""
    recorded = context.storage.history
    has_any = recorded.begun and next(recorded.revisions(), None)  # of a bucket, `begun` may be of a moment ago
    if not has_any and context.storage.list_files():
        try:
            context.storage.begin(context.now())
        except StorageError as error:  # a read-only disk must not stop readers
            logger.info("the history could not be begun: %s", error)
    refresh(context, even_if_fresh)
    return recorded


def _operations(recorded: History) -> list[PastOperation]:
    """All operations, newest first. The revisions of an operation are together even if others came between them, and
    `undone_by` is set."""
    groups: dict[str, list[Revision]] = {}
    for revision in recorded.revisions() if recorded.begun else ():
        groups.setdefault(revision.operation or revision.id, []).append(revision)
    undone: dict[str, str] = {}
    for name, group in groups.items():
        if group[-1].undoes and name not in undone:
            undone[group[-1].undoes] = group[0].id
    return [PastOperation(tuple(group), undone.get(name, "")) for name, group in groups.items()]


def next_undo(recorded: History) -> PastOperation | None:
    """The operation that an undo without an id undoes; `None` if there is none."""
    return next((past for past in _operations(recorded) if past.is_next), None)


def _find(recorded: History, revision: str) -> PastOperation:
    """The operation with a revision whose id begins with `revision`; the newest one is the `last`."""
    check_id(revision)
    wanted = revision.strip().lower()
    if wanted == "last" and (newest := next(iter(_operations(recorded)), None)):
        return newest
    found = [
        one for one in _operations(recorded) if len(wanted) >= 4 and any(e.id.startswith(wanted) for e in one.revisions)
    ]
    if len(found) != 1:
        there = f"there are {len(found)} operations" if found else "there is no operation"
        raise NotAllowed(f"{there} whose id begins with {revision!r}; 'silica memory history' lists them")
    return found[0]


def _page_changes(recorded: History, operation: PastOperation) -> tuple[PageChange, ...]:
    """Each page before and after an operation; several changes of a page if others changed it in between."""
    changes: dict[str, list[PageChange]] = {}
    for revision in reversed(operation.revisions):
        for change in recorded.difference(recorded.before(revision.id), revision.id):
            parts = changes.setdefault(change.path, [])
            if parts and parts[-1].after == change.before:
                parts[-1] = PageChange(change.path, parts[-1].before, change.after)
            else:
                parts.append(change)
    return tuple(one for path in sorted(changes) for one in changes[path] if one.before != one.after)


def _now(context: Context, before: Mapping[str, bytes]) -> dict[str, bytes]:
    """All pages as they are stored; one that cannot be read as it was `before`, so that it is not taken for removed."""
    paths = context.storage.list_files()
    hidden = context.storage.unlisted_folders()
    for folder, reason in hidden.items():
        logger.warning("the pages below %r are left out: %s", folder, reason)
    pages = {path: data for path, data in before.items() if path.startswith(tuple(hidden))}
    for path in paths:
        try:
            pages[path] = context.storage.read(path).data
        except PageNotFound:  # removed just now
            continue
        except Unreadable as error:
            logger.warning("the page %r is left out: %s", path, error)
            if path in before:
                pages[path] = before[path]
    return pages


@dataclass(frozen=True, slots=True)
class PackResult:
    """The number of packed objects, and the size of the history on disk before and after, in bytes."""

    objects: int
    bytes_before: int
    bytes_after: int


@operation("pack_history", changes="store")
def pack(storage: MemoryStorage) -> PackResult:
    """Packs the history of a storage without losing anything. Raises `NotAllowed` if it is not a folder's history."""
    if not isinstance(storage, LocalStorage):
        raise NotAllowed(f"the history of {storage.where} needs no packing: only that of a folder does")
    recorded = storage.history
    if not recorded.begun:
        return PackResult(0, 0, 0)
    with storage.lock():
        before = recorded.size
        return PackResult(recorded.pack(), before, recorded.size)
