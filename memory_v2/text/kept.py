"""Which lines, or other items, of a sequence are kept in its next version: a patience diff, whose cost does not grow
with how often items repeat."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

MAX_PAIRS = 2_500
"""How many pairs of items are compared one by one, where none is the only one of its kind. In a longer stretch that
only repeats, what is equal at its ends is kept."""


def kept(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The places of equal items in both sequences, in the order of both."""
    pairs: list[tuple[int, int]] = []
    todo = [(0, len(old), 0, len(new))]
    while todo:
        start, end, new_start, new_end = todo.pop()
        while start < end and new_start < new_end and old[start] == new[new_start]:
            pairs.append((start, new_start))
            start, new_start = start + 1, new_start + 1
        while start < end and new_start < new_end and old[end - 1] == new[new_end - 1]:
            end, new_end = end - 1, new_end - 1
            pairs.append((end, new_end))
        was, has = old[start:end], new[new_start:new_end]
        if anchors := _anchors(was, has):
            for (a, b), (a_end, b_end) in zip([(0, 0), *anchors], [*anchors, (len(was), len(has))], strict=True):
                todo.append((start + a, start + a_end, new_start + b, new_start + b_end))
        elif 0 < len(was) * len(has) <= MAX_PAIRS:
            from difflib import SequenceMatcher  # which reading a page does not need

            for block in SequenceMatcher(None, was, has, autojunk=False).get_matching_blocks():
                pairs += [(start + block.a + n, new_start + block.b + n) for n in range(block.size)]
    return sorted(pairs)


def _anchors(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The places of items that are in each sequence once: the longest series of them that is in the order of both."""
    places = {item: place for place, item in _single(new)}
    # of the best series of each length: its end in `new`, and its number in `chain`
    ends, last = list[int](), list[int]()
    chain: list[tuple[int, int, int]] = []
    for place, item in _single(old):
        if (new_place := places.get(item)) is not None:
            length = bisect_left(ends, new_place)
            chain.append((place, new_place, last[length - 1] if length else -1))
            ends[length : length + 1], last[length : length + 1] = [new_place], [len(chain) - 1]
    found: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        place, new_place, number = chain[number]
        found.append((place, new_place))
    return found[::-1]


def _single(items: Sequence[Hashable]) -> Iterator[tuple[int, Hashable]]:
    often = Counter(items)
    return ((place, item) for place, item in enumerate(items) if often[item] == 1)
