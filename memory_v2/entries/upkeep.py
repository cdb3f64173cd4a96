"""Upkeep: which entries have expired and go to the archive, which old ones are packed there, which say the same, and
which are sure enough to be shared.

Exact duplicates are what a capture would not have stored: the same text by the same agent of the same day. All but one
go to the archive, where they are still found and references to them lead. What is only near is a warning.

A promoted entry stays where it is. Its copy in `shared/` knows where it came from, and what the original said then. A
change of the original since is told, never mended: the copy may have been corrected.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import count

from memory_v2.agent.operation import operation
from memory_v2.entries import decay
from memory_v2.entries.curation import Stock, carried_out
from memory_v2.entries.entry import SHARED, Entry
from memory_v2.entries.entry_paths import (
    MAX_BYTES,
    can_be_packed,
    month_of,
    moved_to,
    pack_of,
    pack_path,
    packed_size,
    path_of,
)
from memory_v2.entries.file import EntryFile, Written, written_moment
from memory_v2.entries.store import EntryStore
from memory_v2.errors import InvalidSetting, UsageError
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.settings import is_count
from memory_v2.storage.history import PageChange
from memory_v2.text.amounts import counted, counted_entries
from memory_v2.text.days import Calendar
from memory_v2.tree.alike import alike
from memory_v2.tree.finding import Finding
from memory_v2.validate import share_given

OLDER_THAN = 90
"""How old an entry is at least to be packed, in days: a quarter, after which a month's files are seldom opened."""
IMPORTANCE = 0.3
"""Entries of less importance are of low importance, as DARYL's roadmap has it."""
THRESHOLD = 0.8
"""The least confidence of an entry that is promoted unasked: in Ocean's words, it is "verified by data, actionable"."""


# what has expired


@operation("age", changes="entries")
def age(store: EntryStore, apply: bool = False) -> Plan:
    """Finds the entries that have expired, and with `apply` moves them to the archive. Raises `InvalidSetting`,
    `StorageError`."""
    return carried_out(store, apply, lambda stock: plan_ageing(stock, store.calendar.stopped()))


def plan_ageing(stock: Stock, calendar: Calendar) -> Plan:
    """What has expired by now, by id. What is in the archive is not planned again, so a second run does nothing."""
    steps: list[Step] = []
    warnings = list(future_findings((entry for entry in stock.entries if not entry.archived), calendar))
    for name, file in sorted(stock.files.items()):
        entry, archive = file.entry, moved_to(file.path, archived=True)
        if entry is None or entry.archived or not decay.has_expired(entry.decay, days := decay.age(entry, calendar)):
            continue
        if archive in stock.paths:
            warnings.append(Finding("taken-name", "error", archive, 0, f"this file is in the way of {name}; move it"))
            continue
        weight = decay.weight_at(entry.decay, days)
        reason = f"{entry.decay} since {entry.observed_at.isoformat()}: weight {weight:.2f}"
        facts = {"age": int(days), "weight": weight}
        steps.append(Step("archive", name, reason=reason, facts=facts, changes=file.moved(archive)))
    return Plan("age", f"{counted_entries(len(steps))} expired", tuple(steps), tuple(warnings))


def future_findings(entries: Iterable[Entry], calendar: Calendar) -> Iterator[Finding]:
    """The entries that are dated after now."""
    for entry in entries:
        if decay.age(entry, calendar) < 0:
            message = f"the entry is dated {entry.observed_at.isoformat()}, which is still to come"
            yield Finding("future-entry", "notice", entry.id, 0, message)


# what is old and of little importance


