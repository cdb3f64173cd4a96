"""What the index keeps, and how a page is put into it and taken out."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple, TypeAlias
from zlib import crc32

from memory_v2.index.passages import Passage, passages
from memory_v2.index.terms import EVERYTHING, terms
from memory_v2.text.words import normal
from memory_v2.tree.block import readable
from memory_v2.tree.page import Page
from memory_v2.tree.path import ROOT

VERSION = 2
"""Raised whenever another index would come of the same pages: an older file is then made anew."""

PASSAGES_BITS = 20
"""Bits of a passage's number that say which of its page's passages it is."""
# Neighbours are read as a passage's surroundings, so the passages of a page have ids that follow each other.
SCHEMA = f"""
CREATE TABLE pages (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mark TEXT NOT NULL, digest BLOB NOT NULL,
    title TEXT NOT NULL, last_updated TEXT NOT NULL, places INTEGER NOT NULL, terms INTEGER NOT NULL);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY, page INTEGER NOT NULL, run INTEGER NOT NULL, kind TEXT NOT NULL, block INTEGER NOT NULL,
    first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, text TEXT NOT NULL, check_sum INTEGER NOT NULL,
    section TEXT NOT NULL, speaker TEXT, since INTEGER, until INTEGER, temporal INTEGER NOT NULL,
    question INTEGER NOT NULL, length INTEGER NOT NULL, own TEXT NOT NULL, context TEXT NOT NULL);
CREATE INDEX passages_of_page ON passages (page);
CREATE INDEX passages_of_day ON passages (since, until) WHERE since IS NOT NULL;
CREATE TABLE totals (places INTEGER NOT NULL, terms INTEGER NOT NULL);
INSERT INTO totals VALUES (0, 0);
CREATE TABLE voices (page INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (page, name)) WITHOUT ROWID;
CREATE INDEX voices_by_name ON voices (name);
CREATE TABLE links (
    page INTEGER NOT NULL, place INTEGER NOT NULL, target TEXT NOT NULL, label TEXT NOT NULL, child INTEGER NOT NULL,
    PRIMARY KEY (page, place)) WITHOUT ROWID;
CREATE TABLE blocks (
    page INTEGER NOT NULL, block INTEGER NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (page, block)) WITHOUT ROWID;
CREATE INDEX blocks_that_say ON blocks (digest);
CREATE VIRTUAL TABLE words USING fts5(
    own, context, content='passages', content_rowid='id', tokenize="unicode61 remove_diacritics 0 {EVERYTHING}");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'col');
PRAGMA user_version = {VERSION};
"""


@dataclass(frozen=True, slots=True)
class Entered:
    """A page as it goes into the tables, with its stamp: an empty `mark` until the storage has told one. One that is to
    be noticed again is entered as if it were unknown."""

    page: Page
    size: int
    mark: str
    last_updated: datetime
    is_known: bool = True

    @property
    def digest(self) -> bytes:
        """What two pages share that are equal to the byte."""
        return page_digest(self.page.data) if self.is_known else b""


Row: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """The rows of one page, without the ids that the tables give them."""

    path: str
    head: Row
    passages: tuple[Row, ...]
    voices: tuple[Row, ...]
    links: tuple[Row, ...]
    blocks: tuple[Row, ...]


def page_digest(data: bytes) -> bytes:
    """What two pages share that are equal to the byte."""
    return blake2b(data, digest_size=16).digest()


def check_sum(*shown: str | int) -> int:
    """What tells that bytes of the file were overwritten where SQLite does not notice it."""
    return crc32(repr(shown).encode())


def block_digest(text: str) -> bytes | None:
    """What two blocks share that say the same to the letter; `None` for one that says nothing."""
    plain = normal(readable(text))
    return blake2b(plain.encode(), digest_size=16).digest() if plain else None


@contextmanager
def transaction(tables: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, and alone among all processes."""
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
    """All that is read inside is read from one state."""
    tables.execute("BEGIN")
    try:
        yield
    finally:
        if tables.in_transaction:
            tables.execute("COMMIT")


