"""What an interrupted run has left undone is finished by whoever uses the memory next."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from memory_v2.errors import SilicaError, UsageError
from memory_v2.operations.commit import commit
from memory_v2.operations.context import Context
from memory_v2.operations.draft import Draft, link_orphans
from memory_v2.operations.halfway import Way
from memory_v2.operations.journal import finish_interrupted
from memory_v2.operations.pending import PendingSplits, PendingWrite, forget, left, name_of
from memory_v2.operations.record import MAX_SUMMARY, refresh
from memory_v2.operations.results import Result, WriteResult
from memory_v2.operations.settle import settle
from memory_v2.operations.write import Mode, checked_blocks, write_noted
from memory_v2.storage.base import JOURNAL, PENDING, MemoryStorage
from memory_v2.text.plain import shorten
from memory_v2.tree.path import ROOT

logger = logging.getLogger(__name__)


OUTCOMES: dict[Way, str] = {
    "forward": "it is done now",
    "back": "it is taken back, as a page of it was edited by hand",
    "neither": "it is half done, as a page of it was edited by hand; 'silica memory history' tells what was before",
}


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
    """Finishes what others have left undone, without a model: a change in its middle, then texts that waited and pages
    that are too large. Each is done by `operate` in the name of the operation that left it. What somebody is still at
    draft on is left alone; what cannot be finished stays noted. Raises `StorageError`."""
    notes = context.storage.notes
    recovered = list(_finished_change(context))
    context = replace(context, model=context.planner)
    for name in notes.names(PENDING):
        try:
            with notes.claim(name) as is_free:
                undone = left(notes, name) if is_free else None
                result = _finished(context, name, undone, operate) if undone else None
        except SilicaError as error:
            logger.warning("what an interrupted run has left undone could not be finished: %s", error)
            continue
        except Exception:  # one text on which something breaks must not keep everybody from the memory
            logger.exception("what an interrupted run has left undone (%s) could not be finished", name)
            continue
        if isinstance(undone, PendingWrite) and isinstance(result, WriteResult):
            outcome = "it stood there already" if result.outcome == "nothing new" else OUTCOMES["forward"]
            summary = shorten(undone.text, MAX_SUMMARY)
            recovered.append(Recovered("write", summary, undone.since, outcome, result.path))
    return recovered


def _finished_change(context: Context) -> Iterator[Recovered]:
    """The change that was in its middle, if there was one; a text that was taken back with it waits to be written."""
    if context.storage.notes.read(JOURNAL) is None:
        return
    with context.storage.lock():
        finished = finish_interrupted(context)
    if finished and not (finished[1] == "back" and finished[0].entry.kind == "write"):
        change, way = finished
        path = next((step.path for step in change.steps if step.after is not None), ROOT)
        yield Recovered(change.entry.kind, change.entry.summary, change.entry.when, OUTCOMES[way], path)


def _finished(
    context: Context, name: str, undone: PendingWrite | PendingSplits, operate: Callable[..., Result]
) -> Result:
    operation = name.rpartition("/")[2]
    if isinstance(undone, PendingWrite):
        mode = _mode(context.storage, undone)
        arguments = {"text": undone.text, "path": undone.path, "mode": mode}
        return operate(context, "write", partial(_write, undone=undone, mode=mode), arguments, operation)
    pages = {"pages": list(undone.pages)}
    return operate(context, "settle", partial(_settle, undone=undone), pages, operation)


def _write(context: Context, undone: PendingWrite, mode: Mode) -> WriteResult:
    context.operation.is_noted = True
    blocks = checked_blocks(undone.text)
    try:
        result = write_noted(context, blocks, undone.path, mode)
    except UsageError as error:  # the page that it was meant for takes nothing in any more
        logger.info("a text that waited goes where it belongs: %s", error)
        result = write_noted(context, blocks, None, "update")
    if context.operation.is_noted:  # nothing of it was stored: it stood there already
        forget(context.storage.notes, name_of(context.operation.id))
    return result


def _mode(storage: MemoryStorage, undone: PendingWrite) -> Mode:
    """How the text is written now. What others wrote meanwhile is not replaced by what was to be written before it."""
    path = undone.path or ROOT
    if undone.mode == "replace":
        now = storage.read(path).version if storage.exists(path) else ""
        return "replace" if now == undone.over else "append"
    return "append" if undone.mode == "append" else "update"


def _settle(context: Context, undone: PendingSplits) -> Result:
    """Links what is out of reach, and splits what is too large."""
    context.operation.is_unsettled = True
    refresh(context)
    draft = Draft(context)
    link_orphans(draft)
    revision = commit(draft)
    splits, problem = settle(context, undone.pages)
    return Result(ROOT, (revision,) if revision else ()).with_splits(splits, problem)
