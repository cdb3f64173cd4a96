"""Recovery: the next process that uses the memory finishes interrupted operations."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from memory_v2.errors import PageNotFound, SilicaError, StorageError, UsageError
from memory_v2.operations.commit import commit
from memory_v2.operations.context import Context, refresh
from memory_v2.operations.draft import Draft, link_orphans
from memory_v2.operations.forget import erase
from memory_v2.operations.overgrown import split_overgrown
from memory_v2.operations.results import Result, WriteResult
from memory_v2.operations.write import write_blocks
from memory_v2.storage.base import PENDING, MemoryStorage, stored_page
from memory_v2.storage.pending import (
    LEFT,
    Mode,
    Pending,
    PendingErasure,
    PendingSplits,
    PendingWrite,
    read_pending,
    recorded_since,
)
from memory_v2.storage.versioned import MAX_SUMMARY
from memory_v2.text.days import iso_day
from memory_v2.text.words import shorten
from memory_v2.tree.block import size_of
from memory_v2.tree.path import ROOT
from memory_v2.tree.source import Source
from memory_v2.validate import checked_blocks

logger = logging.getLogger(__name__)

LARGE = 100_000
"""How much pending text only a change finishes, in bytes: dividing it takes longer than a reader should wait."""
DONE = "it is done now"
WAS_DONE = "the text stood there already"


@dataclass(frozen=True, slots=True)
class Recovered:
    """An interrupted operation that recovery has finished: its kind (write, rename, …), when it began, the `outcome` in
    words, and the page."""

    kind: str
    summary: str
    since: datetime
    outcome: str
    path: str

    def __str__(self) -> str:
        moment = f"{self.since.astimezone(UTC):%Y-%m-%d %H:%M}"
        return f"a {self.kind} of {moment} UTC was interrupted; {self.outcome}: {self.path}: {self.summary}"


def recover(context: Context, operate: Callable[..., Result], for_change: bool) -> tuple[list[Recovered], list[str]]:
    """Finishes interrupted operations without a model: first an interrupted change, then the pending notes, in the name
    of their operations. `operate` runs each of them. Notes that a running process has claimed are left alone, and notes
    that cannot be finished stay; so do large ones unless it is `for_change`, and what they say is returned too. Raises
    `StorageError`."""
    storage, waiting = context.storage, list[str]()
    recovered: list[Recovered] = []
    revision = storage.finish()
    if revision and not (revision.kind == "write" and _has_text(storage, revision.operation)):
        path = next(iter(revision.paths), ROOT)
        recovered.append(Recovered(revision.kind, revision.summary, revision.when, DONE, path))
    context = replace(context, model=context.planner)
    for name in storage.state.names(PENDING):
        try:
            with storage.state.claim(name) as is_free:
                if not is_free or (pending := read_pending(storage.state, name)) is None:
                    continue
                size = _size(storage, pending)
                if size > LARGE and not for_change:
                    waiting.append(_told(storage, name, pending, size))
                else:
                    recovered += _finished(context, name.rpartition("/")[2], pending, operate)
        except SilicaError as error:
            logger.warning("an interrupted operation could not be finished: %s", error)
        except Exception:  # one bad text must not lock everybody out of the memory
            logger.exception("an interrupted operation (%s) could not be finished", name)
    return recovered, waiting


def _size(storage: MemoryStorage, pending: Pending) -> int:
    """How much text is still to be written or divided, in bytes."""
    if isinstance(pending, PendingWrite):
        return size_of(pending.text)
    size = 0
    for path in pending.pages if isinstance(pending, PendingSplits) else ():
        with suppress(PageNotFound):
            size += storage.get_size(path)
    return size


def _told(storage: MemoryStorage, name: str, pending: Pending, size: int) -> str:
    shown, operation = f"{size / 1_000:,.0f} KB", name.rpartition("/")[2]
    if isinstance(pending, PendingWrite) and recorded_since(storage.history, operation, pending.head) is None:
        return (
            f"a write of {shown} was interrupted, and the next change finishes it first; to drop it, remove "
            f".metadata/{name}.json"
        )
    return (
        f"a change was interrupted while {shown} were being divided into pages: all of it is stored, and the next "
        "change divides it first; 'undo' takes the change back instead"
    )


def _has_text(storage: MemoryStorage, operation: str) -> bool:
    """Whether the text of a write is noted: then the note tells of it."""
    with suppress(StorageError):
        return isinstance(read_pending(storage.state, f"{PENDING}/{operation}"), PendingWrite)
    return False


def _finished(context: Context, operation: str, pending: Pending, operate: Callable[..., Result]) -> list[Recovered]:
    if isinstance(pending, PendingSplits):
        _split(context, operation, pending, operate)
        return []
    if isinstance(pending, PendingErasure):
        erase(context, pending)
        context.storage.state.remove(f"{PENDING}/{operation}")
        return []
    recovered = partial(Recovered, "write", shorten(pending.text, MAX_SUMMARY), pending.since)
    if (pages := recorded_since(context.storage.history, operation, pending.head)) is not None:
        _split(context, operation, PendingSplits(pages), operate)
        holder = next((path for path in pages if context.storage.exists(path)), ROOT)
        return [recovered(DONE if pages else WAS_DONE, holder)]
    mode = _mode(context.storage, pending)
    arguments = {"text": pending.text, "path": pending.path, "mode": mode}
    arguments |= {key: said for key in ("source", "date") if (said := getattr(pending, key))}
    result = operate(context, "write", partial(_write, pending=pending, mode=mode), arguments, operation)
    outcome = WAS_DONE if isinstance(result, WriteResult) and result.outcome == "nothing new" else DONE
    return [recovered(outcome, result.path)]


def _split(context: Context, operation: str, pending: PendingSplits, operate: Callable[..., Result]) -> None:
    arguments = {"pages": list(pending.pages)}
    operate(context, "settle", partial(_link_and_split, pending=pending), arguments, operation)


def _write(context: Context, pending: PendingWrite, mode: Mode) -> WriteResult:
    note = context.note
    note.resume(pending)
    blocks, source = checked_blocks(pending.text), Source(pending.source, iso_day(pending.date))
    try:
        result = write_blocks(context, blocks, pending.path, mode, source)
    except UsageError as error:  # its page takes no text any more
        logger.info("a pending text cannot go to its page, so it goes where it belongs: %s", error)
        result = write_blocks(context, blocks, None, "update", source)
    if isinstance(note.held, PendingWrite):  # nothing was stored, because the text is in the tree already
        note.clear()
    return result


def _mode(storage: MemoryStorage, pending: PendingWrite) -> Mode:
    """The mode in which the text is written now. A replacement becomes an append if the page has changed since."""
    if pending.mode == "replace":
        now = stored_page(storage, pending.path or ROOT)
        return "replace" if (now.version if now else "") == pending.over else "append"
    return pending.mode


def _link_and_split(context: Context, pending: PendingSplits) -> Result:
    """Splits overgrown pages. After an interrupted change, links unreachable pages first."""
    refresh(context)  # before the note is resumed: an edit by hand of its pages may have taken a link away
    context.note.resume(pending)
    draft = Draft(context)
    if context.note.operation.endswith(LEFT):
        link_orphans(draft)
    change = commit(draft)
    return Result(ROOT, (change,) if change else ()).with_splits(*split_overgrown(context, pending.pages))
