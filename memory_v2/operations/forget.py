"""Forgetting for good: pages, history, traces, pending notes, index, and what crashes and buckets have kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace

from memory_v2.agent.operation import Operation
from memory_v2.errors import InvalidSetting, StorageConflict, StorageError
from memory_v2.index import dedup
from memory_v2.operations.arrange import stage_delete
from memory_v2.operations.commit import stage_and_commit
from memory_v2.operations.context import Context, overgrown
from memory_v2.operations.draft import Draft
from memory_v2.operations.follow import linking
from memory_v2.operations.forgetting import Forgetting, lines_forgetting, page_forgetting, text_forgetting
from memory_v2.operations.freshness import refresh
from memory_v2.operations.operation import operation
from memory_v2.operations.texts import check_text
from memory_v2.settings import DEFAULT_TRACES
from memory_v2.storage.base import CONSOLIDATION, IMPORTS, PENDING, ROUTING, Leftover, MemoryStorage
from memory_v2.storage.history import FORGET, Extent, Revision, Rewrite
from memory_v2.storage.pending import PendingErasure, PendingNote
from memory_v2.text.amounts import counted
from memory_v2.trace.files import Traces
from memory_v2.tree.block import decode
from memory_v2.tree.page import read_page
from memory_v2.tree.path import ENTRIES, page_path

MAX_PASSES = 4
"""How often a text is looked for again after it was forgotten: old versions in a bucket come of forgetting itself, and
others may have written it meanwhile."""
MAX_SIMILAR = 8
"""How many other spellings of a text are named."""
_NOTES = ("journal-damaged", CONSOLIDATION, ROUTING)
"""Notes besides the pending ones that hold text."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Where something stood that was forgotten; or stands, if it was not `applied`.

    `pages` are those, and the entries, that have it now, in their text or their path; `revisions` and `versions` count
    the revisions of the history and the versions of pages in it. `notes` and `traces` are names; traces are removed as
    a whole. `leftovers` are temporary files, histories set aside and old versions in a bucket. `others` are files that
    are not the memory's: they are left alone, as are the `similar` spellings that are now in the memory. `revision` is
    the id of the record."""

    applied: bool = False
    pages: tuple[str, ...] = ()
    revisions: int = 0
    versions: int = 0
    notes: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()
    leftovers: tuple[Leftover, ...] = ()
    others: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()
    revision: str = ""

    def __bool__(self) -> bool:
        """Whether there was anything to forget."""
        return bool(self.pages or self.revisions or self.versions or self.notes or self.traces or self.leftovers)


@dataclass(frozen=True)
class _Found:
    """What was found, and the history as it is without it."""

    told: Forgotten
    rewrite: Rewrite
    erasure: PendingErasure = field(default_factory=PendingErasure)


@operation("forget", changes="past")
def forget(
    context: Context, text: str | None = None, path: str | None = None, lines: str | None = None, apply: bool = False
) -> Forgotten:
    """Takes a text, a page, or lines of a page (`3-5, 8`) out of the memory and its past, and returns where it stood.
    Without `apply` it only looks. It cannot be undone. What is forgotten is no part of the record that it leaves.

    Raises `InvalidText`, `InvalidSetting`, `PageNotFound`, `NotAllowed`; `StorageConflict` if somebody is writing the
    text now; and `StorageError`. After an error nothing was forgotten, unless it says that it will be completed later.
    """
    # Nobody rewrites or packs the history while it is searched: its objects would seem to be gone.
    with context.storage.lock() if apply else nullcontext():
        return _forgotten(context, text, path, lines, apply)


def _forgotten(context: Context, text: str | None, path: str | None, lines: str | None, apply: bool) -> Forgotten:
    rules = _rules(context, text, path, lines)
    found = _find(context, rules)
    others = tuple(context.storage.other_files(rules.is_held))
    told = replace(found.told, others=others, similar=_similar(context.storage, rules, text or ""))
    if not apply or not told:
        return told
    gone = page_path(path) if path is not None and lines is None else ""
    with _deleted(context, rules, gone) if gone and context.storage.exists(gone) else nullcontext():
        revision = _forget(context, rules, found, "")
    for _ in range(MAX_PASSES):
        found = _find(context, rules)
        if not found.told:
            return replace(told, applied=True, revision=revision)
        revision = _forget(context, rules, found, revision)
    raise StorageError("others keep writing what is to be forgotten; stop them and try again")


def _rules(context: Context, text: str | None, path: str | None, lines: str | None) -> Forgetting:
    if text is not None:
        check_text(text, "a text")
    if not isinstance(lines, str | None):
        raise InvalidSetting(f"lines are numbers such as '3-5, 8', not {lines!r}")
    if (text is None) == (path is None) or (lines is not None and path is None):
        raise InvalidSetting("name what is to be forgotten: a text; or a page; or a page and lines of it")
    refresh(context, even_if_fresh=True)
    storage = context.storage
    if text is not None:
        history = storage.history
        past = {path for revision in history.revisions() for path in revision.paths} if history.begun else set()
        entries = {stamp.path for stamp in storage.stamps(ENTRIES)}
        return text_forgetting(text, {*storage.list_files(), *entries, *past})
    path = page_path(path or "")
    return page_forgetting(storage, path) if lines is None else lines_forgetting(storage, path, lines)


def _find(context: Context, rules: Forgetting) -> _Found:
    storage = context.storage
    rewrite = storage.history.rewriting(rules)
    extent = rewrite.extent() if storage.history.begun else Extent()
    traces = tuple(kept.holding(rules.is_told)) if (kept := _traces(storage)) else ()
    leftovers = tuple(storage.leftovers(rules.is_held))
    entries = sorted(stamp.path for stamp in storage.stamps(ENTRIES))
    told = Forgotten(
        pages=tuple(path for path in (*storage.list_files(), *entries) if _stands_on(storage, rules, path)),
        revisions=extent.revisions,
        versions=extent.versions,
        notes=tuple(name for name in _note_names(storage) if rules.is_held(storage.state.read(name) or b"")),
        traces=traces,
        leftovers=leftovers,
    )
    return _Found(told, rewrite, PendingErasure(traces, leftovers))


def _stands_on(storage: MemoryStorage, rules: Forgetting, path: str) -> bool:
    data = storage.read(path).data
    return rules.path(path) != path or rules.page(data) != data


def _forget(context: Context, rules: Forgetting, found: _Found, revision: str) -> str:
    """Forgets what was found; returns the id of the record. There is one record, whatever the number of passes."""
    storage = context.storage
    note = PendingNote(storage.state, Operation().id)
    _redact_notes(storage, rules, found.told.notes)
    with note.erasing(found.erasure, storage):
        is_recorded = found.told.revisions or found.told.versions or found.told.pages
        if is_recorded or not revision:
            extent = f"{counted(found.told.versions, 'page version')} and {counted(found.told.revisions, 'revision')}"
            record = Revision(FORGET, f"in {extent}", note.operation, when=context.now())
            storage.rewrite(rules, found.rewrite, record)
        erase(context, found.erasure)
    note_overgrown(context)
    return revision or storage.history.head[:12]


def _redact_notes(storage: MemoryStorage, rules: Forgetting, names: tuple[str, ...]) -> None:
    """Takes it out of notes that cannot be finished. Raises `StorageConflict` if a process works on one of them."""
    for name in names:
        with storage.state.claim(name) as is_free:
            if not is_free:
                raise StorageConflict("a write that says this is under way; try again when it is done")
            if (data := storage.state.read(name)) is not None:
                storage.state.write(name, rules.note(data))


def erase(context: Context, pending: PendingErasure) -> None:
    """Removes what is left of something after the history was rewritten: traces, leftovers, and the whole index."""
    if traces := _traces(context.storage):
        traces.remove(pending.traces)
    context.storage.remove_leftovers(pending.leftovers)
    folder = context.storage.cache_folder
    context.index.erase(folder)
    dedup.erase(folder)
    context.freshness.expire()


def note_overgrown(context: Context) -> None:
    """Notes pages that have grown too large, since a marker may be longer than what it stands for: they are split when
    the memory is next used."""
    refresh(context)
    graph = context.index.graph()
    pages = (read_page(path, context.storage.read(path).data) for path in context.storage.list_files())
    if large := [page.path for page in pages if overgrown(page, context.threshold, graph)]:
        PendingNote(context.storage.state, Operation().id).add(large)


@contextmanager
def _deleted(context: Context, rules: Forgetting, path: str) -> Iterator[None]:
    """Deletes the page: its children move to its parent, and links to it become words. It is there again if what
    follows fails before it is decided."""
    operation = Operation()
    operation.trace.began("delete", {"path": path}, context.now())

    def stage(draft: Draft) -> str:
        for source in linking(draft, {path}):  # by the rules: what stood behind a link is told from text only before it
            draft.put(read_page(source, rules.page(draft.page(source).data)))
        return stage_delete(draft, path)

    _, change = stage_and_commit(replace(context, operation=operation), stage, look=True)
    try:
        yield
    except BaseException:
        context.storage.take_back(change)
        context.freshness.expire()
        raise


def _traces(storage: MemoryStorage) -> Traces | None:
    folder = storage.cache_folder
    return Traces(folder / "traces", DEFAULT_TRACES) if folder else None


def _note_names(storage: MemoryStorage) -> list[str]:
    return [*storage.state.names(PENDING), *storage.state.names(IMPORTS), *_NOTES]


def _similar(storage: MemoryStorage, rules: Forgetting, text: str) -> tuple[str, ...]:
    """Other spellings of the text that are in the memory now: in another case, or with other marks between words."""
    words = re.findall(r"\w+", text)
    if not words:
        return ()
    pattern = re.compile(r"[\W_]*".join(map(re.escape, words)), re.I)
    found: dict[str, None] = {}
    for path in storage.list_files():
        left = decode(rules.page(storage.read(path).data))
        found |= dict.fromkeys(match[0] for match in pattern.finditer(f"{rules.path(path)}\n{left}"))
        if len(found) >= MAX_SIMILAR:
            break
    return tuple(found)[:MAX_SIMILAR]
