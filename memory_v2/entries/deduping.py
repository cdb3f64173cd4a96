"""Deduping: which entries say the same, and which say nearly so. The plan that is shown is carried out.

Exact duplicates are what a capture would not have stored: the same text by the same agent of the same day. All but one
go to the archive, where they are still found and references to them lead. What is only near is shown, and left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from memory_v2.entries.area import Area
from memory_v2.entries.entry import Entry
from memory_v2.entries.header import changed_header
from memory_v2.entries.planned import Planned, Stock, carried_out
from memory_v2.operations.operation import operation
from memory_v2.storage.history import PageChange
from memory_v2.text.calendar import Calendar
from memory_v2.tree.alike import alike
from memory_v2.tree.block import decode, encode

_FIRST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An entry that goes to the archive, and the entry that says the same and stays."""

    id: str
    of: str


@dataclass(frozen=True, slots=True)
class Near:
    """Entries that say nearly the same, numbers aside, or the same on other days or by other agents; and how much of
    their words the least alike shares with the first."""

    ids: tuple[str, ...]
    share: float


@dataclass(frozen=True, slots=True)
class DedupePlan:
    """The entries that go to the archive, by id, and those that a person may look at."""

    duplicates: tuple[Duplicate, ...] = ()
    near: tuple[Near, ...] = ()


@operation("dedupe", changes="entries")
def dedupe(area: Area, apply: bool = False) -> Planned[DedupePlan]:
    """Finds the entries that say the same, and with `apply` moves all but one of them to the archive. Raises
    `InvalidSetting`, `StorageError`."""

    def plan(stock: Stock) -> DedupePlan:
        return plan_deduping((one for one in stock.entries if _can_go(stock, one)), area.calendar)

    def changes(stock: Stock, plan: DedupePlan) -> Iterator[PageChange]:
        for one in plan.duplicates:
            data = stock.data(one.id)
            told = changed_header(decode(data), {"status": "closed", "superseded_by": one.of})
            yield PageChange(stock.archive_path(one.id), None, encode(told))
            yield PageChange(stock.files[one.id].path, data, None)

    return carried_out(area, apply, "dedupe", plan, changes)


def plan_deduping(entries: Iterable[Entry], calendar: Calendar) -> DedupePlan:
    """What says the same. Of duplicates a verified one stays, else the oldest. Archived and closed entries are left
    alone, and copies in the shared space are no duplicates of their originals."""
    open_ones = [one for one in entries if not one.archived and one.status == "open"]
    by_saying: dict[tuple[str, str, str], list[Entry]] = {}
    for one in sorted(open_ones, key=_age):
        by_saying.setdefault((one.space, calendar.written(one.observed_at) or "", one.text.strip()), []).append(one)
    duplicates = [Duplicate(other.id, first.id) for first, *others in by_saying.values() for other in others]
    left = sorted((first for first, *_ in by_saying.values() if first.promoted_from is None), key=lambda one: one.id)
    groups = alike([_without_numbers(one.text) for one in left])
    near = (Near(tuple(left[number].id for number in group.members), group.share) for group in groups)
    return DedupePlan(tuple(sorted(duplicates, key=lambda one: one.id)), tuple(near))


def _without_numbers(text: str) -> str:
    return " ".join(word for word in text.split() if not any(map(str.isdigit, word)))


def _age(entry: Entry) -> tuple[bool, datetime, str]:
    return not entry.verified, entry.recorded_at or _FIRST, entry.id


def _can_go(stock: Stock, entry: Entry) -> bool:
    """Whether an entry can go to the archive: it is not there, nor is another file, and its header can be changed."""
    return stock.is_editable(entry) and stock.archive_path(entry.id) not in stock.paths
