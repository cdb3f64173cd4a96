"""Pending notes: what an operation still has to do, stored before a hosted model is asked, so that no crash loses it;
and `Recovery`, which finishes what was interrupted before a memory is used.

Each operation has at most one note. It first holds the text that is to be written and, once that is stored, the pages
that are still to be split. If the operation is in the history, its text has been written, whatever the note says. So
each text is written exactly once.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Generic, Literal, TypeAlias, TypeVar

from memory_v2.errors import SilicaError, StorageError, Unreadable
from memory_v2.storage.base import PENDING, Leftover, MemoryStorage, StateFiles
from memory_v2.storage.format import read_format
from memory_v2.storage.history import History, HistoryDamaged
from memory_v2.tree.path import page_path

logger = logging.getLogger(__name__)

Finished = TypeVar("Finished")

Mode: TypeAlias = Literal["update", "append", "replace"]
MODES: tuple[Mode, ...] = ("update", "append", "replace")
LEFT = "-left"
"""The end of the name of a note about the pages of a change that was cut short. They are linked as well as split, since
an edit by hand may have taken a link away."""


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """A text that is to be written, with the arguments of the write. `since` is when it was asked for, `over` the
    version of the page that it is to replace, and `head` the newest revision at that time. `source` and `date` say
    where the text came from and when it was said."""

    text: str
    path: str | None
    mode: Mode
    since: datetime
    over: str = ""
    head: str = ""
    source: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class PendingSplits:
    """Stored pages that may be overgrown or out of reach."""

    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PendingErasure:
    """What is left to remove of something that was forgotten: names of traces, and leftovers. The index goes too."""

    traces: tuple[str, ...] = ()
    leftovers: tuple[Leftover, ...] = ()


Pending: TypeAlias = PendingWrite | PendingSplits | PendingErasure


class PendingNote:
    """The pending note of one operation. `held` is its content; `None` if nothing is left to do."""

    def __init__(self, state: StateFiles, operation: str) -> None:
        self._state = state
        self.name = f"{PENDING}/{operation}"
        self.held: Pending | None = None

    @contextmanager
    def writing(self, pending: PendingWrite, history: History) -> Iterator[None]:
        """Keeps the note while the text is written. If the write fails before the text is in the history, the note is
        removed, because the caller gets an error. Raises `StorageError`."""
        with suppress(HistoryDamaged):  # the change will begin a new history
            pending = replace(pending, head=history.head)
        with self._state.claim(self.name, is_new=True):
            try:
                self._save(pending)
                yield
            except BaseException as error:
                if isinstance(self.held, PendingWrite) and not self._settle(pending, history):
                    raise StorageError(
                        f"{error}; the text is noted, and will be written when the memory is next used: "
                        "do not write it again"
                    ) from error
                raise
            if isinstance(self.held, PendingWrite):  # nothing was stored, because the text is in the tree already
                self.clear()

    @contextmanager
    def splitting(self) -> Iterator[list[str]]:
        """Keeps the note while pages are split, and removes it at the end, unless the caller has put pages into the
        list: the note then stays, and its pages are split when the memory is next used."""
        unsplit: list[str] = []
        if self.held is None:
            yield unsplit
            return
        with ExitStack() as claims:
            with suppress(StorageError):  # a claim only saves work
                claims.enter_context(self._state.claim(self.name))
            yield unsplit
            if not unsplit:
                self.clear()

    @contextmanager
    def erasing(self, pending: PendingErasure, storage: MemoryStorage) -> Iterator[None]:
        """Keeps the note while something is forgotten. If that fails before it is decided, the note is removed."""
        with self._state.claim(self.name, is_new=True):
            self._save(pending)
            try:
                yield
            except SilicaError:
                if storage.interrupted() is None:
                    self.clear()
                raise
            self.clear()

    @property
    def operation(self) -> str:
        """The id of the operation."""
        return self.name.rpartition("/")[2]

    @property
    def overgrown(self) -> tuple[str, ...]:
        """The noted pages that are to be split."""
        return self.held.pages if isinstance(self.held, PendingSplits) else ()

    def expect_unfinished(self, history: History) -> None:
        """Raises `StorageError` if another process took this write for interrupted and has finished it. Call it under
        the storage's lock."""
        held = self.held
        if isinstance(held, PendingWrite) and recorded_since(history, self.operation, held.head) is not None:
            raise StorageError(
                "another process took this write for interrupted and has finished it: the text is in the memory, "
                "so do not write it again"
            )

    @contextmanager
    def storing(self, storage: MemoryStorage, overgrown: Collection[str]) -> Iterator[None]:
        """Notes which pages must be split while a change is being stored. The note of a write stays as it is: its pages
        can be found in the history. If the change fails, so that nothing was changed, the note is restored."""
        before = self.held
        try:
            if overgrown and not isinstance(before, PendingWrite):
                self.add(overgrown)
            yield
        except SilicaError:
            if self.held is not before and storage.interrupted() is None:
                self.clear()
                if before is not None:
                    self._save(before)
            raise

    def add(self, pages: Collection[str]) -> None:
        """Notes more pages that may have to be split."""
        self._save(PendingSplits(tuple(dict.fromkeys([*self.overgrown, *pages]))))

    def after_change(self, stored: Collection[str], overgrown: Collection[str]) -> None:
        """Notes which of the stored pages are `overgrown` and must be split. If that fails it is only logged, because
        the change has happened."""
        pages = tuple(dict.fromkeys([*(path for path in self.overgrown if path not in stored), *overgrown]))
        try:
            if pages:
                self._save(PendingSplits(pages))
            elif self.held is not None:
                self.clear()
        except StorageError:
            logger.exception("the pages to split could not be noted")

    def resume(self, pending: Pending) -> None:
        """Takes over the work that another process has noted."""
        self.held = pending

    def clear(self) -> bool:
        """Removes the note; returns whether it is gone."""
        self.held = None
        try:
            self._state.remove(self.name)
            return True
        except SilicaError as error:
            logger.info("the finished note %s could not be removed: %s", self.name, error)
        try:
            return self._state.read(self.name) is None
        except SilicaError:
            return False

    def _settle(self, pending: PendingWrite, history: History) -> bool:
        """Removes the note of a write that failed, unless its text is in the history. Returns whether one of the two is
        so: then nothing happens to the text later that the error does not say."""
        try:
            return recorded_since(history, self.operation, pending.head) is not None or self.clear()
        except StorageError as error:
            logger.info("whether the text of a failed write was recorded cannot be told: %s", error)
            return False

    def _save(self, pending: Pending) -> None:
        self.held = pending  # a write that fails may have left the note all the same
        self._state.write(self.name, _to_json(pending))


