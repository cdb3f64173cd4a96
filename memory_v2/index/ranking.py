"""Ranking the places that may answer a question.

A place is scored together with the text around it, but returned alone. The speaker, the day and words of time add to
the score where they apply. The weights were measured on conversations.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache, partial
from heapq import heapify, heappop, heappushpop
from statistics import fmean
from typing import TypeAlias

from memory_v2.index.coverage import Standing, Versions, Windows
from memory_v2.index.days import Said
from memory_v2.index.lookup import Found, Nearness
from memory_v2.index.places import Place
from memory_v2.index.terms import Question, flattened, is_empty, says_one_of, terms
from memory_v2.index.weights import COMPARED, QUESTION, Weighing
from memory_v2.text.dates import Span, covers
from memory_v2.text.lists import present, replacing
from memory_v2.text.retelling import are_versions
from memory_v2.text.speakers import is_asked
from memory_v2.text.words import words
from memory_v2.tree.path import ROOT

_Said: TypeAlias = frozenset[tuple[str, int]]
_Points: TypeAlias = Iterator[tuple[str, float]]
_SPREAD = 40
"""How many of the best places are put in an order in which each says what those before it do not."""
_UNCROWDED = 10
"""After how many places the further ones in conversations are drawn from as many days as possible. What is told often
is then found, and what is told once is mostly among the first."""
_SAID = 0.5
"""What a word of the question still counts, for that order, after each place that has it."""
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
_HALF = 5.0
"""The points of a place whose score is one half."""
_NUMBERED = re.compile(r"-\d+\Z")
"""The end of the path of a page whose name was taken by another."""
_NUMBER = re.compile(r"[ \t]{0,3}(\d{1,9})[.)][ \t]")


_MEANT = 0.25
"""How near in meaning, as a cosine, a place is at least that answers without a word of the question. The answers to
thirty questions in quite other words (`bench.personas`) were all about as near."""
_AS_GOOD, _SAYS_CHANGE = 2.0, 1.0
"""How many points a newer version of the best place may have less if meaning is compared; and how many more if it says
that something has changed."""
_ALIKE = 0.3
"""Which part of the content of the shorter one two versions share then at least."""
_VERSIONS = 10
"""Among how many of the best places a newer version is looked for then."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A place with its score from 0 to 1, and why it was found."""

    place: Place
    score: float
    found_by: str
    said: Said
    signs: tuple[tuple[str, float], ...] = ()
    """What added to the score before it was mapped to that range: each sign in words, with its points."""


@dataclass(frozen=True, slots=True)
class _Signs:
    place: Place
    words: Standing
    day: bool
    """Whether the place falls on a day asked for."""
    named: bool
    """Whether the question names the speaker of this place, or the person that a note is about."""
    titled: float
    """How much the question is the title or the heading of the place."""
    deep: int
    """How many steps below the root that title stands if it is asked for to the word: pages, then headings."""
    near: Nearness
    linked: float = 0.0
    """Which part of the question, weighed by rarity, it lacks and a place has that links to its page."""

    @property
    def is_talk(self) -> bool:
        return self.place.speaker is not None

    @property
    def is_front(self) -> bool:
        """Whether a place is the front matter of its page."""
        return self.place.first_line == 1 and self.place.text.startswith("---")

    @property
    def answers(self) -> bool:
        """Whether a place answers at all: by its own words or those above it, by its day, or by the words around it."""
        near = self.words
        return bool(near.own or near.context or self.day or self.named or (self.is_talk and near.wide))


