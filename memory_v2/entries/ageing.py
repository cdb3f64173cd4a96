"""Ageing: which entries have expired, and why. The plan that is shown is the object that is carried out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memory_v2.entries.decay import age, has_expired, weight_at
from memory_v2.entries.entry import Entry
from memory_v2.operations.results import Finding
from memory_v2.text.calendar import Calendar


@dataclass(frozen=True, slots=True)
class Expired:
    """An entry that goes to the archive: its age in whole days, what it still counts, and why it goes."""

    id: str
    age: int
    weight: float
    why: str


@dataclass(frozen=True, slots=True)
class AgeingPlan:
    """The entries that go to the archive, by id, and what a person should look at."""

    expired: tuple[Expired, ...] = ()
    findings: tuple[Finding, ...] = ()


def plan_ageing(entries: Iterable[Entry], calendar: Calendar) -> AgeingPlan:
    """What has expired by now. What is in the archive is not planned again, so a second run does nothing."""
    standing = sorted((entry for entry in entries if not entry.archived), key=lambda entry: entry.id)
    now = calendar.now()
    same = Calendar(calendar.zone, lambda: now)  # one moment for the whole plan
    aged = ((entry, age(entry, same)) for entry in standing)
    expired = (_expired(entry, days) for entry, days in aged if has_expired(entry.decay, days))
    return AgeingPlan(tuple(expired), tuple(future_findings(standing, same)))


def future_findings(entries: Iterable[Entry], calendar: Calendar) -> Iterator[Finding]:
    """The entries that are dated after now."""
    for entry in entries:
        if age(entry, calendar) < 0:
            message = f"the entry is dated {entry.observed_at.isoformat()}, which is still to come"
            yield Finding("future-entry", "notice", entry.id, 0, message)


def _expired(entry: Entry, days: float) -> Expired:
    left = weight_at(entry.decay, days)
    return Expired(entry.id, int(days), left, f"{entry.decay} since {entry.observed_at.isoformat()}: weight {left:.2f}")
