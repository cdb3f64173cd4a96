"""Entries made up for tests."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from typing import Any

from memory_v2.entries.curation import Stock, stock_of
from memory_v2.entries.entry import Entry
from memory_v2.entries.file import EntryFile, entry_data
from memory_v2.entries.places import path_of
from memory_v2.text.calendar import Calendar

DAY = date(2026, 2, 15)


def made(name: str = "hawk/obs-2026-02-15-001", text: str = "CTR fell by 12%.\n", **fields: Any) -> Entry:
    """An entry of a day with this id, unless its fields say otherwise."""
    return Entry(id=name, text=text, **{"observed_at": DAY, **fields})


def stock(*entries: Entry) -> Stock:
    """These entries, as they were read."""
    return stock_of(
        EntryFile(path_of(entry.space, entry.name, entry.archived), entry_data(entry), entry) for entry in entries
    )


def at(moment: datetime, zone: tzinfo = UTC) -> Calendar:
    """A calendar whose clock stands."""
    return Calendar(zone, lambda: moment)


def noon(day: date, zone: tzinfo = UTC) -> Calendar:
    """A calendar whose clock stands at noon of a day."""
    return at(datetime(day.year, day.month, day.day, 12, tzinfo=zone), zone)
