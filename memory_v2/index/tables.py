"""The tables of the index, how a page is inserted and removed, and what is read from them once until they change."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import Generic, NamedTuple, TypeVar

from memory_v2.index.places import (
    ENTRIES,
    FIRST_ENTRY,
    KINDS,
    PAGES,
    SLOT_BITS,
    TOGETHER_BITS,
    Kind,
    on_page,
    packed,
    read_each,
    text_sum,
)
from memory_v2.index.postings import ROW_BITS, term_rows
from memory_v2.index.rows import STORED, Known, PageRows, Row
from memory_v2.index.terms import EVERYTHING

VERSION = 16
"""The version of the tables. Raise it when the same pages would give other tables: older files are then rebuilt."""

PAGE_BITS = 28 - SLOT_BITS - ROW_BITS
"""How many bits the digest of a path has that says at which slot a page begins. A row of `words` then has an id of four
bytes, of seven bits each, where a term begins with it."""
_NO_MORE = f"content='', columnsize=0, detail=none, tokenize=\"unicode61 remove_diacritics 0 {EVERYTHING}\""
"""The options of the full-text tables, as `index.postings` tells."""
LINK_BITS = 32
"""How many bits of a link's id number it within its page; the bits above them are the page's id."""
LINKS_OF = f"links.id BETWEEN pages.id << {LINK_BITS} AND (pages.id + 1 << {LINK_BITS}) - 1"
"""The condition, in SQL, that links are those of a page."""
# Neighbours are read as a passage's surroundings, so the passages of a page have ids that follow each other. `texts`
# has what is shown and ranked, the terms too, which the full-text table cannot tell; `passages` has what is looked up.
_OF_A_KIND = f"""
CREATE TABLE {{kind}}pages (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mark TEXT NOT NULL, digest BLOB NOT NULL,
    title TEXT NOT NULL, last_updated TEXT NOT NULL, problem TEXT NOT NULL, terms INTEGER NOT NULL);
CREATE TABLE {{kind}}passages (
    id INTEGER PRIMARY KEY, slot INTEGER NOT NULL, block INTEGER NOT NULL, first_line INTEGER NOT NULL, speaker TEXT,
    since INTEGER, until INTEGER, line INTEGER, digest BLOB, meaning INTEGER);
