"""Upkeep: which entries have expired and go to the archive, which old ones are packed there, and which say the same.

Exact duplicates are what a capture would not have stored: the same text by the same agent of the same day. All but one
go to the archive, where they are still found and references to them lead. What is only near is a warning.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from memory_v2.entries import decay
from memory_v2.entries.curation import Stock, carried_out
from memory_v2.entries.entry import Entry
from memory_v2.entries.places import MAX_BYTES, can_be_packed, month_of, pack_of, pack_path, packed_size
from memory_v2.entries.store import EntryStore
from memory_v2.errors import InvalidSetting
from memory_v2.operations.operation import operation
from memory_v2.plan import Plan, Step
from memory_v2.settings import is_count
from memory_v2.text.amounts import counted, counted_entries
from memory_v2.text.calendar import Calendar
from memory_v2.tree.alike import alike
from memory_v2.tree.finding import Finding
from memory_v2.validate import share_given

OLDER_THAN = 90
"""How old an entry is at least to be packed, in days: a quarter, after which a month's files are seldom opened."""
IMPORTANCE = 0.3
"""Entries of less importance are of low importance, as DARYL's roadmap has it."""


@operation("age", changes="entries")
def age(store: EntryStore, apply: bool = False) -> Plan:
    """Finds the entries that have expired, and with `apply` moves them to the archive. Raises `InvalidSetting`,
    `StorageError`."""

    def plan(stock: Stock) -> Plan:
        made = plan_ageing(stock.entries, store.calendar)
        paths = {step.name: stock.archive_path(step.name) for step in made.steps}
        taken = {name: path for name, path in paths.items() if path in stock.paths}
        in_the_way = (
            Finding("taken-name", "error", path, 0, f"this file is in the way of {name}; move it")
            for name, path in taken.items()
        )
        steps = tuple(
            replace(step, changes=stock.moved(step.name, paths[step.name]))
            for step in made.steps
            if step.name not in taken
        )
        title = f"{counted_entries(len(steps))} expired"
        return replace(made, title=title, steps=steps, warnings=(*made.warnings, *in_the_way))

    return carried_out(store, apply, plan)


def plan_ageing(entries: Iterable[Entry], calendar: Calendar) -> Plan:
    """What has expired by now, by id. What is in the archive is not planned again, so a second run does nothing."""
    current = sorted((entry for entry in entries if not entry.archived), key=lambda entry: entry.id)
    calendar = calendar.stopped()
    aged = ((entry, decay.age(entry, calendar)) for entry in current)
    steps = tuple(_expired(entry, days) for entry, days in aged if decay.has_expired(entry.decay, days))
    return Plan("age", steps=steps, warnings=tuple(future_findings(current, calendar)))


def _expired(entry: Entry, days: float) -> Step:
    weight = decay.weight_at(entry.decay, days)
    reason = f"{entry.decay} since {entry.observed_at.isoformat()}: weight {weight:.2f}"
    return Step("archive", entry.id, reason=reason, facts={"age": int(days), "weight": weight})


def future_findings(entries: Iterable[Entry], calendar: Calendar) -> Iterator[Finding]:
    """The entries that are dated after now."""
    for entry in entries:
        if decay.age(entry, calendar) < 0:
            message = f"the entry is dated {entry.observed_at.isoformat()}, which is still to come"
            yield Finding("future-entry", "notice", entry.id, 0, message)


@operation("pack", changes="entries")
def pack(store: EntryStore, older_than: int = OLDER_THAN, importance: float = IMPORTANCE, apply: bool = False) -> Plan:
    """Finds the entries that are older than so many days and of less importance, and with `apply` moves them into packs
    of the archive. One that says no importance goes if it is in the archive. Raises `InvalidSetting`,
    `StorageError`."""
    if not is_count(older_than, 1):
        raise InvalidSetting(f"older_than is a number of days, 1 or more, not {older_than!r}")
    least = share_given("importance", importance)

    def plan(stock: Stock) -> Plan:
        calendar = store.calendar.stopped()
        chosen = [(one, decay.age(one, calendar)) for one in stock.entries if _may_be_packed(stock, one, least)]
        old = sorted(((one, math.floor(days)) for one, days in chosen if days > older_than), key=lambda one: one[0].id)
        steps: list[Step] = []
        warnings: list[Finding] = []
        room = _Room(store)
        for entry, days in old:
            data = stock.data(entry.id)
            if not can_be_packed(entry.name, data):
                message = "a line of it begins with '# Entry', as entries in a pack do, so it keeps a file of its own"
                warnings.append(Finding("not-packed", "notice", entry.id, 0, message))
                continue
            target = room.take(entry, packed_size(entry.name, data))
            says = (
                "archived, and says no importance" if entry.importance is None else f"importance {entry.importance:g}"
            )
            changes = stock.moved(entry.id, f"{target}/{entry.name}")
            steps.append(
                Step("pack", entry.id, target, f"{days} days old, {says}", facts={"age": days}, changes=changes)
            )
        packs = counted(len({step.target for step in steps}), "file")
        title = f"{counted_entries(len(steps))} packed in {packs}" if steps else "nothing to be packed"
        return Plan("pack", title, tuple(steps), tuple(warnings))

    return carried_out(store, apply, plan)


