"""Which places a question may mean: the first, wide step of a search, done by SQLite."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple
from zlib import crc32

from memory_v2.index.base import Hit
from memory_v2.index.question import Question
from memory_v2.text.dates import PartialDate, Span

CANDIDATES = 200
"""Places that the full-text table proposes; as many again stand next to them."""
REACH = 2
"""How many passages before and after a passage are read as its surroundings."""
POSTINGS = 20_000
"""Places that may be looked at for the words of a question; the words that most places have are passed over."""
CONTEXT_WEIGHT = 0.3
_MOST_YEARS = 60
_SHORTEST = 5


class Place(NamedTuple):
    """One passage as the tables have it, for ranking: its terms as `own`, those of the headings above as `context`."""

    id: int
    page: int
    run: int
    kind: str
    first_line: int
    text: str
    speaker: str | None
    since: int | None
    until: int | None
    temporal: int
    question: int
    length: int
    own: str
    context: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What holds for all passages: who speaks, how many there are, how long they are."""

    names: tuple[str, ...]
    count: int
    length: float


@dataclass(frozen=True)
class Found:
    """The places that a question may mean, those around them, and how rare each term is: how many places have it."""

    places: dict[int, Place]
    candidates: Sequence[int]
    frequency: dict[str, int]
    words: dict[str, str]
    """The word of the question for which each term stands."""
    facts: Facts
    voiced: frozenset[int]
    """The pages on which somebody speaks who is named in the question."""
    days: tuple[tuple[int, int], ...]
    """First and last day of each date in the question, as ordinals."""
    paths: dict[int, tuple[str, str]]
    """Path and last change of each page."""


def read_facts(tables: sqlite3.Connection) -> Facts:
    """What holds for all passages."""
    names = tuple(name for (name,) in tables.execute("SELECT DISTINCT name FROM voices ORDER BY name"))
    count, length = tables.execute("SELECT coalesce(sum(places), 0), coalesce(sum(terms), 0) FROM pages").fetchone()
    return Facts(names, count, length / max(count, 1))


def look_up(
    tables: sqlite3.Connection, facts: Facts, question: Question, within: Collection[str] | None, *, entries: bool
) -> Found:
    """The places that have the rarer words of a question or speak of its days, and those around them."""
    pages = None if within is None else _page_ids(tables, within)
    days = _days(tables, question.dates)
    looked_up = list(_terms(tables, question))
    frequency = {term: count for term, _, count in looked_up}
    proposed = _proposed(tables, question, frequency, days, pages)
    places = _with_surroundings(tables, proposed)
    allowed = {
        place.id
        for place in places.values()
        if (entries or place.kind != "entry") and (pages is None or place.page in pages)
    }
    around = {near for place in proposed for near in range(place - REACH, place + REACH + 1) if near in allowed}
    candidates = sorted(near for near in around)
    return Found(
        places,
        candidates,
        frequency,
        {term: word for term, word, _ in looked_up},
        facts,
        _voiced(tables, question.names),
        days,
        _paths(tables, {places[place].page for place in candidates}),
    )


def _page_ids(tables: sqlite3.Connection, within: Collection[str]) -> frozenset[int]:
    rows = tables.execute("SELECT id FROM pages WHERE path IN (SELECT value FROM json_each(?))", (_json(within),))
    return frozenset(number for (number,) in rows)


def _voiced(tables: sqlite3.Connection, names: Collection[str]) -> frozenset[int]:
    if not names:
        return frozenset()
    rows = tables.execute("SELECT page FROM voices WHERE name IN (SELECT value FROM json_each(?))", (_json(names),))
    return frozenset(page for (page,) in rows)


def _paths(tables: sqlite3.Connection, pages: Collection[int]) -> dict[int, tuple[str, str]]:
    rows = tables.execute(
        "SELECT id, path, last_updated FROM pages WHERE id IN (SELECT value FROM json_each(?))", (_json(pages),)
    )
    return {number: (path, moment) for number, path, moment in rows}


def _terms(tables: sqlite3.Connection, question: Question) -> Iterator[tuple[str, str, int]]:
    """Each term to look up, the word it is for, and how many places have it. For a word that none has, its parts stand
    in, or else a longer or shorter form: `citizen` for `citizenship`."""
    for word, (whole, *parts) in question.terms.items():
        if count := _frequency(tables, whole):
            yield whole, word, count
            continue
        for term in parts or _forms(tables, whole):
            if count := _frequency(tables, term):
                yield term, word, count


def _frequency(tables: sqlite3.Connection, term: str) -> int:
    return int(tables.execute("SELECT coalesce(max(doc), 0) FROM vocabulary WHERE term = ?", (term,)).fetchone()[0])


