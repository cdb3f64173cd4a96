"""Which places have a term, which terms of a question any place has, and the score by which places are proposed.

Two full-text tables say that and no more: `words` has a row for each place, with the terms of its text, and `above` has
those of the headings above, with one row for up to eight neighbours under the same ones. How often a term occurs in a
text, and where, and how long the text is, is not stored (`detail=none`, `columnsize=0`): that would take three times
the room, and the terms of a place are in `texts`. What it takes besides to propose places is in the lowest bits of a
row's id: in `words` about how long the text is, in `above` how many places the row is for.
"""

from __future__ import annotations

import json
import math
import sqlite3
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final, NamedTuple

from memory_v2.index.places import PAGES, Kind, StoredPassage, packed, packed_rows, passages_and_pages, read_each
from memory_v2.index.terms import Question, flattened, stored, terms
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


def term_rows(places: Sequence[tuple[int, StoredPassage]]) -> dict[str, list[tuple[int, str]]]:
    """The rows of neighbouring places, given with their ids, in each of the two tables."""
    words = [(number << ROW_BITS | bisect_left(UP_TO, one.length), one.own) for number, one in places if one.length]
    return {"words": words, "above": list(_rows_above(places))}


def _rows_above(places: Iterable[tuple[int, StoredPassage]]) -> Iterator[tuple[int, str]]:
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


VOCABULARIES = ("vocabulary", "vocabulary_above")
"""The tables of all terms of a kind, each with the number of its rows that have it."""
_SHORTEST = 5
_LONGEST = 100
"""How long a word may be, in characters, to be looked up in other forms. A longer one is a key or a hash."""
_COMMON = 1_000
"""In how many places a term stands for its number to be kept: counting takes longer the more there are."""


class Term(NamedTuple):
    """A term to look up, the word of the question for which it stands, and how many places have it."""

    term: str
    word: str
    frequency: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The terms of a kind. It keeps the frequencies of common terms, so use it for one state of the tables."""

    kind: Kind = PAGES
    _common: dict[str, int] = field(default_factory=dict)

    def known_terms(self, tables: sqlite3.Connection, question: Question) -> Iterator[Term]:
        """The terms of a question that some place has, or has related ones of. For another word its parts stand in, for
        one in camel case if all of them are known, or else a longer or shorter form: `citizen` for `citizenship`."""
        for word, (whole, *parts) in question.terms.items():
            count = sum(self.frequency(tables, form) for form in (whole, *question.forms.get(whole, ())))
            if count := count or sum(self.frequency(tables, form) for form in question.related.get(whole, ())):
                yield Term(whole, word, count)
                continue
            counts = {part: self.frequency(tables, part) for part in parts or self._forms(tables, whole)}
            if word not in question.camel or all(counts.values()):
                yield from (Term(part, word, count) for part, count in counts.items() if count)

    def frequency(self, tables: sqlite3.Connection, term: str) -> int:
        """How many places have a term, in their text or above it."""
        if (kept := self._common.get(term)) is not None:
            return kept
        row = tables.execute(f"SELECT doc FROM {self.kind}vocabulary WHERE term = ?", (term,)).fetchone()
        count = max(row[0] if row else 0, count_above(tables, term, self.kind))
        if count >= _COMMON:
            self._common[term] = count
        return count

    def _forms(self, tables: sqlite3.Connection, term: str) -> list[str]:
        if not _SHORTEST <= len(term) <= _LONGEST or not term.isalpha():
            return []
        shorter = [term[:length] for length in range(len(term) - 1, max(_SHORTEST, len(term) * 3 // 5) - 1, -1)]
        known = next((form for form in shorter if self.frequency(tables, form)), None)
        longer = " UNION ALL ".join(
            f"SELECT term, doc FROM {self.kind}{table} WHERE term > :term AND term < :end" for table in VOCABULARIES
        )
        best = f"SELECT term FROM ({longer}) ORDER BY doc DESC, term LIMIT 1"
        found = tables.execute(best, {"term": term, "end": term + chr(sys.maxunicode)}).fetchall()
        return [form for (form,) in found] or ([known] if known else [])


K1, B = 1.2, 0.75
"""The parameters of BM25."""
ABOVE = 0.3
"""What a term in a heading counts, relative to one in a text of average length."""


class Scores:
    """The scores of the places that have any of what is asked for: BM25, as if each term occurred once at most."""

    def __init__(self, tables: sqlite3.Connection, count: int, average: float, only: Only) -> None:
        """`count` is the number of all places, `average` their length in terms."""
        self._tables = tables
        self._count = count
        self._only = only
        self._shares = [(K1 + 1) / (1 + K1 * (1 - B + B * length / max(average, 1.0))) for length in LENGTHS]
        self._scores: dict[int, float] = {}

    def add(self, forms: Sequence[str], count: int) -> None:
        """Adds what places have of a term, in any of its forms; `count` places have it."""
        match, weight = any_of(forms), rarity(count, self._count)
        self._add_rows(rows_of_words(self._tables, match, self._only), weight)
        scores, above = self._scores, ABOVE * weight
        for place in places_above(self._tables, match, self._only):
            scores[place] = scores.get(place, 0.0) + above

    def add_phrases(self, phrases: Sequence[str]) -> None:
        """Adds what places have of some phrases."""
        for phrase in phrases:
            rows = rows_of_phrase(self._tables, phrase, self._only, COMPARED // len(phrases))
            self._add_rows(rows, rarity(len(rows), self._count))

    def best(self, limit: int) -> list[int]:
        """The best places, best first. Ties are ordered by page and line, so the order of indexing does not matter."""
        scores, best = self._scores, list(self._scores)
        if len(best) > limit:
            least = sorted(scores.values(), reverse=True)[limit - 1]
            best = [place for place, score in scores.items() if score > least]
            best += sorted(place for place, score in scores.items() if score == least)[: limit - len(best)]
        if not best:
            return []
        listed = "SELECT value FROM json_each(:best)"
        in_order = (
            f"SELECT passages.id AS place FROM {passages_and_pages(self._only.kind)} "
            f"WHERE passages.id IN ({listed}) ORDER BY path, first_line, place"
        )
        rows = packed_rows(self._tables, ("place",), f"FROM ({in_order})", {"best": packed(best)})
        return sorted((place for (place,) in rows), key=lambda place: -scores[place])

    def _add_rows(self, rows: Iterable[int], weight: float) -> None:
        scores, of_length = self._scores, [weight * share for share in self._shares]
        for row in rows:
            place = row >> ROW_BITS
            scores[place] = scores.get(place, 0.0) + of_length[row & LAST_BITS]


def rarity(count: float, total: int) -> float:
    """How much it says that a place has what `count` of `total` places have."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))
