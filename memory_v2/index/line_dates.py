"""When each line was written, and when each place was said.

A place was said on the day that it names as its own, else on that of its heading, else on that of its source; but a day
after it was written is one that it only speaks of. Else it is the day on which its newest line was written, as the
history knows. What is older than the history, or not yet in it, has the day of its page.

The table `written` is the history, added up. It has a row for each line that is or was in the tree: the revision that
brought it, the last one that added it once more, and how often it is there now. A line that stays in the tree keeps its
revision, whichever page it moves to, and so does one that an undo or an edit by hand brings back. The rows depend on
the history alone, however many revisions are read at a time.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import NamedTuple, Protocol

from memory_v2.errors import StorageError
from memory_v2.index.passages import Named, line_id, line_ids
from memory_v2.index.places import PAGE_OF, StoredPassage, on_page, packed, packed_rows, passages_and_pages, read_each
from memory_v2.index.store import IndexStore
from memory_v2.storage.history import EXTERNAL, IMPORT, Change, PageChange, Revision
from memory_v2.text.dates import Span, find_dates
from memory_v2.text.days import Calendar, newest_part, spoken_of
from memory_v2.tree.block import decode, readable, split_lines
from memory_v2.tree.page import read_page
from memory_v2.tree.path import is_entry

BATCH = 200
"""How many revisions are read before their lines are stored: a few thousand lines."""

UNDATED = 0
"""The day of what has none that is known: it is before all others."""

logger = logging.getLogger(__name__)


class Past(Protocol):
    """What the index asks a history for; see `History`."""

    @property
    def head(self) -> str: ...
    def before(self, revision: str) -> str: ...
    def revisions(self) -> Iterator[Revision]: ...
    def changed_by(self, revisions: Sequence[Revision]) -> Iterator[tuple[PageChange, ...]]: ...


class Line(NamedTuple):
    """A line: when it was written, in seconds since 1970, by which revision from the first, and how often it is in the
    tree. One that `was_there` is at least as old as that: it stood there before the history began. When an
    `imported` one was said is not known. `added` is the last revision that added the line once more."""

    written: int
    turn: int
    was_there: int
    imported: int
    added: int
    times: int


@dataclass(frozen=True, slots=True)
class LineDelta:
    """How often each line was added (or removed, if negative) at one moment. `brings_back` says whether a line that was
    removed before is the same one again."""

    moment: int
    lines: Mapping[int, int]
    brings_back: bool = False
    was_there: bool = False
    imported: bool = False


class LineDates:
    """Keeps the table up to date with a history."""

    def __init__(self, store: IndexStore, history: Past | None) -> None:
        self._store = store
        self._history = history
        self._failed_at: str | None = None
        """The head of the history when it could not be read. It is not tried again before there is another one."""

    def follow(self) -> None:
        """Adds what was recorded since the last call. If the history cannot be read, lines keep the dates they have.
        No lock of the index is held while it is read."""
        if self._history is None:
            return
        head = None
        try:
            head = self._history.head
            if head != self._failed_at:
                while self._is_behind(head) and self._read_on(self._history):
                    pass
                self._failed_at = None
        except StorageError as error:
            self._failed_at = head
            logger.info("the history does not tell when lines were written: %s", error)

    def add(self, change: Change) -> None:
        """Adds a change that has just been recorded, without reading the history, if nothing else is to be added before
        it. Else, or if that is not known, `follow` adds it."""
        newest = change.revision.id
        if self._history is None or not newest:
            return
        try:
            if self._history.head == newest:
                pages = [page for page in change.pages if not is_entry(page.path)]
                self._write(self._history.before(newest), newest, [_step(change.revision, pages)])
        except StorageError as error:
            logger.info("the history does not tell what came before %s: %s", newest[:12], error)

    def _is_behind(self, head: str) -> bool:
        with self._store.reading() as tables:
            return read_until(tables) != head

    def _read_on(self, history: Past) -> bool:
        """Adds the revisions that are not in the table; returns whether there were any."""
        with self._store.reading() as tables:
            until = read_until(tables)
        revisions, is_known = unread(history, until)
        if not is_known and not self._write(until, ""):
            return True
        until = until if is_known else ""
        for start in range(0, len(revisions), BATCH):
            batch = revisions[start : start + BATCH]
            read, until = until, batch[-1].id
            if not self._write(read, until, list(steps(history, batch))):
                break
        return bool(revisions)

    def _write(self, read: str, until: str, added: Iterable[LineDelta] = ()) -> bool:
        """Adds steps to a table that has been `read` until this revision, unless another thread or process was faster.
        Without a revision `until` which they go, the table is emptied."""
        with self._store.writing() as tables:
            if read_until(tables) != read:
                return False
            if until:
                add_up(tables, added, until)
            else:
                forget(tables)
        return True


def unread(history: Past, read_until: str) -> tuple[list[Revision], bool]:
    """The revisions after this one, oldest first, and whether it is in the history at all. Else they are all."""
    newer: list[Revision] = []
    for revision in history.revisions():
        if revision.id == read_until:
            return newer[::-1], True
        newer.append(revision)
    return newer[::-1], False


def steps(history: Past, revisions: Sequence[Revision]) -> Iterator[LineDelta]:
    """The steps of these revisions, which follow each other, oldest first."""
    for revision, changes in zip(revisions, history.changed_by(revisions), strict=True):
        if revision.is_first and revision.kind == EXTERNAL:
            for page in changes:
                yield LineDelta(_older(page, _moment(revision)), _changed_lines([page]), was_there=True)
        else:
            yield _step(revision, changes)


def read_until(tables: sqlite3.Connection) -> str:
    """The id of the newest revision that is in the table; empty if there is none."""
    return str(tables.execute("SELECT read_until FROM past").fetchone()[0])


def forget(tables: sqlite3.Connection) -> None:
    """Empties the table: the history is another one."""
    tables.execute("DELETE FROM written")
    tables.execute("UPDATE past SET read_until = '', turn = 0")


def add_up(tables: sqlite3.Connection, revisions: Iterable[LineDelta], until: str) -> None:
    """Adds the steps of the revisions `until` this one to the table, in order."""
    [turn] = tables.execute("SELECT turn FROM past").fetchone()
    for step in revisions:
        turn += 1
        known = read_lines(tables, step.lines)
        rows = []
        for line, change in step.lines.items():
            before = known.get(line)
            times = max((before.times if before else 0) + change, 0)
            if before and (before.times or step.brings_back):
                added = turn if change > 0 and not step.brings_back else before.added
                rows.append((line, *before._replace(added=added, times=times)))
            elif times:
                rows.append((line, step.moment, turn, int(step.was_there), int(step.imported), turn, times))
        tables.executemany("INSERT OR REPLACE INTO written VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    tables.execute("UPDATE past SET read_until = ?, turn = ?", (until, turn))


def read_lines(tables: sqlite3.Connection, lines: Iterable[int]) -> dict[int, Line]:
    """What is known of these lines."""
    source = "FROM written WHERE line IN (SELECT value FROM json_each(:lines))"
    rows = packed_rows(tables, ("line", *Line._fields), source, {"lines": packed(lines)})
    return {line: Line(*row) for line, *row in rows}


def _step(revision: Revision, changes: Iterable[PageChange]) -> LineDelta:
    brings_back = revision.brings_back or revision.kind == EXTERNAL
    return LineDelta(_moment(revision), _changed_lines(changes), brings_back, imported=revision.kind == IMPORT)


def _moment(revision: Revision) -> int:
    return max(int(revision.when.timestamp()), 0)  # not every history knows a time before 1970


def _older(page: PageChange, moment: int) -> int:
    """When a page was last changed before the history began, as far as it tells."""
    updated = read_page(page.path, page.after or b"").last_updated
    return min(moment, int(updated.timestamp())) if updated else moment


def _changed_lines(pages: Iterable[PageChange]) -> dict[int, int]:
    """How often each line was added or removed in all. A line that has only moved is not among them."""
    changed: Counter[str] = Counter()
    for page in pages:
        changed.update(_lines(page.after))
        changed.subtract(_lines(page.before))
    found: Counter[int] = Counter()
    for line, times in changed.items():
        if times and (number := line_id(line)) is not None:
            found[number] += times
    return {line: times for line, times in found.items() if times}


def _lines(data: bytes | None) -> list[str]:
    return [line.strip() for line in split_lines(readable(decode(data or b"")))]


UNRECORDED = 2**62
"""The turn of a line that is not in the history: it is newer than all that are."""


class PassageDate(NamedTuple):
    """The day on which a place was said, as an ordinal or `UNDATED`, and the turn of the history that wrote it."""

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


def read_said(
    tables: sqlite3.Connection, places: Iterable[StoredPassage], calendar: Calendar
) -> dict[int, PassageDate]:
    """When each of these passages of pages was said, on today's date by this calendar or before."""
    stored = {place.id: place for place in places}
    source = f"FROM {passages_and_pages()} WHERE passages.id IN (SELECT value FROM json_each(:places))"
    rows = [
        (place, datetime.fromisoformat(moment), _named_lines(stored[place].text, line), _named(stored[place]))
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
        said[place] = PassageDate(_day(named, known, written), written.turn, named)
    return said


def read_said_of_entries(tables: sqlite3.Connection, places: Collection[int]) -> dict[int, PassageDate]:
    """When entries were observed, by the ids of their places."""
    source = f"entry_passages AS passages JOIN entries ON page = {PAGE_OF}"
    rows = tables.execute(
        f"SELECT passages.id, day FROM {source} WHERE passages.id IN (SELECT value FROM json_each(?))",
        (packed(places),),
    )
    return {place: PassageDate(day, 0, ()) for place, day in rows}


def said_in(
    tables: sqlite3.Connection, path: str, blocks: Collection[int], calendar: Calendar
) -> tuple[date | None, str]:
    """The day on which the newest of these blocks of a page was said, and other days that they speak of; `None` if
    that is not known, or the page has no such blocks."""
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
    newest = day_said(max(one.day for one in said.values()))
    return newest, next(
        (about for place in places if (about := speaks_of(stored[place].text, said[place], newest))), ""
    )


def days_in(tables: sqlite3.Connection, path: str, calendar: Calendar) -> dict[int, date]:
    """The day on which each block of a page was said, by its number, if it is known; of its parts the newest counts."""
    source = f"FROM pages JOIN passages ON {on_page()} WHERE path = :path"
    rows = packed_rows(tables, ("passages.id", "block"), source, {"path": path})
    said = read_said(tables, read_each(tables, [place for place, _ in rows]).values(), calendar)
    days: dict[int, int] = {}
    for place, block in rows:
        days[block] = max(days.get(block, UNDATED), said[place].day)
    return {block: date.fromordinal(day) for block, day in days.items() if day != UNDATED}


def day_said(day: int) -> date | None:
    """The day of a `PassageDate`; `None` if it is not known."""
    return None if day == UNDATED else date.fromordinal(day)


def speaks_of(text: str, said: PassageDate, day: date | None) -> str:
    """The days that a place speaks of, for people to read: the first ones in its text, else those that it names. Empty
    if there are none but the `day` on which it was said."""
    spans = [span for span, _, _ in find_dates(newest_part(text))]
    named = (one for one in said.named if one.line is None)  # not the day of the whole page
    spans += [Span(date.fromordinal(one.since), date.fromordinal(one.until)) for one in named]
    return next((spoken_of(span) for span in spans if day is None or span != Span(day, day)), "")


def _named_lines(text: str, line: int | None) -> tuple[int, ...]:
    """The ids of the lines of a text, which may be a part of one."""
    return line_ids(split_lines(text)) if line is None else (line,)


def _named(place: StoredPassage) -> tuple[Named, ...]:
    return tuple(Named(*fields) for fields in json.loads(place.named))


def _written(lines: Iterable[int], known: Mapping[int, Line], page: int, today: int, calendar: Calendar) -> _Written:
    """When the newest of some lines was written. `page` is the day of the last change of their page."""
    newest: _Written | None = None
    for line in lines:
        if (one := known.get(line)) is None or not one.times:
            return _Written(today, page, UNRECORDED)
        day = min(calendar.day(datetime.fromtimestamp(one.written, UTC)).toordinal(), today)
        said = UNDATED if one.imported else min(day, page) if one.was_there else day
        written = _Written(day, said, one.turn)
        if newest is None or (newest.day, newest.turn) < (written.day, written.turn):
            newest = written
    return newest or _Written(today, page, UNRECORDED)


def _day(named: Iterable[Named], known: Mapping[int, Line], written: _Written) -> int:
    for one in named:
        by = known.get(one.line) if one.line is not None else None
        if by and by.times and written.turn > by.added and written.day != UNDATED:
            continue  # somebody added it to a page that had this day already
        if one.since <= written.at_most:
            return written.day if one.since <= written.day <= one.until else one.since
    return written.day
