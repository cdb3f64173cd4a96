"""Ranking the places that may answer a question.

A place is scored together with the text around it, but returned alone. Its score is the sum of its signals, each with
one weight (`index.weights`), in whatever kind of text it stands. If no time is asked for, later ones get a little more.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import fmean
from typing import TypeAlias

from memory_v2.index import weights
from memory_v2.index.candidates import Candidate, candidates
from memory_v2.index.line_dates import PassageDate
from memory_v2.index.lookup import LookupResult, SemanticScores
from memory_v2.index.places import StoredPassage
from memory_v2.index.terms import Question, flattened
from memory_v2.index.versions import COMPARED, asks_for_now, versions_of_first
from memory_v2.index.weights import QUESTION
from memory_v2.text.dates import Span, covers
from memory_v2.text.speakers import is_asked

_HALF = 5.0
"""The points of a place whose score is one half."""


_Scored: TypeAlias = tuple[float, dict[str, float], Candidate]
"""The points of a place, by signal too."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A place with its score from 0 to 1, and why it was found."""

    place: StoredPassage
    score: float
    found_by: str
    said: PassageDate
    signs: tuple[tuple[str, float], ...] = ()
    """What added to the score before it was mapped to that range: each sign in words, with its points."""
    earlier: bool = False
    """Whether the first place is a newer version of it."""
    near: float = 0.0
    """How near in meaning it is to the question, as a cosine; 0 if that is not known."""


def rank(
    question: Question,
    found: LookupResult,
    limit: int,
    by: Mapping[str, float] = QUESTION,
    semantic: SemanticScores | None = None,
) -> list[Ranked]:
    """The best candidates that answer the question at all, best first. `semantic` tells how near they are in meaning;
    then those that share no word with the question may answer too."""
    scored: list[_Scored] = []
    for candidate, told in answering(question, found, by, semantic):
        points = {name: by[name] * value for name, value in told if name in by}
        scored.append((sum(points.values()), points, candidate))
    scored.sort(key=lambda row: (-row[0], found.paths[row[2].place.page][0], row[2].place.first_line))
    # Reading when a place was said takes time, so only those are asked for that are returned or compared.
    asked = {candidate.place.id for _, _, candidate in scored[: max(limit, COMPARED)]}
    said = found.read_said(asked)
    if by is QUESTION and scored and asks_for_now(question, scored[0][2]):
        scored[: len(asked)] = sorted(_with_recency(scored[: len(asked)], said), key=lambda row: -row[0])
    best_first = [candidate for _, _, candidate in scored]
    newest, *others = versions_of_first(question, found, best_first, said, semantic) if by is QUESTION else [0]
    earlier = {best_first[rank].place.id for rank in others}
    if newest:
        _, points, candidate = scored.pop(newest)
        scored.insert(0, (scored[0][0], points, candidate))
    return [
        Ranked(
            candidate.place,
            squashed(score),
            _why(found, candidate),
            said[candidate.place.id],
            tuple((name, round(each, 2)) for name, each in points.items() if each),
            candidate.place.id in earlier,
            candidate.cosine or 0.0,
        )
        for score, points, candidate in scored[:limit]
    ]


def _with_recency(best: Sequence[_Scored], said: Mapping[int, PassageDate]) -> Iterator[_Scored]:
    """The same, each with points for how many of the days on which the `COMPARED` best were said lie before its own."""
    days = sorted({said[candidate.place.id].day for _, _, candidate in best[:COMPARED]})
    for score, points, candidate in best:
        earlier = min(bisect_left(days, said[candidate.place.id].day), len(days) - 1)
        added = weights.SAID_LATELY * earlier / max(len(days) - 1, 1)
        yield score + added, {**points, weights.LATELY: added}, candidate


def answering(
    question: Question, found: LookupResult, by: Mapping[str, float], semantic: SemanticScores | None
) -> Iterator[tuple[Candidate, Iterable[tuple[str, float]]]]:
    """The candidates that answer the question at all, in their order, each with its signals, not weighed yet."""
    cosines = semantic.cosines(found.places.values()) if semantic else None
    every = candidates(question, found, is_title=weights.TITLE in by, cosines=cosines)
    scale = _Scale.of(every, question, found)
    for candidate in every:
        if candidate.answers:
            yield candidate, _signals(question, found, candidate, scale)


