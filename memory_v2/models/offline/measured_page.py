"""What is measured on a page that is to be split, and the parts of which its children are made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from memory_v2.models.briefs import SplitBrief
from memory_v2.models.offline.naming import Terms, texts_of
from memory_v2.models.offline.outline import find_units
from memory_v2.text.dates import named_span
from memory_v2.text.words import stem, words
from memory_v2.tree.block import Block, encode
from memory_v2.tree.headings import Outline
from memory_v2.tree.page import Page
from memory_v2.tree.path import child_path, fold

TARGET_SHARE = 0.45
"""How much a split leaves on the page, as a share of the threshold: less than half, so that the page can grow again."""
MAX_CHILD_SHARE = 0.75
"""Limits the size of a new child, as a share of the threshold, so that it can grow. A single larger block exceeds
it."""
MAX_CHILDREN = 12
"""Limits the new children of one split: more lines under `## Links` are hard to choose from."""
LINK_BYTES = 230
"""An estimate of one line under `## Links` in bytes, without the path of the parent: a name and a description."""
LEAST_ALIKE = 4
"""The least notes that are divided by what they are alike in; half as many make a group."""


@dataclass(frozen=True)
class Group:
    """One new child: its blocks, and its name if that is clear already; `also` tells it from others of that name."""

    numbers: tuple[int, ...]
    name: str = ""
    title: str = ""
    lead: str = ""
    also: str = ""
    kept: Page | None = None
    """The child that is there already, to which more is added."""
    is_collection: bool = False
    """Whether it is made of notes, which are told by single words: a sentence of one says nothing of the others."""


def movable(page: Page) -> list[int]:
    """The numbers of the blocks of a page that may move."""
    return [number for number in range(1, len(page.blocks) + 1) if number not in page.fixed]


@dataclass(frozen=True)
class MeasuredPage:
    """The page that is split, with everything that is measured on it."""

    brief: SplitBrief

    @cached_property
    def children(self) -> frozenset[str]:
        """The names of children that the page already lists."""
        view = self.brief.view.page
        names = {entry.target: entry.target.rsplit("/", 1)[-1] for entry in view.children}
        return frozenset(name for target, name in names.items() if child_path(view.path, name) == target)

    @cached_property
    def collections(self) -> list[Page]:
        """The children that were made of notes of this page, and have room for more."""
        found = []
        for link in self.brief.view.page.children:
            child = self.brief.about(link.target)
            if (
                child is not None
                and child.piece is None
                and child.path == child_path(self.brief.view.page.path, child.path.rsplit("/", 1)[-1])
                and fold(child.properties.get("split_from", "")) == fold(self.brief.view.page.path)
                and not named_span(child.path.rsplit("/", 1)[-1])
                and not child.properties.get("source")
                and len(find_units(child.blocks, movable(child), math.inf)) >= LEAST_ALIKE // 2
                and not child.children
            ):
                found.append(child)
        return found

    @cached_property
    def above(self) -> frozenset[str]:
        """The stems of the names of the page and the pages above it: they do not set a part of it apart."""
        view = self.brief.view.page
        return frozenset(stem(word) for word in words(f"{view.title} {view.path.replace('/', ' ').replace('-', ' ')}"))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return self.brief.view.page.blocks

    @cached_property
    def outline(self) -> Outline:
        """The headings of the page."""
        return Outline(self.blocks)

    @cached_property
    def sizes(self) -> list[int]:
        """The size of each block, by its number."""
        return [0, *(block.size for block in self.blocks)]

    @cached_property
    def units(self) -> list[tuple[int, ...]]:
        """What moves as one."""
        return find_units(self.blocks, self.body, self.full)

    @cached_property
    def terms(self) -> Terms:
        """The terms of all blocks that may move, in the order of `body`."""
        return Terms(texts_of(self.blocks[number - 1] for number in self.body))

    @cached_property
    def all_terms(self) -> Terms:
        """The terms of all blocks."""
        return Terms(texts_of(self.blocks))

    @cached_property
    def body(self) -> list[int]:
        """The numbers of all blocks that may move."""
        return movable(self.brief.view.page)

    @property
    def goal(self) -> float:
        """How many bytes should be left on the page."""
        return min(TARGET_SHARE * self.brief.threshold, 0.9 * self.brief.target)

    @property
    def full(self) -> float:
        """How many bytes a child should have at most."""
        return MAX_CHILD_SHARE * self.brief.threshold

    def size(self, numbers: Iterable[int]) -> int:
        return sum(self.sizes[number] for number in numbers)

    @property
    def listed(self) -> int:
        """The estimated size of a child's line under `## Links`, in bytes."""
        return LINK_BYTES + len(self.brief.view.page.path.encode())

    @property
    def links(self) -> int:
        """The size of the lines under `## Links`, in bytes."""
        return sum(len(encode(link.line)) for link in self.brief.view.page.children)

    @property
    def most_children(self) -> int:
        """How many new children the page has room to list."""
        room = self.brief.target - (self.brief.view.page.size - self.size(self.body))
        return max(2, min(MAX_CHILDREN, room // self.listed))

    def left(self, groups: Sequence[Group]) -> int:
        """The bytes left on the page when these groups move, including a link to each."""
        return self.brief.view.page.size - sum(self.size(group.numbers) - self.listed for group in groups)
