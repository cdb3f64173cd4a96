"""When each line of the tree was written: the history, added up.

The table `written` has a row for each line that is or was in the tree: the revision that brought it, and how often it
is there now. A line that stays in the tree keeps its revision, whichever page it moves to, and so does one that an undo
or an edit by hand brings back. The rows depend on the history alone, however many revisions are read at a time.
"""

from __future__ import annotations

import logging
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memory_v2.errors import StorageError
from memory_v2.index.lines import line_id
from memory_v2.index.sql import packed, packed_rows
from memory_v2.index.store import Store
from memory_v2.storage.history import EXTERNAL, Change, PageChange, Revision
from memory_v2.tree.block import decode, readable, split_lines
from memory_v2.tree.page import read_page
from memory_v2.tree.path import is_entry

BATCH = 200
"""How many revisions are read before their lines are stored: a few thousand lines."""

_RESTORE = "restore"

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
    tree. One that `was_there` is at least as old as that: it stood there before the history began."""

    written: int
    turn: int
    was_there: int
    times: int


@dataclass(frozen=True, slots=True)
class Step:
    """How often each line was added (or removed, if negative) at one moment. `brings_back` says whether a line that was
    removed before is the same one again."""

    moment: int
    lines: Mapping[int, int]
    brings_back: bool = False
    was_there: bool = False


class LineDates:
    """Keeps the table up to date with a history."""

    def __init__(self, store: Store, history: Past | None) -> None:
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

    def _write(self, read: str, until: str, added: Iterable[Step] = ()) -> bool:
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


def steps(history: Past, revisions: Sequence[Revision]) -> Iterator[Step]:
    """The steps of these revisions, which follow each other, oldest first."""
    for revision, changes in zip(revisions, history.changed_by(revisions), strict=True):
        if revision.is_first and revision.kind == EXTERNAL:
            for page in changes:
                yield Step(_older(page, _moment(revision)), _changed_lines([page]), was_there=True)
        else:
            yield _step(revision, changes)


def read_until(tables: sqlite3.Connection) -> str:
    """The id of the newest revision that is in the table; empty if there is none."""
    return str(tables.execute("SELECT read_until FROM past").fetchone()[0])


def forget(tables: sqlite3.Connection) -> None:
    """Empties the table: the history is another one."""
    tables.execute("DELETE FROM written")
    tables.execute("UPDATE past SET read_until = '', turn = 0")


def add_up(tables: sqlite3.Connection, revisions: Iterable[Step], until: str) -> None:
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
                rows.append((line, *before._replace(times=times)))
            elif times:
                rows.append((line, step.moment, turn, int(step.was_there), times))
        tables.executemany("INSERT OR REPLACE INTO written VALUES (?, ?, ?, ?, ?)", rows)
    tables.execute("UPDATE past SET read_until = ?, turn = ?", (until, turn))


def read_lines(tables: sqlite3.Connection, lines: Iterable[int]) -> dict[int, Line]:
    """What is known of these lines."""
    source = "FROM written WHERE line IN (SELECT value FROM json_each(:lines))"
    rows = packed_rows(tables, ("line", *Line._fields), source, {"lines": packed(lines)})
    return {line: Line(*row) for line, *row in rows}


def _step(revision: Revision, changes: Iterable[PageChange]) -> Step:
    brings_back = bool(revision.undoes) or revision.kind in (EXTERNAL, _RESTORE)
    return Step(_moment(revision), _changed_lines(changes), brings_back)


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
