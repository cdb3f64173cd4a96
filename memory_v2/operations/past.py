"""Looking back and going back: what was done, what it changed, and taking it back to the byte."""

from __future__ import annotations

import difflib
import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_v2.errors import NotAllowed, PageNotFound, StorageConflict, StorageError
from memory_v2.operations.commit import commit
from memory_v2.operations.context import Context
from memory_v2.operations.draft import Draft, page_above
from memory_v2.operations.overgrown import split_overgrown
from memory_v2.operations.record import refresh
from memory_v2.operations.results import Result
from memory_v2.storage.history import EXTERNAL, Change, History, PageChange, Revision
from memory_v2.tree.block import decode, split_lines
from memory_v2.tree.graph import build_graph
from memory_v2.tree.link import link_key
from memory_v2.tree.page import parse_page, read_page
from memory_v2.tree.path import ROOT, fold, page_path

UNDO = "undo"
SPLIT = "split"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PastOperation:
    """What was done at once: its commits, newest first. `id` is that of the newest; `undone_by` the id of the undo that
    took it back, empty as long as none has."""

    revisions: tuple[Revision, ...]
    undone_by: str = ""

    @property
    def id(self) -> str:
        """What names it: `undo <id>`, `show <id>`."""
        return self.revisions[0].id[:12]

    @property
    def first(self) -> Revision:
        """What began it: the write, before the splits that followed it."""
        return self.revisions[-1]

    @property
    def when(self) -> datetime:
        """When it was done."""
        return self.revisions[0].when

    @property
    def is_beginning(self) -> bool:
        """Whether nobody did it: it is what was found when the history began."""
        return self.first.kind == EXTERNAL and self.first.is_first

    @property
    def is_next(self) -> bool:
        """Whether it is what an undo without a name takes back, if nothing newer is."""
        return self.first.kind != UNDO and not self.undone_by and bool(self.paths) and not self.is_beginning

    @property
    def paths(self) -> tuple[str, ...]:
        """The pages it changed."""
        return tuple(sorted({path for entry in self.revisions for path in entry.paths}))

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: one operation, whoever decided its parts."""
        revisions = self.revisions[::-1]
        return {
            "id": self.id,
            "when": self.when,
            "kind": self.first.kind,
            "summary": self.first.summary,
            "decided_by": list(dict.fromkeys(one.decided_by for one in revisions if one.decided_by)),
            "degraded": [one.degraded for one in revisions if one.degraded],
            "changed_pages": self.paths,
            "undone_by": self.undone_by,
        }


@dataclass(frozen=True, slots=True)
class BlamedLine:
    """A line of a page, and what brought it; the operation is `None` for a line that is not in the history yet."""

    number: int
    text: str
    entry: Revision | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: with null for what brought a line that is not in the history yet."""
        brought = {name: getattr(self.entry, name, None) for name in ("id", "when", "kind", "decided_by")}
        return {"line": self.number, "text": self.text, **brought}


def history(context: Context, path: str | None = None) -> list[PastOperation]:
    """What was done, newest first; only what changed a page, if one is named. Edits by hand are among it. Raises
    `NotAllowed` where no history is kept."""
    kept = _kept(context)
    path = page_path(path) if path else None
    refresh(context)
    operations = _operations(kept)
    return [one for one in operations if path is None or path in one.paths]


def changes(context: Context, revision: str) -> tuple[PastOperation, Change]:
    """An operation, and its changes. Raises `NotAllowed` if there is none of this name."""
    kept = _kept(context)
    refresh(context)
    operation = _find(kept, revision)
    return operation, Change(_page_changes(kept, operation), operation.revisions[0])


def difference(context: Context, old: str, new: str | None = None) -> Change:
    """What differs between two moments, each named by an operation: after the one and after the other; without the
    other, as it is now. Raises `NotAllowed`."""
    kept = _kept(context)
    refresh(context)
    then = _find(kept, old).revisions[0]
    if new is not None:
        later = _find(kept, new).revisions[0]
        return Change(kept.difference(then.id, later.id), later)
    before, after = kept.pages(then.id), _now(context)
    paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return Change(tuple(PageChange(path, before.get(path), after.get(path)) for path in paths))


