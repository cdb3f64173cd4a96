"""What was read of a folder of notes and what was made of each note, kept between runs in the user's cache folder.

It may be deleted at any time, and is made anew. Where it cannot be kept, all is read again at each run, and told. What
a note no longer says is deleted with it, also from the free pages of the file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from memory_v2.errors import StorageError
from memory_v2.files.left_out import LeftOut
from memory_v2.notes.note import Note
from memory_v2.progress import tell_progress
from memory_v2.storage.local.disk import create_private

FILE = "notes.sqlite"
VERSION = 5
"""Of the tables and of what is made of a note: with another one, all is read anew."""
BUSY_SECONDS = 10.0
"""Seconds to wait for another run on the same folder; to keep thousands of notes takes less."""
BATCH = 500
"""How many notes are kept at once, so that a run that is stopped need not do them again."""

T = TypeVar("T")
_TABLES = """
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, mark TEXT, sha256 TEXT, reason TEXT, expected INT, data TEXT);
CREATE TABLE IF NOT EXISTS results (kind TEXT, name TEXT, data TEXT, PRIMARY KEY (kind, name));
CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT);
CREATE TRIGGER IF NOT EXISTS forget AFTER DELETE ON notes BEGIN DELETE FROM results WHERE name = old.name; END;
"""
_DELETE = "DELETE FROM notes WHERE name = ?"


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file as it was read last: `mark` tells whether it was touched since; it is a note, or left out."""

    name: str
    mark: str
    sha256: str
    content: Note | LeftOut | None = None

    @property
    def left_out(self) -> LeftOut | None:
        """Why it is no note."""
        return self.content if isinstance(self.content, LeftOut) else None


