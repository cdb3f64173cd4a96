"""Finding the places that may answer a question: the first, wide step of a search, done by SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import Final

from memory_v2.index.days import ON_A_DAY, Days, known_days
from memory_v2.index.packed import packed, packed_rows
from memory_v2.index.question import Question
from memory_v2.index.said import Said, read_said
from memory_v2.index.tables import PAGE_OF
from memory_v2.index.terms import terms
from memory_v2.index.texts import Place, read_places
from memory_v2.index.vocabulary import Term, Vocabulary
from memory_v2.text.calendar import Calendar
from memory_v2.tree.block import Block
from memory_v2.tree.link import find_links
from memory_v2.tree.path import fold

CANDIDATES = 120
"""How many places the full-text table proposes at least."""
TALKED_ABOUT = 50
"""For how many of them the neighbouring places are candidates too, where people talk."""
REACH = 2
"""How many passages before and after a passage are read as its surroundings."""
LINKED = 30
"""How many places are proposed besides of the pages to which the best places link."""
RELATED = 60
"""How many places are proposed besides for words that are related to those of the question."""
HEADED = 60
"""How many places are proposed besides because a heading above them has all words of the question."""
POSTINGS = 10_000
"""How many places may be looked at for the words of a question. Words that occur in too many places are skipped."""
MAX_TERMS = 32
"""How many terms of a question are looked up, the rarest ones; and how many of the names that it names."""
CONTEXT_WEIGHT = 0.3
"""The BM25 weight of a term in a heading, relative to one in the text."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about all passages: the speakers, the number of passages, their average length in terms, and their
    terms."""

    names: tuple[str, ...]
    count: int
    length: float
    vocabulary: Vocabulary


@dataclass(frozen=True, slots=True)
class Only:
    """Which pages are looked through: a condition of SQL on passages, with its values. If there are only `few` of them,
    even common words tell them apart."""

    sql: str = ""
    given: Mapping[str, object] = field(default_factory=dict)
    few: bool = False


ANYWHERE: Final = Only()
"""All pages are looked through."""


@dataclass(frozen=True)
class Found:
    """The places that may answer a question and those around them; `frequency` is the number of places that have a
    term."""

    places: dict[int, Place]
    candidates: Sequence[int]
    frequency: dict[str, int]
    words: dict[str, str]
    """The word of the question for which each term stands."""
    facts: Facts
    voiced: frozenset[int]
    """The pages on which a person named in the question speaks."""
    days: Days
    """The days that the question asks for."""
    name_terms: frozenset[str]
    """The terms of the speakers' names in the question."""
    paths: dict[int, tuple[str, str, str]]
    """Path, last change and title of each page."""
    read_said: Callable[[Collection[int]], dict[int, Said]]
    """Reads when places were said."""
    links: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """The other pages to which each of the best places links."""
    related: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What places have instead of each term."""


def read_facts(tables: sqlite3.Connection) -> Facts:
    """Reads the facts about all passages."""
    names = tuple(name for (name,) in tables.execute("SELECT DISTINCT name FROM voices ORDER BY name"))
    count, length = tables.execute("SELECT passages, terms FROM totals").fetchone()
    return Facts(names, count, length / max(count, 1), Vocabulary())


def look_up(
    tables: sqlite3.Connection,
    facts: Facts,
    question: Question,
    limit: int,
    within: Collection[str] | None = None,
    *,
    calendar: Calendar,
    child_links: bool = False,
    headed: bool = True,
    everything: bool = False,
    only: Only = ANYWHERE,
) -> Found:
    """The places that have the rarer words of a question or are about its days, and those around them; with `headed`,
    those under a heading that has all its words, too; with `everything`, all others. `only` narrows it where to list
    the pages `within` would be long."""
    pages = None if within is None else _page_ids(tables, within)
    days = known_days(tables, question.dates)
    known = facts.vocabulary.known_terms(tables, question)
    looked_up = sorted(known, key=lambda term: (term.frequency, term.term))[:MAX_TERMS]
    # On a few pages even common words distinguish the places.
    rarer = looked_up if pages is not None or only.few else _rarer(looked_up)
    match = _match(question, rarer)
    proposed = _proposed(tables, match, days, pages, max(limit, CANDIDATES), only)
    related = {term.term: _related(tables, facts, question, term) for term in looked_up}
    instead = {other.term: other for term in rarer for other in related[term.term]}
    if instead:
        others = _rarer(sorted(instead.values(), key=lambda term: (term.frequency, term.term)))
        either = f"{match} OR {_any_of(other.term for other in others)}"
        proposed += _proposed(tables, either, Days(()), pages, RELATED, only)
    # In a conversation a name is on every line; in a note it is an ordinary word.
    telling = (term for term in question.name_terms if facts.vocabulary.frequency(tables, term) < POSTINGS)
    if names := _any_of(islice(telling, MAX_TERMS)):
        proposed += _proposed(tables, names, Days(()), pages, CANDIDATES // 4, only, "AND speaker IS NULL")
    if headed and looked_up and question.words and {term.word for term in looked_up}.issuperset(question.words):
        above = " AND ".join(f"({_any_of(_forms(question, term))})" for term in looked_up)
        proposed += _proposed(tables, f"context : ({above})", Days(()), pages, HEADED, only)
    if everything:
        proposed += [number for (number,) in tables.execute("SELECT id FROM passages ORDER BY id")]
    places = _with_surroundings(tables, proposed, question.forms)
    links = _links(tables, [places[place] for place in proposed[:TALKED_ABOUT]]) if headed else {}
    if links:
        linked = frozenset[int]().union(*links.values())
        inside = linked if pages is None else linked & pages
        proposed += _proposed(tables, match, Days(()), inside, LINKED, only)
        places = _with_surroundings(tables, proposed, question.forms)
    beside = {
        near
        for place in proposed[:TALKED_ABOUT]
        for near in range(place - REACH, place + REACH + 1)
        if place in places and near in places and places[near].page == places[place].page
    }
    candidates = [
        place
        for place in sorted(places.keys() & {*proposed, *(near for near in beside if _is_talk(places.get(near)))})
        if (child_links or places[place].kind != "child link") and (pages is None or places[place].page in pages)
    ]
    return Found(
        places,
        candidates,
        {term.term: term.frequency for term in looked_up},
        {term.term: term.word for term in looked_up},
        facts,
        _voiced(tables, question.names),
        days,
        frozenset(question.name_terms),
        _paths(tables, {places[place].page for place in candidates}),
        lambda some: read_said(tables, [places[place] for place in some], calendar),
        links,
        {term: [other.term for other in others] for term, others in related.items() if others},
    )


def _links(tables: sqlite3.Connection, places: Sequence[Place]) -> dict[int, frozenset[int]]:
    """The other pages to which each of these places links."""
    found = {
        place.id: {link.key for link in find_links(Block(place.text, "paragraph"))}
        for place in places
        if "[[" in place.text and place.kind == "text" and not _is_talk(place)
    }
    lengths = {len(key) for keys in found.values() for key in keys if key}
    # A path that is written in another case is as long, and to fold all paths would take longer.
    asked = "SELECT path, id FROM pages WHERE length(path) IN (SELECT value FROM json_each(?)) ORDER BY path"
    pages = {fold(path): page for path, page in tables.execute(asked, (packed(lengths),))} if lengths else {}
    linked = {
        place.id: frozenset(pages[one] for one in found.get(place.id, ()) if one in pages) - {place.page}
        for place in places
    }
    return {place: to for place, to in linked.items() if to}


def _page_ids(tables: sqlite3.Connection, within: Collection[str]) -> frozenset[int]:
    rows = tables.execute("SELECT id FROM pages WHERE path IN (SELECT value FROM json_each(?))", (packed(within),))
    return frozenset(number for (number,) in rows)


def _voiced(tables: sqlite3.Connection, names: Collection[str]) -> frozenset[int]:
    if not names:
        return frozenset()
    rows = tables.execute("SELECT page FROM voices WHERE name IN (SELECT value FROM json_each(?))", (packed(names),))
    return frozenset(page for (page,) in rows)


def _paths(tables: sqlite3.Connection, pages: Collection[int]) -> dict[int, tuple[str, str, str]]:
    source = "FROM pages WHERE id IN (SELECT value FROM json_each(:pages))"
    rows = packed_rows(tables, ("id", "path", "last_updated", "title"), source, {"pages": packed(pages)})
    found = {number: (path, moment, title) for number, path, moment, title in rows}
    if len(found) < len(pages):
        raise sqlite3.DatabaseError("the index has passages of no page")
    return found


def _rarer(looked_up: Sequence[Term]) -> Sequence[Term]:
    """The rarest terms, up to `POSTINGS` places in all, but at least two terms."""
    postings = accumulate(term.frequency for term in looked_up)
    return [
        term for place, (term, sum_) in enumerate(zip(looked_up, postings, strict=True)) if place < 2 or sum_ < POSTINGS
    ]


def _related(tables: sqlite3.Connection, facts: Facts, question: Question, asked: Term) -> list[Term]:
    """What places have instead of a term."""
    others = question.related.get(asked.term, ())
    counted = ((other, facts.vocabulary.frequency(tables, other)) for other in others)
    return [Term(other, asked.word, count) for other, count in counted if count]


def _match(question: Question, wanted: Sequence[Term]) -> str:
    """The FTS5 query for any of the terms and quoted phrases. Each is quoted, so that it contains no operators."""
    strings = [form for term in wanted for form in _forms(question, term)] + [
        " ".join(terms(phrase)) for phrase in question.quoted
    ]
    return _any_of(dict.fromkeys(strings))


def _forms(question: Question, term: Term) -> Sequence[str]:
    return term.term, *question.forms.get(term.term, ())


def _any_of(strings: Iterable[str]) -> str:
    return " OR ".join(map(_string, filter(None, strings)))


def _string(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _proposed(
    tables: sqlite3.Connection,
    match: str,
    days: Days,
    pages: Collection[int] | None,
    limit: int,
    only: Only,
    where: str = "",
) -> list[int]:
    """The best places by BM25, best first, then places of the days asked for, whatever their words."""
    where = f"{where} {only.sql}".strip()
    inside = where if pages is None else f"{where} AND {PAGE_OF} IN (SELECT value FROM json_each(:pages))"
    given: dict[str, object] = {**only.given, "match": match, "limit": limit}
    given["pages"] = None if pages is None else packed(pages)
    found = _best(tables, inside, given) if match else []
    if days.spans:
        days.ask(tables)
        on_day = f"AND {ON_A_DAY} {inside}"
        given |= {"limit": limit // 2, "last": days.merged[-1][1]}
        then = _best(tables, on_day, given) if match else []
        if len(then) < limit // 4:
            newest = (
                f"SELECT passages.id FROM passages JOIN pages ON pages.id = {PAGE_OF} "
                f"WHERE since <= :last {on_day} ORDER BY since DESC, path, first_line LIMIT :limit"
            )
            then += [number for (number,) in tables.execute(newest, given)]
        found += then
    return list(dict.fromkeys(found))


def _best(tables: sqlite3.Connection, where: str, given: Mapping[str, object]) -> list[int]:
    """The places that match best, best first. Ties are ordered by page and line, so the order of indexing does not
    matter."""
    # CROSS JOIN keeps the full-text table first: looked up place by place it would take a thousand times as long.
    joined = "CROSS JOIN passages ON passages.id = words.rowid" if where else ""
    # The score is asked for by name, as FTS5 sorts all matches for `ORDER BY rank`, and SQLite only the best here.
    best = (
        f"SELECT words.rowid AS place, bm25(words, 1.0, {CONTEXT_WEIGHT}) AS score FROM words {joined} "
        f"WHERE words MATCH :match {where} ORDER BY score, place LIMIT :limit"
    )
    in_order = (
        f"SELECT place FROM ({best}) CROSS JOIN passages ON passages.id = place "
        f"CROSS JOIN pages ON pages.id = {PAGE_OF} ORDER BY score, path, first_line, place"
    )
    return [number for (number,) in packed_rows(tables, ("place",), f"FROM ({in_order})", given)]


def _is_talk(place: Place | None) -> bool:
    """Whether a place is part of a conversation: it may then answer by what was said around it."""
    return place is not None and place.speaker is not None


def _with_surroundings(
    tables: sqlite3.Connection, proposed: Sequence[int], forms: Mapping[str, Sequence[str]]
) -> dict[int, Place]:
    """These places and those around them, with each term in place of its other `forms`."""
    # The places beside the best are candidates too, and need surroundings of their own.
    reach = {place: REACH if rank >= TALKED_ABOUT else 2 * REACH for rank, place in enumerate(proposed)}
    near = {step for place, far in reach.items() for step in range(place - far, place + far + 1)}
    instead = [(f" {form} ", f" {verb} ") for verb, others in forms.items() for form in others]
    read = read_places(tables, near)
    if not read.keys() >= set(proposed):
        raise sqlite3.DatabaseError("the index has a passage without a text")
    for form, verb in instead:
        for place, one in read.items():
            if form in one.own or form in one.context:
                read[place] = one._replace(own=one.own.replace(form, verb), context=one.context.replace(form, verb))
    return {  # without neighbouring ids of other pages
        step: read[step]
        for place, far in reach.items()
        for step in range(place - far, place + far + 1)
        if step in read and read[step].page == read[place].page
    }
