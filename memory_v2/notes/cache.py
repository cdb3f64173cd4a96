"""What was read of a folder of notes, kept between runs: a table beside the outputs, in the user's cache folder.

It may be deleted at any time, and is made anew. Where it cannot be kept, all is read again at each run, and told.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from memory_v2.errors import StorageError
from memory_v2.files.left_out import LeftOut
from memory_v2.notes.note import Note, note_data, note_from
from memory_v2.storage.local.disk import create_private

FILE = "notes.sqlite"
VERSION = 4
"""Of the table and of what is read into it: with another one, all is read anew."""
BUSY_SECONDS = 10.0
"""Seconds to wait for another run on the same folder; to keep thousands of notes takes less."""

_TABLES = """
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, mark TEXT, sha256 TEXT, reason TEXT, expected INT, data TEXT);
CREATE TABLE IF NOT EXISTS judged (name TEXT PRIMARY KEY, sha256 TEXT, data TEXT, marks TEXT);
CREATE TABLE IF NOT EXISTS checked (name TEXT PRIMARY KEY, sha256 TEXT, version TEXT, data TEXT);
CREATE TABLE IF NOT EXISTS told (key TEXT PRIMARY KEY, value TEXT);
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A file as it was when it was read last: `mark` tells whether it was touched since, `left_out` why it is no
    note."""

    mark: str
    sha256: str
    left_out: LeftOut | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of a file."""

    name: str
    mark: str
    sha256: str
    what: Note | LeftOut


class Judged(NamedTuple):
    """What was extracted of a note with this hash, and what its items are."""

    name: str
    sha256: str
    data: str
    marks: str


_JUDGED = "SELECT name, judged.{} FROM judged JOIN notes USING (name, sha256) WHERE notes.data IS NOT NULL"
"""Of the notes as they are."""


