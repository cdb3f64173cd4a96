"""The tables of the index, and how a page is inserted and removed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import NamedTuple

from memory_v2.index.rows import Known, PassageRow, Prepared, Row
from memory_v2.index.terms import EVERYTHING

VERSION = 7
"""The version of the tables. Raise it when the same pages would give other tables: older files are then rebuilt."""

PASSAGES_BITS = 20
"""How many bits of a passage's id number it within its page; the bits above them are the page's id."""
# Neighbours are read as a passage's surroundings, so the passages of a page have ids that follow each other.
SCHEMA = f"""
CREATE TABLE pages (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mark TEXT NOT NULL, digest BLOB NOT NULL,
    title TEXT NOT NULL, last_updated TEXT NOT NULL, problem TEXT NOT NULL, terms INTEGER NOT NULL);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY, page INTEGER NOT NULL, run INTEGER NOT NULL, kind TEXT NOT NULL, block INTEGER NOT NULL,
    first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, text TEXT NOT NULL, check_sum INTEGER NOT NULL,
    section TEXT NOT NULL, speaker TEXT, since INTEGER, until INTEGER, temporal INTEGER NOT NULL,
    question INTEGER NOT NULL, length INTEGER NOT NULL, own TEXT NOT NULL, context TEXT NOT NULL,
    lines TEXT NOT NULL, named TEXT NOT NULL);
CREATE INDEX passages_of_page ON passages (page);
CREATE INDEX passages_of_day ON passages (since, until) WHERE since IS NOT NULL;
CREATE TABLE totals (
    pages INTEGER NOT NULL, passages INTEGER NOT NULL, voices INTEGER NOT NULL, links INTEGER NOT NULL,
    blocks INTEGER NOT NULL, words_idx INTEGER NOT NULL, terms INTEGER NOT NULL);
INSERT INTO totals VALUES (0, 0, 0, 0, 0, 0, 0);
CREATE TABLE state (tables BLOB NOT NULL, changes INTEGER NOT NULL);
INSERT INTO state VALUES (randomblob(16), 0);
CREATE TABLE voices (page INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (page, name)) WITHOUT ROWID;
CREATE INDEX voices_by_name ON voices (name);
CREATE TABLE links (
    page INTEGER NOT NULL, place INTEGER NOT NULL, target TEXT NOT NULL, label TEXT NOT NULL, child INTEGER NOT NULL,
    PRIMARY KEY (page, place)) WITHOUT ROWID;
CREATE TABLE blocks (
    page INTEGER NOT NULL, block INTEGER NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (page, block)) WITHOUT ROWID;
CREATE INDEX blocks_that_say ON blocks (digest);
CREATE TABLE written (
    line INTEGER PRIMARY KEY, written INTEGER NOT NULL, turn INTEGER NOT NULL, was_there INTEGER NOT NULL,
    times INTEGER NOT NULL);
CREATE TABLE past (read_until TEXT NOT NULL, turn INTEGER NOT NULL);
INSERT INTO past VALUES ('', 0);
CREATE VIRTUAL TABLE words USING fts5(
    own, context, content='passages', content_rowid='id', tokenize="unicode61 remove_diacritics 0 {EVERYTHING}");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'col');
