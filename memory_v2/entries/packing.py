"""Packing: which old entries of low importance go into packs of the archive. The plan that is shown is carried out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from memory_v2.entries.area import Area
from memory_v2.entries.decay import age
from memory_v2.entries.entry import Entry
from memory_v2.entries.packs import MAX_BYTES, can_be_packed, packed_size
from memory_v2.entries.places import month_of, pack_of, pack_path
from memory_v2.entries.planned import Planned, Stock, carried_out
from memory_v2.errors import InvalidSetting
from memory_v2.operations.operation import operation
from memory_v2.operations.results import Finding
from memory_v2.settings import is_count
from memory_v2.storage.history import PageChange
from memory_v2.text.calendar import Calendar
from memory_v2.validate import share_given

OLDER_THAN = 90
"""How old an entry is at least, in days: a quarter, after which nobody goes through a month's files any more."""
IMPORTANCE = 0.3
"""Entries of less importance are of low importance, as DARYL's roadmap has it."""


@dataclass(frozen=True, slots=True)
class Packing:
    """An entry that goes into a pack: its age in whole days, the pack's path, and why it goes."""

    id: str
    age: int
    pack: str
    why: str


@dataclass(frozen=True, slots=True)
class PackingPlan:
    """The entries that go into packs, by id, and what a person should look at."""

    packed: tuple[Packing, ...] = ()
    findings: tuple[Finding, ...] = ()


@operation("pack", changes="entries")
def pack(
    area: Area, older_than: int = OLDER_THAN, importance: float = IMPORTANCE, apply: bool = False
) -> Planned[PackingPlan]:
    """Finds the entries that are older than so many days and of less importance, and with `apply` moves them into packs
    of the archive. One that says no importance goes if it is in the archive. Raises `InvalidSetting`,
    `StorageError`."""
    if not is_count(older_than, 1):
        raise InvalidSetting(f"older_than is a number of days, 1 or more, not {older_than!r}")
    least = share_given("importance", importance)

    def plan(stock: Stock) -> PackingPlan:
        now = area.calendar.now()
        calendar = Calendar(area.calendar.zone, lambda: now)  # one moment for the whole plan
        chosen = [(one, age(one, calendar)) for one in stock.entries if _may_go(stock, one, least)]
        old = sorted(((one, math.floor(days)) for one, days in chosen if days > older_than), key=lambda one: one[0].id)
        return _plan(stock, old)

    def changes(stock: Stock, plan: PackingPlan) -> Iterator[PageChange]:
        for one in plan.packed:
            data = stock.data(one.id)
            yield PageChange(f"{one.pack}/{stock.entry(one.id).name}", None, data)
            yield PageChange(stock.files[one.id].path, data, None)

    return carried_out(area, apply, "pack", plan, changes)


def _may_go(stock: Stock, entry: Entry, least: float) -> bool:
    if pack_of(stock.files[entry.id].path) or not stock.is_editable(entry):
        return False
    return entry.archived if entry.importance is None else entry.importance < least


def _plan(stock: Stock, old: list[tuple[Entry, int]]) -> PackingPlan:
    """Each of these entries, with its age, in the first pack of its month that has room."""
    packed: list[Packing] = []
    findings: list[Finding] = []
    sizes: dict[tuple[str, str], list[int]] = {}
    for entry, days in old:
        data = stock.data(entry.id)
        if not can_be_packed(entry.name, data):
            told = "a line of it begins with '# Entry', as entries in a pack do, so it keeps a file of its own"
            findings.append(Finding("not-packed", "notice", entry.id, 0, told))
            continue
        month = month_of(entry.name, entry.observed_at.isoformat())
        if (entry.space, month) not in sizes:
            sizes[entry.space, month] = _sizes(stock.area, entry.space, month)
        known = sizes[entry.space, month]
        size = packed_size(entry.name, data)
        number = next((n for n, one in enumerate(known) if one + size <= MAX_BYTES), len(known))
        if number == len(known):
            known.append(0)
        known[number] += size
        why = "archived, and says no importance" if entry.importance is None else _important(entry)
        packed.append(Packing(entry.id, days, pack_path(entry.space, month, number + 1), f"{days} days old, {why}"))
    return PackingPlan(tuple(packed), tuple(findings))


def _important(entry: Entry) -> str:
    return f"importance {entry.importance:g}"


def _sizes(area: Area, space: str, month: str) -> list[int]:
    """The sizes of the packs of a month, by their numbers from 1 on; one that is not there has none yet."""
    there = {int(stamp.path.rpartition("-")[2]): stamp.size for stamp in area.stored.packs(space, month)}
    return [there.get(number, 0) for number in range(1, max(there, default=0) + 1)]
