"""Ranking the places that may answer a question.

A place is scored together with the text around it, but returned alone. Its score is the sum of a dozen signals, each
with one weight (`index.weights`), in whatever kind of text it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memory_v2.index import weights
from memory_v2.index.candidates import Candidate, candidates
from memory_v2.index.days import Said
from memory_v2.index.lookup import Found
from memory_v2.index.places import Place
from memory_v2.index.terms import Question, flattened
from memory_v2.index.versions import COMPARED, newest_version
from memory_v2.index.weights import QUESTION
from memory_v2.text.dates import Span, covers
from memory_v2.text.speakers import is_asked

_HALF = 5.0
"""The points of a place whose score is one half."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A place with its score from 0 to 1, and why it was found."""

    place: Place
    score: float
    found_by: str
    said: Said
    signs: tuple[tuple[str, float], ...] = ()
    """What added to the score before it was mapped to that range: each sign in words, with its points."""


def rank(
    question: Question,
    found: Found,
    limit: int,
    by: Mapping[str, float] = QUESTION,
    near: Mapping[int, float] | None = None,
) -> list[Ranked]:
    """The best candidates that answer the question at all, best first. `near` tells how near they are in meaning; then
    those that share no word with the question may answer too, and one of which it tells nothing counts as the average
    does."""
    every = candidates(question, found, is_title=weights.TITLE in by, near=near)
    best = [max(scores) or 1.0 for scores in zip(*(one.words.scores for one in every), strict=True)]
    scored = []
    for one in every:
        if one.answers:
            points = {name: by[name] * value for name, value in signals(question, found, one, best) if name in by}
            scored.append((sum(points.values()), points, one))
    scored.sort(key=lambda one: (-one[0], found.paths[one[2].place.page][0], one[2].place.first_line))
    # Reading when a place was said takes time, so only those are asked for that are returned or compared.
    asked = {one.place.id for _, _, one in scored[: max(limit, COMPARED)]}
    said = found.read_said(asked)
    if by is QUESTION and (newest := newest_version(question, found, [one for _, _, one in scored], said)):
        _, points, one = scored.pop(newest)
        scored.insert(0, (scored[0][0], points, one))
    return [
        Ranked(
            one.place,
            squashed(score),
            _why(found, one),
            said[one.place.id],
            tuple((name, round(each, 2)) for name, each in points.items() if each),
        )
        for score, points, one in scored[:limit]
    ]


def signals(question: Question, found: Found, one: Candidate, best: Sequence[float]) -> Iterator[tuple[str, float]]:
    """What speaks for a place, before it is weighed. Each score by words is divided by the `best` one of its kind."""
    own, near, wide, whole = (score / most for score, most in zip(one.words.scores, best, strict=True))
    place = one.place
    yield weights.WORDS, own
    yield weights.NEAR, near
    yield weights.AROUND, wide if one.is_talk else 0.0
    yield weights.BESIDE, wide
    yield weights.SECTION, whole
    yield weights.TOLD, one.words.told
    yield weights.OWN, one.words.alone
    yield weights.ABOVE, one.words.context if place.kind != "child link" else 0.0
    yield weights.TITLE, one.titled
    yield weights.DEPTH, one.deep
    yield weights.LINKED, one.linked
    yield weights.NAMED, one.named
    yield weights.TAKES_PART, place.page in found.voiced or (one.named and not one.is_talk)
    yield weights.DAY, one.day
    yield weights.TIME, bool(question.when and place.temporal)
    yield weights.ASKS, bool(one.is_talk and place.question)
    yield weights.PERSON, is_asked(place.text)
    yield weights.STATEMENT, one.near
    if question.phrases:
        flat = flattened(place.text)
        yield weights.PHRASE, any(phrase in flat for phrase in question.phrases)


def squashed(score: float) -> float:
    """Maps a score to a number from 0 to 1, in the same order."""
    return max(score, 0.0) / (max(score, 0.0) + _HALF)


def raised(score: float, points: float) -> float:
    """A score that was mapped to that range, with more points."""
    return squashed(_HALF * score / (1 - score) + points)


def _why(found: Found, one: Candidate) -> str:
    standing, reasons = one.words, []
    if standing.matched:
        reasons.append(_words(found, standing.matched))
    elif standing.related:
        reasons.append("in other words: " + _words(found, standing.related))
    elif standing.context:
        reasons.append("above it: " + _words(found, [t for t in found.frequency if f" {t} " in one.place.context]))
    elif standing.around:
        reasons.append("around it: " + _words(found, standing.around))
    if day := found.days.named(one.place.since, one.place.until):
        reasons.append(f"date {covers(Span(*map(date.fromordinal, day)))}")
    if one.named:
        reasons.append(f"said by {one.place.speaker}" if one.is_talk else "named in it")
    return "; ".join(reasons)


def _words(found: Found, matched: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(found.words[term] for term in matched))