def recorded_since(history: History, operation: str, head: str) -> tuple[str, ...] | None:
    """The pages that an operation has changed since the revision `head`; `None` if the operation is not recorded."""
    pages: dict[str, None] | None = None
    with suppress(HistoryDamaged):  # nothing can be read, and the next change begins a new history
        if history.head == head:  # as a rule; then no revision has to be read
            return None
        for revision in history.revisions():
            if revision.id == head:
                break
            if revision.operation == operation:
                pages = (pages or {}) | dict.fromkeys(revision.paths)
    return None if pages is None else tuple(pages)


def read_pending(state: StateFiles, name: str) -> Pending | None:
    """The content of a note; `None` if it does not exist. Raises `StorageError` if it cannot be read; the note
    stays."""
    data = state.read(name)
    if data is None:
        return None
    try:
        return _from_json(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise StorageError(
            f"the note .metadata/{name}.json of an interrupted write cannot be read; open it to see what it says"
        ) from error


def _to_json(pending: Pending) -> bytes:
    if isinstance(pending, PendingSplits):
        return json.dumps({"unsettled": pending.pages}, indent=1).encode()
    if isinstance(pending, PendingErasure):
        return json.dumps({"erase": pending.traces, "leftovers": pending.leftovers}, indent=1).encode()
    return json.dumps({**asdict(pending), "since": pending.since.isoformat()}, indent=1).encode()


def _from_json(data: object) -> Pending:
    """The note in a file. Raises `ValueError` if it is of another shape."""
    match data:
        case {"unsettled": [*pages]}:
            return PendingSplits(tuple(map(page_path, pages)))
        case {"erase": [*traces], "leftovers": [*leftovers]}:
            return PendingErasure(
                tuple(map(str, traces)), tuple(Leftover(*map(str, leftover)) for leftover in leftovers)
            )
        case {
            "text": str(text),
            "path": str() | None as path,
            "mode": "update" | "append" | "replace" as mode,
            "since": str(since),
            "over": str(over),
            "head": str(head),
            "source": str(source),
            "date": str(date),
        }:
            moment = datetime.fromisoformat(since)
            if moment.tzinfo is None:
                raise ValueError(f"the time {since} has no time zone")
            return PendingWrite(text, None if path is None else page_path(path), mode, moment, over, head, source, date)
        case _:
            raise ValueError("it is no pending note")


class Recovery(Generic[Finished]):
    """When interrupted operations of an open memory are finished: before it is used, and again from time to time.
    `done` is what `finish` has finished so far, and `waiting` what is large and is left to the next change, in words.
    """

    def __init__(self, storage: MemoryStorage, finish: Callable[[bool], tuple[Iterable[Finished], list[str]]]) -> None:
        self._storage = storage
        self._finish = finish
        self._next = 0.0
        self.done: list[Finished] = []
        self.waiting: list[str] = []

    def attempt(self, for_change: bool = False) -> None:
        """Finishes what was interrupted, unless that was looked for a moment ago. Only a change waits for what takes
        long."""
        state, now = self._storage.state, time.monotonic()
        if now < self._next and not (for_change and self.waiting):
            return
        try:
            read_format(state)
        except Unreadable as error:  # readers need not wait for it, and a change fails
            self._next = now + state.recovery_interval
            logger.warning("the format of this memory is unknown: %s", error)
            return
        is_first, self._next = not self._next, now + state.recovery_interval
        try:
            if is_left := self._storage.interrupted() is not None or bool(state.names(PENDING)):
                done, self.waiting = self._finish(for_change)
                self.done += done
        except StorageError as error:
            logger.warning("an interrupted operation could not be finished: %s", error)
            return
        if is_first or is_left:
            state.sweep()
