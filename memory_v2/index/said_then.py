"""What was said on some days, whatever its words."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from datetime import date

from memory_v2.index.days import known_days
from memory_v2.index.ranking import Ranked
from memory_v2.index.said import read_said
from memory_v2.index.sql import packed
from memory_v2.index.tables import on_page
from memory_v2.index.texts import read_places
from memory_v2.text.calendar import Calendar
from memory_v2.text.dates import Span

LOOKED_THROUGH = 1_000
"""How many places are looked through at most, those of the pages that changed last. If all of 10,000 pages have
changed, a search for last week takes twice as long as another."""


def said_then(
    tables: sqlite3.Connection, days: Sequence[Span], limit: int, within: Collection[str] | None, calendar: Calendar
) -> list[Ranked]:
    """The texts that were said on these days, the newest first. They stand on pages that have changed since."""
    asked_for = known_days(tables, days)
    first = max(asked_for.merged[0][0] - 1, 1)  # whatever the time zone
    inside = "" if within is None else "AND path IN (SELECT value FROM json_each(:within))"
    asked = (
        f"SELECT passages.id FROM pages JOIN passages ON {on_page()} WHERE last_updated >= :first {inside} "
        "ORDER BY last_updated DESC, path, first_line LIMIT :most"
    )
    given = {"first": date.fromordinal(first).isoformat(), "most": LOOKED_THROUGH}
    rows = tables.execute(asked, given | ({} if within is None else {"within": packed(within)}))
    places = [place for place in read_places(tables, [number for (number,) in rows]).values() if place.kind == "text"]
    said = read_said(tables, places, calendar)
    then = [one for one in places if asked_for.include(said[one.id].day, said[one.id].day)]
    then.sort(key=lambda one: (-said[one.id].day, -said[one.id].turn, one.page, one.first_line))
    return [Ranked(one, 0.0, f"date {date.fromordinal(said[one.id].day)}", said[one.id]) for one in then[:limit]]
