"""The places as they are stored: their texts, their terms and what stands above them, compressed, some neighbours
together.

A search reads a place with those around it, and hundreds of places at a time. What is compressed can be joined and
expanded in one step: each single step would give up Python's interpreter lock, as `packed_rows` says of rows.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["", "entry_"]
"""A kind of passages: those of pages, or those of entries. It is what the names of their tables begin with."""
PAGES: Final = ""
ENTRIES: Final = "entry_"
KINDS: Final[tuple[Kind, ...]] = (PAGES, ENTRIES)
FIRST_ENTRY: Final = 1 << 23
"""The least id of an entry in the tables. All pages have lower ones, so that a place is told by its id alone."""


def packed(values: Iterable[object]) -> str:
    """Values as one parameter, for `json_each`."""
    return json.dumps(sorted(values, key=str))


def packed_rows(
    tables: sqlite3.Connection, columns: Sequence[str], source: str, given: Mapping[str, object]
) -> list[list[Any]]:
    """`SELECT columns source`, for integers, texts and NULL.

    SQLite returns all rows as one JSON text. For each single row, Python gives up the interpreter lock and may wait
    5 ms to get it back, so concurrent searches of 700 rows each would be slower than the same searches in turn."""
    row = f"json_array({', '.join(columns)})"
    [text] = tables.execute(f"SELECT json_group_array({row}) {source}", given).fetchone()
    try:
        rows: list[list[Any]] = json.loads(text)
    except ValueError as error:
        raise sqlite3.DatabaseError("the index holds a value that is neither a number nor a text") from error
    return rows


TOGETHER_BITS = 4
"""How many bits of a place's id number it among those that are stored together. More of them take less room, but a
search reads more that it does not need."""
SLOT_BITS = TOGETHER_BITS
"""How many bits of a passage's id number it within its slot; the bits above them are the slot's number. A page has as
many slots as it needs, one after the other, and the number of the first is its id."""
PAGE_OF = f"((passages.id >> {SLOT_BITS}) - passages.slot)"
"""The id of a passage's page, in SQL."""
_RAW = -15
"""The parameter of zlib for a stream without a header and a check sum."""


def passages_and_pages(kind: Kind = PAGES) -> str:
    """The passages of a kind, each with its page, in SQL."""
    return f"{kind}passages AS passages JOIN {kind}pages AS pages ON pages.id = {PAGE_OF}"


def on_page(kind: Kind = PAGES) -> str:
    """The condition, in SQL, that passages are those of a page."""
    later = f"SELECT min(later.id) FROM {kind}pages AS later WHERE later.id > pages.id"
    return f"passages.id >= pages.id << {SLOT_BITS} AND passages.id < coalesce(({later}), {1 << 58}) << {SLOT_BITS}"


class StoredPassage(NamedTuple):
    """One passage as it is stored. Its id and that of its page are told from where it is stored; 0 before."""

    id: int
    page: int
    run: int
    kind: str
    first_line: int
    last_line: int
    speaker: str | None
    since: int | None
    until: int | None
    question: int
    length: int
    """The number of its own terms."""
    text: str
    own: str
    """Its terms, with blanks around each, as `terms.stored` has them; before it is stored, with one between them."""
    section: str
    """The headings above, as JSON."""
    context: str
    """The terms of the headings, with blanks around each."""
    named: str
    """The days that it names as those on which it was said, as JSON."""


_IDS = StoredPassage._fields.index("run")
_ABOVE = StoredPassage._fields.index("section")
"""From this column on, neighbours mostly have the same."""


def pack_texts(places: Sequence[StoredPassage]) -> tuple[bytes, ...]:
    """The places of a page, in order."""
    together = 1 << TOGETHER_BITS
    return tuple(
        _pack(slot, places[first : first + together]) for slot, first in enumerate(range(0, len(places), together))
    )


def kind_of(place: int) -> Kind:
    """The kind of a place, by its id."""
    return PAGES if place < FIRST_ENTRY << TOGETHER_BITS else ENTRIES


def text_sum(number: int, data: bytes) -> int:
    """A checksum to detect bytes that were overwritten in the file or belong to other places: SQLite does not."""
    return zlib.crc32(data, number)


def read_places(tables: sqlite3.Connection, wanted: Iterable[int]) -> dict[int, StoredPassage]:
    """These places, as far as there are any. Raises `sqlite3.DatabaseError` if they were altered in the file."""
    wanted = frozenset(wanted)
    found: dict[int, StoredPassage] = {}
    by_kind: dict[Kind, set[int]] = {}
    for place in wanted:
        by_kind.setdefault(kind_of(place), set()).add(place >> TOGETHER_BITS)
    for kind, numbers in by_kind.items():
        found |= _read(tables, kind, numbers, wanted)
    return found


def _read(tables: sqlite3.Connection, kind: Kind, slots: set[int], wanted: frozenset[int]) -> dict[int, StoredPassage]:
    columns = "json_group_array(json_array(id, check_sum, length(data))), group_concat(hex(data), '')"
    stored = f"SELECT {columns} FROM {kind}texts WHERE id IN (SELECT value FROM json_each(?))"
    row = tables.execute(stored, (packed(slots),)).fetchone()
    data, end, ids = bytes.fromhex(row[1] or ""), 0, []
    for number, check_sum, length in json.loads(row[0]):
        start, end = end, end + length
        if text_sum(number, data[start:end]) != check_sum:
            raise sqlite3.DatabaseError("a text in the index is not the one that was stored")
        ids.append(number)
    expanded = zlib.decompressobj(_RAW).decompress(data).decode()
    found = {}
    for number, (slot, above, *columns) in zip(ids, json.loads(f"[{expanded[:-1]}]"), strict=True):
        for place, (*told, own, which) in enumerate(zip(*columns, strict=True), number << TOGETHER_BITS):
            if place in wanted:
                spelled = f" {own.replace(' ', '  ')} "
                found[place] = StoredPassage._make((place, number - slot, *told, spelled, *above[which]))
    return found


def read_each(tables: sqlite3.Connection, places: Sequence[int]) -> dict[int, StoredPassage]:
    """The same if there must be all of them."""
    found = read_places(tables, places)
    if len(found) < len(places):
        raise sqlite3.DatabaseError("the index has a passage without a text")
    return found


def _pack(slot: int, places: Sequence[StoredPassage]) -> bytes:
    """A stream without an end, so that another one may follow it: columns compress better than rows."""
    above: dict[tuple[object, ...], int] = {}
    rows = [(*place[_IDS:_ABOVE], above.setdefault(place[_ABOVE:], len(above))) for place in places]
    text = json.dumps([slot, [*above], *zip(*rows, strict=True)], ensure_ascii=False, separators=(",", ":"))
    stream = zlib.compressobj(wbits=_RAW)
    return stream.compress(f"{text},".encode()) + stream.flush(zlib.Z_FULL_FLUSH)
