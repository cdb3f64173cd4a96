"""What an interrupted run has left undone is finished by whoever uses the memory next."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from memory_v2.errors import SilicaError, UsageError
from memory_v2.operations.commit import commit
from memory_v2.operations.context import Context
from memory_v2.operations.draft import Draft, link_orphans
from memory_v2.operations.overgrown import split_overgrown
from memory_v2.operations.record import refresh
from memory_v2.operations.results import Result, WriteResult
from memory_v2.operations.write import checked_blocks, write_noted
from memory_v2.pending import (
    LEFT,
    Mode,
    PendingSplits,
    PendingWrite,
    finish_interrupted,
    read_pending,
    recorded_since,
)
from memory_v2.storage.base import PENDING, MemoryStorage
from memory_v2.storage.checkout import MAX_SUMMARY
from memory_v2.text.plain import shorten
from memory_v2.tree.path import ROOT

logger = logging.getLogger(__name__)

DONE = "it is done now"
WAS_DONE = "the text stood there already"


@dataclass(frozen=True, slots=True)
class Recovered:
    """Something that was being done when the program was killed: a write, a rename, …, begun `since`; and what came of
    it, in words, and where."""

    kind: str
    summary: str
    since: datetime
    outcome: str
    path: str

    def __str__(self) -> str:
        moment = f"{self.since.astimezone(UTC):%Y-%m-%d %H:%M}"
        return f"a {self.kind} of {moment} UTC was interrupted; {self.outcome}: {self.path}: {self.summary}"


def recover(context: Context, operate: Callable[..., Result]) -> list[Recovered]:
    """Finishes what others have left undone, without a model: first a change that was cut short, then texts that wait
    and pages that are too large, each done by `operate` in the name of the operation that left it. What a running
    process is at work on is left alone; what cannot be finished stays noted. Raises `StorageError`."""
    storage = context.storage
    recovered: list[Recovered] = []
    revision = storage.interrupted()
    if revision and finish_interrupted(storage) and revision.kind != "write":  # a write has a note that tells of it
        path = next(iter(revision.paths), ROOT)
        recovered.append(Recovered(revision.kind, revision.summary, revision.when, DONE, path))
    context = replace(context, model=context.planner)
    for name in storage.notes.names(PENDING):
        try:
            with storage.notes.claim(name) as is_free:
                if is_free and (pending := read_pending(storage.notes, name)):
                    recovered += _finished(context, name.rpartition("/")[2], pending, operate)
        except SilicaError as error:
            logger.warning("what an interrupted run has left undone could not be finished: %s", error)
        except Exception:  # one text on which something breaks must not keep everybody from the memory
            logger.exception("what an interrupted run has left undone (%s) could not be finished", name)
    return recovered


def _finished(
    context: Context, operation: str, pending: PendingWrite | PendingSplits, operate: Callable[..., Result]
) -> list[Recovered]:
    if isinstance(pending, PendingSplits):
        _split(context, operation, pending, operate)
        return []
    told = partial(Recovered, "write", shorten(pending.text, MAX_SUMMARY), pending.since)
    if pages := recorded_since(context.storage.history, operation, pending.head):
        _split(context, operation, PendingSplits(pages), operate)
        return [told(DONE, _holder(context.storage, pages))]
    mode = _mode(context.storage, pending)
    arguments = {"text": pending.text, "path": pending.path, "mode": mode}
    result = operate(context, "write", partial(_write, pending=pending, mode=mode), arguments, operation)
    outcome = WAS_DONE if isinstance(result, WriteResult) and result.outcome == "nothing new" else DONE
    return [told(outcome, result.path)]


def _split(context: Context, operation: str, pending: PendingSplits, operate: Callable[..., Result]) -> None:
    arguments = {"pages": list(pending.pages)}
    operate(context, "settle", partial(_link_and_split, pending=pending), arguments, operation)


def _holder(storage: MemoryStorage, pages: tuple[str, ...]) -> str:
    """The first of these pages that still exists: splits may have followed."""
    return next((path for path in pages if storage.exists(path)), ROOT)


def _write(context: Context, pending: PendingWrite, mode: Mode) -> WriteResult:
    note = context.note
    note.resume(pending)
    blocks = checked_blocks(pending.text)
    try:
        result = write_noted(context, blocks, pending.path, mode)
    except UsageError as error:  # the page that it was meant for takes no more text
        logger.info("a text that waited goes where it belongs: %s", error)
        result = write_noted(context, blocks, None, "update")
    if isinstance(note.held, PendingWrite):  # nothing was stored, since the tree says it already
        note.clear()
    return result


def _mode(storage: MemoryStorage, pending: PendingWrite) -> Mode:
    """How the text is written now. It does not replace what others have written since it was asked for."""
    path = pending.path or ROOT
    if pending.mode == "replace":
        now = storage.read(path).version if storage.exists(path) else ""
        return "replace" if now == pending.over else "append"
    return pending.mode


def _link_and_split(context: Context, pending: PendingSplits) -> Result:
    """Splits what is too large; after a change that was cut short, links what is out of reach first."""
    context.note.resume(pending)
    refresh(context)
    draft = Draft(context)
    if context.note.operation.endswith(LEFT):
        link_orphans(draft)
    change = commit(draft)
    splits, problem = split_overgrown(context, pending.pages)
    return Result(ROOT, (change,) if change else ()).with_splits(splits, problem)
