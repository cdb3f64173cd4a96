"""How operations come into the history, and what was done outside of it."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping

from memory_v2.agent.trace import Event
from memory_v2.errors import PageNotFound, StorageError
from memory_v2.operations.context import Context
from memory_v2.storage.base import JOURNAL, MemoryStorage
from memory_v2.storage.format import FORMAT, is_current, note_format
from memory_v2.storage.history import OUTSIDE, History, HistoryDamaged, Revision
from memory_v2.text.plain import shorten

logger = logging.getLogger(__name__)

MAX_SUMMARY = 80
INTERRUPTED = "it was interrupted, and finished later"


def refresh(context: Context) -> None:
    """Takes in what was changed outside since the last look, after it has come into the history."""
    history = context.storage.history

    def noticed(paths: Collection[str]) -> bool:
        return history is None or not history.begun or record_external_edits(context, paths)

    context.index.refresh(noticed)


def record(context: Context, changes: Mapping[str, bytes | None], entry: Revision) -> str:
    """Puts what a commit stores into the history; returns the commit's id, empty if no history is kept. To be called
    under the lock, after the pages are stored: a history that fails does not take back what is done, it is told."""
    history = context.storage.history
    if history is None:
        return ""
    try:
        return history.record(changes, entry)
    except HistoryDamaged:
        try:
            history.quarantine()
            everything = stored_pages(context.storage, context.storage.list_files())
            begun_anew = "pages as they were when a damaged history was set aside"
            return history.record(everything, Revision(OUTSIDE, begun_anew, when=context.now()))
        except StorageError:
            logger.exception("this change did not come into the history")
    except StorageError:
        logger.exception("this change did not come into the history")
    return ""


def record_if_missing(context: Context, changes: Mapping[str, bytes | None], entry: Revision) -> None:
    """As `record`, where nobody knows whether it was recorded already."""
    history = context.storage.history
    if history is None:
        return
    try:
        if not history.stale(changes):
            return
    except StorageError as error:
        logger.info("whether the history knows of a change cannot be told: %s", error)
    record(context, changes, entry)


def begin(context: Context, besides: Collection[str] = ()) -> None:
    """What comes before the first change: pages that were there before the history began, or before the store came into
    this format, are put into it as they were; `besides` are pages that were not. To be called under the lock. Raises
    `StorageError`, also for a store in a newer format."""
    storage, history = context.storage, context.storage.history
    current = is_current(storage.notes)
    if history is not None and not (current and history.begun):
        try:
            _record_as_it_was(context, history, besides)
        except HistoryDamaged:
            logger.info("the history is damaged; the next change begins a new one")
    if not current:
        note_format(storage.notes)


def _record_as_it_was(context: Context, history: History, besides: Collection[str]) -> None:
    storage = context.storage
    pages = stored_pages(storage, [path for path in storage.list_files() if path not in besides])
    if history.begun:
        if stale := history.stale(pages):
            summary = f"the memory as it was before it came into format {FORMAT}"
            history.record(stale, Revision(OUTSIDE, summary, when=context.now()))
    elif pages:
        summary = "pages that were there before the history began"
        history.record(pages, Revision(OUTSIDE, summary, when=context.now()))


def record_external_edits(context: Context, paths: Collection[str]) -> bool:
    """Puts into the history what somebody did to these pages by hand; tells whether it is there."""
    storage, history = context.storage, context.storage.history
    assert history is not None
    try:
        if not history.stale(stored_pages(storage, paths)):
            return True
        with storage.lock():
            if storage.notes.read(JOURNAL) is None:  # else that was no hand, but a change that was interrupted
                record_outside(context, stored_pages(storage, paths))
        return True
    except StorageError as error:  # a disk that cannot be written: who only reads need not mind
        logger.info("what was edited by hand did not come into the history: %s", error)
        return False


def record_outside(context: Context, pages: Mapping[str, bytes | None]) -> None:
    """Puts those of these pages into the history which it has otherwise: who came before us could not. To be called
    under the lock."""
    history = context.storage.history
    if history is None or not history.begun:
        return
    try:
        if stale := history.stale(pages):
            names = shorten(", ".join(sorted(stale)), MAX_SUMMARY)
            history.record(stale, Revision(OUTSIDE, f"edited by hand: {names}", when=context.now()))
    except HistoryDamaged:
        logger.info("the history is damaged; the next change begins a new one")


def stored_pages(storage: MemoryStorage, paths: Iterable[str]) -> dict[str, bytes | None]:
    """These pages as they are stored; `None` for one that is not there."""
    pages: dict[str, bytes | None] = {}
    for path in paths:
        try:
            pages[path] = storage.read(path).data
        except PageNotFound:
            pages[path] = None
        except UnicodeEncodeError:  # the locale of this process cannot spell it: nobody knows what became of it
            continue
    return pages


def entry_of(context: Context, paths: Collection[str]) -> Revision:
    """What is going on, as the trace tells it: the operation, or the split that follows it; who decided, and why."""
    run = context.operation
    events = run.trace.events
    begin: Event = next(iter(run.trace.of("begin")), {"operation": "change", "arguments": {}})
    since = max((number for number, event in enumerate(events, 1) if event["event"] == "commit"), default=0)
    asked = [event for event in events[since:] if event["event"] == "ask"]
    ended = [event for event in events[since:] if event["event"] == "decided"]
    kind = asked[-1]["task"] if asked else begin["operation"]
    interrupted = [INTERRUPTED] if begin.get("goes_on") else []
    about = next((str(value) for value in begin["arguments"].values() if value), "")
    if kind != begin["operation"] or not about:
        about = ", ".join(sorted(paths))
    return Revision(
        kind=kind,
        summary=shorten(about, MAX_SUMMARY),
        operation=run.id,
        decided_by=asked[-1]["model"] if asked else "",
        degraded="; ".join([*interrupted, *(event["reason"] for event in ended if event["reason"])]),
        undoes=next((str(event["of"]) for event in run.trace.of("undo")), ""),
        why=tuple(ended[-1]["checked"]) if ended else (),
        when=context.now(),
    )
