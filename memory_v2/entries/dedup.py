"""Deduping: which entries say the same, and which say nearly so.

Exact duplicates are what a capture would not have stored: the same text by the same agent of the same day. All but one
go to the archive, where they are still found and references to them lead. What is only near is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from memory_v2.entries.curation import Stock, carried_out
from memory_v2.entries.entry import Entry
from memory_v2.entries.store import EntryStore
from memory_v2.operations.operation import operation
from memory_v2.plan import Plan, Step
from memory_v2.text.amounts import counted
from memory_v2.text.calendar import Calendar
from memory_v2.tree.alike import alike
from memory_v2.tree.finding import Finding

_FIRST = datetime.min.replace(tzinfo=UTC)


@operation("dedupe", changes="entries")
def dedupe(store: EntryStore, apply: bool = False) -> Plan:
    """Finds the entries that say the same, and with `apply` moves all but one of them to the archive. Raises
    `InvalidSetting`, `StorageError`."""

    def plan(stock: Stock) -> Plan:
        made = plan_deduping((one for one in stock.entries if _can_go(stock, one)), store.calendar)
        return replace(made, steps=tuple(_archived(stock, step) for step in made.steps))

    return carried_out(store, apply, plan)


def _archived(stock: Stock, step: Step) -> Step:
    path = stock.archive_path(step.name)
    return replace(step, changes=stock.moved(step.name, path, status="closed", **step.facts))


def plan_deduping(entries: Iterable[Entry], calendar: Calendar) -> Plan:
    """What says the same. Of duplicates a verified one stays, else the oldest. Archived and closed entries are left
    alone, and copies in the shared space are no duplicates of their originals."""
    open_ones = [one for one in entries if not one.archived and one.status == "open"]
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
    return [" ".join(word for word in one.text.split() if not any(map(str.isdigit, word))) for one in entries]


def _age(entry: Entry) -> tuple[bool, datetime, str]:
    return not entry.verified, entry.recorded_at or _FIRST, entry.id


def _can_go(stock: Stock, entry: Entry) -> bool:
    """Whether an entry can go to the archive: it is not there, nor is another file, and its header can be changed."""
    return stock.is_editable(entry) and stock.archive_path(entry.id) not in stock.paths
