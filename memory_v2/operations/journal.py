"""What is about to be stored is noted first: a change of several pages is made as a whole, also when it is cut short.

The note is written under the commit's lock, before the first page, and removed behind the last. Whoever finds it under
the lock finds a change that was interrupted, and finishes it before doing anything else: by a crash nothing is half
done, and what was noted comes into the tree and into the history just once.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, InstanceOf

from memory_v2.errors import PageNotFound, SilicaError, StorageConflict, StorageError
from memory_v2.operations import pending
from memory_v2.operations.context import Context
from memory_v2.operations.halfway import InterruptedPage, Way, way_out
from memory_v2.operations.pending import PagePath, noted_name
from memory_v2.operations.record import (
    begin,
    entry_of,
    record,
    record_external_edits,
    record_if_missing,
    record_outside,
)
from memory_v2.storage.base import ABSENT, JOURNAL, MemoryStorage, Stored, version_of
from memory_v2.storage.format import is_current
from memory_v2.storage.history import Revision
from memory_v2.tree.block import decode, encode

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PageStep:
    """A page of a change: the version that it has before (empty: none), and the bytes that it has after."""

    path: str
    before: str
    after: bytes | None


@dataclass(frozen=True, slots=True)
class NotedChange:
    """Pages in the order in which they are stored, and how the history tells of them; `overgrown` are those of them
    that are still to be split."""

    steps: tuple[PageStep, ...]
    entry: Revision
    overgrown: tuple[str, ...] = ()

    def to_json(self) -> bytes:
        """The change as it is noted."""
        pages = [{**asdict(s), "after": None if s.after is None else decode(s.after)} for s in self.steps]
        told = {name: value for name, value in asdict(self.entry.in_lines).items() if name in _Entry.model_fields}
        noted = {"pages": pages, "entry": told | {"when": self.entry.when.isoformat()}, "overgrown": self.overgrown}
        return json.dumps(noted, indent=1).encode()

    @classmethod
    def from_json(cls, data: bytes) -> NotedChange:
        """The change that was noted. Raises `ValueError` if it is none."""
        try:
            noted = _Change.model_validate(json.loads(data))
        except RecursionError as error:
            raise ValueError("it is too deep") from error
        steps = (PageStep(p.path, p.before, None if p.after is None else encode(p.after)) for p in noted.pages)
        return cls(tuple(steps), Revision(**noted.entry.model_dump()), noted.overgrown)


class _Page(BaseModel):
    path: PagePath
    before: str
    after: InstanceOf[str] | None  # bytes that are not UTF-8 are halves of pairs in it


class _Entry(BaseModel):
    kind: str
    summary: str
    operation: Annotated[str, AfterValidator(noted_name)]
    decided_by: str
    degraded: str
    undoes: str
    why: tuple[str, ...]
    when: AwareDatetime


class _Change(BaseModel):
    pages: list[_Page]
    entry: _Entry
    overgrown: tuple[PagePath, ...]


def carry_out(
    context: Context,
    read: Mapping[str, Stored | None],
    pages: Mapping[str, bytes | None],
    overgrown: tuple[str, ...],
) -> str:
    """Stores the pages (`None`: removes them), each of which has to be as it was `read`; puts it into the history and
    returns the id there. To be called under the lock, after `finish_interrupted`. Raises `StorageConflict` or
    `StorageError`; then nothing was changed, or, as the error says, what is left to do is done later."""
    storage, run = context.storage, context.operation
    _expect(storage, read, pages)
    _record_before(context, {path: read[path] for path in pages})
    steps = tuple(PageStep(path, _version(read[path]), data) for path, data in pages.items())
    change = NotedChange(steps, entry_of(context, pages.keys()), overgrown)
    run.is_storing = True
    try:
        storage.notes.write(JOURNAL, change.to_json())
        for step in steps:
            _store(storage, step)
    except SilicaError as error:
        if not _taken_back(storage, steps, read):
            raise StorageError(
                f"{error}; the change was stopped in its middle, and what is left of it is done when the memory is "
                "used next: do not make it again"
            ) from error
        run.is_storing = False
        raise
    recorded = record(context, pages, change.entry)
    if storage.history is not None and not recorded:
        return ""  # the note stays: whoever finds it records the change
    try:
        _conclude(context, change)
        run.is_storing = False
    except SilicaError:
        logger.exception("a change is stored, and its note could not be removed; the next one does it")
    return recorded


def finish_interrupted(context: Context) -> tuple[NotedChange, Way] | None:
    """Finishes the change that somebody began and did not end, if there is one, and tells which it was. To be called
    under the lock. A page that was edited by hand meanwhile stays as it is; the change may be taken back then."""
    notes, storage = context.storage.notes, context.storage
    noted = notes.read(JOURNAL)
    if noted is None:
        return None
    is_current(notes)  # what a newer program has noted is not for this one to judge
    try:
        change = NotedChange.from_json(noted)
    except ValueError:
        notes.write(f"{JOURNAL}-damaged", noted)
        notes.remove(JOURNAL)
        logger.warning("a change that was interrupted cannot be read; its note is kept beside the others")
        return None
    begin(context, besides=[step.path for step in change.steps if not step.before])  # the history may be gone
    now = {step.path: _find(storage, step.path) for step in change.steps}
    if any(_is_edited(step, now[step.path]) for step in change.steps):
        return change, _finish_around_edits(context, change, now)
    for step in change.steps:
        if _data(now[step.path]) != step.after:
            _store(storage, step)
    storage.remove_temporary(step.path for step in change.steps)
    record_if_missing(context, {step.path: step.after for step in change.steps}, change.entry)
    _conclude(context, change)
    return change, "forward"


def _finish_around_edits(context: Context, change: NotedChange, now: Mapping[str, Stored | None]) -> Way:
    """Finishes a change, or takes it back, of which a page was edited by hand; that page stays as it is."""
    storage = context.storage
    before = _known_before(context, change)
    pages = [InterruptedPage(s.path, before.get(s.path), _data(now[s.path]), s.after) for s in change.steps]
    way = way_out(pages) if before.keys() >= now.keys() else "neither"
    for step, page in zip(change.steps, pages, strict=True) if way == "forward" else ():
        if page.is_open:
            _store(storage, step)
    for page in reversed(pages) if way == "back" else ():
        if page.is_stored:
            _store(storage, PageStep(page.path, _version(now[page.path]), page.before))
    storage.remove_temporary(now)
    pending.leave(storage.notes, f"{change.entry.operation}-left", list(now))  # what was edited may be out of reach
    if way == "forward":
        record_if_missing(context, {step.path: step.after for step in change.steps}, change.entry)
        _conclude(context, change)
    else:
        storage.notes.remove(JOURNAL)
    record_external_edits(context, list(now))
    return way


def _known_before(context: Context, change: NotedChange) -> dict[str, bytes | None]:
    """What the pages were before the change, as far as the history knows."""
    history = context.storage.history
    known: dict[str, bytes | None] = {step.path: None for step in change.steps if not step.before}
    if history is None or not history.begun:
        return known
    try:
        for entry in islice(history.revisions(), 2):  # the newest may be of this change
            for step in change.steps:
                data = history.read(entry.id, step.path)
                if data is not None and version_of(data) == step.before:
                    known[step.path] = data
    except StorageError as error:
        logger.info("what the pages were before an interrupted change cannot be read: %s", error)
    return known


def _is_edited(step: PageStep, now: Stored | None) -> bool:
    return _version(now) != step.before and _data(now) != step.after


def _conclude(context: Context, change: NotedChange) -> None:
    """What follows when the pages are stored and recorded; it may have been done before."""
    stored = [step.path for step in change.steps]
    pending.advance(context, change.entry.operation, stored, change.overgrown)
    context.storage.notes.remove(JOURNAL)


def _expect(storage: MemoryStorage, read: Mapping[str, Stored | None], pages: Mapping[str, bytes | None]) -> None:
    for path in pages:
        if _version(_find(storage, path)) != _version(read[path]):
            raise StorageConflict(f"the page {path!r} was changed by somebody else meanwhile")


def _record_before(context: Context, read: Mapping[str, Stored | None]) -> None:
    """What the pages are now is in the history before they change: an edit by hand is no part of this change, also if
    whoever noticed it was killed before it could be recorded."""
    try:
        record_outside(context, {path: stored.data if stored else None for path, stored in read.items()})
    except StorageError:
        logger.exception("an edit by hand did not come into the history")


def _store(storage: MemoryStorage, step: PageStep) -> None:
    expected = step.before or ABSENT
    if step.after is None:
        storage.delete(step.path, expected)
    else:
        storage.write(step.path, step.after, expected)


def _taken_back(storage: MemoryStorage, steps: tuple[PageStep, ...], read: Mapping[str, Stored | None]) -> bool:
    """Puts the pages back that are as they should become, and removes the note; tells whether that could be done."""
    try:
        for step in reversed(steps):
            now, before = _find(storage, step.path), read[step.path]
            if _version(now) == step.before or _data(now) != step.after:
                continue
            if before is None:
                storage.delete(step.path, _version(now) or ABSENT)
            else:
                storage.write(step.path, before.data, _version(now) or ABSENT)
        storage.notes.remove(JOURNAL)
    except SilicaError:
        logger.exception("a change could not be taken back")
        return False
    return True


def _find(storage: MemoryStorage, path: str) -> Stored | None:
    try:
        return storage.read(path)
    except PageNotFound:
        return None


def _data(stored: Stored | None) -> bytes | None:
    return stored.data if stored else None


def _version(stored: Stored | None) -> str:
    return stored.version if stored else ""
