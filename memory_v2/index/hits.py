"""Reading the best places from the tables, with their texts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import date

from memory_v2.index.base import Hit
from memory_v2.index.ranking import Ranked
from memory_v2.index.said import speaks_of
from memory_v2.index.sql import packed, packed_rows
from memory_v2.index.tables import passages_and_pages


def read_hits(tables: sqlite3.Connection, ranked: Sequence[Ranked]) -> list[Hit]:
    """A hit for each place, in the same order."""
    source = f"FROM {passages_and_pages()} WHERE passages.id IN (SELECT value FROM json_each(:places))"
    given = {"places": packed(one.place.id for one in ranked)}
    stored = {number: where for number, *where in packed_rows(tables, ("passages.id", "path", "block"), source, given)}
    hits = []
    for one in ranked:
        place = one.place
        path, block = stored[place.id]
        text, lines = place.text, (place.first_line, place.last_line)
        day, headings = date.fromordinal(one.said.day), tuple(json.loads(place.section))
        about = speaks_of(text, one.said, day)
        hits.append(Hit(path, block, *lines, text, one.score, day, headings, one.found_by, about, one.signs))
    return hits
