"""The entries in a storage: finding, reading, creating and changing them, and bringing them into the history."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from memory_v2.agent.operation import new_id
from memory_v2.entries.entry import Entry
from memory_v2.entries.file import EntryFile, read_entry
from memory_v2.entries.places import (
    EntryFiles,
    Place,
    entry_name,
    folder_of,
    is_stored_place,
    likely_paths,
    month_of,
    path_of,
    place_of,
    stored_changes,
)
from memory_v2.errors import EntryNotFound, InvalidPath, PageNotFound, StorageConflict, StorageError, Unreadable
from memory_v2.index.dedup import KnownEntries, KnownEntry
from memory_v2.operations.results import Finding
from memory_v2.progress import with_progress
from memory_v2.settings import DEFAULT_AGENT
from memory_v2.storage.base import ABSENT, MemoryStorage, stored_page
from memory_v2.storage.format import read_format
from memory_v2.storage.history import Change, PageChange, Revision
from memory_v2.storage.versioned import MAX_SUMMARY
from memory_v2.text.calendar import UTC_DAYS, Calendar
from memory_v2.text.plain import shorten
from memory_v2.tree.path import ENTRIES

if TYPE_CHECKING:
    from memory_v2.index.entries import EntryIndex
    from memory_v2.index.store import Store

CAPTURE = "capture"
"""The kind of a revision that takes in what was captured."""
MAX_TRIES = 20
"""How many numbers are tried: other machines, or people, may take them at the same time. After half of the tries the
folder is listed."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class EntryStore:
    """The entries in a storage. `agent` is whose entries are captured if no agent is named; `open_store` gives the
    tables of the memory's index, where there is one."""

    storage: MemoryStorage
    calendar: Calendar = UTC_DAYS
    agent: str = DEFAULT_AGENT
    open_store: Callable[[], Store] | None = None

    @cached_property
    def known(self) -> KnownEntries:
        """What is known already, for the questions of a capture."""
        return KnownEntries(self.storage.cache_folder, self._known_entries)

    @cached_property
    def stored(self) -> EntryFiles:
        """Their files."""
        return EntryFiles(self.storage)

    @cached_property
    def index(self) -> EntryIndex:
        """The index of the entries, for searches and plans."""
        from memory_v2.entries.indexing import open_index  # start-up that a capture should not pay

        return open_index(self.storage, self.calendar, self.open_store)

    def places(self) -> Iterator[Place]:
        """Where all entries are, in no order, without reading any."""
        for stamp in self.stored.stamps():
            if place := place_of(stamp.path):
                yield place

    def files(self, space: str | None = None) -> list[EntryFile]:
        """All entries as they are now, or those of a space, by day and number; from the index, so that only what has
        changed is read. One that cannot be read at all is a finding."""
        if self.storage.folder_marks(ENTRIES) == {}:
            return []
        if self.storage.cache_folder is None:  # an index would be made for this alone
            return list(self.read_files(space))
        files = sorted(self._indexed_files(), key=lambda file: _in_order(file.path))
        return [file for file in files if _is_of(file.path, space)]

    def _indexed_files(self) -> Iterator[EntryFile]:
        """All files in no order, read from the index. One that cannot be read at all is a finding."""
        if not self.index.may_have_entries:
            return
        self.index.refresh(everything=True)
        for path, data in self.index.files().items():
            if place := place_of(path):
                yield read_entry(place, data)
        for path, error in self.index.unreadable.items():
            yield EntryFile(path, None, (Finding("unreadable", "error", path, 0, str(error)),))

    def read_files(self, space: str | None = None) -> Iterator[EntryFile]:
        """The same, each read from the storage."""
        paths = sorted((stamp.path for stamp in self.stored.stamps() if _is_of(stamp.path, space)), key=_in_order)
        data_of = self.stored.reader()
        for path in with_progress(paths, "entries read"):
            try:
                data = data_of(path)
                if place := place_of(path):  # else a pack that can be read by now
                    yield read_entry(place, data)
            except PageNotFound:  # moved or removed meanwhile
                continue
            except Unreadable as error:
                yield EntryFile(path, None, (Finding("unreadable", "error", path, 0, str(error)),))

    def entries(self, space: str | None = None) -> list[Entry]:
        """All entries that can be read, or those of a space, oldest first."""
        return [file.entry for file in self.files(space) if file.entry is not None]

    def find(self, entry_id: str) -> Place:
        """Where an entry is. Without a space, it is the default agent's or the shared one. Raises
        `EntryNotFound`."""
        for full in (entry_id,) if "/" in entry_id else (f"{self.agent}/{entry_id}", f"shared/{entry_id}"):
            if place := self.likely(full):
                return place
        wanted = (place for place in self.places() if entry_id in (place.id, place.path))
        if place := next(wanted, None):  # in a folder made by hand
            return place
        raise EntryNotFound(entry_id)

    def likely(self, entry_id: str) -> Place | None:
        """Where an entry is, if that is where this program puts entries, or Ocean's scripts do."""
        try:
            path = next(filter(self.storage.exists, likely_paths(entry_id)), None) or self._packed_as(entry_id)
        except InvalidPath:
            return None
        return place_of(path) if path else None

    def _packed_as(self, entry_id: str) -> str | None:
        space, _, name = entry_id.rpartition("/")
        return self.stored.packed_as(space, name, month_of(name)) if space else None

    def read(self, entry_id: str) -> EntryFile:
        """An entry by its id. Raises `EntryNotFound`."""
        place = self.find(entry_id)
        try:
            return read_entry(place, self.stored.data(place.path))
        except PageNotFound as error:
            raise EntryNotFound(entry_id) from error

    def make_ready(self) -> None:
        """Begins the history of a new store, before the first entry is created."""
        if not read_format(self.storage.state):
            self.storage.begin(self.calendar.now())

    def create(self, space: str, day: str, data: bytes) -> Place:
        """Creates an entry under the next free number of a day, durably, without a lock. Raises `StorageError`."""
        for attempt in range(1, MAX_TRIES):
            listed = 0 if attempt < MAX_TRIES // 2 else self._last_listed(space, day)
            number = self.known.take(space, day, listed) or self._last_listed(space, day) + 1
            path, name = path_of(space, entry_name(day, number)), f"{space}/{entry_name(day, number)}"
            others = (one for one in likely_paths(name) if one != path)
            if any(map(self.storage.exists, others)):  # put there by hand, or by Ocean's agents and scripts
                continue
            if day < str(self.calendar.today) and self._packed_as(name):  # by another machine; none is of today
                continue
            try:
                self.storage.write(path, data, ABSENT)
            except StorageConflict:
                continue
            place = place_of(path)
            assert place is not None, path
            self._expire()
            return place
        raise StorageError(f"no number of {day} is free for an entry of {space!r}; try again")

    def commit(self, kind: str, summary: str, changes: Iterable[PageChange]) -> Change:
        """Makes these changes as one operation of the history, after what was captured before is in it. Raises
        `StorageConflict` if an entry is not as it was `before`."""
        self.pick_up()
        revision = Revision(kind, shorten(summary, MAX_SUMMARY), new_id(), when=self.calendar.now())
        files = stored_changes(wanted := list(changes), self._file)
        try:
            made = self.storage.commit(Change(tuple(files), revision))
        finally:
            self._expire()
        self.remember(wanted)
        return made

    def remember(self, changes: Iterable[PageChange]) -> None:
        """Adds the entries that these changes have created to what is known. What fails is found by the next fill."""
        try:
            for change in changes:
                place = place_of(change.path)
                if place is not None and change.before is None and change.after is not None:
                    for one in self._known(read_entry(place, change.after)):
                        self.known.add(one)
        except StorageError as error:  # the change is made
            logger.info("not all new entries are known: %s", error)

    def pick_up(self, below: str = ENTRIES) -> int:
        """Brings entries that are not in the history yet into it, in one revision, or those below a folder; returns how
        many there were."""
        history = self.storage.history
        there = {stamp.path for stamp in self.storage.stamps(below) if is_stored_place(stamp.path)}
        known = history.paths(history.head, below) if there and history.begun else set()
        new = sorted(there - known)
        return self._record(new) if new else 0

    def pick_up_last(self) -> None:
        """Brings what was captured after the newest revision into the history, the last one as a revision of its own,
        so that undoing takes back what was done last."""
        history = self.storage.history
        known = history.paths(history.head, ENTRIES) if history.begun else set()
        there = {stamp.path for stamp in self.storage.stamps(ENTRIES) if is_stored_place(stamp.path)}
        times = {path: self.storage.get_modified_time(path) for path in there - known}
        recorded = self.storage.recorded_at()
        if not times or (recorded and max(times.values()) < recorded):
            return
        last = max(times, key=lambda path: (times[path], path))
        if before := sorted(times.keys() - {last}):
            self._record(before)
        self._record([last])

    def _record(self, new: list[str]) -> int:
        names = ", ".join(place.id if (place := place_of(path)) else path for path in new)
        revision = Revision(CAPTURE, shorten(names, MAX_SUMMARY), new_id(), when=self.calendar.now())
        return len(new) if self.storage.record_created(new, revision) else 0

    def data(self, path: str) -> bytes | None:
        """The bytes of an entry, or of another file; `None` if it does not exist."""
        try:
            return self.stored.data(path)
        except PageNotFound:
            return None

    def _file(self, path: str) -> bytes | None:
        stored = stored_page(self.storage, path)
        return stored.data if stored else None

    def _expire(self) -> None:
        """Lets the index know, if it is open, that something has changed."""
        if "index" in self.__dict__:
            self.index.expire()

    def _last_listed(self, space: str, day: str) -> int:
        folders = (folder_of(space), folder_of(space, archived=True))
        places = (place_of(stamp.path) for folder in folders for stamp in self.stored.stamps(folder))
        return max((place.number for place in places if place and str(place.day) == day), default=0)

    def _known_entries(self) -> Iterator[KnownEntry]:
        for file in self.read_files():
            yield from self._known(file)

    def _known(self, file: EntryFile) -> Iterator[KnownEntry]:
        place = place_of(file.path)
        if file.entry is not None and place is not None:
            observed = self.calendar.written(file.entry.observed_at) or ""
            yield KnownEntry(place.id, place.space, str(place.day or ""), place.number, observed, file.entry.text)

    def close(self) -> None:
        """Closes its file; the next use opens it again."""
        self.known.close()


def _in_order(path: str) -> tuple[str, str, int, str]:
    place = place_of(path)
    return (str(place.day or ""), place.space, place.number, path) if place else ("", "", 0, path)


def _is_of(path: str, space: str | None) -> bool:
    return space is None or ((place := place_of(path)) is not None and place.space == space)
