"""How much of a question a place tells, with those around it, and whatever else speaks for it, before any of that is
weighed; and how much of it any text tells by its words alone.

The share of a question's words that a text has is by weight. A long question has many words that nothing answers, so a
text is also taken for an answer if it has more of them than texts have by chance. `docs/measured.md` says what the
weights and the floor were set on, and how many questions each set refuses.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

from memory_v2.index.lookup import REACH, Facts, LookupResult, known_days
from memory_v2.index.places import StoredPassage
from memory_v2.index.postings import K1, B, Term, rarity
from memory_v2.index.terms import Question, flattened, terms, terms_of
from memory_v2.text.words import has_cjk, words
from memory_v2.tree.path import ROOT

RELATED = 0.5
"""What a word counts that says the same as a word of the question, or names a thing of that kind, relative to it."""

_Sums: TypeAlias = Sequence[Sequence[float]]
"""The length of a run up to each of its places, and how often it has each term of the question up to there."""


class Standing(NamedTuple):
    """BM25 of a place alone, with the one before it, with `REACH` on each side, and of all found under its heading."""

    own: float
    near: float
    wide: float
    whole: float
    context: float
    """Which part of the question, weighed by rarity, stands in the headings above."""
    told: float
    """Which part of it stands in the place or in the headings above."""
    alone: float
    """Which part of it stands in the place itself."""
    matched: tuple[str, ...]
    """The terms that the place has."""
    related: tuple[str, ...]
    """Those that it has only related ones of."""
    around: tuple[str, ...]
    """The terms that it has or those around it have."""

    @property
    def scores(self) -> tuple[float, float, float, float]:
        """The four scores, narrowest first."""
        return self[:4]


class Windows:
    """The places that were found, with what they hold of a question counted once."""

    def __init__(self, found: LookupResult) -> None:
        self._average = max(found.facts.length, 1.0)
        self.rarity = {term: rarity(count, found.facts.count) for term, count in found.frequency.items()}
        """How much it says that a place has each term of the question."""
        self.total = sum(self.rarity.values()) or 1.0
        """What all terms of the question say together."""
        self._blank = [f" {term} " for term in self.rarity]
        self._related: dict[str, list[int]] = {}
        """The numbers of the terms to which each other term is related."""
        for number, term in enumerate(self.rarity):
            for other in found.related.get(term, ()):
                self._related.setdefault(other, []).append(number)
        self._sums: dict[int, tuple[_Sums, _Sums, int]] = {}
        """Of the run of each place, of the terms alone and together with related ones, and its position there."""
        self._whole: dict[tuple[int, int], float] = {}
        places = sorted(found.places.values())
        for run, together in groupby(places, key=lambda place: (place.page, place.run)):
            self._add(run, list(together))

    def _add(self, run: tuple[int, int], together: Sequence[StoredPassage]) -> None:
        """Notes of each place of a run the sums of all that is before it, so that any stretch is one subtraction."""
        counts = [[place.length, *map(place.own.count, self._blank)] for place in together]
        alone = sums = _summed(counts)
        if self._related:
            sums = _summed([self._with_related(row, place) for row, place in zip(counts, together, strict=True)])
        for position, place in enumerate(together):
            self._sums[place.id] = (alone, sums, position)
        self._whole[run] = self._score(sums, 0, len(together))

    def _with_related(self, counts: Sequence[float], place: StoredPassage) -> Sequence[float]:
        """The counts of a place, in which related terms stand in for each term that it does not have."""
        length, *found = counts
        own = place.own.split()
        instead = [(number, own.count(term)) for term in self._related.keys() & own for number in self._related[term]]
        for number, times in instead:
            if not counts[number + 1]:
                found[number] += RELATED * times
        return length, *found

    def weight(self, terms: Iterable[str]) -> float:
        """How much it says that a place has these terms of the question."""
        return math.fsum(self.rarity[term] for term in terms)

    def has(self, place: StoredPassage) -> frozenset[str]:
        """The terms of the question that a place or a heading above it has."""
        return frozenset(
            term
            for term, blank in zip(self.rarity, self._blank, strict=True)
            if blank in place.own or blank in place.context
        )

    def standing(self, place: StoredPassage) -> Standing:
        """How a place and what stands around it score."""
        alone, sums, position = self._sums[place.id]
        end = min(position + REACH + 1, len(sums) - 1)
        start = max(position - REACH, 0)
        above = {term for term, blank in zip(self.rarity, self._blank, strict=True) if blank in place.context}
        matched = self._matched(alone, position, position + 1)
        either = self._matched(sums, position, position + 1) if self._related else matched
        related = tuple(term for term in either if term not in matched)
        return Standing(
            own=self._score(sums, position, position + 1),
            near=self._score(sums, max(position - 1, 0), position + 1),
            wide=self._score(sums, start, end),
            whole=self._whole[place.page, place.run],
            context=self.weight(above) / self.total,
            told=(self.weight(above.union(matched)) + RELATED * self.weight({*related} - above)) / self.total,
            alone=self.weight(matched) / self.total,
            matched=matched,
            related=related,
            around=self._matched(sums, start, end),
        )

    def _matched(self, sums: _Sums, start: int, end: int) -> tuple[str, ...]:
        return tuple(term for term, x, y in zip(self.rarity, sums[start][1:], sums[end][1:], strict=True) if x < y)

    def _score(self, sums: _Sums, start: int, end: int) -> float:
        """BM25 of some places read as one; longer ones are held against an average of as many."""
        (before, *counts), (after, *counted) = sums[start], sums[end]
        length = K1 * (1 - B + B * (after - before) / (self._average * (end - start)))
        score = 0.0
        for weight, x, y in zip(self.rarity.values(), counts, counted, strict=True):
            if x < y:
                score += weight * (y - x) * (K1 + 1) / (y - x + length)
        return score


def _summed(counts: Sequence[Sequence[float]]) -> _Sums:
    sums: list[Sequence[float]] = [[0] * len(counts[0])]
    for row in counts:
        sums.append([before + here for before, here in zip(sums[-1], row, strict=True)])
    return sums


_THE_TITLE = 2.0
"""How much it counts that a question is a title to the word, relative to one that has no other words."""
_THE_LEAD = 2.75
"""The same for the text that stands first under that title. It comes before all that stands further below, whatever
words of the title that repeats."""
_THE_LINE = 1.5
"""The same for a line that says nothing else: many a document has no other title."""
_NO_TITLE = (0.0, 0)
_DEEPEST = 5
"""How many steps below the root a title stands at most, for the ranking."""
_NUMBERED = re.compile(r"-\d+\Z")
"""The end of the path of a page whose name was taken by another."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place that may answer a question, with what speaks for it."""

    place: StoredPassage
    words: Standing
    day: bool
    """Whether the place falls on a day asked for."""
    named: bool
    """Whether the question names the speaker of this place, or the person that a note is about."""
    titled: float
    """How much the question is the title or the heading of the place."""
    deep: int
    """How many steps below the root that title stands if it is asked for to the word: pages, then headings."""
    cosine: float | None
    """How near it is in meaning, if that is known."""
    linked: float = 0.0
    """Which part of the question, weighed by rarity, it lacks and a place has that links to its page."""

    @property
    def is_talk(self) -> bool:
        """Whether it is part of a conversation."""
        return self.place.speaker is not None

    @property
    def is_front(self) -> bool:
        """Whether it is the front matter of its page."""
        return self.place.first_line == 1 and self.place.text.startswith("---")

    @property
    def answers(self) -> bool:
        """Whether it answers at all: by its own words or those above it, by its day, by the words around it, or by its
        meaning, if that is known."""
        near = self.words
        by_words = near.own or near.context or self.day or self.named or (self.is_talk and near.wide)
        return bool(by_words) or self.cosine is not None