def undo(context: Context, revision: str | None = None) -> Result:
    """Takes an operation back: the pages that it changed are as they were before it, to the byte; one that was too
    large is split, unless it is a split that is undone. Without a name, the newest that is no undo and was not undone;
    an undo that is named can be undone itself. Raises `NotAllowed` if the pages were changed since, or others now
    depend on them; then nothing was changed."""
    kept = _kept(context)
    refresh(context)
    operation = _find(kept, revision) if revision else _newest(kept)
    if operation.is_beginning:
        raise NotAllowed(f"{operation.id} is where the history begins; there is nothing before it to go back to")
    if operation.undone_by:
        raise NotAllowed(f"{operation.id} was undone already, by {operation.undone_by[:12]}")
    changed = _page_changes(kept, operation)
    draft = Draft(context)
    for change in changed:
        if change.path in draft.staged:
            raise NotAllowed(f"{change.path!r} was changed by others in the middle of {operation.id}; restore the page")
        draft.before(change.path)
        now = draft.read[change.path]
        if (now.data if now else None) != change.after:
            raise NotAllowed(
                f"{change.path!r} was changed after {operation.id}; undo what came later first, or restore the page"
            )
        draft.staged[change.path] = None if change.before is None else read_page(change.path, change.before)
    context.operation.trace.add("undo", of=operation.first.operation or operation.revisions[0].id)
    is_split = operation.first.kind == SPLIT
    try:
        try:
            made = commit(draft, exact=True, may_be_large=is_split)
        except StorageConflict:
            if not _was_so_before(draft, kept, operation):
                raise
            made = commit(draft, exact=True, may_be_large=is_split, may_be_out_of_reach=True)
    except StorageConflict as error:
        raise NotAllowed(f"{operation.id} cannot be undone: other pages link to what it made, or hang on it") from error
    result = Result(changed[0].path if changed else ROOT, (made,) if made else ())
    return result if is_split else _settled(context, result)


def restore(context: Context, revision: str, path: str | None = None) -> Result:
    """Brings a page, or the whole tree, back to what it was after an operation. What is there now stays in the history.
    A page does not list again what is not there any more. Raises `NotAllowed`, `PageNotFound` if the page was not there
    then."""
    kept = _kept(context)
    refresh(context)
    then = kept.pages(_find(kept, revision).revisions[0].id)
    draft = Draft(context)
    if path is not None:
        path = page_path(path)
        if path not in then:
            raise PageNotFound(path)
        known = {fold(there) for there in (*draft.paths(), path)}
        page = parse_page(path, decode(then[path])).without_children(lambda entry: link_key(entry.target) not in known)
        if draft.find(path) is None:
            above = draft.page(page_above(draft, path))
            draft.put(above.with_child(path, page.title))
        draft.put(page)
        made = commit(draft)
        return _settled(context, Result(path, (made,) if made else ()))
    for gone in draft.paths() - then.keys():
        draft.staged[gone] = None
    for there, data in then.items():
        draft.before(there)
        draft.staged[there] = parse_page(there, decode(data))
    made = commit(draft, exact=True, may_be_out_of_reach=True)
    return _settled(context, Result(ROOT, (made,) if made else ()))


def _was_so_before(draft: Draft, kept: History, operation: PastOperation) -> bool:
    """Whether what would be out of reach without an operation is so now, or was so before it: then nobody is deprived
    of it by the undo. The pages themselves are read, for they may hold links to what is not there now."""
    stored = {path: read_page(path, data) for path, data in _now(draft.context).items()}
    staged = {path: page for path, page in (stored | draft.staged).items() if page is not None}
    lost = set(build_graph(staged.values()).unreachable) - set(build_graph(stored.values()).unreachable)
    old = kept.before(operation.first.id)
    then = kept.pages(old) if old else {}
    return lost <= set(build_graph(read_page(path, data) for path, data in then.items()).unreachable)


