"""What was asked for and is not done yet, noted before anybody is asked: a crash does not take it along.

The note of an operation tells first the text that is to be written, then the pages that are still to be split. The
commit turns it from one into the other, or removes it, together with what it stores; so a text that was noted comes
into the tree just once, whoever finishes it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, AwareDatetime, BaseModel

from memory_v2.errors import PageNotFound, SilicaError, StorageError
from memory_v2.operations.context import Context
from memory_v2.storage.base import PENDING, Notes, is_note_name
from memory_v2.tree.path import ROOT, page_path

LOOK_BACK = 1_000
"""So many commits at most may have been made while a model thought."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """A text that is to be written, as somebody asked for it. `over` is the version of the page that was there."""

    text: str
    path: str | None
    mode: str
    since: datetime
    over: str = ""


@dataclass(frozen=True, slots=True)
class PendingSplits:
    """Pages that are stored, and may be too large."""

    pages: tuple[str, ...]


def name_of(operation: str) -> str:
    """What the note of an operation is called."""
    return f"{PENDING}/{operation}"


@contextmanager
def noted(context: Context, text: str, path: str | None, mode: str) -> Iterator[None]:
    """The text is noted as long as it is being written. Whatever ends that in another way than a crash ends the note:
    then somebody was told that nothing was written; unless the storing had begun. Raises `StorageError`."""
    notes, run = context.storage.notes, context.operation
    name = name_of(run.id)
    over = _version(context, path or ROOT) if mode == "replace" else ""
    waiting = PendingWrite(text, path, mode, context.now(), over)
    with notes.claim(name):
        try:
            run.is_noted = True
            notes.write(name, _to_json(waiting))
            yield
        except BaseException as error:
            if run.is_noted and not run.is_storing and not forget(notes, name):
                raise StorageError(
                    f"{error}; the text is noted, and comes into the memory when it is used next: do not write it again"
                ) from error
            raise
        if run.is_noted:  # nothing of it was stored: it stood there already
            forget(notes, name)


@contextmanager
def settling(context: Context) -> Iterator[list[str]]:
    """While pages are split that have grown too large. When that has ended, the note has too, but for those pages that
    are put into the list: the next start splits them."""
    notes, name = context.storage.notes, name_of(context.operation.id)
    unsplit: list[str] = []
    if not context.operation.is_unsettled:
        yield unsplit
        return
    with ExitStack() as held:
        with suppress(StorageError):  # what is stored is stored, whether others know that somebody is at draft or not
            held.enter_context(notes.claim(name))
        yield unsplit
        if not unsplit:
            forget(notes, name)
    context.operation.is_unsettled = False


def expect_noted(context: Context) -> None:
    """Raises `StorageError` if somebody else has finished what this operation was to write. To be called under the
    lock."""
    run, history = context.operation, context.storage.history
    if not run.is_noted or context.storage.notes.read(name_of(run.id)) is not None:
        return
    if history is None:
        raise StorageError("the note of this write is gone: see whether the text is there before you write it again")
    if history.begun and any(entry.operation == run.id for entry in islice(history.revisions(), LOOK_BACK)):
        raise StorageError(
            "somebody else took this write for interrupted and has finished it: the text is in the memory, "
            "so do not write it again"
        )


def advance(context: Context, operation: str, stored: Collection[str], overgrown: Collection[str]) -> None:
    """These pages are stored: what is left to be done are those that have grown too large, if any have."""
    notes, name = context.storage.notes, name_of(operation)
    try:
        before = left(notes, name)
    except StorageError:  # a note that cannot be read says nothing that could be kept
        before = None
    waiting = [path for path in before.pages if path not in stored] if isinstance(before, PendingSplits) else []
    if unsettled := [*waiting, *overgrown]:
        leave(notes, operation, unsettled)
    else:
        notes.remove(name)
    if context.operation.id == operation:
        context.operation.is_noted, context.operation.is_unsettled = False, bool(unsettled)


def leave(notes: Notes, operation: str, pages: Collection[str]) -> None:
    """Leaves it to whoever comes next to look after these pages."""
    notes.write(name_of(operation), json.dumps({"unsettled": list(pages)}, indent=1).encode())


def left(notes: Notes, name: str) -> PendingWrite | PendingSplits | None:
    """What a note says is left to be done; `None` if there is none any more. Raises `StorageError` if it says nothing
    that can be done: it is kept then."""
    data = notes.read(name)
    if data is None:
        return None
    try:
        told = json.loads(data)
        if isinstance(told, dict) and "unsettled" in told:
            return PendingSplits(_Unsettled.model_validate(told).unsettled)
        return PendingWrite(**_Waiting.model_validate(told).model_dump())
    except (ValueError, RecursionError) as error:
        raise StorageError(f"the note .metadata/{name}.json of an interrupted write cannot be read") from error


def noted_name(operation: str) -> str:
    """The name of an operation, of which notes are called. Raises `ValueError` if no note may be called so."""
    if not is_note_name(operation):
        raise ValueError(f"{operation[:80]!r} is no name of an operation")
    return operation


PagePath: TypeAlias = Annotated[str, AfterValidator(page_path)]


class _Waiting(BaseModel):
    text: str
    path: PagePath | None
    mode: Literal["update", "append", "replace"]
    since: AwareDatetime
    over: str


class _Unsettled(BaseModel):
    unsettled: tuple[PagePath, ...]


def _to_json(waiting: PendingWrite) -> bytes:
    return json.dumps({**asdict(waiting), "since": waiting.since.isoformat()}, indent=1).encode()


def _version(context: Context, path: str) -> str:
    try:
        return context.storage.read(path).version
    except PageNotFound:
        return ""


def forget(notes: Notes, name: str) -> bool:
    """Removes a note of which nothing is left to be done; tells whether it is gone."""
    try:
        notes.remove(name)
        return True
    except SilicaError as error:
        logger.info("a note of which nothing is left to be done could not be removed: %s", error)
    try:
        return notes.read(name) is None
    except SilicaError:
        return False