def rank(
    question: Question, found: Found, limit: int, by: Weighing = QUESTION, near: Mapping[int, Nearness] | None = None
) -> list[Ranked]:
    """The best candidates that answer the question at all, best first. `near` tells how near they are in meaning; then
    those that share no word with the question may answer too, and one of which it tells nothing counts as the average
    does."""
    windows = Windows(found)
    average = Nearness(*map(fmean, zip(*near.values(), strict=True))) if near else Nearness(0.0, 0.0)
    nearness = [(near or {}).get(place, average) for place in found.candidates]
    places = [found.places[place] for place in found.candidates]
    signs = _led(
        [_signs(question, found, windows, *one, by) for one in zip(places, nearness, strict=True)],
        found,
    )
    signs = _linked(signs, found, windows)
    best = [max(scores) or 1.0 for scores in zip(*(sign.words.scores for sign in signs), strict=True)]
    points = partial(_points, question, found, best=best, by=by)
    scored = _in_order(
        found,
        (
            (sum(each for _, each in points(sign)), sign)
            for sign in signs
            if sign.answers or sign.near.statement >= _MEANT
        ),
    )
    if (by.unsaid or by.crowded) and scored and not scored[0][1].titled:  # who asks for a title asks for one thing
        scored = _spread(scored, windows, by)
    # Reading when a place was said takes time, so only those are asked for that are returned or compared.
    asked = {
        sign.place.id for rank, (_, sign) in enumerate(scored) if rank < limit or (rank < COMPARED and not sign.is_talk)
    }
    said = found.read_said(asked)
    if near and not question.past and not question.dates:
        scored = _newest_alike_first(found, scored, said)
    elif not near and not question.past:
        scored = _newest_version_first(question, found, windows, _newest_first(found, scored, said), said, by)
    ranked = []
    for score, sign in scored[:limit]:
        contributed = tuple((name, round(each, 2)) for name, each in points(sign) if each)
        ranked.append(Ranked(sign.place, squashed(score), _why(found, sign), said[sign.place.id], contributed))
    return ranked


def _spread(scored: Sequence[tuple[float, _Signs]], windows: Windows, by: Weighing) -> list[tuple[float, _Signs]]:
    """The same places, of the best always the one next that adds most to those before it. The scores keep their
    order."""
    crowd = Counter[tuple[int, ...]]()
    weight = {term: by.unsaid * windows.weight([term]) / windows.total for term in windows.rarity}

    def adds(rank: int) -> tuple[float, int]:
        score, sign = scored[rank]
        gain = score + sum([weight[term] for term in sign.words.matched]) - by.crowded * crowd[_talk(sign)]
        return -gain, rank

    waiting, order = [adds(rank) for rank in range(min(len(scored), _SPREAD))], list[int]()
    heapify(waiting)
    while waiting:
        _, rank = heappop(waiting)
        # What a place adds only shrinks, so one that is still the best after a second look is the best of all.
        while waiting and (best := heappushpop(waiting, adds(rank)))[1] != rank:
            rank = best[1]
        order.append(rank)
        if len(order) > _UNCROWDED:
            crowd[_talk(scored[rank][1])] += 1
        for term in scored[rank][1].words.matched:
            weight[term] *= _SAID
    return [(score, scored[rank][1]) for (score, _), rank in zip(scored, order, strict=False)] + [*scored[_SPREAD:]]


def _talk(sign: _Signs) -> tuple[int, ...]:
    """The day, or else the section, in which a place of a conversation was said; a note is by itself."""
    place = sign.place
    if not sign.is_talk:
        return place.page, place.run, place.id
    return (place.since,) if place.since else (place.page, place.run)


def _in_order(found: Found, scored: Iterable[tuple[float, _Signs]]) -> list[tuple[float, _Signs]]:
    return sorted(scored, key=lambda pair: (-pair[0], found.paths[pair[1].place.page][0], pair[1].place.first_line))


def _signs(question: Question, found: Found, windows: Windows, place: Place, near: Nearness, by: Weighing) -> _Signs:
    if place.speaker:
        named = place.speaker in question.names
    else:
        named = any(f" {term} " in place.own or f" {term} " in place.context for term in found.name_terms)
    title = _title_asked(question, found, place) if by.note.titled else _NO_TITLE
    on_day = found.days.include(place.since, place.until)
    return _Signs(place, windows.standing(place), on_day, named, *title, near)


def _title_asked(question: Question, found: Found, place: Place) -> tuple[float, int]:
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


def _led(signs: Sequence[_Signs], found: Found) -> list[_Signs]:
    """The same, with `_THE_LEAD` for the first text of each page under a title that is asked for to the word; of `port`
    and `port-2`, only for that of `port`."""
    lead: dict[int, int] = {}
    for sign in signs:
        if sign.titled == _THE_TITLE and sign.place.kind == "text" and not sign.is_front:
            lead.setdefault(sign.place.page, sign.place.id)  # the candidates are in order
    named = {found.paths[page][0]: place for page, place in lead.items()}
    leads = {place for path, place in named.items() if (name := _NUMBERED.sub("", path)) == path or name not in named}
    return [replace(sign, titled=_THE_LEAD) if sign.place.id in leads else sign for sign in signs]


