"""How much of what is asked for each place has: the score by which places are proposed."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Sequence

from memory_v2.index.postings import (
    COMPARED,
    LAST_BITS,
    LENGTHS,
    ROW_BITS,
    Only,
    any_of,
    places_above,
    rows_of_phrase,
    rows_of_words,
)
from memory_v2.index.sql import packed, packed_rows
from memory_v2.index.tables import passages_and_pages

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
