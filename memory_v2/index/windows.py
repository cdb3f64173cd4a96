"""How well the words of a question are met by a place, and by what stands around it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

from memory_v2.index.lookup import REACH, Found
from memory_v2.index.scores import K1, B, rarity
from memory_v2.index.texts import Place

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

    def __init__(self, found: Found) -> None:
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

    def _add(self, run: tuple[int, int], together: Sequence[Place]) -> None:
        """Notes of each place of a run the sums of all that is before it, so that any stretch is one subtraction."""
        counts = [[place.length, *map(place.own.count, self._blank)] for place in together]
        alone = sums = _summed(counts)
        if self._related:
            sums = _summed([self._with_related(row, place) for row, place in zip(counts, together, strict=True)])
        for position, place in enumerate(together):
            self._sums[place.id] = (alone, sums, position)
        self._whole[run] = self._score(sums, 0, len(together))

    def _with_related(self, counts: Sequence[float], place: Place) -> Sequence[float]:
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

    def has(self, place: Place) -> frozenset[str]:
        """The terms of the question that a place or a heading above it has."""
        return frozenset(
            term
            for term, blank in zip(self.rarity, self._blank, strict=True)
            if blank in place.own or blank in place.context
        )

    def standing(self, place: Place) -> Standing:
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