def _linked(signs: list[_Signs], found: Found, windows: Windows) -> list[_Signs]:
    """The same, for the places of pages to which others link. A place with several links says less about each."""
    linking: dict[int, list[tuple[Set[str], int]]] = {}
    for place, pages in found.links.items():
        for page in pages:
            linking.setdefault(page, []).append((windows.has(found.places[place]), len(pages)))
    if not linking:
        return signs

    def part(sign: _Signs) -> float:
        own = windows.has(sign.place)
        return max(windows.weight(there - own) / links for there, links in linking[sign.place.page]) / windows.total

    return [
        replace(sign, linked=part(sign))
        if sign.place.page in linking and sign.words.matched and not sign.is_talk
        else sign
        for sign in signs
    ]


@lru_cache(maxsize=1000)
def _words_once(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words(name)))


@lru_cache(maxsize=1000)
def _terms_once(name: str) -> frozenset[str]:
    return frozenset(terms(name))


def _points(question: Question, found: Found, sign: _Signs, best: Sequence[float], by: Weighing) -> _Points:
    """What adds to the score of a place, each sign in words with its points. Each score by words is divided by the best
    one of its kind."""
    weights = by.talk if sign.is_talk else by.note
    place = sign.place
    own, near, wide, whole = (score / most for score, most in zip(sign.words.scores, best, strict=True))
    yield "its words", weights.own * own
    yield "its words and those before it", weights.near * near
    yield "the words around it", weights.wide * wide
    yield "the words of its section", weights.whole * whole
    yield "how much of the question it and its headings have", weights.told * sign.words.told
    yield "how much of the question its headings have", weights.context * sign.words.context
    yield "title or heading asked for", weights.titled * sign.titled
    yield "how far below the root it stands", weights.deeper * sign.deep
    yield "what links to its page", weights.linked * sign.linked
    if sign.named:
        yield "a name that is asked for", weights.named + weights.named_near * near
    if place.page in found.voiced or (sign.named and not sign.is_talk):
        yield "a page of that person", weights.takes_part
    if sign.day:
        yield "the day asked for", weights.day
    if question.when and place.temporal:
        yield "words of time", weights.when
    if place.question:
        yield "a question itself", weights.asks
    if sign.is_front:
        yield "front matter", weights.front_matter
    if is_asked(place.text):
        yield "said to an assistant", weights.person
    yield "its meaning", weights.statement * sign.near.statement + weights.text * sign.near.text
    if question.phrases:
        flat = flattened(place.text)
        yield "the query to the letter", weights.phrase * any(phrase in flat for phrase in question.phrases)


def squashed(score: float) -> float:
    """Maps a score to a number from 0 to 1, in the same order."""
    return max(score, 0.0) / (max(score, 0.0) + _HALF)


def raised(score: float, points: float) -> float:
    """A score that was mapped to that range, with more points."""
    return squashed(_HALF * score / (1 - score) + points)


def _why(found: Found, sign: _Signs) -> str:
    standing, reasons = sign.words, []
    if standing.matched:
        reasons.append(_words(found, standing.matched))
    elif standing.related:
        reasons.append("in other words: " + _words(found, standing.related))
    elif standing.context:
        reasons.append("above it: " + _words(found, [t for t in found.frequency if f" {t} " in sign.place.context]))
    elif standing.around:
        reasons.append("around it: " + _words(found, standing.around))
    if day := found.days.named(sign.place.since, sign.place.until):
        reasons.append(f"date {covers(Span(*map(date.fromordinal, day)))}")
    if sign.named:
        reasons.append(f"said by {sign.place.speaker}" if sign.is_talk else "named in it")
    return "; ".join(reasons)


def _words(found: Found, matched: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(found.words[term] for term in matched))


