"""Vectors that were made once, in a file beside the index. It may be deleted at any time."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path

from memory_v2.index.connections import delete
from memory_v2.index.packed import packed
from memory_v2.storage.local.disk import create_private

FILE = "meaning.sqlite"
BUSY_SECONDS = 5.0
"""Seconds to wait for another process that writes to the file. It writes for milliseconds."""
MOST_HELD = 20_000
"""How many texts' vectors are kept in memory: about 30 MB."""
MOST_BYTES = 1 << 30
"""The size of the file at which it is begun anew, as most of it is then of texts that are no more; in bytes. Fewer than
half a million texts of a memory take less."""

log = logging.getLogger(__name__)


def key_of(text: str) -> int:
    """The key of a text: a text that moves to another page keeps its vectors."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


class KnownVectors:
    """The vectors of texts by key, as bytes, for any number of threads and processes. If the file fails, they are kept
    in memory only."""

    def __init__(self, folder: Path | None, made_by: str) -> None:
        """`made_by` names the encoder: vectors of another one are discarded."""
        self._file = None if folder is None else folder / FILE
        self._made_by = made_by
        self._held: dict[int, bytes] = {}

    def get(self, keys: Iterable[int]) -> dict[int, bytes]:
        """Those of these vectors that are known."""
        wanted, held = set(keys), self._held
        found = {key: held[key] for key in wanted & held.keys()}
        if missing := wanted - found.keys():
            read = self._read(missing)
            self._hold(read)
            found |= read
        return found

    def put(self, made: Mapping[int, bytes]) -> None:
        """Keeps vectors."""
        self._hold(made)
        self._run(lambda tables: tables.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", made.items()))
        with suppress(OSError):
            if self._file and self._file.stat().st_size > MOST_BYTES:
                self.erase()

    def erase(self) -> None:
        """Forgets all vectors, to the last byte."""
        self._held = {}
        if self._file is not None and self._file.exists():
            self._run(lambda tables: tables.execute("DELETE FROM vectors"))
            self._run(lambda tables: tables.execute("VACUUM"))

    def _hold(self, found: Mapping[int, bytes]) -> None:
        # Replaced, never modified: other threads read it.
        self._held = dict(found) if len(self._held) + len(found) > MOST_HELD else {**self._held, **found}

    def _read(self, keys: set[int]) -> dict[int, bytes]:
        found: dict[int, bytes] = {}

        def read(tables: sqlite3.Connection) -> None:
            source = "FROM vectors WHERE key IN (SELECT value FROM json_each(?))"
            found.update(tables.execute(f"SELECT key, numbers {source}", (packed(keys),)))

        self._run(read)
        return found

    def _run(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Does this on the file. If it fails, nothing is kept in a file any more, and a damaged one is deleted."""
        if self._file is None:
            return
        try:
            with closing(self._open(self._file)) as tables, tables:
                work(tables)
        except (sqlite3.Error, OSError) as error:
            log.info("the vectors in %s cannot be used: %r", self._file, error)
            if not isinstance(error, sqlite3.OperationalError):  # which it is if others hold the file for too long
                with suppress(OSError):
                    delete(self._file)
            self._file = None

    def _open(self, file: Path) -> sqlite3.Connection:
        file.parent.mkdir(parents=True, exist_ok=True)
        create_private(file)
        tables = sqlite3.connect(file, timeout=BUSY_SECONDS)
        try:
            tables.execute("PRAGMA synchronous = OFF")
            tables.execute("PRAGMA page_size = 16384")  # on the usual 4 KB fit two texts, and a quarter stays empty
            tables.execute("CREATE TABLE IF NOT EXISTS vectors (key INTEGER PRIMARY KEY, numbers BLOB NOT NULL)")
            tables.execute("CREATE TABLE IF NOT EXISTS made_by (name TEXT PRIMARY KEY)")
            if tables.execute("SELECT name FROM made_by").fetchall() != [(self._made_by,)]:
                with tables:
                    tables.execute("DELETE FROM vectors")
                    tables.execute("DELETE FROM made_by")
                    tables.execute("INSERT INTO made_by VALUES (?)", (self._made_by,))
        except sqlite3.Error:
            tables.close()
            raise
        return tables