def candidates(
    question: Question, found: LookupResult, *, is_title: bool = True, cosines: Mapping[int, float] | None = None
) -> list[Candidate]:
    """All places that were found, in their order; with `is_title`, it is told how much the question is a title."""
    windows, cosines = Windows(found), cosines or {}
    places = [found.places[place] for place in found.candidates]
    every = [_candidate(question, found, windows, place, cosines.get(place.id), is_title) for place in places]
    return _linked(_led(every, found), found, windows)


def _candidate(
    question: Question,
    found: LookupResult,
    windows: Windows,
    place: StoredPassage,
    cosine: float | None,
    is_title: bool,
) -> Candidate:
    if place.speaker:
        named = place.speaker in question.names
    else:
        named = any(f" {term} " in place.own or f" {term} " in place.context for term in found.name_terms)
    title = _title_asked(question, found, place) if is_title else _NO_TITLE
    on_day = found.days.include(place.since, place.until, vaguely=not is_title)
    return Candidate(place, windows.standing(place), on_day, named, *title, cosine)


def _title_asked(question: Question, found: LookupResult, place: StoredPassage) -> tuple[float, int]:
    """How much a question is the title of a page or a heading above a place: `_THE_TITLE` if it is that to the word,
    with how many steps below the root it stands; else, if all of it stands there, which part it is of all that stands
    there, and of the title alone."""
    asked, (path, _, title) = found.frequency.keys(), found.paths[place.page]
    is_line = bool(question.whole) and place.kind == "text" and flattened(place.text) == question.whole
    if not is_line and not (asked and all(f" {term} " in place.context for term in asked)):
        return _NO_TITLE
    if not {*found.words.values()}.issuperset(question.words):  # a word that no page has
        return _NO_TITLE
    section: list[str] = json.loads(place.section)
    names, above = section if section[:1] == [title] else [title, *section], 0 if path == ROOT else path.count("/") + 1
    for deep, name in enumerate(names, above):
        if _words_once(name) == question.every:
            return _THE_TITLE, min(deep, _DEEPEST)
    if is_line:
        return _THE_LINE, min(above + len(names), _DEEPEST)
    of_title = _terms_once(title)
    part = len(asked) / len(place.context.split()) + (len(asked) / len(of_title) if of_title >= asked else 0.0)
    return part / 2, 0


