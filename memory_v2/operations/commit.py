"""The one place where pages are stored.

Before: pages that would lose their last link are linked again, and the metadata is brought up to date. Then, under
one short lock: the versions are checked, new pages are written, then the pages that link to them, then pages are
removed; so a reader never meets a dangling link. A failure in the middle is taken back, and what a crash cuts short is
finished by whoever comes next (`operations.journal`).
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from typing import TypeVar

from memory_v2.errors import StorageConflict
from memory_v2.operations.context import Context, overgrown
from memory_v2.operations.draft import Draft
from memory_v2.operations.journal import carry_out, finish_interrupted
from memory_v2.operations.pending import expect_noted
from memory_v2.operations.record import begin, refresh
from memory_v2.operations.results import Change, PageChange
from memory_v2.storage.base import Stored
from memory_v2.tree.block import decode
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page, parse_page
from memory_v2.tree.path import ROOT, TakenPaths, fold

T = TypeVar("T")

logger = logging.getLogger(__name__)

CONFLICTS = 12
"""How often an operation is staged again on what somebody else has changed meanwhile."""
MAX_OPTIMISTIC = 3
"""After so many conflicts it is staged under the lock."""


def stage_and_commit(context: Context, stage: Callable[[Draft], T]) -> tuple[T, Change]:
    """Stages on a fresh view of the tree and commits, again if somebody else was faster; returns what `stage` does.
    Raises `StorageConflict` if others are faster every time."""
    for attempt in range(CONFLICTS + 1):
        # Nobody thinks while this is staged: whoever was too slow several times does it with the others held back.
        with context.storage.lock() if attempt >= MAX_OPTIMISTIC else nullcontext():
            refresh(context)
            draft = Draft(context)
            staged = stage(draft)
            try:
                return staged, commit(draft)
            except StorageConflict as conflict:
                context.operation.trace.add("conflict", error=str(conflict))
                if attempt == CONFLICTS:
                    raise
    raise AssertionError("the last attempt returns or raises")


def commit(draft: Draft, exact: bool = False, may_be_large: bool = False, may_be_out_of_reach: bool = False) -> Change:
    """Stores what is staged; `exact`: to the byte, without bringing links and metadata up to date. Pages that are too
    large are noted, so that they are split whatever happens, unless they `may_be_large`. Raises `StorageConflict` if a
    page was changed since it was read, or would be out of reach with what others did meanwhile, and `StorageError` if
    the storage fails; then nothing was changed."""
    if not exact:
        _keep_reachable(draft)
    changed = _changed(draft)
    if not changed:
        return Change()
    context = draft.context
    now = context.now()
    pages = changed
    if not exact:
        pages = {path: page and parse_page(path, page.stamped(now).text) for path, page in changed.items()}
    with context.storage.lock():
        finish_interrupted(context)
        begin(context)
        expect_noted(context)
        if _changes_the_tree(draft, pages):
            _check_meanwhile(draft, pages, may_be_out_of_reach)
        recorded = carry_out(
            context,
            draft.read,
            {path: page.data if page else None for path, page in pages.items()},
            () if may_be_large else tuple(p.path for p in pages.values() if p and overgrown(p, context.threshold)),
        )
    try:
        context.index.update((p for p in pages.values() if p), (path for path, p in pages.items() if p is None))
    except Exception:  # the pages are stored; an index that could not follow catches up at the next refresh
        logger.exception("the index could not take in what was stored")
    changes = tuple(
        PageChange(path, _text(draft.read[path]), page.text if page else None) for path, page in pages.items()
    )
    revision = Change(recorded[:12] or _revision_id(changes), changes)
    context.operation.trace.add("commit", revision=revision.id, pages=[asdict(change) for change in changes])
    return revision


def _changes_the_tree(draft: Draft, pages: dict[str, Page | None]) -> bool:
    """Whether pages come or go, or links go: then what others did to other pages meanwhile matters too."""
    return any(
        page is None or draft.before(path) is None or _lost_targets(draft, path, page) for path, page in pages.items()
    )


def _check_meanwhile(draft: Draft, pages: dict[str, Page | None], may_be_out_of_reach: bool) -> None:
    """Raises `StorageConflict` if, with what others have stored by now, the change would leave a page out of reach, a
    link without its page, or two paths that differ in case only. To be called under the lock."""
    refresh(draft.context)
    draft.forget_paths()
    created = [path for path, page in pages.items() if page is not None and draft.before(path) is None]
    others = TakenPaths(draft.paths() - pages.keys())
    graph = draft.graph()
    kept = set(created) | {t for path, page in pages.items() for t in _lost_targets(draft, path, page)}
    gone = {path for path, page in pages.items() if page is None}
    stored = draft.context.index.graph()
    if (
        any(path in others for path in created)
        or (not may_be_out_of_reach and kept.intersection(graph.unreachable))
        or any(edge.target in gone and edge.source not in pages for edge in stored.edges)
    ):
        raise StorageConflict("the tree was changed by somebody else meanwhile")


def _changed(draft: Draft) -> dict[str, Page | None]:
    """The staged pages that are not what is stored, children before parents."""
    changed = {}
    for path, page in draft.staged.items():
        stored = draft.read.get(path) if draft.before(path) else None
        if page is None and stored is None:
            continue
        if page is None or stored is None or page.data != stored.data:
            changed[path] = page
    return {path: changed[path] for path in _in_order(draft, changed)}


def _in_order(draft: Draft, changed: dict[str, Page | None]) -> list[str]:
    created = [path for path, page in changed.items() if page is not None and draft.before(path) is None]
    updated = [path for path, page in changed.items() if page is not None and draft.before(path) is not None]
    updated.sort(key=lambda path: _lets_go(draft, path))  # a block that moves stands in both places for a moment
    removed = [path for path, page in changed.items() if page is None]
    respelled = TakenPaths(created)
    first = [path for path in removed if respelled.clash(path)]  # the disk may take them for the same as new ones
    keys = {fold(path): path for path in created}
    ordered: list[str] = []
    seen: set[str] = set()

    def visit(path: str) -> None:
        seen.add(path)
        page = changed[path]
        assert page is not None
        for link, _ in page.found_links:
            target = keys.get(link.key or "")
            if target and target not in seen:
                visit(target)
        ordered.append(path)

    for path in created:
        if path not in seen:
            visit(path)
    return [*first, *ordered, *updated, *(path for path in removed if path not in first)]


def _lets_go(draft: Draft, path: str) -> bool:
    """Whether a staged page has not got some block any more."""
    before, after = draft.before(path), draft.staged[path]
    kept = {block.content for block in after.blocks} if after else set()
    return before is not None and any(block.content not in kept for block in before.blocks)


def _keep_reachable(draft: Draft) -> None:
    """Links again, from the page that let go of them, the pages that nothing would lead to any more."""
    losers = {path: lost for path, page in draft.staged.items() if (lost := _lost_targets(draft, path, page))}
    if not losers:
        return
    graph = draft.graph()
    before = draft.context.index.graph()
    unreachable = set(graph.unreachable)
    for loser, lost in losers.items():
        for target, description in lost.items():
            if target not in unreachable or draft.find(target) is None:
                continue
            keeper = _nearest_kept(draft, before, loser, target)
            page = draft.page(keeper)
            draft.put(page.with_child(target, description or draft.page(target).title))
            unreachable -= _below(graph, target)


def _lost_targets(draft: Draft, path: str, page: Page | None) -> dict[str, str]:
    """The pages that a staged page linked to and no longer does, with what it said of them."""
    before = draft.before(path)
    if before is None:
        return {}
    kept = {link.key for link, _ in page.found_links} if page else set()
    lost = {link.key for link, _ in before.found_links} - kept - {None}
    if not lost:
        return {}
    known = {fold(known): known for known in draft.paths()}
    said = {fold(entry.target): entry.description for entry in before.children}
    return {known[key]: said.get(key, "") for key in sorted(k for k in lost if k in known)}


def _nearest_kept(draft: Draft, before: Graph, loser: str, target: str) -> str:
    """The page that let go of the target, or the nearest above it that is still there and is not the target itself."""
    for path in reversed(before.breadcrumb(loser)):
        if path != target and draft.find(path) is not None and path not in draft.graph().unreachable:
            return path
    return ROOT


def _below(graph: Graph, path: str) -> set[str]:
    """A page and all that can be reached from it."""
    found, queue = {path}, [path]
    while queue:
        source = queue.pop()
        for edge in graph.edges:
            if edge.source == source and edge.target not in found:
                found.add(edge.target)
                queue.append(edge.target)
    return found


def _text(stored: Stored | None) -> str | None:
    return decode(stored.data) if stored else None


def _revision_id(changes: tuple[PageChange, ...]) -> str:
    digest = hashlib.sha256()
    for change in changes:
        for part in (change.path, change.before or "", change.after or ""):
            digest.update(part.encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()[:12]
