"""The kinds of passages, and passing many values to and from SQLite in one step."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

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
