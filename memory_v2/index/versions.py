"""Which of the newer places tells in other words what the first one tells.

Nobody can know for sure without understanding them. A newer version says that something has changed, or it is about as
much of the question and has a value of the same kind (a number, a day of the week). Then the signs are added up. Their
weights were fitted on changed facts in six languages, next to other news about the same things, and rounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from functools import cached_property

from memory_v2.index.coverage import LARGE, SMALL
from memory_v2.index.lookup import Found
from memory_v2.index.marks import is_empty, says_new, says_one_of
from memory_v2.index.question import Question
from memory_v2.index.terms import terms
from memory_v2.index.texts import Place
from memory_v2.index.windows import Windows
from memory_v2.text.dates import find_dates
from memory_v2.text.lists import numbers, present, replacing, weekdays
from memory_v2.text.own_day import newest_part, unmarked
from memory_v2.text.words import proper_words, words

ENOUGH = 0.9
"""The sum of signs from which on a newer place is taken for a version of the first one."""
LEAST, LEAST_OF_MANY = 1 / 3, 1 / 2
"""Which part of what the first place has of the question a version has at least, of `SMALL` places and of `LARGE`: of
many, more share a word by chance. `We moved, the door code is 4417` says nothing newer about the confirmation code of a
flight, whatever else speaks for it."""
AS_LONG = 3
"""How many times as long as the first place a version is at most if it does not say that something has changed: a table
or a block of code has many words, and some number."""
REPLACES, PRESENT = 0.55, 0.3
"""It says that something takes the place of something else; that it speaks of the present."""
KIND, OTHER_KIND = 0.2, -0.5
"""It has a value of the same kind as the first place; it has none."""
NAME, NO_NAME = 0.2, -0.2
"""The same for names, where the first place has no other value."""
PROPER = 2.0
"""How much more a name or a number of the question weighs than another of its words."""

_WEEKDAY = re.compile("(?:星期|礼拜|周)[一二三四五六日天]")
_NUMERAL = re.compile(r"\d|[二三四五六七八九十百千两]")


class Versions:
    """Compares newer places with the first one that was found for a question."""

    def __init__(self, question: Question, found: Found, windows: Windows, first: Place) -> None:
        self._windows = windows
        self._least = LEAST + (LEAST_OF_MANY - LEAST) * min(max(found.facts.count - SMALL, 0) / (LARGE - SMALL), 1)
        self._proper = question.proper
        telling = {term for term in found.frequency if term in question.proper or not is_empty(term)}
        self._asked = telling or set(found.frequency)
        self._about = self._asked_in(first)
        self._weight = self._weigh(self._about)
        self._first = _Value(first, self._asked)
        self._longest = AS_LONG * first.length

    def newest(self, newer: Sequence[Place], age: Callable[[Place], tuple[object, ...]]) -> Place | None:
        """The newest of the places that tell newer what the first one tells, if there is one."""
        versions = (place for place in newer if not place.question and self._points(place) >= ENOUGH)
        return max(versions, key=age, default=None)

    def _points(self, place: Place) -> float:
        """How much speaks for it that a newer place is a version of the first one: 1 if it is about as much of the
        question, and the signs. It must not lack a name or a number that the first one shares with the question."""
        about = self._asked_in(place) & self._about
        if not about or not self._weight or not about >= self._about & self._proper:
            return 0.0
        if (share := self._weigh(about) / self._weight) < self._least:
            return 0.0
        change, likeness = self._change(place), self._likeness(place)
        is_as_much = len(about) > 1 and about == self._about and place.length <= self._longest
        is_version = change or (is_as_much and self._first.kinds and likeness > 0)
        return share + change + likeness if is_version else 0.0

    def _change(self, place: Place) -> float:
        """How much a place says that something has changed."""
        if says_one_of(replacing(), place.own):
            return REPLACES
        return PRESENT if says_one_of(present(), place.own) or says_new(self._asked, place.own) else 0.0

    def _likeness(self, place: Place) -> float:
        one, other = self._first, _Value(place, self._asked)
        if one.kinds:
            return KIND if one.kinds & other.kinds else OTHER_KIND
        if one.has_name:
            return NAME if other.has_name else NO_NAME
        return 0.0

    def _asked_in(self, place: Place) -> set[str]:
        """The terms of the question that a place has, or the headings above it."""
        return {term for term in self._asked if f" {term} " in place.own or f" {term} " in place.context}

    def _weigh(self, asked: Iterable[str]) -> float:
        return sum(self._windows.rarity[term] * (PROPER if term in self._proper else 1.0) for term in asked)


class _Value:
    """What a place says besides the words of the question, without dates."""

    def __init__(self, place: Place, asked: Set[str]) -> None:
        self._asked = asked
        self._text = _undated(newest_part(unmarked(place.text)))

    @cached_property
    def kinds(self) -> set[str]:
        said = {word for word in words(self._text) if word not in self._asked}
        kinds = set()
        if not weekdays().isdisjoint(said) or _WEEKDAY.search(self._text):
            kinds.add("weekday")
        if not numbers().isdisjoint(said) or any(map(_NUMERAL.search, said)):
            kinds.add("number")
        return kinds

    @cached_property
    def has_name(self) -> bool:
        return any(not self._asked >= set(terms(word)[:1]) for word in proper_words(self._text))


def _undated(text: str) -> str:
    for _, start, end in reversed(find_dates(text)):
        text = text[:start] + text[end:]
    return text