@operation("pack", changes="entries")
def pack(store: EntryStore, older_than: int = OLDER_THAN, importance: float = IMPORTANCE, apply: bool = False) -> Plan:
    """Finds the entries that are older than so many days and of less importance, and with `apply` moves them into packs
    of the archive. One that says no importance goes if it is in the archive. Raises `InvalidSetting`,
    `StorageError`."""
    if not is_count(older_than, 1):
        raise InvalidSetting(f"older_than is a number of days, 1 or more, not {older_than!r}")
    least = share_given("importance", importance)

    def plan(stock: Stock) -> Plan:
        calendar, room = store.calendar.stopped(), _Room(store)
        steps: list[Step] = []
        warnings: list[Finding] = []
        for entry, file in stock.editable:
            days = decay.age(entry, calendar)
            is_unimportant = entry.archived if entry.importance is None else entry.importance < least
            if days <= older_than or not is_unimportant or pack_of(file.path):
                continue
            if not can_be_packed(entry.name, file.data):
                message = "a line of it begins with '# Entry', as entries in a pack do, so it keeps a file of its own"
                warnings.append(Finding("not-packed", "notice", entry.id, 0, message))
                continue
            target = room.take(entry, packed_size(entry.name, file.data))
            says = (
                "archived, and says no importance" if entry.importance is None else f"importance {entry.importance:g}"
            )
            reason, facts = f"{math.floor(days)} days old, {says}", {"age": math.floor(days)}
            steps.append(
                Step("pack", entry.id, target, reason, facts=facts, changes=file.moved(f"{target}/{entry.name}"))
            )
        packs = counted(len({step.target for step in steps}), "file")
        title = f"{counted_entries(len(steps))} packed in {packs}" if steps else "nothing to be packed"
        return Plan("pack", title, tuple(steps), tuple(warnings))

    return carried_out(store, apply, plan)


class _Room:
    """How full the packs of each month are."""

    def __init__(self, store: EntryStore) -> None:
        self._store = store
        self._sizes: dict[tuple[str, str], list[int]] = {}

    def take(self, entry: Entry, size: int) -> str:
        """The path of the first pack of an entry's month that has room for so many bytes, which it takes."""
        month = month_of(entry.name, entry.observed_at.isoformat())
        if (entry.space, month) not in self._sizes:
            packs = self._store.stored.packs(entry.space, month)
            there = {int(stamp.path.rpartition("-")[2]): stamp.size for stamp in packs}
            self._sizes[entry.space, month] = [there.get(n, 0) for n in range(1, max(there, default=0) + 1)]
        sizes = self._sizes[entry.space, month]
        number = next((n for n, one in enumerate(sizes) if one + size <= MAX_BYTES), len(sizes))
        if number == len(sizes):
            sizes.append(0)
        sizes[number] += size
        return pack_path(entry.space, month, number + 1)


# what says the same


@operation("dedupe", changes="entries")
def dedupe(store: EntryStore, apply: bool = False) -> Plan:
    """Finds the entries that say the same, and with `apply` moves all but one of them to the archive. Raises
    `InvalidSetting`, `StorageError`."""
    return carried_out(store, apply, lambda stock: plan_deduping(stock, store.calendar))


def plan_deduping(stock: Stock, calendar: Calendar) -> Plan:
    """What says the same. Of duplicates a verified one stays, else the oldest. Archived and closed entries are left
    alone, and copies in the shared space are no duplicates of their originals."""
    can_go = {
        entry: file
        for entry, file in stock.editable
        if not entry.archived and entry.status == "open" and moved_to(file.path, archived=True) not in stock.paths
    }
    by_saying: dict[tuple[str, str, str], list[Entry]] = {}
    for one in sorted(can_go, key=_age):
        by_saying.setdefault((one.space, calendar.written(one.observed_at) or "", one.text.strip()), []).append(one)
    steps = [
        Step(
            "archive",
            other.id,
            reason=f"it says the same as {first.id}",
            facts={"superseded_by": first.id},
            changes=(file := can_go[other]).moved(
                moved_to(file.path, archived=True), status="closed", superseded_by=first.id
            ),
        )
        for first, *others in by_saying.values()
        for other in others
    ]
    left = sorted((first for first, *_ in by_saying.values() if first.promoted_from is None), key=lambda one: one.id)
    near = [
        Finding("near-entries", "notice", left[group.members[0]].id, 0, f"{group.share:.2f} alike: {ids}")
        for group in alike(_without_numbers(left))
        if (ids := ", ".join(left[number].id for number in group.members))
    ]
    title = f"{counted(len(steps), 'duplicate')}, {counted(len(near), 'group')} that may be looked at"
    return Plan("dedupe", title, tuple(sorted(steps, key=lambda step: step.name)), tuple(near))


