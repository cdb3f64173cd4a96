"""Reading places from the tables with their texts: the best ones, and what was said on some days."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from datetime import date

from memory_v2.index.base import Hit
from memory_v2.index.days import known_days
from memory_v2.index.ranking import Ranked
from memory_v2.index.said import read_said, speaks_of
from memory_v2.index.sql import packed, packed_rows
from memory_v2.index.tables import on_page, passages_and_pages
from memory_v2.index.texts import read_places
from memory_v2.text.calendar import Calendar
from memory_v2.text.dates import Span

LOOKED_THROUGH = 1_000
"""How many places are looked through at most, those of the pages that changed last. If all of 10,000 pages have
changed, a search for last week takes twice as long as another."""


def read_hits(tables: sqlite3.Connection, ranked: Sequence[Ranked]) -> list[Hit]:
    """A hit for each place, in the same order."""
    source = f"FROM {passages_and_pages()} WHERE passages.id IN (SELECT value FROM json_each(:places))"
    given = {"places": packed(one.place.id for one in ranked)}
    stored = {number: where for number, *where in packed_rows(tables, ("passages.id", "path", "block"), source, given)}
    hits = []
    for one in ranked:
        place = one.place
        path, block = stored[place.id]
        text, lines = place.text, (place.first_line, place.last_line)
        day, headings = date.fromordinal(one.said.day), tuple(json.loads(place.section))
        about = speaks_of(text, one.said, day)
        hits.append(Hit(path, block, *lines, text, one.score, day, headings, one.found_by, about, one.signs))
    return hits


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
