"""Which block is which after a page has changed: blocks are found again by their content.

The method is Paul Heckel's ("A technique for isolating differences between files", 1978): a block whose content is
unique before and after is an anchor, wherever it has moved; from the anchors and from both ends of the page the match
grows over equal neighbours. It takes time in proportion to the blocks, and a block that could be any of several equal
ones stays unmatched: whoever has to know which one was meant must ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from memory_v2.tree.block import Block

Key: TypeAlias = tuple[str, str]
"""A block's kind and content: what two equal blocks share."""


class BlockMatch:
    """Where the blocks of a page stand among the blocks it has now. Numbers count from 1; 0 is the top of the page."""

    def __init__(self, before: Sequence[Block], now: Sequence[Block]) -> None:
        self._before = before
        self._now = now
        self._numbers = _match([_key(block) for block in before], [_key(block) for block in now])
        self._matched = frozenset(self._numbers.values())

    def number(self, before: int) -> int | None:
        """The number that a block has now; `None` if it was changed or removed, or cannot be told from others."""
        return 0 if before == 0 else self._numbers.get(before)

    def behind(self, before: int, first: Block) -> int | None:
        """The block behind which a text that was to stand behind block `before` is to be put now, `first` being the
        text's first block; `None` if that block cannot be found.

        That is behind what has been put there meanwhile, so texts stand in the order in which they came. But it is in
        front of a new heading that the text would come under: nobody decided that it belongs there.
        """
        place = self.number(before)
        if place is None or (before < len(self._before) and before + 1 not in self._numbers):
            return place  # what follows was changed, so nobody knows what has been put in
        while place < len(self._now) and place + 1 not in self._matched and not _takes_in(self._now[place], first):
            place += 1
        return place

    @property
    def is_unchanged(self) -> bool:
        """Whether the page has the same blocks in the same order."""
        return list(map(_key, self._before)) == list(map(_key, self._now))

    @property
    def added(self) -> tuple[Block, ...]:
        """The blocks that are on the page now and match none from before, in order."""
        return tuple(block for number, block in enumerate(self._now, 1) if number not in self._matched)


def _key(block: Block) -> Key:
    return block.kind, block.content


def _takes_in(heading: Block, first: Block) -> bool:
    """Whether a text that begins with the block `first` would belong to the section of a heading before it."""
    return heading.kind == "heading" and not (first.kind == "heading" and first.level <= heading.level)


def _match(before: Sequence[Key], now: Sequence[Key]) -> dict[int, int]:
    """The number now of each block that can be found again."""
    unique, unique_now = _unique(before), _unique(now)
    found = {number: unique_now[key] for key, number in unique.items() if key in unique_now}
    taken = set(found.values())
    found |= {0: 0, len(before) + 1: len(now) + 1}  # the ends of the page are anchors too
    for step, numbers in ((1, range(1, len(before) + 1)), (-1, range(len(before), 0, -1))):
        for number in numbers:
            if number in found or (neighbour := found.get(number - step)) is None:
                continue
            place = neighbour + step
            if 1 <= place <= len(now) and place not in taken and now[place - 1] == before[number - 1]:
                found[number] = place
                taken.add(place)
    return {number: place for number, place in found.items() if 1 <= number <= len(before)}


def _unique(keys: Sequence[Key]) -> dict[Key, int]:
    """The contents that stand on a page once, each with its number."""
    numbers: dict[Key, int] = {}
    repeated = set()
    for number, key in enumerate(keys, 1):
        if key in numbers:
            repeated.add(key)
        numbers[key] = number
    return {key: number for key, number in numbers.items() if key not in repeated}
