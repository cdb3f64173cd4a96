"""Vectors that were made once, in a table of the index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from memory_v2.index.sql import packed
from memory_v2.index.store import Store

MOST_HELD = 20_000
"""How many texts' vectors are kept in memory: about 30 MB."""
MOST_STORED = 500_000
"""From how many texts' vectors on the table is begun anew, as most are then of texts that are no more: about 1 GB."""


def key_of(text: str) -> int:
    """The key of a text: a text that moves to another page keeps its vectors."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


class KnownVectors:
    """The vectors of texts by key, as bytes, for any number of threads and processes."""

    def __init__(self, store: Store, made_by: str) -> None:
        """`made_by` names the encoder: vectors of another one are discarded."""
        self._store = store
        self._made_by = made_by
        self._held: dict[int, bytes] = {}

    def get(self, tables: sqlite3.Connection, keys: Iterable[int]) -> dict[int, bytes]:
        """Those of these vectors that are known, from the tables of the index."""
        wanted, held = set(keys), self._held
        found = {key: held[key] for key in wanted & held.keys()}
        missing = wanted - found.keys()
        if missing and self._is_ours(tables):
            source = "FROM vectors WHERE key IN (SELECT value FROM json_each(?))"
            read = dict(tables.execute(f"SELECT key, numbers {source}", (packed(missing),)))
            self._hold(read)
            found |= read
        return found

    def put(self, made: Mapping[int, bytes]) -> None:
        """Keeps vectors."""
        self._hold(made)
        self._store.run(lambda: self._write(made))

    def _hold(self, found: Mapping[int, bytes]) -> None:
        # Replaced, never modified: other threads read it.
        self._held = dict(found) if len(self._held) + len(found) > MOST_HELD else {**self._held, **found}

    def _write(self, made: Mapping[int, bytes]) -> None:
        with self._store.writing() as tables:
            [count] = tables.execute("SELECT count(*) FROM vectors").fetchone()
            if count > MOST_STORED or not self._is_ours(tables):
                tables.execute("DELETE FROM vectors")
                tables.execute("DELETE FROM made_by")
                tables.execute("INSERT INTO made_by VALUES (?)", (self._made_by,))
            tables.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", made.items())

    def _is_ours(self, tables: sqlite3.Connection) -> bool:
        return tables.execute("SELECT name FROM made_by").fetchall() == [(self._made_by,)]