def _led(every: Sequence[Candidate], found: LookupResult) -> list[Candidate]:
    """The same, with `_THE_LEAD` for the first text of each page under a title that is asked for to the word; of `port`
    and `port-2`, only for that of `port`."""
    lead: dict[int, int] = {}
    for candidate in every:
        if candidate.titled == _THE_TITLE and candidate.place.kind == "text" and not candidate.is_front:
            lead.setdefault(candidate.place.page, candidate.place.id)  # the candidates are in order
    named = {found.paths[page][0]: place for page, place in lead.items()}
    leads = {place for path, place in named.items() if (name := _NUMBERED.sub("", path)) == path or name not in named}
    return [replace(candidate, titled=_THE_LEAD) if candidate.place.id in leads else candidate for candidate in every]


def _linked(every: list[Candidate], found: LookupResult, windows: Windows) -> list[Candidate]:
    """The same, for the places of pages to which others link. A place with several links says less about each."""
    linking: dict[int, list[tuple[Set[str], int]]] = {}
    for place, pages in found.links.items():
        for page in pages:
            linking.setdefault(page, []).append((windows.has(found.places[place]), len(pages)))
    if not linking:
        return every

    def part(candidate: Candidate) -> float:
        own = windows.has(candidate.place)
        return (
            max(windows.weight(there - own) / links for there, links in linking[candidate.place.page]) / windows.total
        )

    return [
        replace(candidate, linked=part(candidate))
        if candidate.place.page in linking and candidate.words.matched and not candidate.is_talk
        else candidate
        for candidate in every
    ]


@lru_cache(maxsize=1000)
def _words_once(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words(name)))


@lru_cache(maxsize=1000)
def _terms_once(name: str) -> frozenset[str]:
    return frozenset(terms(name))


FLOOR = 0.21
"""What the best text tells at least, if the memory answers. At .18 a quarter of the absences is no longer told; at .24
two in 40 of the questions that are answered would be refused."""
ALL = 0.7
"""What a text tells at least that is surely an answer. By words, .43 to .84 of the questions with an answer have such a
text in four sets, and at most .15 of those without one; at .6 a quarter."""
BEST = 8
"""How many of the best texts are looked at for an answer. With five, one more question in 40 would be refused; with
twelve, one absence less in 20 is told."""
UNKNOWN = 1.5
"""The weight of a word that the memory does not have, relative to the rarest that it has: what is asked for is missing,
but it may stand there in another word."""
NAME = 0.5
"""The weight of a name that the memory has, relative to another word as rare: it says about whom, and not what."""
SMALL, LARGE = 25, 100
"""The numbers of places between which these two weights go from 1 to their values: a memory of a few lines lacks most
words, and a name tells its lines apart."""
CHANCE = 1.4
"""How many times as much as one of the places must say by chance a text must say to be an answer whatever its share;
at 1.3 a fifth of the long messages are taken to be answered by the conversations of others, at 1.4 an eighth."""
NO_WORDS = 0.5
"""What any text tells if the question has no word that tells something, and names no day."""


