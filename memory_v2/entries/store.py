"""The entries in a storage: finding, reading, creating and changing them, and bringing them into the history."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from memory_v2.agent.operation import new_id, who_asks
from memory_v2.entries.entry import Entry
from memory_v2.entries.entry_paths import (
    EntryLocation,
    entry_name,
    folder_of,
    is_stored_place,
    likely_paths,
    month_of,
    path_of,
    place_of,
    stored_changes,
)
from memory_v2.entries.file import EntryFile, read_entry
from memory_v2.errors import (
    EntryNotFound,
    InvalidPath,
    NotAllowed,
    PageNotFound,
    StorageConflict,
    StorageError,
    Unreadable,
)
from memory_v2.index.dedup import KnownEntries, KnownEntry
from memory_v2.progress import with_progress
from memory_v2.settings import DEFAULT_AGENT
from memory_v2.storage.base import ABSENT, MemoryStorage
from memory_v2.storage.format import read_format
from memory_v2.storage.history import Change, PageChange, Revision
from memory_v2.storage.versioned import MAX_SUMMARY
from memory_v2.text.days import UTC_DAYS, Calendar
from memory_v2.text.words import shorten
from memory_v2.tree.finding import Finding
from memory_v2.tree.path import ENTRIES

if TYPE_CHECKING:
    from memory_v2.entries.files import EntryFiles
    from memory_v2.index.entries import EntryIndex
    from memory_v2.operations.context import Context

CAPTURE = "capture"
"""The kind of a revision that takes in what was captured."""
DOMAINS_PAGE = f"{ENTRIES}/domains"
"""The page with the domains of a memory, once they were edited."""
MAX_TRIES = 20
"""How many numbers are tried: other machines, or people, may take them at the same time. After half of the tries the
folder is listed."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class EntryStore:
    """The entries in a storage. `open_index` gives their part of the memory's index; `agent` is whose entries are
    captured if no agent is named."""

    storage: MemoryStorage
    open_index: Callable[[], EntryIndex]
    calendar: Calendar = UTC_DAYS
    agent: str = DEFAULT_AGENT

    @cached_property
    def known(self) -> KnownEntries:
        """What is known already, for the questions of a capture."""
        return KnownEntries(self.storage.cache_folder, self._known_entries)

    @cached_property
    def stored(self) -> EntryFiles:
        """Their files."""
        from memory_v2.entries.files import EntryFiles  # start-up that a capture should not pay

        return EntryFiles(self.storage, self.calendar)

    @cached_property
    def index(self) -> EntryIndex:
        """The index of the entries, for searches and plans."""
        return self.open_index()

    # reading

    def places(self) -> Iterator[EntryLocation]:
        """Where all entries are, in no order, without reading any."""
        yield from filter(None, (place_of(stamp.path) for stamp in self.stored.stamps()))

    def files(self) -> list[EntryFile]:
        """All entries as they are now, by day and number; from the index, so that only what has changed is read. One
        that cannot be read at all is a finding."""
        if self.storage.folder_marks(ENTRIES) == {}:
            return []
        if self.storage.cache_folder is None:  # an index would be made for this alone
            return list(self.read_files())
        if not self.index.may_have_entries:
            return []
        self.index.refresh(everything=True)
        files = [read_entry(place, data) for path, data in self.index.files().items() if (place := place_of(path))]
        files += (_unreadable(path, error) for path, error in self.index.unreadable.items())
        return sorted(files, key=lambda file: _in_order(file.path))

    def read_files(self) -> Iterator[EntryFile]:
        """The same, each read from the storage."""
        paths = sorted((stamp.path for stamp in self.stored.stamps()), key=_in_order)
        data_of = self.stored.reader()
        for path in with_progress(paths, "entries read"):
            try:
                data = data_of(path)
                if place := place_of(path):  # else a pack that can be read by now
                    yield read_entry(place, data)
            except PageNotFound:  # moved or removed meanwhile
                continue
            except Unreadable as error:
                yield _unreadable(path, error)

    def entries(self) -> list[Entry]:
        """All entries that can be read, oldest first."""
        return [file.entry for file in self.files() if file.entry is not None]

    def find(self, entry_id: str) -> EntryLocation:
        """Where an entry is. Without a space, it is the default agent's or the shared one. Raises
        `EntryNotFound`."""
        for full in (entry_id,) if "/" in entry_id else (f"{self.agent}/{entry_id}", f"shared/{entry_id}"):
            if place := self._likely(full):
                return place
        wanted = (place for place in self.places() if entry_id in (place.id, place.path))
        if place := next(wanted, None):  # in a folder made by hand
            return place
        raise EntryNotFound(entry_id)

    def _likely(self, entry_id: str) -> EntryLocation | None:
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

    def entry(self, entry_id: str) -> Entry:
        """The same, without its file. Raises `NotAllowed` too, for a file that does not say what an entry must."""
        file = self.read(entry_id)
        if file.entry is None:
            problem = file.findings[-1]
            raise NotAllowed(f"{problem.path}.md:{problem.line}: {problem.message}")
        return file.entry

    def data(self, path: str) -> bytes | None:
        """The bytes of an entry, or of another file; `None` if it does not exist."""
        try:
            return self.stored.data(path)
        except PageNotFound:
            return None

    # creating and changing

    def make_ready(self) -> None:
        """Begins the history of a new store, before the first entry is created."""
        if not read_format(self.storage.state):
            self.storage.begin(self.calendar.now())

    def create(self, space: str, day: str, data: bytes) -> EntryLocation:
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

    def _last_listed(self, space: str, day: str) -> int:
        folders = (folder_of(space), folder_of(space, archived=True))
        places = (place_of(stamp.path) for folder in folders for stamp in self.stored.stamps(folder))
        return max((place.number for place in places if place and str(place.day) == day), default=0)

    def commit(self, kind: str, summary: str, changes: Iterable[PageChange]) -> str:
        """Makes these changes as one operation of the history, after what was captured before is in it; returns its id.
        Raises `StorageConflict` if an entry is not as it was `before`."""
        self.make_ready()
        self.pick_up()
        files = stored_changes(wanted := list(changes), self.data)
        try:
            revision = self._revision(kind, summary, who_asks())
            made = self.storage.commit(Change(tuple(files), revision))
        finally:
            self._expire()
        self.remember(wanted)
        return made.revision.id[:12]

    def _revision(self, kind: str, summary: str, agent: str = "") -> Revision:
        return Revision(kind, shorten(summary, MAX_SUMMARY), new_id(), when=self.calendar.now(), agent=agent)

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

    def _known_entries(self) -> Iterator[KnownEntry]:
        for file in self.read_files():
            yield from self._known(file)

    def _known(self, file: EntryFile) -> Iterator[KnownEntry]:
        place = place_of(file.path)
        if file.entry is not None and place is not None:
            observed = self.calendar.written(file.entry.observed_at) or ""
            yield KnownEntry(place.id, place.space, str(place.day or ""), place.number, observed, file.entry.text)

    def _expire(self) -> None:
        """Lets the index know, if it is open, that something has changed."""
        if "index" in self.__dict__:
            self.index.expire()

    # the history

    def paths(self) -> list[str]:
        """The paths of all files of entries, packs too, and of the domains if they were edited."""
        there = (stamp.path for stamp in self.storage.stamps(ENTRIES))
        return [path for path in there if is_stored_place(path) or path == DOMAINS_PAGE]

    def pick_up(self, below: str = ENTRIES) -> int:
        """Brings entries that are not in the history yet into it, in one revision, or those below a folder; returns how
        many there were."""
        new = sorted(self._unrecorded(below))
        return self._record(new) if new else 0

    def pick_up_last(self) -> None:
        """Brings what was captured after the operation that an undo would undo into the history, the last one as a
        revision of its own, so that undoing takes back what was done last."""
        if not (new := self._unrecorded(ENTRIES)):
            return
        from memory_v2.operations.history import next_undo  # start-up: a capture needs none of it

        newest = next_undo(self.storage.history)
        since = self.storage.recorded_at(newest.revisions[0]) if newest else None
        known = {path: self.storage.get_modified_time(path) for path in new}
        times = {path: at for path, at in known.items() if since is None or at >= since}
        if not times:
            return
        last = max(times, key=lambda path: (times[path], path))
        if before := sorted(times.keys() - {last}):
            self._record(before)
        self._record([last])

    def record_all(self) -> None:
        """Brings what was captured or edited by hand into the history, if its disk can be written."""
        try:
            self.pick_up()
            history = self.storage.history
            known = history.paths(history.head, ENTRIES) if history.begun else set()
            self.storage.record_external_edits(known.union(self.paths()), self.calendar.now())
        except StorageError as error:  # a read-only disk must not stop readers
            logger.info("captured entries could not be brought into the history: %s", error)

    def _unrecorded(self, below: str) -> set[str]:
        history = self.storage.history
        there = {stamp.path for stamp in self.storage.stamps(below) if is_stored_place(stamp.path)}
        return there - history.paths(history.head, below) if there and history.begun else there

    def _record(self, new: list[str]) -> int:
        names = ", ".join(place.id if (place := place_of(path)) else path for path in new)
        return len(new) if self.storage.record_created(new, self._revision(CAPTURE, names)) else 0

    def close(self) -> None:
        """Closes its file; the next use opens it again."""
        self.known.close()


def entries_of(context: Context) -> EntryStore:
    """The entries that an operation on pages works with besides."""
    return EntryStore(context.storage, lambda: context.index.entries, context.calendar)


def _unreadable(path: str, error: Unreadable) -> EntryFile:
    return EntryFile(path, b"", None, (Finding("unreadable", "error", path, 0, str(error)),))


def _in_order(path: str) -> tuple[str, str, int, str]:
    place = place_of(path)
    return (str(place.day or ""), place.space, place.number, path) if place else ("", "", 0, path)
