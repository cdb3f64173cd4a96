"""The day on which each place was said, and what days it speaks of.

It is the day that the place names as its own, else its heading, else its source; but a day after it was written is one
that it only speaks of. Else it is the day on which its newest line was written, as the history knows. What is older
than the history, or not yet in it, has the day of its page.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import NamedTuple

from memory_v2.index.line_dates import Line, read_lines
from memory_v2.index.lines import line_ids
from memory_v2.index.named import Named
from memory_v2.index.sql import packed, packed_rows
from memory_v2.index.tables import PAGE_OF, on_page, passages_and_pages
from memory_v2.index.texts import Place, read_each
from memory_v2.text.calendar import Calendar
from memory_v2.text.dates import Span, find_dates
from memory_v2.text.own_day import newest_part, spoken_of
from memory_v2.tree.block import split_lines

UNRECORDED = 2**62
"""The turn of a line that is not in the history: it is newer than all that are."""


class Said(NamedTuple):
    """The day on which a place was said, as an ordinal, and the turn of the history in which it was written."""

    day: int
    turn: int
    named: tuple[Named, ...]
    """The days that the place names as its own, its headings' or its source's."""


@dataclass(frozen=True, slots=True)
class _Written:
    """When a place was written: a day that it was said on at the latest, and one that it may have been said on."""

    at_most: int
    day: int
    turn: int


def read_said(tables: sqlite3.Connection, places: Iterable[Place], calendar: Calendar) -> dict[int, Said]:
    """When each of these passages of pages was said, on today's date by this calendar or before."""
    stored = {place.id: place for place in places}
    source = f"FROM {passages_and_pages()} WHERE passages.id IN (SELECT value FROM json_each(:places))"
    rows = [
        (place, datetime.fromisoformat(moment), _lines(stored[place].text, line), _named(stored[place]))
        for place, moment, line in packed_rows(
            tables, ("passages.id", "last_updated", "line"), source, {"places": packed(stored)}
        )
    ]
    wanted = {line for _, _, lines, _ in rows for line in lines}
    wanted |= {one.line for _, _, _, named in rows for one in named if one.line is not None}
    known, today = read_lines(tables, wanted), calendar.today.toordinal()
    said = {}
    for place, moment, lines, named in rows:
        written = _written(lines, known, min(calendar.day(moment).toordinal(), today), today, calendar)
        said[place] = Said(_day(named, known, written), written.turn, named)
    return said


def read_said_of_entries(tables: sqlite3.Connection, places: Collection[int]) -> dict[int, Said]:
    """When entries were observed, by the ids of their places."""
    source = f"entry_passages AS passages JOIN entries ON page = {PAGE_OF}"
    rows = tables.execute(
        f"SELECT passages.id, day FROM {source} WHERE passages.id IN (SELECT value FROM json_each(?))",
        (packed(places),),
    )
    return {place: Said(day, 0, ()) for place, day in rows}


def said_in(
    tables: sqlite3.Connection, path: str, blocks: Collection[int], calendar: Calendar
) -> tuple[date | None, str]:
    """The day on which the newest of these blocks of a page was said, and other days that they speak of; `None` if the
    page has no such blocks."""
    source = (
        f"FROM pages JOIN passages ON {on_page()} "
        "WHERE path = :path AND block IN (SELECT value FROM json_each(:blocks)) ORDER BY first_line"
    )
    given = {"path": path, "blocks": packed(blocks)}
    places = [place for (place,) in packed_rows(tables, ("passages.id",), source, given)]
    stored = read_each(tables, places)
    said = read_said(tables, stored.values(), calendar)
    if not said:
        return None, ""
    newest = date.fromordinal(max(one.day for one in said.values()))
    return newest, next(
        (about for place in places if (about := speaks_of(stored[place].text, said[place], newest))), ""
    )


def speaks_of(text: str, said: Said, day: date) -> str:
    """The days that a place speaks of, for people to read: the first ones in its text, else those that it names. Empty
    if there are none but the `day` on which it was said."""
    spans = [span for span, _, _ in find_dates(newest_part(text))]
    named = (one for one in said.named if one.line is None)  # not the day of the whole page
    spans += [Span(date.fromordinal(one.since), date.fromordinal(one.until)) for one in named]
    return next((spoken_of(span) for span in spans if span != Span(day, day)), "")


def _lines(text: str, line: int | None) -> tuple[int, ...]:
    """The ids of the lines of a text, which may be a part of one."""
    return line_ids(split_lines(text)) if line is None else (line,)


def _named(place: Place) -> tuple[Named, ...]:
    return tuple(Named(*one) for one in json.loads(place.named))


def _written(lines: Iterable[int], known: Mapping[int, Line], page: int, today: int, calendar: Calendar) -> _Written:
    """When the newest of some lines was written. `page` is the day of the last change of their page."""
    newest: _Written | None = None
    for line in lines:
        if (one := known.get(line)) is None or not one.times:
            return _Written(today, page, UNRECORDED)
        day = min(calendar.day(datetime.fromtimestamp(one.written, UTC)).toordinal(), today)
        written = _Written(day, min(day, page) if one.was_there else day, one.turn)
        if newest is None or (newest.day, newest.turn) < (written.day, written.turn):
            newest = written
    return newest or _Written(today, page, UNRECORDED)


def _day(named: Iterable[Named], known: Mapping[int, Line], written: _Written) -> int:
    for one in named:
        by = known.get(one.line) if one.line is not None else None
        if by and by.times == 1 and written.turn > by.turn:  # it was added to a page that had this day already
            continue
        if one.since <= written.at_most:
            return written.day if one.since <= written.day <= one.until else one.since
    return written.day