class Kept:
    """The table in a folder, or in memory without one."""

    def __init__(self, folder: Path | None) -> None:
        self._file = folder / FILE if folder else None
        self.trouble = ""
        """Why nothing can be kept; empty if all is well."""
        self._tables = self._opened()

    def rows(self) -> Mapping[str, Row]:
        """All files that were read, by name."""
        found = self._asked("SELECT name, mark, sha256, reason, expected FROM notes")
        return {
            name: Row(mark, sha256, LeftOut(name, reason, bool(expected)) if reason else None)
            for name, mark, sha256, reason, expected in found
        }

    def notes(self, names: Collection[str] | None = None) -> Iterator[Note]:
        """All notes, or the named ones, by name."""
        for (data,) in self._some("SELECT data FROM notes WHERE data IS NOT NULL", names):
            yield note_from(json.loads(data))

    def unjudged(self, names: Collection[str] | None = None) -> list[str]:
        """The notes, or those of the named ones, of which nothing is kept that was extracted of them as they are."""
        same = "SELECT 1 FROM judged WHERE judged.name = notes.name AND judged.sha256 = notes.sha256"
        sql = f"SELECT name FROM notes WHERE data IS NOT NULL AND NOT EXISTS ({same})"
        return [name for (name,) in self._some(sql, names)]

    def judged(self, names: Collection[str] | None = None) -> Iterator[str]:
        """What was extracted of all notes, or of the named ones, by name."""
        yield from (data for _, data in self._some(_JUDGED.format("data"), names))

    def marks(self, names: Collection[str]) -> Iterator[tuple[str, str]]:
        """What the items of the named notes are, by name."""
        yield from self._some(_JUDGED.format("marks"), names)

    def keep_judged(self, judged: Iterable[Judged]) -> None:
        """Keeps what was extracted of notes."""
        with self._change():
            self._tables.executemany("INSERT OR REPLACE INTO judged VALUES (?, ?, ?, ?)", judged)
            self._tables.execute("DELETE FROM judged WHERE name NOT IN (SELECT name FROM notes WHERE data IS NOT NULL)")

    def checked(self, version: str) -> dict[str, str]:
        """What checks of this version have found in each note as it is, by name."""
        sql = "SELECT name, checked.data FROM checked JOIN notes USING (name, sha256) WHERE version = ?"
        return dict(self._asked(sql, version))

    def keep_checked(self, version: str, found: Mapping[str, str]) -> None:
        """Keeps what checks of this version have found in notes as they are."""
        if not found:
            return
        with self._change():
            sql = "INSERT OR REPLACE INTO checked SELECT name, sha256, ?, ? FROM notes WHERE name = ?"
            self._tables.executemany(sql, [(version, data, name) for name, data in found.items()])
            self._tables.execute(
                "DELETE FROM checked WHERE name NOT IN (SELECT name FROM notes WHERE data IS NOT NULL)"
            )

    def _some(self, sql: str, names: Collection[str] | None) -> Iterator[tuple[Any, ...]]:
        if names is None:
            return self._asked(f"{sql} ORDER BY name")
        named = "SELECT value FROM json_each(?)"
        return self._asked(f"{sql} AND name IN ({named}) ORDER BY name", json.dumps([*names]))

    def keep(self, read: Iterable[Read], removed: Iterable[str]) -> None:
        """Keeps what was read, and forgets what is gone: all of it or, if that fails, nothing."""
        with self._change():
            self._tables.executemany("DELETE FROM notes WHERE name = ?", [(name,) for name in removed])
            self._tables.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?, ?, ?)", map(_columns, read))

    def mark(self, marks: Mapping[str, str]) -> None:
        """Notes that files were touched and are the same."""
        with self._change():
            rows = [(mark, name) for name, mark in marks.items()]
            self._tables.executemany("UPDATE notes SET mark = ? WHERE name = ?", rows)

    def told(self, key: str) -> str:
        """What was noted under a key; empty if nothing was."""
        return next((value for (value,) in self._asked("SELECT value FROM told WHERE key = ?", key)), "")

    def tell(self, key: str, value: str) -> None:
        """Notes a value under a key."""
        with self._change():
            self._tell(key, value)

    def tell_more(self, key: str, names: Collection[str]) -> None:
        """Adds names to the JSON list that is noted under a key; what other processes add meanwhile stays."""
        with self._change():
            self._tables.execute("BEGIN IMMEDIATE")
            known = json.loads(self.told(key) or "[]")
            self._tell(key, json.dumps(sorted({*known, *names})))

    def _tell(self, key: str, value: str) -> None:
        self._tables.execute("INSERT OR REPLACE INTO told VALUES (?, ?)", (key, value))

    def _asked(self, sql: str, *given: object) -> Iterator[tuple[Any, ...]]:
        """The rows that answer. Raises `StorageError`."""
        with self._telling():
            yield from self._tables.execute(sql, given)

    @contextmanager
    def _change(self) -> Iterator[None]:
        """One change of the table, as a whole or not at all. Raises `StorageError`."""
        with self._telling(), self._tables:
            yield

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Raises `StorageError` for an error of SQLite. A damaged file is deleted and made anew."""
        try:
            yield
        except sqlite3.Error as error:
            place = self._file or "memory"
            if not (self._file and _is_damage(error)):
                told = f"what was read cannot be kept in {place}: {error}; try again, or delete it"
                raise StorageError(told) from error
            self._tables.close()
            with suppress(OSError):
                _delete(self._file)
            self._tables = self._opened()
            raise StorageError(f"what was read was kept in {place}, which is damaged: {error}; try again") from error

    def close(self) -> None:
        """Closes the file."""
        self._tables.close()

    def _opened(self) -> sqlite3.Connection:
        if self._file is not None:
            try:
                return _connected(self._file)
            except (OSError, sqlite3.Error) as error:
                self.trouble = f"nothing can be kept in {self._file.parent}, so all notes are read at each run: {error}"
        return _made(sqlite3.connect(":memory:"))


def _connected(file: Path) -> sqlite3.Connection:
    """The tables in the file; one that is damaged, or of another version, is made anew."""
    file.parent.mkdir(parents=True, exist_ok=True)
    create_private(file)
    tables = sqlite3.connect(file, timeout=BUSY_SECONDS)
    try:
        (version,) = tables.execute("PRAGMA user_version").fetchone()
        if version in (0, VERSION):
            return tables if version else _made(tables)
    except sqlite3.Error as error:
        if not _is_damage(error):
            tables.close()
            raise
    tables.close()
    _delete(file)
    return _connected(file)


def _delete(file: Path) -> None:
    from memory_v2.index.connections import delete  # start-up that no run pays whose file is sound

    delete(file)


def _is_damage(error: sqlite3.Error) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _made(tables: sqlite3.Connection) -> sqlite3.Connection:
    tables.executescript(f"{_TABLES} PRAGMA user_version = {VERSION};")
    return tables


def _columns(read: Read) -> tuple[object, ...]:
    if isinstance(read.what, LeftOut):
        return (read.name, read.mark, read.sha256, read.what.reason, read.what.is_expected, None)
    data = json.dumps(note_data(read.what), ensure_ascii=False, separators=(",", ":"))
    return (read.name, read.mark, read.sha256, None, 0, data)