class NotesCache:
    """The tables in a folder, or in memory without one."""

    def __init__(self, folder: Path | None) -> None:
        self._file = folder / FILE if folder else None
        self.trouble = ""
        """Why nothing can be kept; empty if all is well."""
        self._tables = self._opened()

    def files(self) -> Mapping[str, CachedFile]:
        """All files that were read, by name; notes without their content."""
        rows = self._query("SELECT name, mark, sha256, reason, expected FROM notes")
        return {
            name: CachedFile(name, mark, sha256, LeftOut(name, reason, bool(expected)) if reason else None)
            for name, mark, sha256, reason, expected in rows
        }

    def hashes(self) -> dict[str, str]:
        """The notes, each with the hash of its bytes."""
        return dict(self._query("SELECT name, sha256 FROM notes WHERE data IS NOT NULL"))

    def notes(self, names: Collection[str] | None = None) -> Iterator[Note]:
        """All notes, or the named ones, by name."""
        for (data,) in self._named("SELECT data FROM notes WHERE data IS NOT NULL", names):
            yield _reader(Note)(json.loads(data))

    def results(
        self, kind: str, cls: type[T], make: Callable[[Note], Sequence[T] | None], names: Collection[str] | None = None
    ) -> Iterator[T]:
        """What is made of all notes, or of the named ones, by name. It is kept with each note until that changes,
        unless it is `None`."""
        missing = f"SELECT name FROM notes WHERE data IS NOT NULL AND name NOT IN ({_of_kind(kind, 'name')})"
        new = [name for (name,) in self._named(missing, names)]
        for start in range(0, len(new), BATCH):
            made = [(note, make(note)) for note in self.notes(new[start : start + BATCH])]
            rows = [(kind, to_json(value), note.name, note.sha256) for note, value in made if value is not None]
            unchanged = (
                "SELECT ?, name, ? FROM notes WHERE name = ? AND sha256 = ?"  # another run may have read it anew
            )
            with self._change():
                self._tables.executemany(f"INSERT OR REPLACE INTO results {unchanged}", rows)
            tell_progress(f"notes {kind}", min(start + BATCH, len(new)), len(new))
        read: Callable[[Any], T] = _reader(cls)
        for (data,) in self._named(_of_kind(kind, "data"), names):
            yield from map(read, json.loads(data))

    def store(self, read: Iterable[CachedFile], removed: Iterable[str] = ()) -> None:
        """Keeps what was read, and forgets what is gone and what files said before: all of it or nothing."""
        read = list(read)
        with self._change():
            self._tables.executemany(_DELETE, [(name,) for name in (*removed, *(file.name for file in read))])
            self._tables.executemany("INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?)", map(_columns, read))

    def mark(self, marks: Mapping[str, str]) -> None:
        """Notes that files were touched and are the same."""
        with self._change():
            rows = [(mark, name) for name, mark in marks.items()]
            self._tables.executemany("UPDATE notes SET mark = ? WHERE name = ?", rows)

    def get(self, key: str) -> str:
        """The value of a key; empty if there is none."""
        return next((value for (value,) in self._query("SELECT value FROM state WHERE key = ?", key)), "")

    def set(self, key: str, value: str) -> None:
        """Sets the value of a key."""
        with self._change():
            self._tables.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (key, value))

    def add(self, key: str, names: Collection[str]) -> None:
        """Adds names to the JSON list of a key; what other processes add meanwhile stays."""
        with self._change():
            self._tables.execute("BEGIN IMMEDIATE")
            known = json.loads(self.get(key) or "[]")
            value = json.dumps(sorted({*known, *names}))
            self._tables.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (key, value))

    def close(self) -> None:
        """Closes the file."""
        self._tables.close()

    def _named(self, sql: str, names: Collection[str] | None) -> Iterator[tuple[Any, ...]]:
        if names is None:
            return self._query(f"{sql} ORDER BY name")
        return self._query(f"{sql} AND name IN (SELECT value FROM json_each(?)) ORDER BY name", json.dumps([*names]))

    def _query(self, sql: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """The rows that answer. Raises `StorageError`."""
        with self._errors():
            yield from self._tables.execute(sql, values)

    @contextmanager
    def _change(self) -> Iterator[None]:
        """One change of the tables, as a whole or not at all. Raises `StorageError`."""
        with self._errors(), self._tables:
            yield

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raises `StorageError` for an error of SQLite. A damaged file is deleted and made anew."""
        try:
            yield
        except sqlite3.Error as error:
            place = self._file or "memory"
            if not (self._file and _is_damage(error)):
                message = f"what was read cannot be kept in {place}: {error}; try again, or delete it"
                raise StorageError(message) from error
            self._tables.close()
            with suppress(OSError):
                _delete(self._file)
            self._tables = self._opened()
            raise StorageError(f"what was read was kept in {place}, which is damaged: {error}; try again") from error

    def _opened(self) -> sqlite3.Connection:
        if self._file is not None:
            try:
                return _connected(self._file)
            except (OSError, sqlite3.Error) as error:
                self.trouble = f"nothing can be kept in {self._file.parent}, so all notes are read at each run: {error}"
        return _made(sqlite3.connect(":memory:"))


def _of_kind(kind: str, column: str) -> str:
    return f"SELECT {column} FROM results WHERE kind = '{kind}'"


def _connected(file: Path) -> sqlite3.Connection:
    """The tables in the file; one that is damaged, or of another version, is made anew."""
    file.parent.mkdir(parents=True, exist_ok=True)
    create_private(file)
    tables = sqlite3.connect(file, timeout=BUSY_SECONDS)
    try:
        (version,) = tables.execute("PRAGMA user_version").fetchone()
        if version in (0, VERSION):
            tables.execute("PRAGMA secure_delete = ON")
            return tables if version else _made(tables)
    except sqlite3.Error as error:
        if not _is_damage(error):
            tables.close()
            raise
    tables.close()
    _delete(file)
    return _connected(file)


def _delete(file: Path) -> None:
    for end in ("", "-journal", "-wal", "-shm"):
        file.with_name(file.name + end).unlink(missing_ok=True)


def _is_damage(error: sqlite3.Error) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _made(tables: sqlite3.Connection) -> sqlite3.Connection:
    tables.executescript(f"{_TABLES} PRAGMA user_version = {VERSION};")
    return tables


def _columns(file: CachedFile) -> tuple[object, ...]:
    left = file.left_out
    reason, is_expected = (left.reason, left.is_expected) if left else (None, 0)
    return (file.name, file.mark, file.sha256, reason, is_expected, None if left else to_json(file.content))


def to_json(value: Any) -> str:
    """A value of dataclasses, tuples, days and plain data as JSON; the names of fields are left out."""
    return json.dumps(value, default=_plain, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else [getattr(value, field.name) for field in fields(value)]


def _reader(hint: Any) -> Callable[[Any], Any]:
    """What makes a value of a type from the plain data that `to_json` has written."""
    if is_dataclass(hint):
        hints, make = get_type_hints(hint), cast("Callable[..., Any]", hint)
        readers = [_reader(hints[field.name]) for field in fields(hint)]
        return lambda row: make(*[read(value) for read, value in zip(readers, row, strict=True)])
    if get_origin(hint) is tuple:
        read_item = _reader(get_args(hint)[0])
        return tuple if read_item is _same else lambda row: tuple(map(read_item, row))
    if date in get_args(hint):
        return lambda day: date.fromisoformat(day) if day else None
    return _same


def _same(value: Any) -> Any:
    return value
