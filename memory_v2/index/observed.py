"""One entry as the index has it: what of it is looked up, and the rows that it has in the tables.

An entry is one place, so the parser of pages is left out: an index of 100,000 entries is filled in a minute. Only a
long one is cut into passages, as a page is.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

from memory_v2.index.named import named_by
from memory_v2.index.passages import LINE_BYTES, days_in
from memory_v2.index.rows import (
    IncomingPage,
    Known,
    PassageRow,
    Prepared,
    named_as_json,
    page_digest,
    passage_row,
    prepare_page,
)
from memory_v2.index.terms import camel_parts, terms, terms_of
from memory_v2.index.texts import Place, pack_texts
from memory_v2.storage.base import Stamp
from memory_v2.text.dates import Span
from memory_v2.tree.block import encode, readable
from memory_v2.tree.page import read_page

TABLES = """
CREATE TABLE observed (
    page INTEGER PRIMARY KEY, id TEXT NOT NULL, name TEXT NOT NULL, space TEXT NOT NULL,
    home TEXT NOT NULL, tags TEXT NOT NULL, source TEXT NOT NULL, confidence REAL, day INTEGER,
    archived INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX observed_by_id ON observed (id);
CREATE INDEX observed_by_name ON observed (name);
CREATE INDEX observed_archived ON observed (page) WHERE archived = 1;
CREATE TABLE named (target TEXT NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (target, page)) WITHOUT ROWID;
CREATE INDEX named_by_page ON named (page);
CREATE TABLE folders (name TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID;
"""
"""The tables of entries, besides those of every index."""

_LONG_AGO = datetime.fromtimestamp(0, UTC).isoformat()


@dataclass(frozen=True, slots=True)
class Observed:
    """What is looked up of an entry: what it is called and says, where it belongs, and what it names. Names are folded
    as they are compared. `first_line` is the line of the file at which its text begins; `day` is when it was observed,
    `None` if the file is no entry, which is then found by nothing."""

    id: str
    text: str = ""
    first_line: int = 1
    space: str = ""
    home: str = ""
    tags: tuple[str, ...] = ()
    source: str = ""
    confidence: float | None = None
    day: date | None = None
    archived: bool = False
    names: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is called without its space."""
        return self.id.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class ObservedRows:
    """The rows of one entry: those that every page has, and its own without the page's id."""

    page: Prepared
    own: tuple[object, ...]
    names: tuple[str, ...]


def prepare(stamp: Stamp, data: bytes, found: Observed) -> ObservedRows:
    """The rows of an entry; this is the slow part of indexing, and needs no connection."""
    known = Known(stamp.size, stamp.mark, page_digest(data))
    passages = _passages(found) if found.day and found.text.strip() else ()
    length, texts = sum(row.stored.length for row in passages), pack_texts([row.stored for row in passages])
    head = (stamp.path, *known, "", found.day.isoformat() if found.day else _LONG_AGO, "", length)
    day = found.day.toordinal() if found.day else None
    tags = f"\n{chr(10).join(found.tags)}\n"
    who = (found.id.casefold(), found.name.casefold(), found.space.casefold(), found.home.casefold(), tags)
    own = (*who, found.source, found.confidence, day, found.archived, data)
    return ObservedRows(Prepared(stamp.path, known, head, length, passages, texts, (), ()), own, found.names)


def _passages(found: Observed) -> tuple[PassageRow, ...]:
    assert found.day is not None
    text = readable(found.text)
    lead = len(text) - len(text.lstrip("\r\n"))
    first, body = found.first_line + text.count("\n", 0, lead), text[lead:].rstrip()
    above = " ".join(dict.fromkeys(terms("\n".join((found.space, found.home, *found.tags)))))
    named = named_as_json((named_by(Span(found.day, found.day)),))
    if len(encode(body)) > LINE_BYTES:
        return _cut(found, above, named)
    [spelled] = terms_of([body])
    own_day, spoken_of, is_temporal = days_in(body, False)
    days = spoken_of or own_day or Span(found.day, found.day)
    place = Place(
        id=0,
        page=0,
        run=1,
        kind="text",
        first_line=first,
        last_line=first + body.count("\n"),
        speaker=None,
        since=days.start.toordinal(),
        until=days.end.toordinal(),
        temporal=int(is_temporal),
        question=int("?" in body or "？" in body),
        length=len(spelled) - len(camel_parts(body)),
        text=body,
        own=" ".join(spelled),
        section="[]",
        context=f" {above} ",
        named=named,
    )
    return (passage_row(1, place),)


def _cut(found: Observed, above: str, named: str) -> tuple[PassageRow, ...]:
    page = read_page("memory", encode(found.text))
    cut = prepare_page(IncomingPage(page, page.size, "", datetime.fromtimestamp(0, UTC)))
    return tuple(_moved(row, above, named, found) for row in cut.passages)


def _moved(row: PassageRow, above: str, named: str, found: Observed) -> PassageRow:
    """A passage of a long text, as one of the file of an entry."""
    assert found.day is not None
    place, since = row.stored, found.day.toordinal()
    return passage_row(
        row.block,
        place._replace(
            kind="text" if place.kind == "child link" else place.kind,
            first_line=place.first_line + found.first_line - 1,
            last_line=place.last_line + found.first_line - 1,
            speaker=None,
            since=since if place.since is None else place.since,
            until=since if place.until is None else place.until,
            context=f"{place.context.rstrip()} {above} ",
            named=named,
        ),
    )
