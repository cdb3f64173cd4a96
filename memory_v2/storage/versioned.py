"""How a change is applied: first recorded in the history, then written to the pages.

A change has happened once it is recorded. The pages are a checkout of the history, and `History.checked_out` is the
last revision that was written to them completely. If it is not the newest revision, a change was interrupted: `finish`
compares the two revisions and writes the pages that differ. A page edited by hand in the meantime keeps the edit.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from memory_v2.errors import SilicaError, StorageConflict, StorageError, Unreadable
from memory_v2.progress import with_progress
from memory_v2.storage.base import ABSENT, MemoryStorage, stored_page, version_of
from memory_v2.storage.format import Journal, journal_of, read_format, steps_between, write_format
from memory_v2.storage.history import (
    COMPLETED_LATER,
    EDITED,
    EXTERNAL,
    FORGET,
    Change,
    HistoryDamaged,
    PageChange,
    Revision,
    Rewrite,
    Rules,
)
from memory_v2.storage.pending import LEFT, PendingNote
from memory_v2.text.kept import kept
from memory_v2.text.words import shorten
from memory_v2.tree.block import decode, encode, split_lines
from memory_v2.tree.path import ENTRIES, fold

MAX_SUMMARY = 80
"""The longest summary of a revision, in characters: one line of `git log` on an 80-column terminal."""

logger = logging.getLogger(__name__)


class VersionedStorage(MemoryStorage):
    """The part of `MemoryStorage` that applies changes, for storages whose pages are a checkout of their history."""

    _is_committing: bool = False
    """Whether a thread of this process is writing what it has recorded: the pages are behind the history then, and no
    crash was the cause."""

    def commit(self, change: Change, check: Callable[[], object] | None = None) -> Change:
        with self.lock():
            self._begin_if_new(change.revision.when)
            self.finish()
            if check is not None:
                check()
            for page in change.pages:
                if self._version(page.path) != (None if page.before is None else version_of(page.before)):
                    raise StorageConflict(f"the page {page.path!r} was changed by somebody else meanwhile")
            self._is_committing = True
            try:
                revision = self._applied(change)
            finally:
                self._is_committing = False
        return replace(change, revision=replace(change.revision, id=revision))

    def _applied(self, change: Change) -> str:
        """Records the change and writes its pages; returns the id of its revision."""
        try:
            revision = self._record(change)
        except HistoryDamaged:
            self._begin_again(change.revision.when)
            revision = self._record(change)
        try:
            for page in with_progress(change.pages, "pages written"):
                self._make(page.path, page.before, page.after)
        except SilicaError as error:
            if self._taken_back(change.pages, revision):
                raise
            raise StorageError(f"{error}; {COMPLETED_LATER}") from error
        self._mark(revision)
        return revision

    def take_back(self, change: Change) -> bool:
        with self.lock():
            if self.interrupted() or self.history.head != change.revision.id:
                return False
            is_taken_back = self._taken_back(change.pages, change.revision.id)
            if is_taken_back and (head := self.history.head):
                self._mark(head)
            return is_taken_back

    def interrupted(self) -> Revision | None:
        if self._is_committing:
            return None
        if rewriting := read_format(self.state).get("rewriting"):
            journal = journal_of(rewriting)
            return Revision(FORGET, "what was to be forgotten is gone", journal.operation, when=journal.when)
        try:
            checked_out = self.history.checked_out  # first: it asks a server, so that the head is the current one
            head = self.history.head
            newest = next(self.history.revisions(), None) if head and checked_out != head else None
            return newest if newest and newest.kind != EXTERNAL else None  # that one was made of the pages
        except HistoryDamaged as error:
            logger.info("cannot tell whether a change was interrupted: %s", error)
            return None

    def finish(self) -> Revision | None:
        if self.interrupted() is None:
            return None
        with self.lock():
            revision = self.interrupted()  # what was still being written is not interrupted
            if revision is None:
                return None
            if revision.paths:  # an edit by hand may have left some of them out of reach or overgrown
                name = f"{revision.operation or revision.id[:12]}{LEFT}"
                PendingNote(self.state, name).add(revision.paths)
            if rewriting := read_format(self.state).get("rewriting"):
                self._follow(journal_of(rewriting))
                return revision
            try:
                pages = self.history.difference(self.history.checked_out, revision.id)
            except HistoryDamaged:
                self._begin_again(revision.when)
                return revision
            edited: dict[str, bytes | None] = {}
            for page in _in_order(pages):
                now = self._data(page.path)
                if now is None or now in (page.before, page.after) or self._is_between(page.path, now):
                    self._make(page.path, now, page.after)
                else:
                    edited[page.path] = merged(page.before, now, page.after)
                    self._make(page.path, now, edited[page.path])
            self.remove_temporary(page.path for page in pages)
            self._mark(revision.id)
            self._record_external(edited, revision.when)
            return revision

    def rewrite(self, rules: Rules, rewrite: Rewrite, record: Revision) -> None:
        with self.lock():
            self._begin_if_new(record.when)
            self.finish()
            known = self.history.pages(self.history.head) if self.history.begun else {}
            entries = self.history.paths(self.history.head, ENTRIES) if self.history.begun else set()
            entries |= {stamp.path for stamp in self.stamps(ENTRIES)}
            # One page that cannot be read stops it: it may hold what is to be forgotten.
            stored = {path: self._data(path) for path in {*known, *self.list_files(), *entries}}
            self._record_external(stored, record.when)
            pages = {path: data for path, data in stored.items() if data is not None}
            new = {path: rules.page(data) for old, data in pages.items() if (path := rules.path(old)) is not None}
            journal = Journal(steps_between(pages, new), rewrite.stage(record), record.operation, record.when)
            self._is_committing = True
            try:
                write_format(self.state, journal.to_dict())
                self._follow(journal)
            except SilicaError as error:
                if not read_format(self.state).get("rewriting"):
                    raise
                raise StorageError(f"{error}; {COMPLETED_LATER}") from error
            finally:
                self._is_committing = False

    def _follow(self, journal: Journal) -> None:
        """Does what is left of a rewriting. A page edited by hand in the meantime keeps the edit."""
        for step in journal.steps:
            if (self._version(step.path) or "") == step.before:
                self._make(step.path, self._data(step.path), step.after)
        self.remove_temporary(step.path for step in journal.steps)
        self.history.adopt(journal.history)
        write_format(self.state)

    def record_external_edits(self, paths: Iterable[str], now: datetime) -> str:
        pages = self._stored(paths)
        if not self.history.begun or not self.history.unrecorded(pages):
            return ""
        with self.lock(wait=False):  # whoever only reads must not wait for a change: the edit is noticed again
            if self.interrupted():  # the difference is the rest of that change, not an edit
                return ""
            return self._record_external(self._stored(pages), now)

    def recorded_at(self, revision: Revision) -> datetime:
        return revision.when

    def record_created(self, paths: Iterable[str], revision: Revision) -> bool:
        with self.lock():
            self._begin_if_new(revision.when)
            self.finish()
            created = {path: data for path, data in self._stored(paths).items() if data is not None}
            unrecorded = self.history.unrecorded(created) if self.history.begun else created
            if unrecorded:
                self._mark(self.history.record(unrecorded, revision))
            return bool(unrecorded)

    def begin(self, now: datetime) -> None:
        with self.lock():
            self._begin_if_new(now)

    def _begin_if_new(self, now: datetime) -> None:
        """Begins the history with the pages that are there, and writes the format of a store that has none."""
        is_new = not read_format(self.state)
        if not is_new and self.history.begun:
            return
        try:
            self.finish()
            self._begin("pages that were there before the history began", now)
        except HistoryDamaged:
            logger.info("the history is damaged; this change begins a new one")
        if is_new:
            write_format(self.state)

    def _begin_again(self, now: datetime) -> None:
        """Moves a damaged history aside; a new one begins with the pages as they are."""
        self.history.quarantine()
        self._begin("pages as they were when a damaged history was moved aside", now)

    def _begin(self, summary: str, now: datetime) -> None:
        pages = self._stored(self.list_files())
        if unrecorded := self.history.unrecorded(pages) if self.history.begun else pages:
            self.history.record(unrecorded, Revision(EXTERNAL, summary, when=now))
        if self.history.begun:
            self._mark(self.history.head)

    def _record(self, change: Change) -> str:
        if self.history.begun:
            self._record_external({page.path: page.before for page in change.pages}, change.revision.when)
        return self.history.record({page.path: page.after for page in change.pages}, change.revision)

    def _record_external(self, pages: Mapping[str, bytes | None], now: datetime) -> str:
        if not (unrecorded := self.history.unrecorded(pages)):
            return ""
        names = shorten(", ".join(sorted(unrecorded)), MAX_SUMMARY)
        revision = self.history.record(unrecorded, Revision(EXTERNAL, EDITED + names, when=now))
        self._mark(revision)
        return revision

    def _mark(self, revision: str) -> None:
        """Marks the revision as checked out. If that fails, the next process compares the pages once more."""
        try:
            if self.history.checked_out != revision:
                self.history.mark_checked_out(revision)
        except StorageError as error:
            logger.info("revision %s could not be marked as checked out: %s", revision[:12], error)

    def _is_between(self, path: str, data: bytes) -> bool:
        """Whether a page is in the state of one of the revisions since the checked-out one."""
        for revision in self.history.revisions():
            if revision.id == self.history.checked_out:
                break
            if path in revision.paths and self.history.read(revision.id, path) == data:
                return True
        return False

    def _taken_back(self, pages: tuple[PageChange, ...], revision: str) -> bool:
        """Restores the pages, with what was edited by hand since, and removes the revision from the history. Returns
        whether both worked."""
        try:
            for page in reversed(pages):
                now = self._data(page.path)
                if now == page.after:
                    self._make(page.path, now, page.before)
                elif now not in (None, page.before):
                    self._make(page.path, now, merged(page.after, now, page.before))
            self.history.take_back(revision)
        except SilicaError:
            logger.exception("revision %s could not be taken back", revision[:12])
            return False
        return True

    def _make(self, path: str, now: bytes | None, after: bytes | None) -> None:
        """Writes or deletes the page. Raises `StorageConflict` if it no longer is as it was `now`."""
        if now == after:
            return
        expected = ABSENT if now is None else version_of(now)
        if after is None:
            self.delete(path, expected)
        else:
            self.write(path, after, expected)

    def _version(self, path: str) -> str | None:
        """The version of the page as it is now; `None` if it does not exist."""
        stored = stored_page(self, path)
        return stored.version if stored else None

    def _data(self, path: str) -> bytes | None:
        stored = stored_page(self, path)
        return stored.data if stored else None

    def _stored(self, paths: Iterable[str]) -> dict[str, bytes | None]:
        """The stored bytes of these pages, except those that cannot be read; `None` for one that does not exist."""
        pages: dict[str, bytes | None] = {}
        for path in with_progress(list(paths), "pages compared with the history"):
            try:
                pages[path] = self._data(path)
            except Unreadable as error:  # not recorded as removed: it is recorded when it can be read again
                logger.info("%s", error)
        return pages


def _in_order(pages: Collection[PageChange]) -> list[PageChange]:
    """New pages first, then changed ones, then removals. A removed page whose path differs from a new one only in case
    comes before all: on a disk that ignores case the two are the same file."""
    new_paths = {fold(page.path) for page in pages if page.before is None}

    def rank(page: PageChange) -> int:
        if page.after is None:
            return 0 if fold(page.path) in new_paths else 3
        return 2 if page.before is not None else 1

    return sorted(pages, key=rank)


def merged(before: bytes | None, by_hand: bytes, after: bytes | None) -> bytes:
    """Merges a change of a page with an edit that was made by hand at the same time, line by line. It keeps every line
    that either side added, and drops a line only if one side removed it. If the change removes the page, the lines
    added by hand remain. If the edit was made after the change was written, the edited page is returned as it is."""
    old, hand, new = (split_lines(decode(data or b"")) for data in (before, by_hand, after))
    if _distance(new, hand) <= _distance(old, hand):
        return by_hand
    by_program, by_person = _edits(old, new), _edits(old, hand)
    lines: list[str] = []
    for place in range(len(old) + 1):
        theirs, ours = by_person.inserted.get(place, []), by_program.inserted.get(place, [])
        lines += theirs if theirs == ours else [*theirs, *ours]
        if place < len(old) and place not in by_program.removed | by_person.removed:
            lines.append(old[place])
    return encode("".join(lines))


class _Edits(NamedTuple):
    removed: set[int]
    inserted: dict[int, list[str]]


def _edits(old: Sequence[str], new: Sequence[str]) -> _Edits:
    """The line numbers of the old text that were removed, and the lines inserted before each line number."""
    edits = _Edits(set(range(len(old))), {})
    end = 0
    for place, new_place in [*kept(old, new), (len(old), len(new))]:
        edits.removed.discard(place)
        if new_place > end:
            edits.inserted[place] = list(new[end:new_place])
        end = new_place + 1
    return edits


def _distance(old: Sequence[str], new: Sequence[str]) -> int:
    """The number of lines removed and added between two texts."""
    edits = _edits(old, new)
    return len(edits.removed) + sum(map(len, edits.inserted.values()))


class FairLock:
    """Held by one thread at a time, first come, first served, as the locks of `threading` are not. Not re-entrant."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._is_held = False
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, timeout: float) -> bool:
        """Waits up to `timeout` seconds; returns whether this thread now holds the lock."""
        turn = threading.Event()
        with self._changing:
            if not self._is_held:
                self._is_held = True
                return True
            self._waiting.append(turn)
        if turn.wait(timeout):
            return True
        with self._changing:
            if turn.is_set():  # its turn came at the last moment
                return True
            self._waiting.remove(turn)
            return False

    def release(self) -> None:
        """Hands the lock to the thread that has waited longest, or frees it."""
        with self._changing:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._is_held = False

    @property
    def is_wanted(self) -> bool:
        """Whether a thread is waiting for the lock."""
        return bool(self._waiting)