def _newest_first(
    found: Found, scored: Sequence[tuple[float, _Signs]], when: Mapping[int, Said]
) -> list[tuple[float, _Signs]]:
    """Puts the newest first among notes that differ in a few words only: it gets the best rank of the group, and the
    others keep the remaining ranks."""
    ordered = list(scored)
    signs = [sign for _, sign in scored[:COMPARED]]
    alike = [None if sign.is_talk else _asked_alike(found, sign) for sign in signs]
    said = [frozenset() if sign.is_talk else _substance(sign.place) for sign in signs]
    placed: set[int] = set()
    for first, sign in enumerate(signs):
        if first in placed or sign.is_talk or not sign.words.matched:  # in conversations, similar words mean nothing
            continue
        others = [rank for rank in range(first + 1, len(signs)) if rank not in placed and alike[rank] == alike[first]]
        ranks = [first, *(rank for rank in others if are_versions(said[first], said[rank]))]
        newest = sorted(
            (signs[rank] for rank in ranks), key=lambda s: _age(found, s.place, when[s.place.id]), reverse=True
        )
        for rank, member in zip(ranks, newest, strict=True):
            ordered[rank] = (scored[rank][0], member)
        placed.update(ranks)
    return ordered


def _asked_alike(found: Found, sign: _Signs) -> tuple[object, ...]:
    """What versions of one have in common. What only the headings have of a question, or a link to the page, tells what
    a place is about: `The port is 80` below `Harbor` and below `Lantern` are no versions."""
    matched = frozenset(sign.words.matched)
    above = frozenset(term for term in found.frequency.keys() - matched if f" {term} " in sign.place.context)
    return sign.day, sign.titled, sign.linked, matched, above


def _newest_version_first(
    question: Question,
    found: Found,
    windows: Windows,
    ranked: list[tuple[float, _Signs]],
    said: Mapping[int, Said],
    by: Weighing,
) -> list[tuple[float, _Signs]]:
    """Puts the newest version of the first note before it, if one of the best tells newer what it tells. A question for
    a day is answered by that day."""
    if not ranked or question.dates or ranked[0][1].is_talk or ranked[0][1].titled:
        return ranked
    first, linked = ranked[0][1].place, ranked[0][1].linked

    def age(place: Place) -> tuple[int, int, int, int, str, str, int]:
        return _age(found, place, said[place.id])

    newer = [
        sign.place
        for _, sign in ranked[1 : by.told_again]
        if not sign.is_talk and sign.place.kind == "text" and sign.linked == linked and age(sign.place) > age(first)
    ]
    newest = Versions(question, found, windows, first).newest(newer, age)
    signs = sorted((sign for _, sign in ranked), key=lambda sign: sign.place is not newest)
    return [(score, sign) for (score, _), sign in zip(ranked, signs, strict=True)]


def _newest_alike_first(
    found: Found, scored: Sequence[tuple[float, _Signs]], said: Mapping[int, Said]
) -> list[tuple[float, _Signs]]:
    """Puts the newest version of the best place before it: one that is about the same, scores nearly as well, and was
    said later. All others keep their order. In a conversation, what is alike replaces nothing."""
    if not scored or scored[0][1].is_talk or scored[0][1].titled:
        return list(scored)
    most, first = scored[0]
    substance = _substance(first.place)

    def is_version(score: float, sign: _Signs) -> bool:
        other = _substance(sign.place)
        is_change = says_one_of(replacing(), sign.place.own) or says_one_of(present(), sign.place.own)
        return (
            not sign.is_talk
            and sign.linked == first.linked
            and most - score <= _AS_GOOD + _SAYS_CHANGE * is_change
            and len(substance & other) >= _ALIKE * min(len(substance), len(other))
        )

    versions = [first, *(sign for score, sign in scored[1:_VERSIONS] if is_version(score, sign))]
    newest = max(versions, key=lambda sign: _age(found, sign.place, said[sign.place.id]))
    signs = [newest, *(sign for _, sign in scored if sign is not newest)]
    return [(score, sign) for (score, _), sign in zip(scored, signs, strict=True)]


def _substance(place: Place) -> _Said:
    """The content terms of a place, each with its count so far, so that a repeated word counts twice."""
    marker = _NUMBER.match(place.text)
    said = [term for term in place.own.split()[1 if marker else 0 :] if not is_empty(term)]
    times: Counter[str] = Counter()
    counted = []
    for term in said:
        counted.append((term, times[term]))
        times[term] += 1
    return frozenset(counted)


def _age(found: Found, place: Place, said: Said) -> tuple[int, int, int, int, str, str, int]:
    """A sort key that is larger for newer places: the day on which it was said, the turn in which it was written, the
    day that it speaks of, number in a list, last change of the page, position."""
    path, moment, _ = found.paths[place.page]
    number = _NUMBER.match(place.text)
    return (said.day, said.turn, place.since or 0, int(number[1]) if number else 0, moment, path, place.id)
