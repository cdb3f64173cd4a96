"""The places that may answer a question: how much of it each tells, alone and with those around it, and whatever else
speaks for it, before any of that is weighed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple, TypeAlias

from memory_v2.index.lookup import REACH, LookupResult
from memory_v2.index.places import StoredPassage
from memory_v2.index.postings import K1, B, rarity
from memory_v2.index.terms import Question, flattened, terms
from memory_v2.text.words import words
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
