"""Committing: the one place where a draft becomes a change, and what the history records of it.

Pages that would lose their last link are linked again first, lines that quote what is gone from a page are replaced,
and the metadata is updated. Then, under one short lock, the draft is checked against changes by others, and the storage
applies it: new pages first, then the pages that link to them, then removals, so that a reader never meets a dangling
link.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TypeVar

from memory_v2.agent.operation import Operation, who_asks
from memory_v2.errors import SilicaError, StorageConflict
from memory_v2.operations.context import Context, look, overgrown, refresh
from memory_v2.operations.draft import Draft, leads_to, link_orphans
from memory_v2.storage.history import Change, PageChange, Revision
from memory_v2.storage.versioned import MAX_SUMMARY
from memory_v2.text.words import shorten
from memory_v2.trace.recording import Event, Trace
from memory_v2.tree.block import decode, parse_blocks
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page, parse_page, read_page
from memory_v2.tree.path import ROOT, TakenPaths, fold

T = TypeVar("T")

logger = logging.getLogger(__name__)

MAX_FOLLOWED = 300
"""Of how many pages that were edited by hand at once the lines are replaced, since a reader waits for it. A check
finds the others."""
MAX_CONFLICTS = 50
"""How often an operation is staged again after a conflict. Under the lock it succeeds at once, but while somebody saves
the page by hand time and again: on a busy machine thirteen times in a row have been seen."""


def stage_and_commit(
    context: Context, stage: Callable[[Draft], T], look: bool = False, exact: bool = False
) -> tuple[T, Change]:
    """Stages on a draft and commits; after a conflict starts again with a fresh one, under the lock, so that nobody
    is faster twice. With `look`, what to change depends on which pages there are, so the index looks at all of them
    first; `exact` is as for `commit`. Returns the result of `stage`, which sends no model request, and the change.
    Raises `StorageConflict` if there are more than `MAX_CONFLICTS`."""
    with ExitStack() as locks:
        for attempt in range(MAX_CONFLICTS + 1):
            refresh(context, even_if_fresh=look)
            draft = Draft(context)
            try:
                staged = stage(draft)
                locks.enter_context(context.storage.lock())
                return staged, commit(draft, exact)
            except StorageConflict as conflict:
                context.operation.trace.add("conflict", error=str(conflict))
                if attempt == MAX_CONFLICTS:
                    raise
                if attempt % 2:  # the lock itself may be lost: another machine may have taken it
                    locks.close()
    raise AssertionError("the last attempt returns or raises")


def commit(
    draft: Draft,
    exact: bool = False,
    may_be_large: bool = False,
    may_be_out_of_reach: bool = False,
    revision: Revision | None = None,
) -> Change:
    """Stores the staged pages and returns the change. `exact` stores them byte for byte, without updating links and
    metadata. Overgrown pages are noted as pending splits, unless they `may_be_large`. The `revision` that records the
    change is derived from the trace unless it is given. Raises `StorageConflict` if a page was changed since it was
    read, or if changes by others would leave a page out of reach, and `StorageError` if the storage fails; then nothing
    was changed. A text that no page was changed for is recorded alone."""
    if not exact:
        _keep_reachable(draft)
        _link_created(draft)
        follow_lines(draft)
    pages = _changed(draft)
    context = draft.context
    if not pages and not draft.beside and not _unplaced(context, pages):
        return Change()
    context.operation.cancellation.check()
    if not exact:
        now = context.now()
        pages = {path: page and parse_page(path, page.stamped(now).text) for path, page in pages.items()}
    graph = context.index.graph()
    written = [page for page in pages.values() if page and not may_be_large]
    large = [page.path for page in written if overgrown(page, context.threshold, graph)]
    history, note = context.storage.history, context.note
    with context.storage.lock(), ExitStack() as storing:

        def begin_storing() -> None:
            note.expect_unfinished(history)
            if _changes_the_tree(draft, pages):
                _check_meanwhile(draft, pages, may_be_out_of_reach)
            storing.enter_context(context.freshness.committing(history))
            storing.enter_context(note.storing(context.storage, large))
            storing.enter_context(context.operation.cancellation.storing())

        before = {path: stored.data if (stored := draft.read[path]) else None for path in pages}
        changes = [PageChange(path, before[path], page.data if page else None) for path, page in pages.items()]
        made = Change((*changes, *draft.beside), revision or revision_of(context, pages))
        change = context.storage.commit(made, begin_storing)
        is_quick = context.model is context.planner  # it divides what is large at once
        _index(context, pages, change, large if is_quick else ())
    note.after_change(change.paths, large)
    pages_changed = [
        {"path": page.path, "before": _text(page.before), "after": _text(page.after)} for page in change.pages
    ]
    context.operation.trace.add("commit", revision=change.revision.id[:12], pages=pages_changed)
    return change


def follow_lines(draft: Draft) -> None:
    """Stages the lines of changed pages that quote what is gone, or are of less than the pages have now."""
    pages = [(draft.before(path), page) for path, page in draft.written()]
    _tell_changed(draft, [(before, page) for before, page in pages if before and page.body != before.body], grown=True)


def _tell_changed(draft: Draft, changed: Sequence[tuple[Page, Page]], grown: bool = False) -> None:
    """Stages the lines of these pages, each as it was and as it is now; with `grown`, also of those that have grown."""
    if not changed:
        return
    graph = draft.graph()
    if listed := [(before, after) for before, after in changed if after.path in graph.sources]:
        from memory_v2.operations.page_lines import tell_changed  # start-up: the planner tells lines

        for before, after in listed:
            tell_changed(draft, graph, before, after, grown)


def follow_edits(context: Context, edits: str) -> None:
    """Replaces lines that quote what an edit by hand has taken from a page. It is part of the operation that these
    `edits` are, so that one undo takes both back. A failure is only logged: nobody has asked for it."""
    history, own = context.storage.history, replace(context, operation=Operation())
    try:
        with context.storage.lock(wait=False):
            changes = history.difference(history.before(edits), edits)[:MAX_FOLLOWED]
            draft = Draft(own)
            pages = [
                (read_page(change.path, change.before), page)
                for change in changes
                if change.before and change.after and (page := draft.find(change.path))
            ]
            _tell_changed(draft, pages)
            if draft.staged:
                summary = f"lines of {', '.join(change.path for change in changes)}"
                commit(draft, revision=Revision("describe", shorten(summary, MAX_SUMMARY), edits, when=context.now()))
    except SilicaError as error:
        logger.info("lines could not be replaced after an edit by hand: %s", error)


def _index(context: Context, pages: dict[str, Page | None], change: Change, large: Collection[str]) -> None:
    removed = (path for path, page in pages.items() if page is None)
    try:
        context.index.update((page for page in pages.values() if page), removed, change, divided_next=large)
    except Exception:  # the pages are stored; the index catches up at the next refresh
        logger.exception("the index could not be updated after a change; the next refresh does it")
        context.freshness.expire()


def _text(data: bytes | None) -> str | None:
    return None if data is None else decode(data)


def _changes_the_tree(draft: Draft, pages: dict[str, Page | None]) -> bool:
    """Whether the change adds or removes pages, or removes links. Changes of other pages can then conflict with it."""
    return any(
        page is None or draft.before(path) is None or _lost_targets(draft, path, page) for path, page in pages.items()
    )


def _check_meanwhile(draft: Draft, pages: dict[str, Page | None], may_be_out_of_reach: bool) -> None:
    """Raises `StorageConflict` if, together with changes by others, the change would leave a page out of reach, a link
    without its page, or two paths that differ only in case. Call it under the lock."""
    look(draft.context)
    draft.forget_paths()
    created = [path for path, page in pages.items() if page is not None and draft.before(path) is None]
    kept = set(created) | {t for path, page in pages.items() for t in _lost_targets(draft, path, page)}
    gone = {path for path, page in pages.items() if page is None}
    stored = draft.context.index.graph()
    others = TakenPaths(draft.paths() - pages.keys()) if gone else stored.taken
    if (
        any(path in others for path in created)
        or (not may_be_out_of_reach and kept.intersection(draft.unreachable()))
        or any(
            _is_linked_unseen(draft, pages, source, path) for path in gone for source in stored.sources.get(path, ())
        )
    ):
        raise StorageConflict("the tree was changed by somebody else meanwhile")


def _is_linked_unseen(draft: Draft, pages: dict[str, Page | None], source: str, gone: str) -> bool:
    """Whether a page that does not change links to one that is removed, and the draft has not staged it like that."""
    staged = draft.staged.get(source)
    return source not in pages and (staged is None or fold(gone) not in staged.link_keys)


def _changed(draft: Draft) -> dict[str, Page | None]:
    """The staged pages that differ from the stored ones, children before parents."""
    changed = {}
    for path, page in draft.staged.items():
        if page is not None and path not in draft.read:
            draft.expect_absent(path)
        stored = draft.read.get(path) if draft.before(path) else None
        if page is None and stored is None:
            continue
        if page is None or stored is None or page.data != stored.data:
            changed[path] = page
    return {path: changed[path] for path in _in_order(draft, changed)}


def _in_order(draft: Draft, changed: dict[str, Page | None]) -> list[str]:
    created = [path for path, page in changed.items() if page is not None and draft.before(path) is None]
    updated = [path for path, page in changed.items() if page is not None and draft.before(path) is not None]
    updated.sort(key=lambda path: _lets_go(draft, path))  # a moved block is in both places for a moment, never in none
    removed = [path for path, page in changed.items() if page is None]
    respelled = TakenPaths(created)
    first = [path for path in removed if respelled.clash(path)]  # a disk that ignores case takes them for new ones
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
    """Whether a staged page has lost a block."""
    before, after = draft.before(path), draft.staged[path]
    kept = {block.content for block in after.blocks} if after else set()
    return before is not None and any(block.content not in kept for block in before.blocks)


def _keep_reachable(draft: Draft) -> None:
    """Links pages that would become unreachable, from the page that no longer links to them."""
    losers = {path: lost for path, page in draft.staged.items() if (lost := _lost_targets(draft, path, page))}
    if not losers:
        return
    if ROOT not in draft.paths():
        link_orphans(draft)
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
            unreachable -= leads_to(graph, target, unreachable)


def _link_created(draft: Draft) -> None:
    """Links the staged pages that the root does not lead to if there are new ones among them: what is made of a page
    that nobody has linked would be out of reach like the page itself."""
    staged = {path for path, _ in draft.written()}
    created = {path for path in staged if draft.before(path) is None}
    if created and not created.isdisjoint(draft.graph().unreachable):
        link_orphans(draft, staged if ROOT in draft.paths() else None)


def _lost_targets(draft: Draft, path: str, page: Page | None) -> dict[str, str]:
    """The pages that a staged page no longer links to: path → the description it gave."""
    before = draft.before(path)
    if before is None:
        return {}
    lost = before.link_keys - (page.link_keys if page else frozenset())
    if not lost:
        return {}
    known = {fold(known): known for known in draft.paths()}
    descriptions = {fold(child.target): child.description for child in before.children}
    return {known[key]: descriptions.get(key, "") for key in sorted(lost & known.keys())}


def _nearest_kept(draft: Draft, before: Graph, loser: str, target: str) -> str:
    """The page that lost the link, or its nearest ancestor that still exists and is not the target."""
    for path in reversed(before.breadcrumb(loser)):
        if path != target and draft.find(path) is not None and path not in draft.graph().unreachable:
            return path
    return ROOT


LINE_ENDS = "\r\n"
INTERRUPTED = "it was interrupted, and finished later"


def revision_of(context: Context, pages: Mapping[str, Page | None]) -> Revision:
    """The revision for the next change, which stores these pages: the operation, or the split that follows it, who
    decided and why. It is derived from the trace."""
    operation = context.operation
    events = operation.trace.events
    begin = _begin(operation.trace)
    since = max((number for number, event in enumerate(events, 1) if event["event"] == "commit"), default=0)
    asked = [event for event in events[since:] if event["event"] == "ask"]
    ended = [event for event in events[since:] if event["event"] == "decided"]
    kind = asked[-1]["task"] if asked else begin["operation"]
    interrupted = [INTERRUPTED] if begin.get("goes_on") else []
    about = next((str(value) for value in begin["arguments"].values() if value and value is not True), "")
    if begin["operation"] == "rename":
        about = f"{begin['arguments']['old']} → {begin['arguments']['new']}"
    if kind != begin["operation"] or not about:
        about = ", ".join(sorted(pages))
    return Revision(
        kind=kind,
        summary=shorten(about, MAX_SUMMARY),
        operation=operation.id,
        agent=who_asks(),
        decided_by=asked[-1]["model"] if asked else "",
        degraded="; ".join([*interrupted, *(event["reason"] for event in ended if event["reason"])]),
        undoes=next((str(event["of"]) for event in operation.trace.of("undo")), ""),
        why=tuple(ended[-1]["checked"]) if ended else (),
        when=context.now(),
        text=_unplaced(context, pages),
    )


def _unplaced(context: Context, pages: Mapping[str, Page | None]) -> str:
    return unplaced_text(context.operation.trace, pages) or context.operation.record


def unplaced_text(trace: Trace, pages: Mapping[str, Page | None]) -> str:
    """The text of a write, to the letter, unless each block of it is on these pages, as they are stored now. Empty
    once the write is stored, and for other operations."""
    begin = _begin(trace)
    if begin["operation"] != "write" or trace.of("commit"):
        return ""
    text, stored = str(begin["arguments"]["text"]), [page for page in pages.values() if page]
    lines = f"\n{text.strip(LINE_ENDS)}\n"
    if any(lines in f"\n{page.body}\n" for page in stored):
        return ""
    there = {block.content for page in stored for block in page.blocks}
    return "" if there and all(block.content in there for block in parse_blocks(text)) else text


def _begin(trace: Trace) -> Event:
    return next(iter(trace.of("begin")), {"operation": "change", "arguments": {}})
