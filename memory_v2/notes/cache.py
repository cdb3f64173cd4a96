"""What was read of a folder of notes and what was made of each note, kept between runs beside the full text of the
notes, in one file in the user's cache folder.

It may be deleted at any time, and is made anew. Where it cannot be kept, all is read again at each run, and told. What
a note no longer says is deleted with it, also from the free pages of the file; from the full text at the next search.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import GenericAlias
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from memory_v2.errors import StorageError
from memory_v2.files.listing import LeftOut
from memory_v2.index.store import IndexStore
from memory_v2.notes.note import Note
from memory_v2.progress import tell_progress

FILE = "notes.sqlite"
VERSION = "8"
"""Of the tables and of what is made of a note: with another one, all is read anew."""
BATCH = 500
"""How many notes are kept at once, so that a run that is stopped need not do them again."""

MAX_KEPT = 8_000_000
"""Limits the notes that are kept in memory, in characters of their JSON: digest, audit and index each go through all.
They take some five times as much memory."""

T = TypeVar("T")
_TABLES = """
CREATE TABLE notes (name TEXT PRIMARY KEY, mark TEXT, sha256 TEXT, reason TEXT, expected INT, data TEXT);
CREATE TABLE results (kind TEXT, name TEXT, data TEXT, PRIMARY KEY (kind, name));
CREATE TABLE kept (key TEXT PRIMARY KEY, value TEXT);
"""
_FORGET = ("DELETE FROM notes WHERE name = ?", "DELETE FROM results WHERE name = ?")


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
        self.store = IndexStore(folder, FILE, _TABLES)
        """The file, which has the full text of the notes too."""
        self._notes: dict[str, Note] = {}
        """Notes by their JSON."""
        self._room = MAX_KEPT
        if self.get("version") != VERSION:
            with self._change() as tables:
                tables.execute("DELETE FROM notes")
                tables.execute("DELETE FROM results")
                tables.execute("INSERT OR REPLACE INTO kept VALUES ('version', ?)", (VERSION,))
        self.trouble = ""
        """Why nothing can be kept; empty if all is well."""
        if folder and not self.store.is_kept:
            self.trouble = f"nothing can be kept in {folder}, so all notes are read at each run"

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
        for data in self._data("SELECT data FROM notes WHERE data IS NOT NULL", names):
            note = self._notes.get(data) or _note(json.loads(data))
            self._keep(data, note)
            yield note

    def _keep(self, data: str, note: Note) -> None:
        """Keeps a note in memory if there is room."""
        if data not in self._notes and len(data) <= self._room:
            self._notes[data] = note
            self._room -= len(data)

    def results(
        self, kind: str, cls: type[T], make: Callable[[Note], Sequence[T] | None], names: Collection[str] | None = None
    ) -> Iterator[T]:
        """What is made of all notes, or of the named ones, by name. It is kept with each note until that changes,
        unless it is `None`."""
        made = {name for (name,) in self._query("SELECT name FROM results WHERE kind = ?", kind)}
        new = [name for name in sorted(self.hashes() if names is None else names) if name not in made]
        for start in range(0, len(new), BATCH):
            values = [(note, make(note)) for note in self.notes(new[start : start + BATCH])]
            rows = [(kind, to_json(value), note.name, note.sha256) for note, value in values if value is not None]
            unchanged = (
                "SELECT ?, name, ? FROM notes WHERE name = ? AND sha256 = ?"  # another run may have read it anew
            )
            with self._change() as tables:
                tables.executemany(f"INSERT OR REPLACE INTO results {unchanged}", rows)
            tell_progress(f"notes {kind}", min(start + BATCH, len(new)), len(new))
        read = _reader(GenericAlias(tuple, (cls, ...)))
        for data in self._data(f"SELECT data FROM results WHERE kind = '{kind}'", names):
            yield from read(json.loads(data))

    def store_files(self, read: Iterable[CachedFile], removed: Iterable[str] = ()) -> None:
        """Keeps what was read, and forgets what is gone and what files said before: all of it or nothing."""
        read = list(read)
        names = [(name,) for name in (*removed, *(file.name for file in read))]
        rows = [_columns(file) for file in read]
        with self._change() as tables:
            for forget in _FORGET:
                tables.executemany(forget, names)
            tables.executemany("INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?)", rows)
        if names:
            self._notes, self._room = {}, MAX_KEPT
        for file, row in zip(read, rows, strict=True):
            if isinstance(file.content, Note):
                self._keep(row[-1], file.content)

    def mark(self, marks: Mapping[str, str]) -> None:
        """Notes that files were touched and are the same."""
        with self._change() as tables:
            tables.executemany(
                "UPDATE notes SET mark = ? WHERE name = ?", [(mark, name) for name, mark in marks.items()]
            )

    def get(self, key: str) -> str:
        """The value of a key; empty if there is none."""
        return next((value for (value,) in self._query("SELECT value FROM kept WHERE key = ?", key)), "")

    def add(self, key: str, names: Collection[str]) -> None:
        """Adds names to the JSON list of a key; what other processes add meanwhile stays."""
        with self._change() as tables:
            row = tables.execute("SELECT value FROM kept WHERE key = ?", (key,)).fetchone()
            value = json.dumps(sorted({*json.loads(row[0] if row else "[]"), *names}))
            tables.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", (key, value))

    def indexed(self, pages: Iterable[str]) -> set[str]:
        """Those of these pages of notes that the full text has, as they were when it was refreshed last."""
        asked = "SELECT path FROM pages WHERE path IN (SELECT value FROM json_each(?))"
        return {path for (path,) in self._query(asked, json.dumps([*pages]))}

    def scrub(self) -> None:
        """Leaves no word in the file that only notes of before had: full text keeps them until its parts are merged."""
        with self._change() as tables:
            for table in ("words", "above"):
                tables.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")

    def close(self) -> None:
        """Closes the file."""
        self.store.close()

    def _data(self, sql: str, names: Collection[str] | None) -> Iterator[str]:
        """The JSON in the rows of all notes, or of the named ones, by name."""
        among = sorted(self.hashes() if names is None else names)
        for start in range(0, len(among), BATCH):
            batch = json.dumps(among[start : start + BATCH])
            rows = self._query(f"{sql} AND name IN (SELECT value FROM json_each(?)) ORDER BY name", batch)
            yield from (data for (data,) in rows)

    def _query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows that answer. Raises `StorageError`."""

        def rows() -> list[tuple[Any, ...]]:
            with self.store.reading() as tables:
                return tables.execute(sql, values).fetchall()

        with _explained():
            return self.store.run(rows)

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """One change of the tables, as a whole or not at all. Raises `StorageError`."""
        with _explained(), self.store.writing() as tables:
            tables.execute("PRAGMA secure_delete = ON")
            yield tables


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(f"what was read of the notes cannot be kept: {error}; try again") from error