def drop_pages(tables: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Takes out pages; one that is not there is none to take out."""
    for path in paths:
        for (page,) in tables.execute("SELECT id FROM pages WHERE path = ?", (path,)).fetchall():
            tables.execute(
                "INSERT INTO words (words, rowid, own, context) "
                "SELECT 'delete', id, own, context FROM passages WHERE page = ? ORDER BY id",
                (page,),
            )
            for table in ("passages", "voices", "links", "blocks"):
                tables.execute(f"DELETE FROM {table} WHERE page = ?", (page,))
            places, length = tables.execute("SELECT places, terms FROM pages WHERE id = ?", (page,)).fetchone()
            tables.execute("UPDATE totals SET places = places - ?, terms = terms - ?", (places, length))
            tables.execute("DELETE FROM pages WHERE id = ?", (page,))


def prepare_page(entered: Entered) -> Prepared:
    """The rows of a page; all that takes time, and nothing that needs the tables."""
    page, found = entered.page, passages(entered.page)
    rows = tuple(_passage_row(page, passage) for passage in found)
    length = sum(row.length for row in rows)
    stamp = (entered.size, entered.mark, entered.digest)
    return Prepared(
        page.path,
        (page.path, *stamp, page.title, entered.last_updated.isoformat(), len(rows), length),
        rows,
        tuple((name,) for name in sorted({passage.speaker for passage in found if passage.speaker})),
        tuple(_link_rows(page)),
        tuple(_block_rows(page, found)),
    )


def put_page(tables: sqlite3.Connection, page: Prepared) -> None:
    """Puts in a page, in place of what was there under its path."""
    drop_pages(tables, [page.path])
    number = _page_number(tables, page.path)
    tables.execute(f"INSERT INTO pages VALUES (?,{_marks(page.head)})", (number, *page.head))
    tables.execute("UPDATE totals SET places = places + ?, terms = terms + ?", page.head[-2:])
    for place, row in enumerate(page.passages, number << PASSAGES_BITS):
        tables.execute(f"INSERT INTO passages VALUES (?,?,{_marks(row)})", (place, number, *row))
    tables.execute(
        "INSERT INTO words (rowid, own, context) SELECT id, own, context FROM passages WHERE page = ? ORDER BY id",
        (number,),
    )
    for table, rows in (("voices", page.voices), ("links", page.links), ("blocks", page.blocks)):
        for row in rows:
            tables.execute(f"INSERT INTO {table} VALUES (?,{_marks(row)})", (number, *row))


def _page_number(tables: sqlite3.Connection, path: str) -> int:
    """A number made of the path. Equal scores are ordered by number, so the order in which pages came into the tables
    must not show in it; and the passages of two pages never have neighbouring numbers."""
    number = int.from_bytes(blake2b(path.encode("utf-8", "surrogatepass"), digest_size=5).digest())
    while tables.execute("SELECT 1 FROM pages WHERE id = ?", (number,)).fetchone():
        number += 1
    return number


def _marks(row: Row) -> str:
    return ",".join("?" * len(row))


def _passage_row(page: Page, passage: Passage) -> _PassageRow:
    spelled = terms(passage.text)
    context = _context(page.path, page.title, passage.section)
    section = json.dumps(passage.section, ensure_ascii=False)
    if passage.kind == "entry":  # what a child is said to hold weighs no more than a heading
        context, spelled = " ".join([context, *spelled]), []
    return _PassageRow(
        run=passage.run,
        kind=passage.kind,
        block=passage.block,
        first_line=passage.first_line,
        last_line=passage.last_line,
        text=passage.text,
        check_sum=check_sum(passage.text, section, passage.first_line, passage.last_line),
        section=section,
        speaker=passage.speaker,
        since=passage.date.start.toordinal() if passage.date else None,
        until=passage.date.end.toordinal() if passage.date else None,
        temporal=passage.temporal,
        question=passage.question,
        length=len(spelled),
        own=f" {'  '.join(spelled)} ",  # two blanks, so that a term between blanks can be counted in the string
        context=f" {context} ",
    )


class _PassageRow(NamedTuple):
    """The columns of `passages` behind the ids, in their order."""

    run: int
    kind: str
    block: int
    first_line: int
    last_line: int
    text: str
    check_sum: int
    section: str
    speaker: str | None
    since: int | None
    until: int | None
    temporal: bool
    question: bool
    length: int
    own: str
    context: str


@lru_cache(maxsize=1000)
def _context(path: str, title: str, section: tuple[str, ...]) -> str:
    """The terms of what stands above a passage: its page's title and path, its headings; each of them once."""
    place = "" if path == ROOT else path.replace("/", " ").replace("-", " ").replace("_", " ")
    return " ".join(dict.fromkeys(terms(" \n ".join([title, place, *section]))))


def _link_rows(page: Page) -> Iterator[tuple[int, str, str, bool]]:
    labels = {entry.target: entry.description for entry in page.children}
    ordered = sorted(page.found_links, key=lambda pair: not pair[1])
    for place, (link, child) in enumerate(ordered):
        if link.key:
            yield place, link.key, readable(labels.get(link.target.strip(), "")) if child else "", child


def _block_rows(page: Page, found: Collection[Passage]) -> Iterator[tuple[int, bytes]]:
    for number in sorted({passage.block for passage in found if passage.block}):
        if digest := block_digest(page.blocks[number - 1].text):
            yield number, digest
