"""Finding the places that may answer a question, by its words, by the days that it asks for, and by its meaning: the
first, wide step of a search, done by SQLite."""

from __future__ import annotations

import math
import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from itertools import accumulate, islice
from typing import Protocol

from memory_v2.index.line_dates import PassageDate, read_said, read_said_of_entries
from memory_v2.index.places import (
    ENTRIES,
    PAGE_OF,
    PAGES,
    SLOT_BITS,
    Kind,
    StoredPassage,
    kind_of,
    packed,
    packed_rows,
    passages_and_pages,
    read_places,
)
from memory_v2.index.postings import ANYWHERE, Only, Scores, Term, Vocabulary, any_of, places_above, rarity
from memory_v2.index.terms import Question
from memory_v2.text.dates import PartialDate, Span
from memory_v2.text.days import Calendar
from memory_v2.tree.block import Block
from memory_v2.tree.path import find_links, fold

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
ON_A_DAY = "since <= (SELECT last FROM asked WHERE first <= until ORDER BY first DESC LIMIT 1)"
"""The condition that a passage falls on one of the days `asked`, of which no two overlap."""
_MOST_YEARS = 60
"""Of how many years at most, the last ones, a day without a year may be."""
_YEAR = 364
"""How many days after its first one a year ends, at least."""


@dataclass(frozen=True)
class Days:
    """Spans of days as ordinals, first and last, in the order in which the question names them."""

    spans: tuple[tuple[int, int], ...]
    of_any_year: bool = False
    """Whether the question names a day or a month without a year."""

    @cached_property
    def merged(self) -> list[tuple[int, int]]:
        """The same days in order; spans that overlap or follow each other are one."""
        merged: list[tuple[int, int]] = []
        for first, last in sorted(self.spans):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(merged[-1][1], last))
            else:
                merged.append((first, last))
        return merged

    def include(self, since: int | None, until: int | None, vaguely: bool = False) -> bool:
        """Whether any day from `since` to `until` is one of these; if the year is not said, a whole year or more is so
        only `vaguely`: what is said of 2028 is not said of July."""
        if since is None or until is None or (self.of_any_year and until - since >= _YEAR and not vaguely):
            return False
        before = bisect_right(self.merged, until, key=lambda span: span[0])
        return before > 0 and since <= self.merged[before - 1][1]

    def named(self, since: int | None, until: int | None) -> tuple[int, int] | None:
        """The first span, as the question names them, that has a day from `since` to `until`."""
        if since is None or until is None or not self.include(since, until):
            return None
        return next((span for span in self.spans if since <= span[1] and span[0] <= until), None)

    def ask(self, tables: sqlite3.Connection) -> None:
        """Puts these days into the table `asked` of this connection."""
        tables.execute("DELETE FROM asked")
        rows = "SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?)"
        tables.execute(f"INSERT INTO asked {rows}", (packed(self.merged),))


def known_days(tables: sqlite3.Connection, dates: Collection[Span | PartialDate], kind: Kind = PAGES) -> Days:
    """The days that are meant; a day or month of no year in particular is one of each year that a passage is about."""
    of_any_year = any(isinstance(asked, PartialDate) for asked in dates)
    years = _years(tables, kind) if of_any_year else range(0)
    spans = (span for one in dates for span in (one.in_years(years) if isinstance(one, PartialDate) else [one]))
    return Days(tuple(dict.fromkeys((span.start.toordinal(), span.end.toordinal()) for span in spans)), of_any_year)


def _years(tables: sqlite3.Connection, kind: Kind) -> range:
    # One by one each end is read off the index; asked for at once they take a walk over all of it.
    first, last = (
        tables.execute(f"SELECT {end}(since) FROM {kind}passages WHERE since IS NOT NULL").fetchone()[0]
        for end in ("min", "max")
    )
    if first is None:
        return range(0)
    return range(date.fromordinal(first).year, date.fromordinal(last).year + 1)[-_MOST_YEARS:]


class SemanticScores(Protocol):
    """What the meaning of a question says of places."""

    def nearest(self, only: Only) -> list[int]:
        """The places of a kind that are nearest, among those that meet a condition."""

    def cosines(self, places: Collection[StoredPassage]) -> dict[int, float]:
        """How near these places are, as the cosine of the nearest of their statements; those that have no vector are
        not among them."""

    def alike(self, one: StoredPassage, other: StoredPassage) -> float | None:
        """How near two places are to each other, as a cosine; `None` if one has no vector."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about all passages: the speakers, the number of passages, their average length in terms, and their
    terms."""

    names: tuple[str, ...]
    count: int
    length: float
    vocabulary: Vocabulary