PRAGMA user_version = {VERSION};
"""

COUNTED = ("pages", "passages", "voices", "links", "blocks")
"""The tables whose rows are counted in `totals` as they are inserted and removed."""


class State(NamedTuple):
    """The state of the tables. Equal states mean equal contents, for any connection of any process."""

    tables: bytes
    """Random, chosen when the tables are created."""
    changes: int


@contextmanager
def transaction(tables: sqlite3.Connection) -> Iterator[None]:
    """An atomic transaction; one process at a time."""
    tables.execute("BEGIN IMMEDIATE")
    try:
        yield
        tables.execute("COMMIT")
    except BaseException:
        if tables.in_transaction:
            tables.execute("ROLLBACK")
        raise


@contextmanager
def snapshot(tables: sqlite3.Connection) -> Iterator[None]:
    """Everything read inside comes from one state of the tables."""
    tables.execute("BEGIN")
    try:
        yield
    finally:
        if tables.in_transaction:
            tables.execute("COMMIT")


def read_state(tables: sqlite3.Connection) -> State:
    """The current state: store it together with values read in the same snapshot."""
    row = tables.execute("SELECT tables, changes FROM state").fetchone()
    if row is None:
        raise sqlite3.DatabaseError("the index has lost its state")
    return State(*row)


def raise_state(tables: sqlite3.Connection) -> State:
    """Advances the state and returns the new one. Call it last in every transaction that changes something."""
    tables.execute("SAVEPOINT counting")  # FTS5 writes all its terms now, as it may have to go back to this point
    tables.execute("RELEASE counting")
    tables.execute("UPDATE totals SET words_idx = (SELECT count(*) FROM words_idx)")
    tables.execute("UPDATE state SET changes = changes + 1")
    return read_state(tables)


def read_known(tables: sqlite3.Connection) -> dict[str, Known]:
    """Every page as it was when last indexed."""
    return {path: Known(*known) for path, *known in tables.execute("SELECT path, size, mark, digest FROM pages")}


def digest_of(tables: sqlite3.Connection, path: str) -> bytes | None:
    """The digest of an indexed page; `None` if it is not indexed."""
    row = tables.execute("SELECT digest FROM pages WHERE path = ?", (path,)).fetchone()
    return row[0] if row else None


def drop_pages(tables: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Removes pages; paths that are not indexed are ignored."""
    for path in paths:
        for (page,) in tables.execute("SELECT id FROM pages WHERE path = ?", (path,)).fetchall():
            tables.execute(
                "INSERT INTO words (words, rowid, own, context) "
                "SELECT 'delete', id, own, context FROM passages WHERE page = ? ORDER BY id",
                (page,),
            )
            [length] = tables.execute("SELECT terms FROM pages WHERE id = ?", (page,)).fetchone()
            _count(tables, "terms", -length)
            for table in COUNTED:
                key = "id" if table == "pages" else "page"
                _count(tables, table, -tables.execute(f"DELETE FROM {table} WHERE {key} = ?", (page,)).rowcount)


def put_page(tables: sqlite3.Connection, page: Prepared) -> None:
    """Inserts or replaces a page."""
    drop_pages(tables, [page.path])
    number = _page_number(tables, page.path)
    tables.execute(f"INSERT INTO pages VALUES (?,{_marks(page.head)})", (number, *page.head))
    for table, count in (("pages", 1), ("passages", len(page.passages)), ("terms", page.length)):
        _count(tables, table, count)
    columns = ("id", "page", *PassageRow._fields)
    tables.executemany(
        f"INSERT INTO passages ({','.join(columns)}) VALUES ({_marks(columns)})",
        ((place, number, *row) for place, row in enumerate(page.passages, number << PASSAGES_BITS)),
    )
    tables.execute(
        "INSERT INTO words (rowid, own, context) SELECT id, own, context FROM passages WHERE page = ? ORDER BY id",
        (number,),
    )
    for table, rows in (("voices", page.voices), ("links", page.links), ("blocks", page.blocks)):
        _count(tables, table, len(rows))
        if rows:
            tables.executemany(f"INSERT INTO {table} VALUES (?,{_marks(rows[0])})", ((number, *row) for row in rows))


def _count(tables: sqlite3.Connection, what: str, change: int) -> None:
    tables.execute(f"UPDATE totals SET {what} = {what} + ?", (change,))


def check_rows(tables: sqlite3.Connection) -> None:
    """Raises `sqlite3.DatabaseError` if rows are missing: without them, searches would find less, or nothing.

    FTS5 itself notices if others of its tables lack any. Takes 0.05 µs a row, which is 10 ms for 10,000 pages."""
    counts = ", ".join(f"(SELECT count(*) FROM {table})" for table in (*COUNTED, "words_docsize", "words_idx"))
    noted = tables.execute(f"SELECT {', '.join(COUNTED)}, passages, words_idx FROM totals").fetchone()
    if noted != tables.execute(f"SELECT {counts}").fetchone():
        raise sqlite3.DatabaseError("the index has lost rows")


def _page_number(tables: sqlite3.Connection, path: str) -> int:
    """An id made from the path, so that the order of indexing does not matter: equal scores are ordered by id. Passages
    of two pages never have neighbouring ids."""
    number = int.from_bytes(blake2b(path.encode("utf-8", "surrogatepass"), digest_size=5).digest())
    while tables.execute("SELECT 1 FROM pages WHERE id = ?", (number,)).fetchone():
        number += 1
    return number


def _marks(row: Row) -> str:
    return ",".join("?" * len(row))
