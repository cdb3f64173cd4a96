"""Which of the places found answers best.

Measured on conversations: a place is read with what stands around it and returned alone; who speaks, which day it is
and whether it has words of time weigh softly. Each of these costs nothing where it does not apply.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import groupby
from typing import NamedTuple

from memory_v2.index.lookup import REACH, Found, Place
from memory_v2.index.question import Question, flattened
from memory_v2.index.terms import terms
from memory_v2.text.dates import Span, covers
from memory_v2.text.words import STOPWORDS

K1, B = 1.2, 0.75

_COMPARED = 40
_NUMBER = re.compile(r"[ \t]{0,3}(\d{1,9})[.)][ \t]")


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each sign counts. Found on three conversations and rounded; see `bench/retrieval.py`."""

    own: float
    near: float
    wide: float
    whole: float = 1.0
    context: float = 1.0
    phrase: float = 2.0
    said_by: float = 2.0
    said_by_near: float = 1.0
    takes_part: float = 3.5
    day: float = 6.0
    when: float = 2.5
    asks: float = -0.75


TALK = Weights(own=1.0, near=2.0, wide=5.0, whole=0.5)
"""For what somebody says: an answer takes its words from the question before it."""
NOTE = Weights(own=5.0, near=2.0, wide=1.0)
"""For what is written down: it speaks for itself."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A place with its score from 0 to 1, and why it was found."""

    place: Place
    score: float
    found_by: str


@dataclass(frozen=True, slots=True)
class _Signs:
    place: Place
    own: float
    near: float
    wide: float
    whole: float
    context: float
    matched: tuple[str, ...]
    around: tuple[str, ...]


class _Best(NamedTuple):
    own: float
    near: float
    wide: float
    whole: float


def rank(question: Question, found: Found, limit: int) -> list[Ranked]:
    """The best of the candidates that answer the question at all, best first."""
    scores = _Scores(found)
    signs = [scores.signs(found.places[place]) for place in found.candidates]
    best = _Best(*(max((getattr(sign, name) for sign in signs), default=0.0) or 1.0 for name in _Best._fields))
    scored = [(_score(question, found, sign, best), sign) for sign in signs if _answers(found, sign)]
    scored.sort(key=lambda pair: (-pair[0], found.paths[pair[1].place.page][0], pair[1].place.id))
    ranked = _newest_first(found, scored)[:limit]
    return [Ranked(sign.place, squashed(score), _why(question, found, sign)) for score, sign in ranked]


def _why(question: Question, found: Found, sign: _Signs) -> str:
    place, words = sign.place, found.words
    reasons = []
    if sign.matched:
        reasons.append(", ".join(dict.fromkeys(words[term] for term in sign.matched)))
    elif sign.context:
        above = [words[term] for term in words if f" {term} " in place.context]
        reasons.append("above it: " + ", ".join(dict.fromkeys(above)))
    elif sign.wide:
        reasons.append("said around it: " + ", ".join(dict.fromkeys(words[term] for term in sign.around)))
    if day := _day(found, place):
        reasons.append(f"date {covers(Span(*map(date.fromordinal, day)))}")
    if place.speaker in question.names:
        reasons.append(f"said by {place.speaker}")
    return "; ".join(reasons)


def _newest_first(found: Found, scored: Sequence[tuple[float, _Signs]]) -> list[tuple[float, _Signs]]:
    """Of places that say the same thing of the same thing but for a word or two, the newest stands first: it takes the
    rank of the best of them, and the others follow on the ranks they had."""
    ordered = list(scored)
    said = [_substance(sign.place) for _, sign in ordered[:_COMPARED]]
    placed: set[int] = set()
    for first, (_, sign) in enumerate(scored[:_COMPARED]):
        if first in placed or not sign.matched:
            continue
        ranks = [
            other
            for other in range(first, len(said))
            if other not in placed and _versions(sign, said[first], scored[other][1], said[other])
        ]
        newest = sorted((scored[rank][1] for rank in ranks), key=lambda s: _age(found, s.place), reverse=True)
        for rank, member in zip(ranks, newest, strict=True):
            ordered[rank] = (scored[rank][0], member)
        placed.update(ranks)
    return ordered


def _versions(one: _Signs, said: frozenset[str], other: _Signs, also: frozenset[str]) -> bool:
    """Whether two places answer with the same words, and have most of all their words in common."""
    if one.place.speaker or other.place.speaker:  # who talks on says something else in much the same words
        return False
    return set(one.matched) == set(other.matched) and 2 * len(said & also) >= max(len(said), len(also))


def _substance(place: Place) -> frozenset[str]:
    marker = _NUMBER.match(place.text)
    return frozenset(place.own.split()[1 if marker else 0 :]) - _function_words()


