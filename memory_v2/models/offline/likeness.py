"""Texts in groups by what they are alike in: Ward's method over TF-IDF and, where it is installed, over meaning.

There is no chance in it: the same texts always give the same groups.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeAlias

Vector: TypeAlias = Mapping[str, float]
Meaning: TypeAlias = Callable[[str], Sequence[float]]
"""Gives the vector of a text, of length 1."""

MAX_TERMS = 60
"""How many terms of a text are compared: its most telling ones. The others are many and say little."""
MAX_COMPARED = 240
"""How many texts are compared with each other; of more, an evenly spaced sample is, and the others join it."""
EQUAL = 1e-9
"""Up to which cost texts say the same, and stay together however many groups there may be."""
ROUNDS = 4
"""How often each text may move to the group that it is closest to; few move after that."""
WORDS_BESIDE_MEANING = 0.5
"""What the words count where there is a meaning too, relative to it. On the notes of two people, .3 and .7 put together
about as many notes of one subject."""


def vectors(counts: Sequence[Mapping[str, float]], texts: Sequence[str], meaning: Meaning | None) -> list[Vector]:
    """A vector for each text, given the counts of its terms, to be compared with each other only. A term of a single
    text brings no two together, and is left out."""
    spread = Counter(term for count in counts for term in count)
    told: list[Vector] = []
    for count in counts:
        weights = {
            term: (1 + math.log(times)) * math.log((1 + len(counts)) / (0.5 + spread[term]))
            for term, times in count.items()
            if 1 < spread[term] <= len(counts)
        }
        best = sorted(weights, key=lambda term: (-weights[term], term))[:MAX_TERMS]
        told.append(_unit({term: weights[term] for term in best}))
    if meaning is None or not texts:
        return told
    meant = [meaning(text) for text in texts]
    middle = [sum(numbers) / len(meant) for numbers in zip(*meant, strict=True)]
    return [
        {term: WORDS_BESIDE_MEANING * weight for term, weight in words.items()}
        | _unit({f"~{place}": one - all_ for place, (one, all_) in enumerate(zip(vector, middle, strict=True))})
        for words, vector in zip(told, meant, strict=True)
    ]


def middle_of(some: Sequence[Vector]) -> Vector:
    """The vector of some texts together."""
    sums: dict[str, float] = {}
    for vector in some:
        for term, weight in vector.items():
            sums[term] = sums.get(term, 0.0) + weight
    return _unit(sums)


class Likeness:
    """Points that are put into groups. The first are groups that are there already, each made of as many texts as
    `there` tells: two of those are never put together. A point that is like no other is alone."""

    def __init__(self, points: Sequence[Vector], there: Sequence[int] = ()) -> None:
        self.points, self.homes = points, len(there)
        step = max(1, -(-len(points) // MAX_COMPARED))
        self.sample = [place for place in range(len(points)) if place < self.homes or place % step == 0]
        self._unions = _unions([points[place] for place in self.sample], there)

    def groups(self, count: int) -> list[list[int]]:
        """The places of the points in at most `count` groups."""
        points, groups = self.points, self._of_sample(count)
        of = {place: number for number, group in enumerate(groups) for place in group}
        for _ in range(ROUNDS):
            middles = [middle_of([points[place] for place in group]) for group in groups]
            before = dict(of)
            for place, point in enumerate(points[self.homes :], self.homes):
                near = [_dot(point, middle) for middle in middles]
                best = max(near, default=0.0)
                if place not in of or best > near[of[place]]:
                    of[place] = near.index(best)
            groups = [[place for place in sorted(of) if of[place] == number] for number in range(len(middles))]
            if of == before:
                break
        return [group for group in groups if group]

    def _of_sample(self, count: int) -> list[list[int]]:
        members = {number: [place] for number, place in enumerate(self.sample)}
        for new, (cost, a, b) in enumerate(self._unions, len(self.sample)):
            if len(members) <= count and cost > EQUAL:
                break
            members[new] = sorted(members.pop(a) + members.pop(b))
        return sorted(members.values())


def _unions(points: Sequence[Vector], there: Sequence[int]) -> list[tuple[float, int, int]]:
    """How the points become one group: again and again the two whose union is least spread out, with what it costs. A
    new group has the next number."""
    members = set(range(len(points)))
    weights = dict(enumerate([*map(float, there), *[1.0] * (len(points) - len(there))]))
    homes = set(range(len(there)))
    unions: list[tuple[float, int, int]] = []
    lengths = [_dot(point, point) for point in points]
    costs: dict[int, dict[int, float]] = {number: {} for number in members}
    for b, point in enumerate(points):
        for a in range(b):
            if not (a in homes and b in homes):
                apart = lengths[a] + lengths[b] - 2 * _dot(points[a], point)
                costs[a][b] = costs[b][a] = weights[a] * weights[b] / (weights[a] + weights[b]) * apart
    heap = [(cost, a, b) for a, of_a in costs.items() for b, cost in of_a.items() if a < b]
    heapify(heap)
    while heap:
        cost, a, b = heappop(heap)
        if a not in members or b not in members:
            continue
        unions.append((cost, a, b))
        joined, new = weights[a] + weights[b], len(weights)
        is_home = bool({a, b} & homes)
        members -= {a, b}
        of_a, of_b, of_new = costs.pop(a), costs.pop(b), costs.setdefault(new, {})
        for other in members:
            if is_home and other in homes:
                continue
            own = weights[other]
            spread = (weights[a] + own) * of_a[other] + (weights[b] + own) * of_b[other] - own * cost
            costs[other][new] = of_new[other] = spread / (joined + own)
            heappush(heap, (of_new[other], other, new))
        members.add(new)
        weights[new] = joined
        homes |= {new} if is_home else set()
    return unions


def _unit(terms: Vector) -> dict[str, float]:
    """The same direction at length 1; nothing where there is none."""
    length = math.sqrt(_dot(terms, terms))
    return {term: weight / length for term, weight in terms.items()} if length else {}


def _dot(one: Vector, other: Vector) -> float:
    if len(other) < len(one):
        one, other = other, one
    return sum(weight * other[term] for term, weight in one.items() if term in other)
