"""Plans for entries: made from what is stored and the clock, shown, and carried out as one operation of the history.

The plan that is shown is the object that is carried out. If an entry is changed by others in between, the plan is made
again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from memory_v2.entries.area import Area
from memory_v2.entries.entry import Entry
from memory_v2.entries.file import EntryFile, read_entry
from memory_v2.entries.header import Written, changed_header
from memory_v2.entries.places import moved_to, place_of
from memory_v2.errors import StorageConflict
from memory_v2.storage.history import PageChange
from memory_v2.text.amounts import counted
from memory_v2.tree.block import decode, encode

MAX_PLANS = 4
"""How often a plan is made again because others changed an entry meanwhile. A plan takes as long as reading all
entries; who loses so often shares the memory with somebody who changes entries all the time."""

Plan = TypeVar("Plan")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Planned(Generic[Plan]):
    """A plan, and the id of the operation that carried it out; `None` if nobody asked for that, or it is empty."""

    plan: Plan
    revision: str | None = None


@dataclass(frozen=True)
class Stock:
    """The entries of a memory, as they were read: the file of each by id, and the paths of all files."""

    area: Area
    files: dict[str, EntryFile]
    paths: frozenset[str]

    @cached_property
    def entries(self) -> list[Entry]:
        """All entries that can be read."""
        return [file.entry for file in self.files.values() if file.entry is not None]

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of all entries, also of those that cannot be read, and of those that share one."""
        return frozenset(place.id for path in self.paths if (place := place_of(path)))

    def entry(self, entry_id: str) -> Entry:
        """An entry by its id."""
        entry = self.files[entry_id].entry
        assert entry is not None
        return entry

    def data(self, entry_id: str) -> bytes:
        """The bytes of an entry's file. Raises `StorageConflict` if they say something else than they did."""
        file = self.files[entry_id]
        data, place = self.area.data(file.path), place_of(file.path)
        if data is None or place is None or read_entry(place, data).entry != file.entry:
            raise StorageConflict(f"the entry {entry_id} was changed by somebody else meanwhile")
        return data

    def is_editable(self, entry: Entry) -> bool:
        """Whether the header of an entry can be changed: it can be read."""
        return not any(finding.kind == "broken-header" for finding in self.files[entry.id].findings)

    def archive_path(self, entry_id: str) -> str:
        """The path of an entry's file in the archive; there may be another file."""
        return moved_to(self.files[entry_id].path, archived=True)

    def current(self, entry_id: str) -> bytes | None:
        """The bytes of an entry's file now; `None` if it cannot be told which file that is."""
        return self.area.data(self.files[entry_id].path) if entry_id in self.files else None

    def with_header(self, entry_id: str, changes: dict[str, Written]) -> PageChange:
        """The change that sets these keys in an entry's header."""
        before = self.data(entry_id)
        return PageChange(self.files[entry_id].path, before, encode(changed_header(decode(before), changes)))


def carried_out(
    area: Area,
    apply: bool,
    kind: str,
    planned: Callable[[Stock], Plan],
    changes: Callable[[Stock, Plan], Iterator[PageChange]],
) -> Planned[Plan]:
    """Makes a plan, and with `apply` carries it out as one operation of this kind. Raises `StorageConflict`."""
    for attempt in range(1, MAX_PLANS + 1):
        stock = stock_of(area)
        try:
            plan = planned(stock)
            if not apply:
                return Planned(plan)
            if not (made := list(changes(stock, plan))):
                return Planned(plan)
            area.make_ready()
            names = ", ".join(dict.fromkeys(place.id for one in made if (place := place_of(one.path))))
            return Planned(plan, area.commit(kind, names, made).revision.id[:12])
        except StorageConflict:
            if attempt == MAX_PLANS:
                raise
    raise AssertionError("the last attempt returns or raises")


def stock_of(area: Area) -> Stock:
    """All entries. Those that share their id with another are left alone, since nobody can tell which is meant."""
    files: dict[str, EntryFile] = {}
    repeated: set[str] = set()
    paths = []
    for file in area.files():
        paths.append(file.path)
        if file.entry is not None and files.setdefault(file.entry.id, file) is not file:
            repeated.add(file.entry.id)
    if repeated:
        told = counted(len(repeated), "id")
        logger.warning("several files of entries share %s, and are left alone; 'silica memory check' tells which", told)
    return Stock(area, {name: file for name, file in files.items() if name not in repeated}, frozenset(paths))