@dataclass(frozen=True)
class LookupResult:
    """The places that may answer a question and those around them; `frequency` is the number of places that have a
    term."""

    places: dict[int, StoredPassage]
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
    read_said: Callable[[Collection[int]], dict[int, PassageDate]]
    """Reads when places were said."""
    links: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """The other pages to which each of the best places links."""
    related: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What places have instead of each term."""

    def known_share(self, question: Question) -> float:
        """Which part of the question's words any place has, by weight; one that none has is as rare as can be."""
        known = math.fsum(rarity(count, self.facts.count) for count in self.frequency.values())
        unknown = len({*question.words}.difference(self.words.values())) * rarity(0.5, self.facts.count)
        return known / (known + unknown) if known else 0.0


def read_facts(tables: sqlite3.Connection, kind: Kind = PAGES) -> Facts:
    """Reads the facts about all passages of a kind."""
    names = tuple(name for (name,) in tables.execute(f"SELECT DISTINCT name FROM {kind}voices ORDER BY name"))
    count, length = tables.execute(f"SELECT passages, terms FROM {kind}totals").fetchone()
    return Facts(names, count, length / max(count, 1), Vocabulary(kind))


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
    semantic: SemanticScores | None = None,
    only: Only = ANYWHERE,
) -> LookupResult:
    """The places that have the rarer words of a question or are about its days, and those around them; with `headed`,
    those under a heading that has all its words, too; and those that are near in meaning. `only` narrows it where to
    list the pages `within` would be long."""
    pages = None if within is None else _page_ids(tables, within)
    if pages is not None:
        only = only.also(f"{PAGE_OF} IN (SELECT value FROM json_each(:pages))", pages=packed(pages))
    days = known_days(tables, question.dates, only.kind)
    known = facts.vocabulary.known_terms(tables, question)
    looked_up = sorted(known, key=lambda term: (term.frequency, term.term))[:MAX_TERMS]
    # On a few pages even common words distinguish the places.
    rarer = looked_up if pages is not None or only.few else _rarer(looked_up)
    scores = _scores(tables, facts, question, rarer, only)
    proposed = scores.best(max(limit, CANDIDATES))
    if days.spans:
        proposed += _on_days(tables, facts, question, rarer, days, max(limit, CANDIDATES), only)
    if headed and looked_up and question.words and {term.word for term in looked_up}.issuperset(question.words):
        above = " AND ".join(f"({any_of(question.all_forms(term.term))})" for term in looked_up)
        proposed += _first_of(tables, places_above(tables, above, only), HEADED, only.kind)
    related = {term.term: _related(tables, facts, question, term) for term in looked_up}
    if instead := {other.term: other for term in rarer for other in related[term.term]}:
        for other in _rarer(sorted(instead.values(), key=lambda term: (term.frequency, term.term))):
            scores.add([other.term], other.frequency)
        proposed += scores.best(RELATED)
    # In a conversation a name is on every line; in a note it is an ordinary word.
    names = Scores(tables, facts.count, facts.length, only.also("speaker IS NULL"))
    counted = ((term, facts.vocabulary.frequency(tables, term)) for term in question.name_terms)
    for term, count in islice((one for one in counted if 0 < one[1] < POSTINGS), MAX_TERMS):
        names.add([term], count)
    proposed += names.best(CANDIDATES // 4)
    if semantic:
        proposed += semantic.nearest(only)
    proposed = list(dict.fromkeys(proposed))
    places = _with_surroundings(tables, proposed, question.forms)
    talked_about = [places[place] for place in proposed[:TALKED_ABOUT]]
    # What entries link to are pages, which are not among their places.
    links = _links(tables, talked_about) if headed and only.kind == PAGES else {}
    if links:
        linked = frozenset[int]().union(*links.values())
        on_linked = only.also(f"{PAGE_OF} IN (SELECT value FROM json_each(:linked))", linked=packed(linked))
        proposed += _scores(tables, facts, question, rarer, on_linked).best(LINKED)
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
    return LookupResult(
        places,
        candidates,
        {term.term: term.frequency for term in looked_up},
        {term.term: term.word for term in looked_up},
        facts,
        _voiced(tables, question.names) if only.kind == PAGES else frozenset(),
        days,
        frozenset(question.name_terms),
        _paths(tables, {places[place].page for place in candidates}, only.kind),
        lambda some: (
            read_said(tables, [places[place] for place in some], calendar)
            if only.kind == PAGES
            else read_said_of_entries(tables, some)
        ),
        links,
        {term: [other.term for other in others] for term, others in related.items() if others},
    )


def joined(found: LookupResult, entries: LookupResult) -> LookupResult:
    """What was found among pages and among entries, as one, to be ranked as one: how rare a word is, and how long a
    place is on average, is counted over both together."""

    def read_said(places: Collection[int]) -> dict[int, PassageDate]:
        of_pages = [place for place in places if kind_of(place) == PAGES]
        of_entries = [place for place in places if kind_of(place) == ENTRIES]
        return found.read_said(of_pages) | entries.read_said(of_entries)

    terms = found.frequency | entries.frequency
    one, other = found.facts, entries.facts
    count = one.count + other.count
    length = (one.count * one.length + other.count * other.length) / max(count, 1)
    return replace(
        found,
        places=found.places | entries.places,
        candidates=[*found.candidates, *entries.candidates],
        frequency={term: found.frequency.get(term, 0) + entries.frequency.get(term, 0) for term in terms},
        words=found.words | entries.words,
        facts=replace(one, count=count, length=length),
        paths=found.paths | entries.paths,
        read_said=read_said,
        related={term: sorted({*found.related.get(term, ()), *entries.related.get(term, ())}) for term in terms},
    )


def _first_of(tables: sqlite3.Connection, places: Collection[int], limit: int, kind: Kind) -> list[int]:
    """Of places below a heading those that stand nearest to the beginnings of their pages."""
    listed = "SELECT value FROM json_each(:places)"
    order = f"slot, id & {(1 << SLOT_BITS) - 1}, id"
    first = f"SELECT id FROM {kind}passages WHERE id IN ({listed}) ORDER BY {order} LIMIT :limit"
    return [
        number
        for (number,) in packed_rows(tables, ("id",), f"FROM ({first})", {"places": packed(places), "limit": limit})
    ]


def _links(tables: sqlite3.Connection, places: Sequence[StoredPassage]) -> dict[int, frozenset[int]]:
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


def _paths(tables: sqlite3.Connection, pages: Collection[int], kind: Kind) -> dict[int, tuple[str, str, str]]:
    source = f"FROM {kind}pages WHERE id IN (SELECT value FROM json_each(:pages))"
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


def _scores(tables: sqlite3.Connection, facts: Facts, question: Question, wanted: Iterable[Term], only: Only) -> Scores:
    """What places have of some terms of a question, and of its quotations."""
    scores = Scores(tables, facts.count, facts.length, only)
    for forms, count in {question.all_forms(term.term): term.frequency for term in wanted}.items():
        scores.add(forms, count)
    scores.add_phrases(question.quoted)
    return scores


def _on_days(
    tables: sqlite3.Connection,
    facts: Facts,
    question: Question,
    wanted: Iterable[Term],
    days: Days,
    limit: int,
    only: Only,
) -> list[int]:
    """The best places of the days asked for, then the newest ones, whatever their words."""
    days.ask(tables)
    on_day = only.also(ON_A_DAY)
    then = _scores(tables, facts, question, wanted, on_day).best(limit // 2)
    if len(then) < limit // 4:
        newest = (
            f"SELECT passages.id FROM {passages_and_pages(only.kind)} "
            f"WHERE since <= :last {on_day.sql} ORDER BY since DESC, path, first_line LIMIT :limit"
        )
        given = {**on_day.given, "last": days.merged[-1][1], "limit": limit // 2}
        then += [number for (number,) in tables.execute(newest, given)]
    return then


def _is_talk(place: StoredPassage | None) -> bool:
    """Whether a place is part of a conversation: it may then answer by what was said around it."""
    return place is not None and place.speaker is not None


def _with_surroundings(
    tables: sqlite3.Connection, proposed: Sequence[int], forms: Mapping[str, Sequence[str]]
) -> dict[int, StoredPassage]:
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