def _settled(context: Context, result: Result) -> Result:
    """The result, after what is too large by it is split: others may have written in the middle of what is undone."""
    splits, problem = split_overgrown(context, result.changed_pages)
    return result.with_splits(splits, problem)


def blame(context: Context, path: str = ROOT) -> list[BlamedLine]:
    """Every line of a page with the commit that brought it. Raises `PageNotFound`, `NotAllowed`."""
    kept = _kept(context)
    path = page_path(path)
    refresh(context)
    now = split_lines(decode(context.storage.read(path).data))
    lines: list[str] = []
    brought: list[Revision | None] = []
    for entry, data in kept.states(path):
        lines, brought = _brought(lines, brought, split_lines(decode(data)) if data is not None else [], entry)
    lines, brought = _brought(lines, brought, now, None)
    return [BlamedLine(number, line, entry) for number, (line, entry) in enumerate(zip(lines, brought, strict=True), 1)]


def _brought(
    lines: list[str], brought: list[Revision | None], after: list[str], entry: Revision | None
) -> tuple[list[str], list[Revision | None]]:
    """Who brought each line after a change: as before, where the line was there before."""
    told: list[Revision | None] = [entry] * len(after)
    for block in difflib.SequenceMatcher(None, lines, after, autojunk=False).get_matching_blocks():
        told[block.b : block.b + block.size] = brought[block.a : block.a + block.size]
    return after, told


def _kept(context: Context) -> History:
    kept = context.storage.history
    if not kept.begun and context.storage.list_files():
        try:
            context.storage.begin(context.now())
        except StorageError as error:  # a disk that cannot be written: who only looks back need not mind
            logger.info("the history could not be begun: %s", error)
    return kept


def _operations(kept: History) -> list[PastOperation]:
    """The commits, those of one operation together wherever others came between, the newest first; what an undo took
    back is marked."""
    groups: dict[str, list[Revision]] = {}
    for entry in kept.revisions() if kept.begun else ():
        groups.setdefault(entry.operation or entry.id, []).append(entry)
    undone: dict[str, str] = {}
    for name, group in groups.items():
        if group[-1].undoes and name not in undone:
            undone[group[-1].undoes] = group[0].id
    return [PastOperation(tuple(group), undone.get(name, "")) for name, group in groups.items()]


def _newest(kept: History) -> PastOperation:
    for operation in _operations(kept):
        if operation.is_next:
            return operation
    raise NotAllowed("there is nothing to undo")


def _find(kept: History, revision: str) -> PastOperation:
    """The operation with a commit whose id begins so."""
    wanted = revision.strip().lower()
    found = [
        one for one in _operations(kept) if len(wanted) >= 4 and any(e.id.startswith(wanted) for e in one.revisions)
    ]
    if len(found) != 1:
        there = f"there are {len(found)} operations" if found else "there is no operation"
        raise NotAllowed(f"{there} whose id begins with {revision!r}; 'silica memory history' lists them")
    return found[0]


def _page_changes(kept: History, operation: PastOperation) -> tuple[PageChange, ...]:
    """Each page before and after an operation; one that others changed in its middle has a change for each part."""
    changes: dict[str, list[PageChange]] = {}
    for revision in reversed(operation.revisions):
        for change in kept.difference(kept.before(revision.id), revision.id):
            parts = changes.setdefault(change.path, [])
            if parts and parts[-1].after == change.before:
                parts[-1] = PageChange(change.path, parts[-1].before, change.after)
            else:
                parts.append(change)
    return tuple(one for path in sorted(changes) for one in changes[path] if one.before != one.after)


def _now(context: Context) -> dict[str, bytes]:
    """All pages as they are stored."""
    pages = {}
    for path in context.storage.list_files():
        with suppress(
            PageNotFound, UnicodeEncodeError
        ):  # removed just now, or in a name that this locale cannot encode
            pages[path] = context.storage.read(path).data
    return pages
