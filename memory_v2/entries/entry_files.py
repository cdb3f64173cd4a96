"""The files of entries; and packs, which are old entries of a month in one file of the archive, each with its own
header, to the byte.

    # Packed entries of hawk, 2026-02

    # Entry obs-2026-02-15-001
    ---
    tags: [ctr]
    ---
    Insurance CTR dropped 12% this week

An entry in a pack has a path too, as if the pack were its folder: `…/archive/packed/2026-02-001/obs-2026-02-15-001`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import zip_longest

from memory_v2.entries.places import is_pack, pack_of, packs_folder, place_of
from memory_v2.errors import NotAllowed, PageNotFound, StorageConflict, Unreadable
from memory_v2.storage.base import MemoryStorage, Stamp
from memory_v2.storage.history import PageChange
from memory_v2.tree.finding import Finding
from memory_v2.tree.path import ENTRIES, is_page_path

MAX_BYTES = 262_144
"""Limits a pack, in bytes: an editor opens it at once, and a change of one entry stores that much again."""
MOST_PACKS = 64
"""How many packs are remembered: entries are read by their days, and those of a month are in a pack of each agent."""

_HEADING = re.compile(rb"^# Entry ([^\r\n]+)\r?\n", re.M)


@dataclass(frozen=True, slots=True)
class Packed:
    """An entry in a pack: its name, its bytes, as its own file had them, the line of the pack at which they begin, and
    where in its bytes the entry begins, with its heading, and ends."""

    name: str
    data: bytes
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pack:
    """What a pack holds: its entries by name, and what is wrong with it, as (line, message)."""

    entries: dict[str, Packed]
    problems: tuple[tuple[int, str], ...] = ()


def read_pack(data: bytes) -> Pack:
    """The entries in a pack. A heading that names no entry, or one that is there already, begins none: its lines stay
    in the file."""
    found: dict[str, Packed] = {}
    problems: list[tuple[int, str]] = []
    headings = list(_HEADING.finditer(data))
    line, counted = 1, 0
    for heading, following in zip_longest(headings, headings[1:]):
        end = following.start() if following else len(data)
        line, counted = line + data.count(b"\n", counted, heading.end()), heading.end()
        name = heading[1].decode("utf-8", "replace").strip()
        if "/" in name or not is_page_path(name):
            problems.append((line - 1, f"{name!r} cannot be the name of an entry"))
        elif name in found:
            problems.append((line - 1, f"the pack has the entry {name} twice; the first one counts"))
        else:
            gap = b"\r\n" if heading[0].endswith(b"\r\n") else b"\n"
            found[name] = Packed(name, data[heading.end() : end].removesuffix(gap), line, heading.start(), end)
    if not headings:
        problems.append((1, "the pack holds no entry: each begins with a line such as '# Entry obs-2026-02-15-001'"))
    return Pack(found, tuple(problems))


def can_be_packed(name: str, data: bytes) -> bool:
    """Whether an entry comes out of a pack as it went in: none of its lines looks like the heading of one."""
    return is_page_path(name) and _HEADING.search(data + b"\n") is None


def packed_size(name: str, data: bytes) -> int:
    """How many bytes an entry takes in a pack."""
    return len(_written(name, data))


def stored_changes(changes: Iterable[PageChange], read: Callable[[str], bytes | None]) -> list[PageChange]:
    """The changes of files that these changes of entries are: those of packed entries become one of their pack, which
    `read` reads. Raises `StorageConflict` if a packed entry is not as it was `before`."""
    files: list[PageChange] = []
    packs: dict[str, list[tuple[str, PageChange]]] = {}
    for change in changes:
        if where := pack_of(change.path):
            packs.setdefault(where[0], []).append((where[1], change))
        else:
            files.append(change)
    changed = ((pack, before := read(pack), _changed(pack, before, wanted)) for pack, wanted in packs.items())
    return [*(PageChange(pack, before, after) for pack, before, after in changed if before != after), *files]


def _changed(pack: str, data: bytes | None, changes: Iterable[tuple[str, PageChange]]) -> bytes | None:
    """The bytes of a pack with entries changed, added or taken out; `None` if none is left."""
    title = _title(pack)
    before = title if data is None else data
    entries = read_pack(before).entries
    now: dict[str, bytes | None] = {name: one.data for name, one in entries.items()}
    for name, change in changes:
        if now.get(name) != change.before:
            raise StorageConflict(f"the entry {name} in {pack} is no longer as it was when it was read; try again")
        if change.after is not None and not can_be_packed(name, change.after):
            raise NotAllowed(f"the entry {name} has a line that begins with '# Entry', so it cannot be in a pack")
        now[name] = change.after
    after, end = b"", 0
    for name, one in entries.items():
        text = now.pop(name)
        kept = before[one.start : one.end] if text == one.data else _written(name, text)
        after, end = after + before[end : one.start] + kept, one.end
    after += before[end:]
    after += b"" if after.endswith(b"\n") else b"\n"
    after += b"".join(_written(name, text) for name, text in now.items())
    return None if after.strip() == title.strip() else after


def _written(name: str, data: bytes | None) -> bytes:
    return b"" if data is None else b"# Entry " + name.encode() + b"\n" + data + b"\n"


def _title(pack: str) -> bytes:
    parts = pack.split("/")
    space = parts[2] if parts[1] == "agents" else parts[1]
    return f"# Packed entries of {space}, {parts[-1].rpartition('-')[0]}\n\n".encode()


# reading entries, wherever their bytes are


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
        except Unreadable:  # it is unknown what the pack has
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
        """The file that an entry's bytes are in, and how many of its lines are above them."""
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
