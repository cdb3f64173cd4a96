"""Which terms a question means, as far as these tables know any."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from memory_v2.index.postings import count_above
from memory_v2.index.question import Question
from memory_v2.index.sql import PAGES, Kind

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