@dataclass(frozen=True, slots=True)
class _Scale:
    """What the words of a place are measured by."""

    best: Sequence[float]
    """The best score of each kind."""
    part: float
    """How much words count. Beside meaning they count for as much of the question as one place has of it in words, of
    those too that no place has: of a question that is asked in quite other words, a stray word says little."""
    average: float
    nearest: float
    """How near in meaning the places are, as cosines: on average, and the nearest of them."""

    @classmethod
    def of(cls, every: Sequence[Candidate], question: Question, found: LookupResult) -> _Scale:
        """The scale for these places."""
        best = [max(scores) or 1.0 for scores in zip(*(candidate.words.scores for candidate in every), strict=True)]
        if known := [candidate.cosine for candidate in every if candidate.cosine is not None]:
            part = found.known_share(question) * max(candidate.words.told for candidate in every)
            return cls(best, part, fmean(known), max(known))
        return cls(best, 1.0, 0.0, 0.0)

    def meaning(self, cosine: float | None) -> float:
        """How near in meaning a place is: 1 if it is the nearest, 0 if it is as near as all are on average, or if
        that is not known. How large the cosines are depends on how a question is asked."""
        if cosine is None or self.nearest == self.average:
            return 0.0
        return (cosine - self.average) / (self.nearest - self.average)


def _signals(
    question: Question, found: LookupResult, candidate: Candidate, scale: _Scale
) -> Iterator[tuple[str, float]]:
    """What speaks for a place, before it is weighed."""
    own, near, wide, whole = (score / most for score, most in zip(candidate.words.scores, scale.best, strict=True))
    place = candidate.place
    yield weights.WORDS, own * scale.part
    yield weights.NEAR, near * scale.part
    yield weights.AROUND, wide if candidate.is_talk else 0.0
    yield weights.BESIDE, wide
    yield weights.SECTION, whole * scale.part
    yield weights.TOLD, candidate.words.told * scale.part
    yield weights.OWN, candidate.words.alone * scale.part
    yield weights.ABOVE, candidate.words.context if place.kind != "child link" else 0.0
    yield weights.TITLE, candidate.titled
    yield weights.DEPTH, candidate.deep
    yield weights.LINKED, candidate.linked
    yield weights.NAMED, candidate.named
    yield weights.TAKES_PART, place.page in found.voiced or (candidate.named and not candidate.is_talk)
    yield weights.DAY, candidate.day * (1 + candidate.words.told) / 2
    yield weights.ASKS, bool(candidate.is_talk and place.question)
    yield weights.PERSON, is_asked(place.text)
    yield weights.STATEMENT, scale.meaning(candidate.cosine)
    if question.phrases:
        flat = flattened(place.text)
        yield weights.PHRASE, any(phrase in flat for phrase in question.phrases)


def squashed(score: float) -> float:
    """Maps a score to a number from 0 to 1, in the same order."""
    return max(score, 0.0) / (max(score, 0.0) + _HALF)


def raised(score: float, points: float) -> float:
    """A score that was mapped to that range, with more points."""
    return squashed(_HALF * score / (1 - score) + points)


def _why(found: LookupResult, candidate: Candidate) -> str:
    standing, reasons = candidate.words, []
    if standing.matched:
        reasons.append(_words(found, standing.matched))
    elif standing.related:
        reasons.append("in other words: " + _words(found, standing.related))
    elif standing.context:
        reasons.append(
            "above it: " + _words(found, [t for t in found.frequency if f" {t} " in candidate.place.context])
        )
    elif standing.around:
        reasons.append("around it: " + _words(found, standing.around))
    if day := found.days.named(candidate.place.since, candidate.place.until):
        reasons.append(f"date {covers(Span(*map(date.fromordinal, day)))}")
    if candidate.named:
        reasons.append(f"said by {candidate.place.speaker}" if candidate.is_talk else "named in it")
    return "; ".join(reasons)


def _words(found: LookupResult, matched: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(found.words[term] for term in matched))