def _may_be_packed(stock: Stock, entry: Entry, least: float) -> bool:
    if pack_of(stock.files[entry.id].path) or not stock.is_editable(entry):
        return False
    return entry.archived if entry.importance is None else entry.importance < least


class _Room:
    """How full the packs of each month are."""

    def __init__(self, store: EntryStore) -> None:
        self._area = store
        self._sizes: dict[tuple[str, str], list[int]] = {}

    def take(self, entry: Entry, size: int) -> str:
        """The path of the first pack of an entry's month that has room for so many bytes, which it takes."""
        month = month_of(entry.name, entry.observed_at.isoformat())
        if (entry.space, month) not in self._sizes:
            packs = self._area.stored.packs(entry.space, month)
            there = {int(stamp.path.rpartition("-")[2]): stamp.size for stamp in packs}
            self._sizes[entry.space, month] = [there.get(n, 0) for n in range(1, max(there, default=0) + 1)]
        sizes = self._sizes[entry.space, month]
        number = next((n for n, one in enumerate(sizes) if one + size <= MAX_BYTES), len(sizes))
        if number == len(sizes):
            sizes.append(0)
        sizes[number] += size
        return pack_path(entry.space, month, number + 1)


_FIRST = datetime.min.replace(tzinfo=UTC)


@operation("dedupe", changes="entries")
def dedupe(store: EntryStore, apply: bool = False) -> Plan:
    """Finds the entries that say the same, and with `apply` moves all but one of them to the archive. Raises
    `InvalidSetting`, `StorageError`."""

    def plan(stock: Stock) -> Plan:
        made = plan_deduping((entry for entry in stock.entries if _can_go(stock, entry)), store.calendar)
        return replace(made, steps=tuple(_archived(stock, step) for step in made.steps))

    return carried_out(store, apply, plan)


def _archived(stock: Stock, step: Step) -> Step:
    path = stock.archive_path(step.name)
    return replace(step, changes=stock.moved(step.name, path, status="closed", **step.facts))


def plan_deduping(entries: Iterable[Entry], calendar: Calendar) -> Plan:
    """What says the same. Of duplicates a verified one stays, else the oldest. Archived and closed entries are left
    alone, and copies in the shared space are no duplicates of their originals."""
    open_ones = [entry for entry in entries if not entry.archived and entry.status == "open"]
    by_saying: dict[tuple[str, str, str], list[Entry]] = {}
    for one in sorted(open_ones, key=_age):
        by_saying.setdefault((one.space, calendar.written(one.observed_at) or "", one.text.strip()), []).append(one)
    duplicates = [(other.id, first.id) for first, *others in by_saying.values() for other in others]
    steps = [
        Step("archive", name, reason=f"it says the same as {of}", facts={"superseded_by": of})
        for name, of in sorted(duplicates)
    ]
    left = sorted((first for first, *_ in by_saying.values() if first.promoted_from is None), key=lambda one: one.id)
    near = [_near([left[n].id for n in group.members], group.share) for group in alike(_without_numbers(left))]
    title = f"{counted(len(steps), 'duplicate')}, {counted(len(near), 'group')} that may be looked at"
    return Plan("dedupe", title, tuple(steps), tuple(near))


def _near(ids: list[str], share: float) -> Finding:
    """Entries that say nearly the same, numbers aside, or the same on other days or by other agents; `share` is how
    much of its words the least alike shares with the first."""
    return Finding("near-entries", "notice", ids[0], 0, f"{share:.2f} alike: {', '.join(ids)}")


def _without_numbers(entries: Iterable[Entry]) -> list[str]:
    return [" ".join(word for word in entry.text.split() if not any(map(str.isdigit, word))) for entry in entries]


def _age(entry: Entry) -> tuple[bool, datetime, str]:
    return not entry.verified, entry.recorded_at or _FIRST, entry.id


def _can_go(stock: Stock, entry: Entry) -> bool:
    """Whether an entry can go to the archive: it is not there, nor is another file, and its header can be changed."""
    return stock.is_editable(entry) and stock.archive_path(entry.id) not in stock.paths
