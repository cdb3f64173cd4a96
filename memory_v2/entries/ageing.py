"""Ageing: which entries have expired, and why. The plan that is shown is the object that is carried out."""

from __future__ import annotations

from collections.abc import Iterable
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
    expired = []
    findings = []
    for entry in standing:
        days = age(entry, same)
        if has_expired(entry.decay, days):
            expired.append(_expired(entry, days))
        if days < 0:
            findings.append(_of_the_future(entry))
    return AgeingPlan(tuple(expired), tuple(findings))


def _expired(entry: Entry, days: float) -> Expired:
    left = weight_at(entry.decay, days)
    return Expired(entry.id, int(days), left, f"{entry.decay} since {entry.observed_at.isoformat()}: weight {left:.2f}")


def _of_the_future(entry: Entry) -> Finding:
    said = entry.observed_at.isoformat()
    return Finding("future-entry", "notice", entry.id, 0, f"the entry is dated {said}, which is still to come")
