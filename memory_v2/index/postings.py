"""Which places have a term.

Two full-text tables say that and no more: `words` has a row for each place, with the terms of its text, and `above` has
those of the headings above, with one row for up to eight neighbours under the same ones. How often a term occurs in a
text, and where, and how long the text is, is not stored (`detail=none`, `columnsize=0`): that would take three times
the room, and the terms of a place are in `texts`. What it takes besides to propose places is in the lowest bits of a
row's id: in `words` about how long the text is, in `above` how many places the row is for.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from memory_v2.index.marks import stored
from memory_v2.index.question import flattened
from memory_v2.index.sql import PAGES, Kind
from memory_v2.index.terms import terms
from memory_v2.index.texts import Place, read_each
from memory_v2.text.words import is_latin

ROW_BITS = 2
"""How many of the lowest bits of a row's id are not part of the id of its (first) place."""
LAST_BITS = (1 << ROW_BITS) - 1
"""All these bits. In `above`, they are the logarithm of the number of places that a row is for."""
UP_TO = (8, 16, 32)
"""Up to how many terms a text has if these bits are 0, 1 or 2 in `words`."""
LENGTHS = (6, 12, 24, 48)
"""The length in terms that is taken for that of each text with these bits."""
COMPARED = 10_000
"""How many places that have all words of the phrases of a question are read, at most, to see whether they have them as
they are quoted."""


@dataclass(frozen=True, slots=True)
class Only:
    """Which places are looked through: those of a kind that meet a condition of SQL on passages, with its values. If
    there are only `few` of them, even common words tell them apart."""

    sql: str = ""
    given: Mapping[str, object] = field(default_factory=dict)
    few: bool = False
    kind: Kind = PAGES

    def also(self, sql: str, **given: object) -> Only:
        """Those of these places that meet a further condition."""
        return replace(self, sql=f"{self.sql} AND {sql}", given={**self.given, **given})


ANYWHERE: Final = Only()
"""All places of pages are looked through."""


def term_rows(places: Sequence[tuple[int, Place]]) -> dict[str, list[tuple[int, str]]]:
    """The rows of neighbouring places, given with their ids, in each of the two tables."""
    words = [(number << ROW_BITS | bisect_left(UP_TO, one.length), one.own) for number, one in places if one.length]
    return {"words": words, "above": list(_rows_above(places))}


def _rows_above(places: Iterable[tuple[int, Place]]) -> Iterator[tuple[int, str]]:
    for context, below in groupby(places, key=lambda pair: pair[1].context):
        numbers = [number for number, _ in below]
        first, end = numbers[0], numbers[-1] + 1
        while first < end and context.strip():
            bits = min((end - first).bit_length() - 1, LAST_BITS)
            yield first << ROW_BITS | bits, context
            first += 1 << bits


def any_of(terms: Iterable[str]) -> str:
    """The FTS5 query for any of these terms."""
    return " OR ".join(map(_quoted, terms))


def _quoted(term: str) -> str:
    """A term as a string of FTS5, so that it contains no operators."""
    return '"' + term.replace('"', '""') + '"'


def rows_of_words(tables: sqlite3.Connection, match: str, only: Only = ANYWHERE, most: int = -1) -> list[int]:
    """The rows of the texts that match, or the first ones up to so many."""
    return _rows_of_words(tables, match, only, most)


def places_above(tables: sqlite3.Connection, match: str, only: Only = ANYWHERE, most: int = -1) -> list[int]:
    """The places with headings above that match, of so many rows at most."""
    return [
        place
        for row in _rows_of_above(tables, match, only, most)
        for place in range(row >> ROW_BITS, (row >> ROW_BITS) + (1 << (row & LAST_BITS)))
    ]


def rows_of_phrase(
    tables: sqlite3.Connection, phrase: str, only: Only = ANYWHERE, compared: int = COMPARED
) -> list[int]:
    """The rows of the texts that have a phrase, in whatever forms of its words, among so many that have its words."""
    if not (spelled := terms(phrase)):
        return []
    rows = rows_of_words(tables, " AND ".join(map(_quoted, dict.fromkeys(spelled))), only, compared)
    if len(spelled) == 1:
        return rows
    texts = read_each(tables, [row >> ROW_BITS for row in rows])
    if is_latin(phrase):
        in_terms = stored(spelled)
        return [row for row in rows if in_terms in texts[row >> ROW_BITS].own]
    # In a script without spaces, what stands beside a phrase makes other terms of it.
    in_letters = flattened(phrase)
    return [row for row in rows if in_letters in flattened(texts[row >> ROW_BITS].text)]


def count_above(tables: sqlite3.Connection, term: str, kind: Kind = PAGES) -> int:
    """How many places have a term above them."""
    above = f"{kind}above"
    asked = f"SELECT coalesce(sum({_span(above)}), 0) FROM {above} WHERE {above} MATCH ?"
    return int(tables.execute(asked, (_quoted(term),)).fetchone()[0])


def _span(above: str) -> str:
    """How many places a row is for, in SQL."""
    return f"1 << ({above}.rowid & {LAST_BITS})"


def _rows_of_words(tables: sqlite3.Connection, match: str, only: Only, most: int) -> list[int]:
    words = f"{only.kind}words"
    joined = f"passages.id = {words}.rowid >> {ROW_BITS}"
    return _rows(tables, words, f"{words}.rowid", joined, match, only, most)


def _rows_of_above(tables: sqlite3.Connection, match: str, only: Only, most: int) -> list[int]:
    above = f"{only.kind}above"
    first = f"{above}.rowid >> {ROW_BITS}"
    joined = f"passages.id >= {first} AND passages.id < ({first}) + ({_span(above)})"
    return _rows(
        tables, above, f"passages.id << {ROW_BITS}" if only.sql else f"{above}.rowid", joined, match, only, most
    )


def _rows(
    tables: sqlite3.Connection, table: str, row: str, joined: str, match: str, only: Only, most: int
) -> list[int]:
    # CROSS JOIN keeps the full-text table first: looked up place by place it would take a thousand times as long.
    passages = f"CROSS JOIN {only.kind}passages AS passages ON {joined}" if only.sql else ""
    found = f"SELECT {row} AS row FROM {table} {passages} WHERE {table} MATCH :match {only.sql} LIMIT :most"
    # All rows as one text, as in `packed_rows`.
    asked = tables.execute(f"SELECT json_group_array(row) FROM ({found})", {**only.given, "match": match, "most": most})
    rows: list[int] = json.loads(asked.fetchone()[0])
    return rows
