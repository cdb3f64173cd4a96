"""The files of a memory's entries, wherever their bytes are, and what the index knows of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache, partial

from memory_v2.entries.entry_paths import Pack, PackedEntry, is_pack, pack_of, packs_folder, place_of, read_pack
from memory_v2.entries.file import read_entry
from memory_v2.entries.references import folded, references_of
from memory_v2.errors import PageNotFound, Unreadable
from memory_v2.index.entries import EntryIndex
from memory_v2.index.rows import ParsedEntry
from memory_v2.index.store import IndexStore
from memory_v2.storage.base import MemoryStorage, Stamp
from memory_v2.text.days import UTC_DAYS, Calendar
from memory_v2.tree.finding import Finding
from memory_v2.tree.path import ENTRIES

MOST_PACKS = 64
"""How many packs a scan remembers: it goes by days, and the entries of a month are in a pack of each agent."""


@dataclass
class EntryFiles:
    """Reads entries by path, those in packs too."""

    storage: MemoryStorage
    calendar: Calendar = UTC_DAYS
    _names: dict[str, tuple[Stamp, tuple[str, ...]]] = field(default_factory=dict)

    def stamps(self, below: str = ENTRIES) -> Iterator[Stamp]:
        """A stamp of every entry, in no order; of those in a pack, that of the pack. A pack that cannot be read is
        named itself."""
        for stamp in self.storage.stamps(below or ENTRIES):
            if not is_pack(stamp.path):
                if place_of(stamp.path) and not self.is_hidden(stamp.path):
                    yield stamp
                continue
            try:
                yield from (stamp._replace(path=f"{stamp.path}/{name}") for name in self._names_in(stamp))
            except PageNotFound:  # moved or removed meanwhile
                continue
            except Unreadable:
                yield stamp

    def data(self, path: str) -> bytes:
        """The bytes of an entry. Raises `PageNotFound`, `Unreadable`."""
        return self._data(self.pack, path)

    def reader(self) -> Callable[[str], bytes]:
        """Reads entries as `data` does, for one scan: a pack that was read for one of its entries is not read again."""
        return partial(self._data, lru_cache(MOST_PACKS)(self.pack))

    def _data(self, pack: Callable[[str], Pack], path: str) -> bytes:
        found = _packed(pack, path)
        return found.data if found else self.storage.read(path).data

    def parse(self, path: str, data: bytes) -> ParsedEntry:
        """What is looked up of an entry."""
        place = place_of(path)
        assert place is not None, path
        file = read_entry(place, data)
        if (entry := file.entry) is None:
            return ParsedEntry(place.id)
        observed, source = entry.observed_at, entry.source
        said_by = (source.author, source.channel, source.session, source.location)
        return ParsedEntry(
            id=place.id,
            text=entry.text,
            first_line=file.first_line,
            space=entry.space,
            home=entry.home or "",
            tags=tuple(map(str.casefold, entry.tags)),
            source="\n".join(filter(None, said_by)).casefold(),
            confidence=entry.confidence,
            day=self.calendar.day(observed) if isinstance(observed, datetime) else observed,
            archived=entry.archived,
            names=tuple(folded(reference.target) for reference in references_of(entry)),
        )

    # packs

    def pack(self, path: str) -> Pack:
        """A pack. Raises `PageNotFound`, `Unreadable`."""
        return read_pack(self.storage.read(path).data)

    def packs(self, space: str, month: str) -> list[Stamp]:
        """The packs of a month, in order."""
        folder = packs_folder(space)
        found = (stamp for stamp in self.storage.stamps(folder) if is_pack(stamp.path))
        return sorted(stamp for stamp in found if stamp.path.startswith(f"{folder}/{month}-"))

    def packed_as(self, space: str, name: str, month: str) -> str | None:
        """The path of an entry in the packs of a month."""
        packs = (stamp for stamp in self.packs(space, month) if name in self._names_in(stamp))
        return next((f"{stamp.path}/{name}" for stamp in packs), None)

    def is_hidden(self, path: str) -> bool:
        """Whether a file cannot be read as an entry, because a pack has one with the same path."""
        return self._readable(path) is not None

    def where(self, path: str) -> tuple[str, int]:
        """The file that an entry's bytes are in, and how many of its lines are above them."""
        where, found = pack_of(path), self._readable(path)
        return (where[0], found.line - 1) if where and found else (path, 0)

    def located(self, finding: Finding) -> Finding:
        """A finding about an entry, with the file and the line that a person can open."""
        path, above = self.where(finding.path)
        return finding if path == finding.path else replace(finding, path=path, line=above + max(finding.line, 1))

    def _readable(self, path: str) -> PackedEntry | None:
        try:
            return _packed(self.pack, path)
        except Unreadable:  # it is unknown what the pack has
            return None

    def _names_in(self, stamp: Stamp) -> tuple[str, ...]:
        known = self._names.get(stamp.path)
        if known is None or known[0] != stamp:
            known = self._names[stamp.path] = (stamp, tuple(self.pack(stamp.path).entries))
        return known[1]


def _packed(pack: Callable[[str], Pack], path: str) -> PackedEntry | None:
    """The entry with this path in its pack; `None` if it is in none."""
    if (where := pack_of(path)) is None:
        return None
    try:
        return pack(where[0]).entries.get(where[1])
    except PageNotFound:
        return None


def open_index(storage: MemoryStorage, calendar: Calendar, store: IndexStore) -> EntryIndex:
    """The index of the entries in a storage, in these tables."""
    return EntryIndex(storage, partial(EntryFiles, calendar=calendar), store)