def _without_numbers(entries: Iterable[Entry]) -> list[str]:
    return [" ".join(word for word in entry.text.split() if not any(map(str.isdigit, word))) for entry in entries]


def _age(entry: Entry) -> tuple[bool, datetime, str]:
    return not entry.verified, entry.recorded_at or datetime.min.replace(tzinfo=UTC), entry.id


# what is sure enough to be shared


@operation("promote", changes="entries")
def promote(
    store: EntryStore,
    threshold: float = THRESHOLD,
    require_verified: bool = False,
    only: str | None = None,
    apply: bool = False,
) -> Plan:
    """Finds the entries that are sure enough to be shared, or the one that is named, and with `apply` copies them into
    the shared space. Raises `InvalidSetting`, `UsageError`, `StorageError`."""
    least = share_given("threshold", threshold)
    now = store.calendar.now().replace(microsecond=0)
    return carried_out(store, apply, lambda stock: plan_promotion(stock, now, least, require_verified, only))


def plan_promotion(
    stock: Stock,
    now: datetime,
    threshold: float = THRESHOLD,
    require_verified: bool = False,
    only: str | None = None,
) -> Plan:
    """What is promoted, by id: open entries of agents with at least this confidence, verified ones only if required.
    `only` names one entry, which needs no confidence then, and is skipped with the reason if it cannot be promoted.
    What has a copy is not promoted again. Raises `UsageError` if `only` names no entry, or several."""
    files = dict(stock.editable)
    copies = Copies(files)
    taken = {entry.name for entry in files if entry.space == SHARED}
    steps: list[Step] = []
    shared: dict[str, Entry] = {}  # by text
    originals = [entry for entry in files if entry.space != SHARED]
    for entry in originals if only is None else [_named(only, originals)]:
        copy = copies.of(entry) or shared.get(_text(entry))
        if why_not := _why_not(entry, copy, None if only else threshold, require_verified):
            if only is not None:
                steps.append(Step(SKIP, entry.id, reason=why_not))
            continue
        name = f"{entry.space}-{entry.name}"  # as Ocean's vaults have it
        name = name if name not in taken else next(one for n in count(2) if (one := f"{name}-{n}") not in taken)
        taken.add(name)
        copy = shared[_text(entry)] = _copy(entry, name, now)
        sure = "" if entry.confidence is None else f"confidence {entry.confidence:g}"
        why = ("asked for" if only else "", sure, "verified" if entry.verified else "")
        changes = _copied(files[entry], copy)
        steps.append(Step("promote", entry.id, copy.id, ", ".join(filter(None, why)), "", {"copy": copy}, changes))
    title = f"{counted_entries(len(shared))} sure enough to be shared"
    return Plan("promote", title, tuple(steps), tuple(copies.findings()))


def _named(name: str, originals: Iterable[Entry]) -> Entry:
    wanted = name.removesuffix(".md").casefold()
    found = [entry for entry in originals if wanted in (entry.id.casefold(), entry.name.casefold())]
    if not found:
        raise UsageError(
            f"there is no entry {name!r} of an agent that can be read; 'silica memory check' tells the others"
        )
    if len(found) > 1:
        raise UsageError(f"{name!r} names several entries: {', '.join(one.id for one in found)}; give the whole id")
    return found[0]


def _why_not(entry: Entry, copy: Entry | None, threshold: float | None, require_verified: bool) -> str:
    if copy is not None:
        return f"it is shared already, as {copy.id}"
    if entry.archived or entry.status == "closed":
        return "it is archived" if entry.archived else "it is closed"
    if require_verified and not entry.verified:
        return "nobody has verified it"
    if threshold is None:
        return ""
    if entry.confidence is None:
        return "it says no confidence"
    return f"its confidence is {entry.confidence:g}" if entry.confidence < threshold else ""


def _copy(entry: Entry, name: str, now: datetime) -> Entry:
    return replace(
        entry,
        id=f"{SHARED}/{name}",
        promoted_from=entry.id,
        promoted_at=now.astimezone(UTC),
        promoted_version=version(entry),
        promoted_to=(),
        consolidated_into=(),
        derived_from=(),
    )


