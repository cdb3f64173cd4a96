"""The index of a memory's entries: where it reads them, and what it knows of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from memory_v2.entries.file import read_entry, text_line
from memory_v2.entries.places import EntryFiles, place_named, place_of
from memory_v2.entries.references import references_of
from memory_v2.errors import StorageError
from memory_v2.index.entries import EntryIndex
from memory_v2.index.rows import ParsedEntry
from memory_v2.index.store import Store
from memory_v2.storage.base import MemoryStorage, Stamp
from memory_v2.text.calendar import Calendar
from memory_v2.tree.path import ENTRIES


@dataclass(frozen=True)
class Source:
    """The entries in a storage, for their index."""

    storage: MemoryStorage
    calendar: Calendar

    @cached_property
    def stored(self) -> EntryFiles:
        """The files of the entries."""
        return EntryFiles(self.storage)

    def over(self, storage: MemoryStorage) -> Source:
        """See `EntrySource`."""
        return replace(self, storage=storage)

    def changed_at(self) -> str | None:
        """See `EntrySource`."""
        try:
            return self.storage.history.stamp
        except StorageError:  # damaged, or not readable: the entries are
            return None

    def folder_marks(self) -> dict[str, str] | None:
        """See `EntrySource`."""
        marks = self.storage.folder_marks(ENTRIES)
        return None if marks is None else dict(marks)

    def stamps(self, below: str = "") -> Iterator[Stamp]:
        """See `EntrySource`."""
        return self.stored.stamps(below or ENTRIES)

    def reader(self) -> Callable[[str], bytes]:
        """See `EntrySource`."""
        return self.stored.reader()

    def read(self, path: str, data: bytes) -> ParsedEntry:
        """See `EntrySource`."""
        place = place_of(path)
        assert place is not None, path
        entry = read_entry(place, data).entry
        if entry is None:
            return ParsedEntry(place.id)
        observed, source = entry.observed_at, entry.source
        told = (source.author, source.channel, source.session, source.location)
        return ParsedEntry(
            id=place.id,
            text=entry.text,
            first_line=text_line(entry, data),
            space=entry.space,
            home=entry.home or "",
            tags=tuple(map(str.casefold, entry.tags)),
            source="\n".join(filter(None, told)).casefold(),
            confidence=entry.confidence,
            day=self.calendar.day(observed) if isinstance(observed, datetime) else observed,
            archived=entry.archived,
            names=tuple(name_of(reference.target) for reference in references_of(entry)),
        )


def name_of(target: str) -> str:
    """What is compared of a target of references: an entry's id, however its file was named; folded."""
    written = target.strip().removesuffix(".md")
    place = place_named(written)
    return (place.id if place else written).casefold()


def open_index(storage: MemoryStorage, calendar: Calendar, open_store: Callable[[], Store] | None = None) -> EntryIndex:
    """The index of the entries in a storage, beside its other derived data unless in a store that is open."""
    return EntryIndex(Source(storage, calendar), open_store() if open_store else Store(storage.cache_folder))
