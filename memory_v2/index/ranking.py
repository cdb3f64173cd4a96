"""Ranking the places that may answer a question, and of a statement that was made again later, the newest first.

A place is scored together with the text around it, but returned alone. Its score is the sum of its signals, each with
one weight (`index.weights`), in whatever kind of text it stands. If no time is asked for, later ones get a little more.

A later place is a version of the best one if it is about as much of the question, has as much of its content, and says
that something has changed: the three are added up. By meaning, what was said later counts more the nearer it is to the
best place. Nobody can know that for sure without understanding them. What `python -m bench.fit` finds with it is in
docs/measured.md.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date
from statistics import fmean
from typing import TypeAlias

from memory_v2.index import weights
from memory_v2.index.candidates import Candidate, candidates
from memory_v2.index.line_dates import PassageDate
from memory_v2.index.lookup import LookupResult, SemanticScores
from memory_v2.index.places import StoredPassage
from memory_v2.index.postings import rarity
from memory_v2.index.terms import Question, flattened, is_empty, says_as_written, says_one_of
from memory_v2.index.weights import QUESTION
from memory_v2.text.dates import Span, covers
from memory_v2.text.lists import present, replacing
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
    if by is QUESTION and scored and (sign := recency(question, scored[0][2])):
        best = sorted(_with_recency(scored[: len(asked)], said, sign), key=lambda row: -row[0])
        if semantic and sign > 0:
            best = sorted(_with_successors(best, said, semantic), key=lambda row: -row[0])
        scored[: len(asked)] = best
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


def _with_recency(best: Sequence[_Scored], said: Mapping[int, PassageDate], sign: int) -> Iterator[_Scored]:
    """The same, each with points for how many of the days on which the `COMPARED` best were said lie before its own, or
    against it by the `sign`."""
    days = sorted({said[candidate.place.id].day for _, _, candidate in best[:COMPARED]})
    for score, points, candidate in best:
        earlier = min(bisect_left(days, said[candidate.place.id].day), len(days) - 1)
        added = sign * weights.SAID_LATELY * earlier / max(len(days) - 1, 1)
        yield score + added, {**points, weights.LATELY: added}, candidate


def _with_successors(
    best: Sequence[_Scored], said: Mapping[int, PassageDate], semantic: SemanticScores
) -> Iterator[_Scored]:
    """The same, each that was said later than the first with points for how near it is to it in meaning: what has
    changed often comes in quite other words than the question has."""
    first = best[0][2].place
    for score, points, candidate in best:
        near = semantic.alike(candidate.place, first) if _is_later(candidate.place, first, said) else None
        added = weights.SUCCEEDS_FIRST * max(near or 0.0, 0.0)
        yield score + added, {**points, weights.SUCCEEDS: added}, candidate


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


COMPARED = 10
"""Among how many of the best places a newer version of the first one is looked for."""
ENOUGH, ENOUGH_BELOW = 1.5, 1.75
"""The sum of signs from which on a later place is a version of the first one; and one that is as old, further down."""
LEAST = 0.25
"""The share of its content, or of that of the first place, that both have at least."""
SAYS_CHANGE = 0.92
"""It says that something takes the place of something else, or that it speaks of the present."""
AS_MUCH = 0.2
"""It has all that the first place has of the question."""
AS_LONG = 3
"""How many times as long as the first place a version is at most: a table or a letter has many words."""

UNLIKE = 0.2
"""As a cosine: how near in meaning to the first place a version is at least."""

_NUMBER = re.compile(r"[ \t]{0,3}(\d{1,9})[.)][ \t]")


def versions_of_first(
    question: Question,
    found: LookupResult,
    best: Sequence[Candidate],
    said: Mapping[int, PassageDate],
    semantic: SemanticScores | None = None,
) -> list[int]:
    """The ranks, from 0, of the newest version of the first of the `best` places and then of the earlier ones; that of
    the first alone if there is no newer one. Who asks for what was so before, for a day or for a title wants none, and
    in a conversation what is alike replaces nothing."""
    if not best or recency(question, best[0]) < 1:
        return [0]
    first, versions = best[0], [0]
    for rank, other in enumerate(best[1:COMPARED], 1):
        if other.is_talk or other.linked != first.linked:
            continue
        newest = best[versions[0]].place
        is_below = _is_below(other.place, newest, said)
        alike = semantic.alike(other.place, first.place) if semantic else None
        if alike is not None and alike < UNLIKE:
            continue
        if is_below:
            is_version = _speaks_for_it(question, found, other, first, is_later=False) >= ENOUGH_BELOW
        else:
            is_version = _is_later(other.place, first.place, said) and (
                _speaks_for_it(question, found, other, first, is_later=True) >= ENOUGH
            )
        if is_version:
            is_newest = is_below or _is_later(other.place, newest, said)
            versions.insert(0 if is_newest else len(versions), rank)
    return versions


def recency(question: Question, first: Candidate) -> int:
    """1 if what was said lately counts more; -1 if what was said early does, because what was so before is asked for;
    and 0 if a day or a title is asked for, and in a conversation."""
    if question.dates or first.is_talk or first.titled:
        return 0
    return -1 if question.past else 1


def _is_later(place: StoredPassage, than: StoredPassage, said: Mapping[int, PassageDate]) -> bool:
    """Whether a place was said on a later day, written later, or has a higher number in a list."""
    return _age(place, said) > _age(than, said)


def _is_below(place: StoredPassage, than: StoredPassage, said: Mapping[int, PassageDate]) -> bool:
    """Whether a place that is as old stands further down the same page, as many lines do that are no versions."""
    return place.page == than.page and place.id > than.id and _age(place, said) == _age(than, said)


def _speaks_for_it(
    question: Question, found: LookupResult, later: Candidate, first: Candidate, *, is_later: bool
) -> float:
    """How much speaks for it that the later place is a version of the first. It must not lack a name or a number that
    the first one shares with the question, unless all that they share begins with a capital, as German nouns do; and
    one that says all of the first and more takes no place."""
    asked, both = {*first.words.matched}, {*first.words.matched} & {*later.words.matched}
    names = asked & question.proper if asked - question.proper else set()
    if not both or not both >= names:
        return 0.0
    if later.place.length > AS_LONG * first.place.length:
        return 0.0
    changes = is_later and (says_one_of(replacing(), later.place.own) or says_as_written(present(), later.place.text))
    content, other = _content(first.place), _content(later.place)
    if not changes and content <= other:
        return 0.0
    alike = len(content & other) / max(min(len(content), len(other)), 1)
    if alike < LEAST:
        return 0.0
    share = _weigh(found, both) / _weigh(found, asked)
    return share + alike + SAYS_CHANGE * changes + AS_MUCH * (both == asked)


def _weigh(found: LookupResult, terms: Set[str]) -> float:
    return sum(rarity(found.frequency[term], found.facts.count) for term in terms)


def _content(place: StoredPassage) -> frozenset[tuple[str, int]]:
    """The content terms of a place, each with its count so far, so that a repeated word counts twice."""
    times = Counter[str]()
    counted = []
    for term in place.own.split()[1 if _NUMBER.match(place.text) else 0 :]:
        if not is_empty(term):
            counted.append((term, times[term]))
            times[term] += 1
    return frozenset(counted)


def _age(place: StoredPassage, said: Mapping[int, PassageDate]) -> tuple[int, int, int]:
    """A sort key that is larger for newer places: the day on which it was said, the turn in which it was written, its
    number in a list."""
    number = _NUMBER.match(place.text)
    return said[place.id].day, said[place.id].turn, int(number[1]) if number else 0