CREATE TABLE {{kind}}texts (id INTEGER PRIMARY KEY, check_sum INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX {{kind}}passages_of_day ON {{kind}}passages (since, until) WHERE since IS NOT NULL;
CREATE TABLE {{kind}}totals (
    pages INTEGER NOT NULL, passages INTEGER NOT NULL, texts INTEGER NOT NULL, voices INTEGER NOT NULL,
    links INTEGER NOT NULL, words_idx INTEGER NOT NULL, above_idx INTEGER NOT NULL, terms INTEGER NOT NULL);
INSERT INTO {{kind}}totals VALUES (0, 0, 0, 0, 0, 0, 0, 0);
CREATE TABLE {{kind}}state (tables BLOB NOT NULL, changes INTEGER NOT NULL);
INSERT INTO {{kind}}state VALUES (randomblob(16), 0);
CREATE TABLE {{kind}}voices (page INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (page, name)) WITHOUT ROWID;
CREATE TABLE {{kind}}links (id INTEGER PRIMARY KEY, target TEXT NOT NULL, label TEXT NOT NULL, child INTEGER NOT NULL);
CREATE VIRTUAL TABLE {{kind}}words USING fts5(terms, {_NO_MORE});
CREATE VIRTUAL TABLE {{kind}}above USING fts5(terms, {_NO_MORE});
CREATE VIRTUAL TABLE {{kind}}vocabulary USING fts5vocab({{kind}}words, 'row');
CREATE VIRTUAL TABLE {{kind}}vocabulary_above USING fts5vocab({{kind}}above, 'row');
"""
"""The tables of each kind of passages. An entry is a page of its kind, without links and speakers."""
SCHEMA = f"""{"".join(_OF_A_KIND.format(kind=kind) for kind in KINDS)}
CREATE INDEX passages_that_say ON passages (digest) WHERE digest IS NOT NULL;
CREATE INDEX voices_by_name ON voices (name);
CREATE TABLE written (
    line INTEGER PRIMARY KEY, written INTEGER NOT NULL, turn INTEGER NOT NULL, was_there INTEGER NOT NULL,
    imported INTEGER NOT NULL, added INTEGER NOT NULL, times INTEGER NOT NULL);
CREATE TABLE past (read_until TEXT NOT NULL, turn INTEGER NOT NULL);
INSERT INTO past VALUES ('', 0);
CREATE TABLE entries (
    page INTEGER PRIMARY KEY, id TEXT NOT NULL, name TEXT NOT NULL, space TEXT NOT NULL,
    home TEXT NOT NULL, tags TEXT NOT NULL, source TEXT NOT NULL, confidence REAL, day INTEGER,
    archived INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX entries_by_id ON entries (id);
CREATE INDEX entries_by_name ON entries (name);
CREATE INDEX entries_archived ON entries (page) WHERE archived = 1;
CREATE TABLE named (target TEXT NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (target, page)) WITHOUT ROWID;
CREATE INDEX named_by_page ON named (page);
CREATE TABLE folders (name TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE vectors (key INTEGER PRIMARY KEY, numbers BLOB NOT NULL);
CREATE TABLE made_by (name TEXT PRIMARY KEY);
PRAGMA user_version = {VERSION};
"""
"""All tables: `entries` has what is looked up of an entry besides, `folders` the marks of their folders when they were
last looked at; `vectors` the meaning of texts, as far as they are encoded, `made_by` one encoder."""

ASKED = "CREATE TEMP TABLE asked (first INTEGER PRIMARY KEY, last INTEGER NOT NULL)"
"""The days of the question, as each connection has them while it searches. The SQL then stays the same for any number
of days, and each place takes one look into a B-tree."""
COUNTED = ("pages", "passages", "texts", "voices", "links")
"""The tables whose rows are counted in `totals` as they are inserted and removed."""
_FULL_TEXT = ("words_idx", "above_idx")
"""Of the full-text tables those whose rows are counted when all others have been written."""


class State(NamedTuple):
    """The state of the tables of a kind. Equal states mean equal contents, for any connection of any process."""

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


def read_state(tables: sqlite3.Connection, kind: Kind = PAGES) -> State:
    """The current state of a kind: store it together with values read in the same snapshot."""
    row = tables.execute(f"SELECT tables, changes FROM {kind}state").fetchone()
    if row is None:
        raise sqlite3.DatabaseError("the index has lost its state")
    return State(*row)


def raise_state(tables: sqlite3.Connection, kind: Kind = PAGES) -> State:
    """Advances the state and returns the new one. Call it last in every transaction that changes something."""
    tables.execute("SAVEPOINT counting")  # FTS5 writes all its terms now, as it may have to go back to this point
    tables.execute("RELEASE counting")
    counted = (f"{table} = (SELECT count(*) FROM {kind}{table})" for table in _FULL_TEXT)
    tables.execute(f"UPDATE {kind}totals SET {', '.join(counted)}")
    tables.execute(f"UPDATE {kind}state SET changes = changes + 1")
    return read_state(tables, kind)


def read_known(tables: sqlite3.Connection) -> dict[str, Known]:
    """Every page as it was when last indexed."""
    return {path: Known(*known) for path, *known in tables.execute("SELECT path, size, mark, digest FROM pages")}


def read_known_of(tables: sqlite3.Connection, paths: Iterable[str]) -> dict[str, Known]:
    """The same of these pages, as far as they are indexed."""
    asked = "SELECT path, size, mark, digest FROM pages WHERE path IN (SELECT value FROM json_each(?))"
    return {path: Known(*known) for path, *known in tables.execute(asked, (packed(paths),))}


def digest_of(tables: sqlite3.Connection, path: str, kind: Kind = PAGES) -> bytes | None:
    """The digest of an indexed page; `None` if it is not indexed."""
    row = tables.execute(f"SELECT digest FROM {kind}pages WHERE path = ?", (path,)).fetchone()
    return row[0] if row else None


def drop_pages(tables: sqlite3.Connection, paths: Iterable[str], kind: Kind = PAGES) -> None:
    """Removes pages; paths that are not indexed are ignored."""
    removed = Counter[str]()
    for path in paths:
        for page, length in tables.execute(f"SELECT id, terms FROM {kind}pages WHERE path = ?", (path,)).fetchall():
            joined = f"{kind}pages AS pages JOIN {kind}passages AS passages ON {on_page(kind)}"
            asked = f"SELECT passages.id FROM {joined} WHERE pages.id = ? ORDER BY passages.id"
            places = [place for (place,) in tables.execute(asked, (page,))]
            stored = read_each(tables, places)
            for table, rows in term_rows([(place, stored[place]) for place in places]).items():
                table = f"{kind}{table}"
                tables.executemany(f"INSERT INTO {table} ({table}, rowid, terms) VALUES ('delete', ?, ?)", rows)
            first, last = page << SLOT_BITS, max(places, default=0)
            for table, ids in (
                ("passages", (first, last)),
                ("texts", (page, last >> TOGETHER_BITS)),
                ("links", (page << LINK_BITS, (page + 1 << LINK_BITS) - 1)),
            ):
                removed[table] -= tables.execute(f"DELETE FROM {kind}{table} WHERE id BETWEEN ? AND ?", ids).rowcount
            removed["voices"] -= tables.execute(f"DELETE FROM {kind}voices WHERE page = ?", (page,)).rowcount
            tables.execute(f"DELETE FROM {kind}pages WHERE id = ?", (page,))
            removed.update(pages=-1, terms=-length)
            if kind == ENTRIES:
                tables.execute("DELETE FROM entries WHERE page = ?", (page,))
                tables.execute("DELETE FROM named WHERE page = ?", (page,))
    _count(tables, removed, kind)


def put_pages(tables: sqlite3.Connection, pages: Collection[PageRows], kind: Kind = PAGES) -> None:
    """Inserts or replaces pages."""
    drop_pages(tables, [page.path for page in pages], kind)
    inserted = Counter[str]()
    for page in pages:
        number = _page_number(tables, page.path, max(len(page.texts), 1), kind)
        first = number << SLOT_BITS
        tables.execute(f"INSERT INTO {kind}pages VALUES (?,{_marks(page.head)})", (number, *page.head))
        for table, rows in (
            ("passages", [(first + n, n >> SLOT_BITS, *row[:STORED]) for n, row in enumerate(page.passages)]),
            ("texts", [(n, text_sum(n, data), data) for n, data in enumerate(page.texts, number)]),
            ("voices", [(number, *row) for row in page.voices]),
            ("links", [(n, *row) for n, row in enumerate(page.links, number << LINK_BITS)]),
        ):
            if rows:
                tables.executemany(f"INSERT INTO {kind}{table} VALUES ({_marks(rows[0])})", rows)
                inserted[table] += len(rows)
        for table, of_terms in term_rows([*enumerate((row.stored for row in page.passages), first)]).items():
            tables.executemany(f"INSERT INTO {kind}{table} (rowid, terms) VALUES (?, ?)", of_terms)
        inserted.update(pages=1, terms=page.length)
        if page.entry:
            tables.execute(f"INSERT INTO entries VALUES (?,{_marks(page.entry)})", (number, *page.entry))
            names = [(name, number) for name in dict.fromkeys(page.names)]
            tables.executemany("INSERT INTO named VALUES (?, ?)", names)
    _count(tables, inserted, kind)


def _count(tables: sqlite3.Connection, changes: Mapping[str, int], kind: Kind) -> None:
    """Adds to the totals. FTS5 then writes the terms that it has gathered, so count those of many pages together."""
    if changes:
        changed = ", ".join(f"{what} = {what} + :{what}" for what in changes)
        tables.execute(f"UPDATE {kind}totals SET {changed}", changes)


def check_rows(tables: sqlite3.Connection, kind: Kind = PAGES) -> None:
    """Raises `sqlite3.DatabaseError` if rows are missing: without them, searches would find less, or nothing.

    FTS5 itself notices if others of its tables lack any. Takes 0.05 µs a row, which is 10 ms for 10,000 pages."""
    counts = ", ".join(f"(SELECT count(*) FROM {kind}{table})" for table in (*COUNTED, *_FULL_TEXT))
    noted = tables.execute(f"SELECT {', '.join((*COUNTED, *_FULL_TEXT))} FROM {kind}totals").fetchone()
    if noted != tables.execute(f"SELECT {counts}").fetchone():
        raise sqlite3.DatabaseError("the index has lost rows")


def page_number(path: str) -> int:
    """The slot from which on the first free ones are those of a page."""
    digest = blake2b(path.encode("utf-8", "surrogatepass"), digest_size=5).digest()
    return int.from_bytes(digest) >> 8 * len(digest) - PAGE_BITS


def _page_number(tables: sqlite3.Connection, path: str, slots: int, kind: Kind) -> int:
    """The first of so many free slots. It is made from the path, so that the order of indexing does not matter where of
    equal scores the lower ids are taken: only for pages that begin at the same slot, a few in a thousand."""
    number = page_number(path) + (FIRST_ENTRY if kind == ENTRIES else 0)
    while (taken := _last_slot(tables, number + slots, kind)) >= number:
        number = taken + 1
    return number


def _last_slot(tables: sqlite3.Connection, before: int, kind: Kind) -> int:
    """The last slot before this one that is taken."""
    first = f"SELECT max(id) FROM {kind}pages WHERE id < :slot"  # a page without passages has a slot, too
    last = f"SELECT max(id) >> {SLOT_BITS} FROM {kind}passages WHERE id < :slot << {SLOT_BITS}"
    taken = tables.execute(f"SELECT max(ifnull(({first}), -1), ifnull(({last}), -1))", {"slot": before})
    return int(taken.fetchone()[0])


def _marks(row: Row) -> str:
    return ",".join("?" * len(row))


Value = TypeVar("Value")


class CachedValue(Generic[Value]):
    """What `read` returns for the tables of a kind, cached until they change. If there is a quicker way from a value of
    older tables to that of newer ones, `again` is it.

    Threads need no lock: the value and the state that it belongs to are replaced together, never modified.
    """

    def __init__(
        self,
        read: Callable[[sqlite3.Connection], Value],
        again: Callable[[sqlite3.Connection, Value], Value] | None = None,
        kind: Kind = PAGES,
    ) -> None:
        self._read = read
        self._again = again
        self._kind = kind
        self._kept: tuple[State, Value] | None = None

    def of(self, tables: sqlite3.Connection) -> Value:
        """The value for this snapshot of the tables; read-only."""
        state, kept = read_state(tables, self._kind), self._kept
        if kept is None or kept[0] != state:
            is_older = kept is not None and kept[0].tables == state.tables
            value = self._again(tables, kept[1]) if kept and is_older and self._again else self._read(tables)
            kept = self._kept = (state, value)
        return kept[1]

    def is_of(self, state: State) -> bool:
        """Whether the value of this state is the one cached."""
        return self._kept is not None and self._kept[0] == state

    def follow(self, before: State, after: State, change: Callable[[Value], Value]) -> None:
        """Replaces the value of state `before` with `change(value)` for state `after`, if it is the one cached."""
        if (kept := self._kept) is not None and kept[0] == before:
            self._kept = (after, change(kept[1]))