def _columns(file: CachedFile) -> tuple[Any, ...]:
    left = file.left_out
    reason, is_expected = (left.reason, left.is_expected) if left else (None, 0)
    return (file.name, file.mark, file.sha256, reason, is_expected, None if left else to_json(file.content))


def to_json(value: Any) -> str:
    """A value of dataclasses, tuples, days and plain data as JSON; the names of fields are left out."""
    return json.dumps(value, default=_plain, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else _values_of(value.__class__)(value)


@cache
def _values_of(cls: Any) -> Callable[[Any], Sequence[Any]]:
    """What gives the values of the fields of a dataclass, which has two or more."""
    return attrgetter(*(field.name for field in fields(cls)))


def _reader(hint: Any) -> Callable[[Any], Any]:
    """What makes a value of a type from the plain data that `to_json` has written."""
    if is_dataclass(hint):
        hints, make = get_type_hints(hint), cast("Callable[..., Any]", hint)
        readers = [(place, _reader(hints[field.name])) for place, field in enumerate(fields(hint))]
        converted = [(place, read) for place, read in readers if read is not _same]

        def made(row: list[Any]) -> Any:
            for place, read in converted:
                row[place] = read(row[place])
            return make(*row)

        return made
    if get_origin(hint) is tuple:
        read_item = _reader(get_args(hint)[0])
        return tuple if read_item is _same else lambda row: tuple(map(read_item, row))
    if date in get_args(hint):
        return lambda day: date.fromisoformat(day) if day else None
    return _same


def _same(value: Any) -> Any:
    return value


_note: Callable[[Any], Note] = _reader(Note)
