"""The known entries, asked at every capture: was this said before, what is much like it, which number is next.

The tables are in a file of their own, which can be deleted: they are filled again from the entries. Each question costs
the same in a memory of a hundred entries and of a hundred thousand. If the tables fail, nothing is known, and nobody is
kept from a capture.

Two texts are near each other if they share at least `NEAR` of all their words, numbers aside. In any fixed order of
words, such texts share one of their first few. Only these are looked up: the longest words, as they are the rarest.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil
from pathlib import Path
from typing import TypeVar
from zlib import crc32

from memory_v2.index.store import delete
from memory_v2.index.tables import transaction
from memory_v2.storage.local.disk import create_private
from memory_v2.text.words import content_words
from memory_v2.tree.block import readable
from memory_v2.tree.path import fold

FILE = "entries.sqlite"
NEAR = 0.8
"""How much of their words two texts share at least to be near each other."""
MOST_COMPARED = 24
"""How many of the latest texts with a word are compared. Of logs made of the same words there may be thousands."""
MOST_WORDS = 200
"""How many words of a text are compared: entries are short."""
BUSY_SECONDS = 5.0
"""Seconds to wait for another process, which needs a fraction of a millisecond unless it fills the tables."""

_VERSION = 1
_SCHEMA = f"""
CREATE TABLE entry (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, digest BLOB NOT NULL, words BLOB NOT NULL);
CREATE UNIQUE INDEX entry_by_id ON entry (id);
CREATE INDEX entry_by_digest ON entry (digest);
CREATE TABLE taken (
    space TEXT NOT NULL, day TEXT NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (space, day)) WITHOUT ROWID;
