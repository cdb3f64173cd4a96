"""The files of entries in a storage. Those in a pack are seen as if each had a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

from memory_v2.entries.packs import Pack, Packed, read_pack
from memory_v2.entries.places import is_pack, pack_of, packs_folder, place_of
from memory_v2.errors import PageNotFound, Unreadable
from memory_v2.operations.results import Finding
from memory_v2.storage.base import MemoryStorage, Stamp
from memory_v2.tree.path import ENTRIES

MOST_PACKS = 64
"""How many packs are remembered: entries are read by their days, and those of a month stand in a pack of each agent."""


@dataclass
class EntryFiles:
    """Reads entries by path, wherever their bytes are. Packs are remembered, and read again when they have changed."""

    storage: MemoryStorage
    _packs: dict[str, tuple[str, Pack]] = field(default_factory=dict)
    _names: dict[str, tuple[Stamp, tuple[str, ...]]] = field(default_factory=dict)

    def stamps(self, below: str = ENTRIES) -> Iterator[Stamp]:
        """A stamp of every entry, in no order; of those in a pack, that of the pack. A pack that cannot be read is
        named itself."""
        for stamp in self.storage.stamps(below):
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
        return self._data(path, self.pack)

    def reader(self) -> Callable[[str], bytes]:
        """Reads entries as `data` does, for one scan: a pack that was read for one of its entries is not read again."""
        return partial(self._data, pack=lru_cache(MOST_PACKS)(self.pack))

    def packed(self, path: str) -> Packed | None:
        """The entry with this path in its pack; `None` if it is in none. Raises `Unreadable`."""
        return _packed(path, self.pack)

    def is_hidden(self, path: str) -> bool:
        """Whether a file cannot be read as an entry, because a pack has one with the same path."""
        try:
            return self.packed(path) is not None
        except Unreadable:  # nobody knows what the pack has
            return False

    def pack(self, path: str) -> Pack:
        """A pack. Raises `PageNotFound`, `Unreadable`."""
        stored = self.storage.read(path)
        version, pack = self._packs.get(path, ("", None))
        if pack is None or version != stored.version:
            pack = read_pack(stored.data)
            if len(self._packs) >= MOST_PACKS:
                self._packs = {}
            self._packs[path] = stored.version, pack
        return pack

    def packed_as(self, space: str, name: str, month: str) -> str | None:
        """The path of an entry in the packs of a month."""
        for stamp in self.packs(space, month):
            if name in self._names_in(stamp):
                return f"{stamp.path}/{name}"
        return None

    def packs(self, space: str, month: str) -> list[Stamp]:
        """The packs of a month, in order."""
        folder = packs_folder(space)
        found = (stamp for stamp in self.storage.stamps(folder) if is_pack(stamp.path))
        return sorted(stamp for stamp in found if stamp.path.startswith(f"{folder}/{month}-"))

    def where(self, path: str) -> tuple[str, int]:
        """The file that an entry's bytes are in, and how many of its lines stand above them."""
        try:
            found = self.packed(path)
        except Unreadable:
            found = None
        where = pack_of(path)
        return (where[0], found.line - 1) if where and found else (path, 0)

    def located(self, finding: Finding) -> Finding:
        """A finding about an entry, with the file and the line that a person can open."""
        path, above = self.where(finding.path)
        return finding if path == finding.path else replace(finding, path=path, line=above + max(finding.line, 1))

    def _data(self, path: str, pack: Callable[[str], Pack]) -> bytes:
        found = _packed(path, pack)
        return found.data if found else self.storage.read(path).data

    def _names_in(self, stamp: Stamp) -> tuple[str, ...]:
        known = self._names.get(stamp.path)
        if known is None or known[0] != stamp:
            known = self._names[stamp.path] = (stamp, tuple(self.pack(stamp.path).entries))
        return known[1]


def _packed(path: str, pack: Callable[[str], Pack]) -> Packed | None:
    if (where := pack_of(path)) is None:
        return None
    try:
        return pack(where[0]).entries.get(where[1])
    except PageNotFound:
        return None