class EntryTerms(NamedTuple):
    """The terms of a question that entries have, and how many places of entries there are."""

    known: Sequence[Term] = ()
    places: int = 0


NO_TERMS: Final = EntryTerms()
"""Entries do not count."""


class _Telling(NamedTuple):
    terms: frozenset[str]
    related: Sequence[str]
    weight: float
    known: float
    """How rare the word is in the memory; 0 if it does not have it."""

    def share(self, found: Collection[str]) -> float:
        """How much of the word a text with these terms has."""
        if not self.terms.isdisjoint(found):
            return 1.0
        return 0.0 if set(self.related).isdisjoint(found) else RELATED


def told(
    tables: sqlite3.Connection,
    facts: Facts,
    question: Question,
    texts: Sequence[tuple[str, date | None]],
    entries: EntryTerms = NO_TERMS,
) -> list[float]:
    """How much each of these texts, with the day on which it was said, tells of what is asked for, from 0 to 1: the
    share of the question's words that it has, by weight, and `FLOOR` at least if it has too many of them for chance. A
    day asked for counts as one more word, as rare as can be. The `entries` count for how rare a word is."""
    known = list(facts.vocabulary.known_terms(tables, question)) + list(entries.known)
    facts = replace(facts, count=facts.count + entries.places)
    telling = list(_telling(known, facts, question))
    days, most = known_days(tables, question.dates), math.fsum(word.weight for word in telling)
    of_day = rarity(0.5, facts.count) if days.spans else 0.0
    shares = []
    for (_, day), found in zip(texts, terms_of(text for text, _ in texts), strict=True):
        here = [(word, share) for word in telling if (share := word.share(found))]
        on_day = day is not None and days.include(day.toordinal(), day.toordinal())
        weight = math.fsum(share * word.weight for word, share in here) + of_day * on_day
        of_all = weight / (most + of_day) if most + of_day else NO_WORDS
        whole = [word for word, share in here if share == 1]
        shares.append(max(of_all, FLOOR) if _is_no_chance(whole, telling, facts) else of_all)
    return shares


def _is_no_chance(here: Sequence[_Telling], telling: Sequence[_Telling], facts: Facts) -> bool:
    """Whether these words of the question do not stand together by chance: the probability that they do, over all
    places and all choices of as many of its known words, is small."""
    known, have = sum(word.known > 0 for word in telling), sum(word.known > 0 for word in here)
    if have < 2:
        return False
    choices = math.log(math.comb(known, have))
    return math.fsum(word.known for word in here) - choices >= CHANCE * math.log(facts.count)


def _telling(known: Sequence[Term], facts: Facts, question: Question) -> Iterator[_Telling]:
    counts: Counter[str] = Counter()
    for one in known:
        counts[one.term] += one.frequency
    large = math.log(min(max(facts.count, SMALL), LARGE)) / math.log(LARGE)
    unknown = rarity(0.5, facts.count) * UNKNOWN * large
    for word, (whole, *_) in question.terms.items():
        # A pair of characters is another word than each of the two.
        forms = [one for one in known if one.word == word and (one.term == whole or not has_cjk(word))]
        here = frozenset({whole, *question.forms.get(whole, ()), *(form.term for form in forms)})
        related = question.related.get(whole, ())
        if not forms:
            yield _Telling(here, related, unknown, 0.0)
            continue
        if (
            all(form.term != whole for form in forms)
            and len(parts := question.terms[word][1:]) > 1
            and not has_cjk(word)
        ):
            # An identifier that no place has: each of its parts is a word.
            for part in dict.fromkeys(parts):
                known_by = rarity(counts[part], facts.count) if counts[part] else 0.0
                yield _Telling(frozenset({part}), (), known_by or unknown, known_by)
            continue
        weight = rarity(max(counts[form.term] for form in forms), facts.count)
        is_name = whole in question.proper and not any(map(str.isdigit, whole))
        yield _Telling(here, related, weight * (1 - (1 - NAME) * large if is_name else 1), weight)
