"""Reading the best places from the tables, with their texts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import date

from memory_v2.index.base import Hit
from memory_v2.index.packed import packed, packed_rows
from memory_v2.index.ranking import Ranked
from memory_v2.index.rows import check_sum
from memory_v2.index.said import speaks_of
from memory_v2.index.tables import HEADINGS_OF, PAGE_OF

_COLUMNS = ("passages.id", "path", "block", "last_line", "section", "check_sum")


def read_hits(tables: sqlite3.Connection, ranked: Sequence[Ranked]) -> list[Hit]:
    """A hit for each place, in the same order. Raises `sqlite3.DatabaseError` if a text was altered in the file."""
    source = (
        f"FROM passages JOIN pages ON pages.id = {PAGE_OF} JOIN headings ON {HEADINGS_OF} "
        "WHERE passages.id IN (SELECT value FROM json_each(:places))"
    )
    rows = packed_rows(tables, _COLUMNS, source, {"places": packed(one.place.id for one in ranked)})
    stored = {number: columns for number, *columns in rows}
    hits = []
    for one in ranked:
        place = one.place
        path, block, last_line, section, noted = stored[place.id]
        text = place.text
        if noted != check_sum(text, section, place.first_line, last_line):
            raise sqlite3.DatabaseError("a text in the index is not the one that was stored")
        day, headings = date.fromordinal(one.said.day), tuple(json.loads(section))
        about = speaks_of(text, one.said, day)
        lines = place.first_line, last_line
        hits.append(Hit(path, block, *lines, text, one.score, day, headings, one.found_by, about, one.signs))
    return hits
