"""Texts in groups by their vocabulary: Ward's method over TF-IDF, settled by a few rounds of spherical k-means.

There is no chance in it. Ties go to the text that comes first, so the same texts always give the same groups.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MAX_TERMS = 60
"""How many terms of a text are compared: its most telling ones. The others are many and say little."""
MAX_COMPARED = 240
"""How many texts are compared with each other; of more, an evenly spaced sample is, and the others join it."""
EQUAL = 1e-9
"""Up to which cost texts say the same, and stay together however many groups there may be."""
ROUNDS = 4
"""How often each text may move to the group that it is closest to; few move after that."""


@dataclass(frozen=True)
class Point:
    """A text, or a group that exists and takes more texts in: its terms with their weights, how many texts it stands
    for, and whether it is such a group. Two of those are never put together."""

    terms: Mapping[str, float]
    weight: int = 1
    is_group: bool = False


def weighted(texts: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """The TF-IDF of each text from the counts of its terms, of length 1. A term of a single text brings no two
    together, and is left out."""
    spread = Counter(term for text in texts for term in text)
    total = len(texts)
    found = []
    for text in texts:
        weights = {
            term: (1 + math.log(count)) * math.log((1 + total) / (0.5 + spread[term]))
            for term, count in text.items()
            if spread[term] > 1
        }
        best = sorted(weights, key=lambda term: (-weights[term], term))[:MAX_TERMS]
        found.append(unit({term: weights[term] for term in best if weights[term] > 0}))
    return found


def clusters(points: Sequence[Point], count: int) -> list[list[int]]:
    """The places of the points in at most `count` groups, or as many as there are points that are groups. A point that
    is like no other is alone."""
    step = -(-len(points) // MAX_COMPARED)
    sample = [place for place, point in enumerate(points) if point.is_group or place % step == 0]
    merged = [[sample[place] for place in group] for group in _merged([points[place] for place in sample], count)]
    return _settled(points, merged)


def _merged(points: Sequence[Point], count: int) -> list[list[int]]:
    """Ward's method: the two groups whose union is least spread out become one, until `count` are left."""
    members = {place: [place] for place in range(len(points))}
    weights = [float(point.weight) for point in points]
    is_group = [point.is_group for point in points]
    costs = [[0.0] * len(points) for _ in points]
    lengths = [_dot(point.terms, point.terms) for point in points]
    for a, one in enumerate(points):
        for b in range(a):
            if one.is_group and is_group[b]:
                cost = math.inf
            else:
                apart = lengths[a] + lengths[b] - 2 * _dot(one.terms, points[b].terms)
                cost = weights[a] * weights[b] / (weights[a] + weights[b]) * apart
            costs[a][b] = costs[b][a] = cost
    nearest = {place: _nearest(costs[place], members, place) for place in members}
    while len(members) > 1:
        cost, a = min((nearest[place][0], place) for place in members)
        b = nearest[a][1]
        if math.isinf(cost) or (len(members) <= count and cost > EQUAL):
            break
        joined = weights[a] + weights[b]
        for other in members:
            if other not in (a, b):
                mixed = is_group[other] and (is_group[a] or is_group[b])
                own = weights[other]
                spread = (weights[a] + own) * costs[a][other] + (weights[b] + own) * costs[b][other] - own * cost
                costs[a][other] = costs[other][a] = math.inf if mixed else spread / (joined + own)
        members[a] = sorted(members[a] + members.pop(b))
        weights[a], is_group[a] = joined, is_group[a] or is_group[b]
        del nearest[b]
        for place in members:
            if place == a or nearest[place][1] in (a, b):
                nearest[place] = _nearest(costs[place], members, place)
            elif costs[place][a] < nearest[place][0]:
                nearest[place] = (costs[place][a], a)
    return [members[place] for place in sorted(members)]


def _nearest(costs: Sequence[float], places: Iterable[int], own: int) -> tuple[float, int]:
    return min(((costs[place], place) for place in places if place != own), default=(math.inf, own))


def _settled(points: Sequence[Point], groups: Sequence[Sequence[int]]) -> list[list[int]]:
    """The groups after each text has gone to the one that it is closest to; points that are groups stay."""
    homes = {place: number for number, group in enumerate(groups) for place in group}
    for _ in range(ROUNDS):
        middles = _middles(points, homes, len(groups))
        before = dict(homes)
        for place, point in enumerate(points):
            if not point.is_group:
                homes[place] = _closest(point, middles, homes.get(place))
        if homes == before:
            break
    found: list[list[int]] = [[] for _ in groups]
    for place in sorted(homes):
        found[homes[place]].append(place)
    return [group for group in found if group]


def _middles(points: Sequence[Point], homes: Mapping[int, int], count: int) -> dict[str, list[tuple[int, float]]]:
    """For each term, the groups that have it, and how much it weighs in them."""
    sums: list[dict[str, float]] = [{} for _ in range(count)]
    for place, home in homes.items():
        for term, weight in points[place].terms.items():
            sums[home][term] = sums[home].get(term, 0.0) + weight * points[place].weight
    found: dict[str, list[tuple[int, float]]] = {}
    for number, each in enumerate(sums):
        for term, weight in unit(each).items():
            found.setdefault(term, []).append((number, weight))
    return found


def _closest(point: Point, middles: Mapping[str, Sequence[tuple[int, float]]], home: int | None) -> int:
    """The group that a text is closest to; the one it is in, if no other is closer."""
    near: dict[int, float] = {}
    for term, weight in point.terms.items():
        for number, middle in middles.get(term, ()):
            near[number] = near.get(number, 0.0) + weight * middle
    if not near:
        return home or 0
    return min(near, key=lambda number: (-near[number], number != home, number))


def unit(terms: Mapping[str, float]) -> dict[str, float]:
    """The same direction at length 1; nothing where there is none."""
    length = math.sqrt(_dot(terms, terms))
    return {term: weight / length for term, weight in terms.items()} if length else {}


def _dot(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    if len(other) < len(one):
        one, other = other, one
    return sum(weight * other[term] for term, weight in one.items() if term in other)
