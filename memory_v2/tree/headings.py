"""Which heading a block is under, and how headings stay with their text when the blocks of a page are divided.

A heading goes where the text below it goes. Where only part of a section goes, its heading is there again: a
repeated heading. The page notes a short digest of each in its metadata, so that the heading goes away again when the
parts come together. A heading longer than `MAX_REPEATED` is text, and so is the title of a page.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from memory_v2.tree.block import Block, encode
from memory_v2.tree.page import Page, top_of
from memory_v2.tree.source import is_source_line

MAX_REPEATED = 200
"""Limits a heading that may be repeated, in bytes: the page it is repeated on must have room for its text too."""
MAX_NOTED = 40
"""How many repeated headings a page notes: its metadata has little room. A heading that is not noted stays in a
merge."""
REPEATED = "repeated_headings"
"""The key in the metadata: digests, separated by spaces."""


@dataclass(frozen=True)
class Outline:
    """The headings of a page by the numbers of its blocks, from 1; 0 stands for none."""

    blocks: Sequence[Block]

    @cached_property
    def levels(self) -> list[int]:
        """The level of each heading; 0 for other blocks."""
        found = [block.level if _is_heading(block) else 0 for block in self.blocks]
        if (top := top_of(self.blocks)) and found[top - 1] == 1:
            found[top - 1] = 0
        if self.blocks and self.blocks[0].text.startswith("\ufeff"):
            found[0] = 0
        return [0, *found]

    @cached_property
    def above(self) -> list[int]:
        """The heading that each block is under."""
        above, path = [0], list[int]()
        for number, level in enumerate(self.levels[1:], 1):
            while level and path and self.levels[path[-1]] >= level:
                path.pop()
            above.append(path[-1] if path else 0)
            if level:
                path.append(number)
        return above

    @cached_property
    def ends(self) -> list[int]:
        """The last block of the section that begins with each heading; the number itself for other blocks."""
        ends, path = list(range(len(self.levels))), list[int]()
        for number, level in enumerate(self.levels):
            while level and path and self.levels[path[-1]] >= level:
                path.pop()
            if level:
                path.append(number)
            for heading in path:
                ends[heading] = number
        return ends

    @cached_property
    def empty(self) -> list[int]:
        """The headings with nothing below them."""
        return [number for number, level in enumerate(self.levels) if level and self.ends[number] == number]

    def settled(self, homes: Sequence[int], fixed: Iterable[int]) -> list[int]:
        """Where each block goes, given where it was to go: `homes[n]` is 0 if block `n` stays, and else a child. A
        heading stays if text below it stays, and goes to one of the children that get its text if all of it goes. A
        rule or a source line goes where the block before it goes, and a front matter where the block after it goes."""
        settled, stays = list(homes), frozenset(fixed)
        for number in range(len(self.levels) - 1, 0, -1):
            if self.blocks[number - 1].kind == "front matter" and number not in stays and number + 1 < len(settled):
                settled[number] = settled[number + 1]  # it stays with the text below it
            if not self.levels[number] or number in stays:
                continue
            below = range(number + 1, self.ends[number] + 1)
            places = [settled[n] for n in below if self._counts[n]]
            if 0 in places:
                settled[number] = 0
            elif places and settled[number] not in places:
                settled[number] = places[0]
        for number, block in enumerate(self.blocks, 1):
            if number in stays:
                continue
            # Of many rules the first ends the text before it.
            is_rule = block.kind == "rule" and self.blocks[number - 2].kind != "rule"
            if number > 1 and (is_rule or is_source_line(block)):
                settled[number] = settled[number - 1]
            elif block.kind == "front matter" and number < len(self.blocks):
                settled[number] = settled[number + 1]
        return settled

    def with_headings(self, numbers: Iterable[int]) -> list[int]:
        """These blocks in the order of the page, and before each that would lack its heading, or come under another
        one, the number of its heading as a negative number."""
        shown: list[int] = []
        path: list[int] = []
        for number in sorted(numbers):
            if self.levels[number]:
                self._enter(number, path, shown)
            elif self._counts[number] and self.above[number] not in (0, *path[-1:]):
                self._repeat(self.above[number], path, shown)
            shown.append(number)
        return shown

    def is_section(self, shown: Sequence[int]) -> bool:
        """Whether the blocks of `with_headings` are one section; it may lack subsections if it has text of its own."""
        first = next(iter(shown), 0)
        if first < 1 or not self.levels[first] or min(shown) < 1 or shown[-1] > self.ends[first]:
            return False
        below = [n for n in range(first + 1, self.ends[first] + 1) if self._counts[n]]
        own = [n for n in below if self.above[n] == first and not self.levels[n]]
        return set(own or below).issubset(shown)

    def _enter(self, heading: int, path: list[int], shown: list[int]) -> None:
        """Opens a heading: those it ends are closed, and it does not come under a heading that is not above it."""
        while path and self.levels[path[-1]] >= self.levels[heading]:
            path.pop()
        chain = self._chain(heading)
        if chain and path and path[-1] not in chain and sum(self.blocks[n - 1].size for n in chain) <= MAX_REPEATED:
            self._repeat(self.above[heading], path, shown)
        path.append(heading)

    def _repeat(self, heading: int, path: list[int], shown: list[int]) -> None:
        self._enter(heading, path, shown)
        shown.append(-heading)

    def _chain(self, heading: int) -> list[int]:
        """The headings that a heading is under, nearest first."""
        chain: list[int] = []
        while heading := self.above[heading]:
            chain.append(heading)
        return chain

    @cached_property
    def _counts(self) -> list[bool]:
        """Whether each block needs its heading: a rule, a front matter or an empty block does not."""
        alone = ("rule", "front matter")
        return [False, *(block.kind not in alone and bool(block.text.strip()) for block in self.blocks)]


def digest(heading: Block) -> str:
    """What a repeated heading is known by in the metadata of its page."""
    return f"{zlib.crc32(encode(f'{heading.level} {heading.content}')):08x}"


def repeated_on(page: Page) -> list[str]:
    """The digests of the headings that are repeated on a page."""
    return page.properties.get(REPEATED, "").split()


def noted(blocks: Iterable[Block], repeated: Iterable[str]) -> str:
    """What a page of these blocks notes of these repeated headings: those that stand on it once. Of two equal headings
    nobody could tell which one is meant."""
    if not (repeated := list(dict.fromkeys(repeated))):
        return ""
    counts = Counter(digest(block) for block in blocks if block.kind == "heading")
    return " ".join([key for key in repeated if counts[key] == 1][:MAX_NOTED])


def _is_heading(block: Block) -> bool:
    return block.kind == "heading" and block.size <= MAX_REPEATED and bool(block.words)
