"""Which terms and which days a question means, as far as these tables know any."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import NamedTuple

from memory_v2.index.question import Question
from memory_v2.text.dates import PartialDate, Span

_SHORTEST = 5
_MOST_YEARS = 60


class Term(NamedTuple):
    """A term to look up, the word of the question for which it stands, and how many places have it."""

    term: str
    word: str
    frequency: int


def known_terms(tables: sqlite3.Connection, question: Question) -> Iterator[Term]:
    """The terms of a question that some place has. For a word that none has, its parts stand in, or else a longer or
    shorter form: `citizen` for `citizenship`."""
    for word, (whole, *parts) in question.terms.items():
        if count := frequency_of(tables, whole):
            yield Term(whole, word, count)
            continue
        for term in parts or _forms(tables, whole):
            if count := frequency_of(tables, term):
                yield Term(term, word, count)


def frequency_of(tables: sqlite3.Connection, term: str) -> int:
    """How many places have a term, in their text or above it."""
    return int(tables.execute("SELECT coalesce(max(doc), 0) FROM vocabulary WHERE term = ?", (term,)).fetchone()[0])


def _forms(tables: sqlite3.Connection, term: str) -> list[str]:
    if len(term) < _SHORTEST or not term.isalpha():
        return []
    shorter = [term[:length] for length in range(len(term) - 1, max(_SHORTEST, len(term) * 3 // 5) - 1, -1)]
    known = next((form for form in shorter if frequency_of(tables, form)), None)
    longer = tables.execute(
        "SELECT term FROM vocabulary WHERE term > ? AND term < ? ORDER BY doc DESC, term LIMIT 1",
        (term, term + chr(sys.maxunicode)),
    ).fetchall()
    return [form for (form,) in longer] or ([known] if known else [])


def known_days(tables: sqlite3.Connection, dates: Iterable[Span | PartialDate]) -> tuple[tuple[int, int], ...]:
    """The days that are meant; a day or month of no year in particular is one of each year there is."""
    days: list[tuple[int, int]] = []
    for asked in dates:
        if isinstance(asked, Span):
            days.append((asked.start.toordinal(), asked.end.toordinal()))
            continue
        # One by one each end is read off the index; asked for at once they take a walk over all of it.
        first, last = (
            tables.execute(f"SELECT {end}(since) FROM passages WHERE since IS NOT NULL").fetchone()[0]
            for end in ("min", "max")
        )
        if first is not None:
            years = range(date.fromordinal(first).year, date.fromordinal(last).year + 1)
            days += [span for year in years[-_MOST_YEARS:] if (span := _in_year(asked, year))]
    return tuple(dict.fromkeys(days))


def _in_year(asked: PartialDate, year: int) -> tuple[int, int] | None:
    try:
        first = date(year, asked.month, asked.day or 1)
    except ValueError:  # 29 February
        return None
    if asked.day:
        return first.toordinal(), first.toordinal()
    following = date(year + asked.month // 12, asked.month % 12 + 1, 1)
    return first.toordinal(), (following - timedelta(days=1)).toordinal()