def _forms(tables: sqlite3.Connection, term: str) -> list[str]:
    if len(term) < _SHORTEST or not term.isalpha():
        return []
    shorter = [term[:length] for length in range(len(term) - 1, max(_SHORTEST, len(term) * 3 // 5) - 1, -1)]
    known = next((form for form in shorter if _frequency(tables, form)), None)
    longer = tables.execute(
        "SELECT term FROM vocabulary WHERE term > ? AND term < ? ORDER BY doc DESC, term LIMIT 1",
        (term, term + chr(sys.maxunicode)),
    ).fetchall()
    return [form for (form,) in longer] or ([known] if known else [])


def _proposed(
    tables: sqlite3.Connection,
    question: Question,
    frequency: dict[str, int],
    days: Sequence[tuple[int, int]],
    pages: Collection[int] | None,
) -> list[int]:
    """The best places by BM25; those of the days asked for with them, whatever their words."""
    wanted = _rarer(frequency)
    anywhere = "SELECT rowid FROM words WHERE words MATCH ? AND rank MATCH ?"
    rank = f"bm25(1.0, {CONTEXT_WEIGHT})"
    inside, where = "", tuple[str, ...]()
    if pages is not None:
        inside = " AND rowid IN (SELECT id FROM passages WHERE page IN (SELECT value FROM json_each(?)))"
        where = (_json(pages),)
    found: list[int] = []
    match = " OR ".join('"' + term.replace('"', '""') + '"' for term in wanted)
    if match:
        found += _ids(tables, f"{anywhere}{inside} ORDER BY rank LIMIT {CANDIDATES}", (match, rank, *where))
    for first, last in days:
        then = "SELECT id FROM passages WHERE since <= ? AND until >= ?"
        if match:
            sql = f"{anywhere}{inside} AND rowid IN ({then}) ORDER BY rank LIMIT {CANDIDATES // 2}"
            found += _ids(tables, sql, (match, rank, *where, last, first))
        if len(days) <= 3:
            sql = then + inside.replace("rowid", "id") + f" ORDER BY until - since, id LIMIT {CANDIDATES // 4}"
            found += _ids(tables, sql, (last, first, *where))
    return list(dict.fromkeys(found))


def _rarer(frequency: dict[str, int]) -> list[str]:
    """The terms from the rarest on, as long as not too many places have them."""
    wanted: list[str] = []
    postings = 0
    for term, count in sorted(frequency.items(), key=lambda pair: (pair[1], pair[0])):
        postings += count
        if len(wanted) > 1 and postings > POSTINGS:
            break
        wanted.append(term)
    return wanted


def _ids(tables: sqlite3.Connection, sql: str, given: Iterable[object]) -> list[int]:
    return [number for (number,) in tables.execute(sql, tuple(given))]


def _with_surroundings(tables: sqlite3.Connection, proposed: Collection[int]) -> dict[int, Place]:
    # Twice the reach: the places around a proposed one are candidates too, and want their own surroundings.
    reach = 2 * REACH
    ids = sorted({near for place in proposed for near in range(place - reach, place + reach + 1)})
    columns = ", ".join(Place._fields)
    rows = tables.execute(f"SELECT {columns} FROM passages WHERE id IN (SELECT value FROM json_each(?))", (_json(ids),))
    return {row[0]: Place(*row) for row in rows}


def _days(tables: sqlite3.Connection, dates: Iterable[Span | PartialDate]) -> tuple[tuple[int, int], ...]:
    """The days that are meant; a day or month of no year in particular is one of each year there is."""
    days: list[tuple[int, int]] = []
    for asked in dates:
        if isinstance(asked, Span):
            days.append((asked.start.toordinal(), asked.end.toordinal()))
            continue
        first, last = tables.execute("SELECT min(since), max(until) FROM passages WHERE since IS NOT NULL").fetchone()
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


def hit_of(tables: sqlite3.Connection, place: Place, score: float, found_by: str) -> Hit:
    """The place as it is shown."""
    path, moment, block, last_line, section, text, check_sum = tables.execute(
        "SELECT path, last_updated, block, last_line, section, text, check_sum FROM passages "
        "JOIN pages ON pages.id = page WHERE passages.id = ?",
        (place.id,),
    ).fetchone()
    if crc32(text.encode()) != check_sum:  # bytes of the file were overwritten where SQLite does not notice it
        raise sqlite3.DatabaseError("a text in the index is not the one that was stored")
    day = date.fromordinal(place.since) if place.since else datetime.fromisoformat(moment).date()
    return Hit(path, block, place.first_line, last_line, text, score, day, tuple(json.loads(section)), found_by)


def _json(values: Iterable[object]) -> str:
    return json.dumps(sorted(values, key=str))