def _copied(file: EntryFile, copy: Entry) -> tuple[PageChange, PageChange]:
    """The file of a copy, which is the original with the keys that only a copy has, so that unknown ones are copied
    too; and the key by which the original names it."""
    assert file.entry is not None
    assert copy.promoted_at is not None
    keys: dict[str, Written] = {
        "created": copy.observed_at.isoformat(),
        "promoted_to": None,
        "consolidated_into": None,
        "derived_from": None,
        "promoted_from": copy.promoted_from,
        "promoted_version": copy.promoted_version,
        "promoted_at": written_moment(copy.promoted_at),
    }
    named = file.with_header(promoted_to=(*file.entry.promoted_to, copy.id))
    return PageChange(path_of(SHARED, copy.name), None, file.changed(keys)), named


_COMPARED = ("text", "observed_at", "kind", "tags", "source", "confidence", "importance", "decay", "verified", "status")


class Copies:
    """The shared entries among these, each with its original as far as that is known."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        everything = list(entries)
        self._originals = {entry.id: entry for entry in everything if entry.space != SHARED}
        self._pairs = [(entry, self._original_of(entry)) for entry in everything if entry.space == SHARED]
        self._of = {original.id: copy for copy, original in self._pairs if original}
        self._by_text = {_text(copy): copy for copy, _ in self._pairs}

    def of(self, entry: Entry) -> Entry | None:
        """The copy of an entry; or what is shared already with the same text, whoever has said it."""
        return self._of.get(entry.id) or self._by_text.get(_text(entry))

    def findings(self) -> Iterator[Finding]:
        """The copies whose original has changed since, or is not known."""
        alike: dict[str, list[Entry]] = defaultdict(list)
        for entry in self._originals.values() if self._pairs else ():
            alike[_text(entry)].append(entry)
        for copy, original in self._pairs:
            others = alike[_text(copy)]
            if original is not None:
                differences = _differences(original, copy)
                is_as_then = copy.promoted_version == version(original)
                if not is_as_then and (copy.promoted_version is not None or differences):
                    message = f"{original.id} has changed since it was promoted{differences}"
                    yield Finding("outdated-copy", "notice", copy.id, 0, message)
            elif others or copy.promoted_from is not None:  # else it was captured there
                said = copy.promoted_from
                start = "it does not say where it was promoted from"
                if said is not None:
                    start = f"it was promoted from {said!r}, which is not there"
                same = (f"{one.id} has the same text{_differences(one, copy)}" for one in others)
                yield Finding("lost-original", "notice", copy.id, 0, "; ".join([start, *same]))

    def _original_of(self, copy: Entry) -> Entry | None:
        """The entry that a copy says it was promoted from: by its id, or by the agent (`captain`, if the copy is named
        `captain-obs-2026-02-15-001`)."""
        said = copy.promoted_from or ""
        by_agent = f"{said}/{copy.name.removeprefix(f'{said}-')}"
        return self._originals.get(said) or self._originals.get(by_agent)


def version(entry: Entry) -> str:
    """A digest of what an entry says and how sure it is; its place and what became of it are no part of it."""
    fields = asdict(entry)
    said = json.dumps([fields[name] for name in _COMPARED], default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _text(entry: Entry) -> str:
    """What is compared of a text: tools add and drop line ends around it."""
    return entry.text.strip()


def _differences(original: Entry, copy: Entry) -> str:
    """In what else than its text's outer line ends an entry and its copy differ, as it is told; empty if in nothing."""
    names = [name for name in _COMPARED[1:] if getattr(original, name) != getattr(copy, name)]
    parts = [f"{name} {_short(original, name)} there, {_short(copy, name)} here" for name in names]
    parts = parts if _text(original) == _text(copy) else ["the text", *parts]
    return f" ({'; '.join(parts)})" if parts else ""


def _short(entry: Entry, name: str) -> str:
    value = getattr(entry, name)
    return repr(value.author or value.channel or "") if name == "source" else repr(value)
