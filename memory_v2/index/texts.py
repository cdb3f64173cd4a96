"""The texts of the places and their terms, as they are stored: compressed, some neighbours together.

A search reads a place with those around it, and hundreds of places at a time. What is compressed can be joined and
expanded in one step: each single step would give up Python's interpreter lock, as `packed_rows` says of rows.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memory_v2.index.packed import packed

TOGETHER_BITS = 4
"""How many bits of a passage's id number it among those that are stored together. More of them take less room, but a
search reads more that it does not need."""
_RAW = -15
"""The parameter of zlib for a stream without a header and a check sum."""


class Stored(NamedTuple):
    """The text of a place, and its terms with a blank between them."""

    text: str
    own: str


class Texts:
    """The texts and terms of places, by their ids."""

    def __init__(self, together: Mapping[int, Sequence[Sequence[str]]]) -> None:
        self._together = together

    def __getitem__(self, place: int) -> Stored:
        try:
            return Stored(*self._together[place >> TOGETHER_BITS][place & (1 << TOGETHER_BITS) - 1])
        except (LookupError, TypeError) as error:
            raise sqlite3.DatabaseError("the index has a passage without a text") from error


def pack_texts(rows: Sequence[Stored]) -> tuple[bytes, ...]:
    """The texts and terms of a page's passages, in order."""
    together = 1 << TOGETHER_BITS
    return tuple(_pack(rows[first : first + together]) for first in range(0, len(rows), together))


def read_texts(tables: sqlite3.Connection, places: Iterable[int]) -> Texts:
    """The texts and terms of at least these places. Raises `sqlite3.DatabaseError` if they were altered in the file."""
    stored = "SELECT json_group_array(id), group_concat(hex(data), '') FROM texts"
    wanted = packed({place >> TOGETHER_BITS for place in places})
    row = tables.execute(f"{stored} WHERE id IN (SELECT value FROM json_each(?))", (wanted,)).fetchone()
    try:
        found = zlib.decompressobj(_RAW).decompress(bytes.fromhex(row[1] or "")).decode()
        return Texts(dict(zip(json.loads(row[0]), json.loads(f"[{found[:-1]}]"), strict=True)))
    except (ValueError, zlib.error) as error:
        raise sqlite3.DatabaseError("a text in the index is not the one that was stored") from error


def _pack(rows: Sequence[Stored]) -> bytes:
    """A stream without an end, so that another one may follow it."""
    stream = zlib.compressobj(wbits=_RAW)
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return stream.compress(f"{text},".encode()) + stream.flush(zlib.Z_FULL_FLUSH)
