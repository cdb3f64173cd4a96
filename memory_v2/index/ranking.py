"""Which of the places found answers best.

Measured on conversations: a place is read with what stands around it and returned alone; who speaks, which day it is
and whether it has words of time weigh softly. Each of these costs nothing where it does not apply.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from memory_v2.index.lookup import Found, Place, rarity
from memory_v2.index.question import Question, flattened
from memory_v2.text.words import words

K1, B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each sign counts. Found on three conversations and rounded; see `bench/retrieval.py`."""

    own: float
    near: float
    wide: float
    context: float = 1.0
    phrase: float = 2.0
    said_by: float = 2.0
    said_by_near: float = 1.0
    takes_part: float = 3.5
    day: float = 6.0
    when: float = 2.5
    asks: float = -0.75


TALK = Weights(own=0.0, near=2.0, wide=5.0)
"""For what somebody says: an answer takes its words from the question before it."""
NOTE = Weights(own=4.0, near=2.0, wide=1.0)
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
    context: float
    matched: tuple[str, ...]


def rank(question: Question, found: Found) -> list[Ranked]:
    """The candidates, best first."""
    signs = [_signs(found, found.places[place]) for place in found.candidates]
    own = max((sign.own for sign in signs), default=0) or 1
    near = max((sign.near for sign in signs), default=0) or 1
    wide = max((sign.wide for sign in signs), default=0) or 1
    spoken = {word for name in question.names for word in words(name)}
    scored = []
    for sign in signs:
        score = _score(question, found, sign, sign.own / own, sign.near / near, sign.wide / wide, spoken)
        if score > 0:
            scored.append((score, sign))
    scored.sort(key=lambda pair: (-pair[0], found.paths[pair[1].place.page][0], pair[1].place.id))
    return [Ranked(sign.place, score / (score + 5), ", ".join(sign.matched)) for score, sign in scored]


def _score(
    question: Question, found: Found, sign: _Signs, own: float, near: float, wide: float, spoken: Iterable[str]
) -> float:
    place = sign.place
    weights = TALK if place.speaker else NOTE
    score = weights.own * own + weights.near * near + weights.wide * wide + weights.context * sign.context
    if place.speaker in question.names:
        score += weights.said_by + weights.said_by_near * near
    if place.page in found.voiced:
        score += weights.takes_part
    if place.since is not None and any(place.since <= last and first <= place.until for first, last in found.days):
        score += weights.day
    if question.when and place.temporal:
        score += weights.when
    if place.question:
        score += weights.asks
    if question.phrases:
        flat = flattened(place.text)
        score += weights.phrase * any(phrase in flat for phrase in question.phrases)
    return score


def _signs(found: Found, place: Place) -> _Signs:
    around = {
        step: other
        for step in range(-2, 3)
        if (other := found.places.get(place.id + step)) and other.page == place.page and other.run == place.run
    }
    own = near = wide = context = total = 0.0
    count = found.facts.count
    before = around.get(-1)
    lengths = sum(other.length for other in around.values())
    near_length = place.length + (before.length if before else 0)
    matched = []
    for term, frequency in found.frequency.items():
        blank = f" {term} "
        mine = place.own.count(blank)
        nearby = mine + (before.own.count(blank) if before else 0)
        all_around = sum(other.own.count(blank) for other in around.values())
        weight = rarity(frequency, count)
        total += weight
        if mine:
            own += weight * _saturated(mine, place.length, found.facts.length)
            matched.append(term)
        if nearby:
            near += rarity(_in_windows(frequency, count, 1.8), count) * _saturated(
                nearby, near_length, 2 * found.facts.length
            )
        if all_around:
            wide += rarity(_in_windows(frequency, count, 4), count) * _saturated(
                all_around, lengths, 4.5 * found.facts.length
            )
        if blank in place.context:
            context += weight
    return _Signs(place, own, near, wide, context / total if total else 0.0, tuple(matched))


def _saturated(times: int, length: int, average: float) -> float:
    return times * (K1 + 1) / (times + K1 * (1 - B + B * length / max(average, 1)))


def _in_windows(count: int, total: int, places: float) -> float:
    """About how many runs of so many places have what `count` of `total` places have."""
    return total * (1 - math.pow(1 - min(count / max(total, 1), 1), places))