CREATE TABLE telling (word INTEGER NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (word, entry)) WITHOUT ROWID;
PRAGMA user_version = {_VERSION};
"""

Answer = TypeVar("Answer")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KnownEntry:
    """An entry for the tables: its id, its space, the day and the number in its name, the day that it is of, its
    text."""

    id: str
    space: str
    day: str
    turn: int
    observed: str
    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """What is known of a text: the ids of entries with the same digest, and the entry nearest to it, if one is near."""

    same: tuple[str, ...] = ()
    near: str = ""


class KnownEntries:
    """The known entries in a file in `folder`, or in memory if that is `None`. Any number of threads and processes may
    use one folder. `entries` gives all that there are, to fill new tables."""

    def __init__(self, folder: Path | None, entries: Callable[[], Iterable[KnownEntry]]) -> None:
        self._file = folder / FILE if folder else None
        self._entries = entries
        self._lock = threading.Lock()
        self._opened: sqlite3.Connection | None = None
        self._spelled: set[str] = set()
        self._process = os.getpid()

    def ask(self, one: KnownEntry) -> Answered | None:
        """What is known of a text before it is an entry; `None` if the tables fail."""
        return self._asked(lambda tables: _answer(tables, one))

    def spelled(self, space: str) -> str | None:
        """The known space that a disk that ignores case takes for this one; `None` if there is none. It is asked for
        once."""
        if space in self._spelled:
            return None

        def act(tables: sqlite3.Connection) -> str | None:
            known = (row[0] for row in tables.execute("SELECT DISTINCT space FROM taken"))
            return next((one for one in known if one != space and fold(one) == fold(space)), None)

        other = self._asked(act)
        if other is None:
            self._spelled.add(space)
        return other

    def take(self, space: str, day: str, after: int = 0) -> int | None:
        """Takes the next number of a day, `after` this one at least: nobody else who uses the folder gets it, now or
        later. `None` if the tables fail."""
        statement = (
            "INSERT INTO taken VALUES (:space, :day, :after + 1) "
            "ON CONFLICT DO UPDATE SET last = max(last, :after) + 1 RETURNING last"
        )

        def act(tables: sqlite3.Connection) -> int:
            return int(tables.execute(statement, {"space": space, "day": day, "after": after}).fetchall()[0][0])

        return self._asked(act)

    def add(self, one: KnownEntry) -> None:
        """Adds an entry."""

        def act(tables: sqlite3.Connection) -> None:
            with transaction(tables):
                _add(tables, one)

        self._asked(act)

    def add_unless_same(self, one: KnownEntry) -> tuple[str, ...]:
        """Adds an entry, unless others have the same digest, and returns the ids of those: of two processes that
        capture the same, the second is told of the first."""

        def act(tables: sqlite3.Connection) -> tuple[str, ...]:
            with transaction(tables):
                if not (same := _same(tables, one)):
                    _add(tables, one)
            return same

        return self._asked(act) or ()

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        with self._lock:
            if self._opened is not None and self._process == os.getpid():
                self._opened.close()
            self._opened = None

    def _asked(self, act: Callable[[sqlite3.Connection], Answer]) -> Answer | None:
        with self._lock:
            for is_last in (False, True):
                try:
                    return act(self._tables())
                except sqlite3.Error as error:
                    logger.info("the tables of known entries failed: %s", error)
                    self._give_up(is_damaged=not is_last and not _is_locked(error))
        return None

    def _give_up(self, is_damaged: bool) -> None:
        if self._opened is not None and self._process == os.getpid():
            self._opened.close()
        self._opened = None
        if is_damaged and self._file:
            with suppress(OSError):
                delete(self._file)

    def _tables(self) -> sqlite3.Connection:
        if self._opened is not None and self._process == os.getpid():  # a fork must not use them
            return self._opened
        self._process = os.getpid()
        tables = _connected(self._file)
        try:
            if _version(tables) != _VERSION:
                self._fill(tables)
        except BaseException:
            tables.close()
            raise
        self._opened = tables
        return tables

    def _fill(self, tables: sqlite3.Connection) -> None:
        with transaction(tables):
            if _version(tables) == _VERSION:  # filled by another process meanwhile
                return
            for statement in _SCHEMA.split(";\n"):
                tables.execute(statement)
            for entry in self._entries():
                _add(tables, entry)


def erase(folder: Path | None) -> None:
    """Removes the file; the next capture fills another one."""
    if folder is not None:
        delete(folder / FILE)


def _connected(file: Path | None) -> sqlite3.Connection:
    with _as_sqlite_error(file):
        if file is not None:
            create_private(file)
    tables = sqlite3.connect(
        str(file) if file else ":memory:", timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    tables.execute("PRAGMA journal_mode = WAL")
    tables.execute("PRAGMA synchronous = OFF")  # a power cut may cost the file, which is filled again
    return tables


@contextmanager
def _as_sqlite_error(file: Path | None) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise sqlite3.OperationalError(f"cannot open {file}") from error


def _version(tables: sqlite3.Connection) -> int:
    return int(tables.execute("PRAGMA user_version").fetchone()[0])


def _is_locked(error: sqlite3.Error) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _answer(tables: sqlite3.Connection, one: KnownEntry) -> Answered:
    return Answered(_same(tables, one), _nearest(tables, _words(one.text)))


def _same(tables: sqlite3.Connection, one: KnownEntry) -> tuple[str, ...]:
    same = tables.execute("SELECT id FROM entry WHERE digest = ? ORDER BY number", (_digest(one),)).fetchall()
    return tuple(row[0] for row in same if row[0] != one.id)


def _nearest(tables: sqlite3.Connection, words: tuple[int, ...]) -> str:
    shared: Counter[int] = Counter()
    for word in _telling(words):
        found = tables.execute(
            "SELECT entry FROM telling WHERE word = ? ORDER BY entry DESC LIMIT ?", (word, MOST_COMPARED)
        )
        shared.update(row[0] for row in found)
    best = (NEAR, 0, "")
    said = set(words)
    for number, _ in shared.most_common(MOST_COMPARED):
        row = tables.execute("SELECT id, words FROM entry WHERE number = ?", (number,)).fetchone()
        other = set(array("I", row[1])) if row else set()
        if common := len(said & other):
            best = max(best, (common / len(said | other), number, row[0]))
    return best[2]


def _add(tables: sqlite3.Connection, one: KnownEntry) -> None:
    words = _words(one.text)
    row = (one.id, _digest(one), array("I", words).tobytes())
    added = tables.execute("INSERT OR REPLACE INTO entry (id, digest, words) VALUES (?, ?, ?)", row)
    tables.execute(
        "INSERT INTO taken VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET last = max(last, excluded.last)",
        (one.space, one.day, one.turn),
    )
    tables.executemany("INSERT INTO telling VALUES (?, ?)", [(word, added.lastrowid) for word in _telling(words)])


def _digest(one: KnownEntry) -> bytes:
    """The same for the same text by the same agent, of the same day: on another day it is another observation."""
    said = f"{one.space}\0{one.observed}\0{one.text.strip()}"
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _words(text: str) -> tuple[int, ...]:
    """The words of a text without numbers, as numbers, in an order that is the same for all texts."""
    said = {word for word in content_words(readable(text)) if not any(map(str.isdigit, word))}
    ordered = sorted(said, key=lambda word: (-len(word), word))[:MOST_WORDS]
    return tuple(dict.fromkeys(crc32(word.encode("utf-8", "surrogatepass")) for word in ordered))


def _telling(words: tuple[int, ...]) -> tuple[int, ...]:
    """Of the words of two texts that are near each other, these have one in common."""
    return words[: len(words) - ceil(NEAR * len(words)) + 1] if words else ()