def _age(found: Found, place: Place) -> tuple[int, int, str, str, int]:
    """Later for what is newer: by its day, by its number in a list, by its page's last change, by where it stands."""
    path, moment = found.paths[place.page]
    number = _NUMBER.match(place.text)
    return (place.since or 0, int(number[1]) if number else 0, moment, path, place.id)


@cache
def _function_words() -> frozenset[str]:
    return frozenset(term for word in STOPWORDS for term in terms(word))


def squashed(score: float) -> float:
    """A score as a number from 0 to 1, in the same order."""
    return max(score, 0.0) / (max(score, 0.0) + 5)


def _answers(found: Found, sign: _Signs) -> bool:
    """Whether a place answers at all: by words of its own or above it, by its day, or by what was said around it."""
    return bool(sign.matched or sign.context or (sign.place.speaker and sign.wide) or _day(found, sign.place))


def _day(found: Found, place: Place) -> tuple[int, int] | None:
    """The days asked for on one of which the place falls."""
    if place.since is None or place.until is None:
        return None
    since, until = place.since, place.until
    return next((days for days in found.days if since <= days[1] and days[0] <= until), None)


def _score(question: Question, found: Found, sign: _Signs, best: _Best) -> float:
    place = sign.place
    weights = TALK if place.speaker else NOTE
    near = sign.near / best.near
    score = weights.own * sign.own / best.own + weights.near * near
    score += weights.wide * sign.wide / best.wide + weights.whole * sign.whole / best.whole
    score += weights.context * sign.context
    if place.speaker in question.names:
        score += weights.said_by + weights.said_by_near * near
    if place.page in found.voiced:
        score += weights.takes_part
    if _day(found, place):
        score += weights.day
    if question.when and place.temporal:
        score += weights.when
    if place.question:
        score += weights.asks
    if question.phrases:
        flat = flattened(place.text)
        score += weights.phrase * any(phrase in flat for phrase in question.phrases)
    return score


class _Scores:
    """BM25 of a question over each place, over the places around it, and over all that were found under its heading."""

    def __init__(self, found: Found) -> None:
        self._average = max(found.facts.length, 1.0)
        self._rarity = {term: rarity(count, found.facts.count) for term, count in found.frequency.items()}
        self._total = sum(self._rarity.values()) or 1.0
        self._blank = [f" {term} " for term in self._rarity]
        self._sums: dict[int, tuple[list[list[int]], int]] = {}
        self._whole: dict[tuple[int, int], float] = {}
        places = sorted(found.places.values())
        for run, together in groupby(places, key=lambda place: (place.page, place.run)):
            self._add(run, list(together))

    def _add(self, run: tuple[int, int], together: Sequence[Place]) -> None:
        """Notes of each place of a run the sums of all that is before it, so that any stretch is one subtraction."""
        counts = [[place.length, *map(place.own.count, self._blank)] for place in together]
        sums = [[0] * (len(self._blank) + 1)]
        for row in counts:
            sums.append([before + here for before, here in zip(sums[-1], row, strict=True)])
        for position, place in enumerate(together):
            self._sums[place.id] = (sums, position)
        self._whole[run] = self._score(sums, 0, len(together))

    def signs(self, place: Place) -> _Signs:
        """What speaks for a place."""
        sums, position = self._sums[place.id]
        end = min(position + REACH + 1, len(sums) - 1)
        start = max(position - REACH, 0)
        above = [
            weight for blank, weight in zip(self._blank, self._rarity.values(), strict=True) if blank in place.context
        ]
        return _Signs(
            place,
            own=self._score(sums, position, position + 1),
            near=self._score(sums, max(position - 1, 0), position + 1),
            wide=self._score(sums, start, end),
            whole=self._whole[place.page, place.run],
            context=sum(above) / self._total,
            matched=self._matched(sums, position, position + 1),
            around=self._matched(sums, start, end),
        )

    def _matched(self, sums: Sequence[Sequence[int]], start: int, end: int) -> tuple[str, ...]:
        return tuple(term for term, x, y in zip(self._rarity, sums[start][1:], sums[end][1:], strict=True) if x < y)

    def _score(self, sums: Sequence[Sequence[int]], start: int, end: int) -> float:
        """BM25 of some places read as one; longer ones are held against an average of as many."""
        (before, *counts), (after, *counted) = sums[start], sums[end]
        length = K1 * (1 - B + B * (after - before) / (self._average * (end - start)))
        score = 0.0
        for weight, x, y in zip(self._rarity.values(), counts, counted, strict=True):
            if x < y:
                score += weight * (y - x) * (K1 + 1) / (y - x + length)
        return score


def rarity(count: int, total: int) -> float:
    """How much it says that a place has what `count` of `total` places have."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))
