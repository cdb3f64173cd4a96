"""A page that is to be split: what on it moves as one, and the parts that become its children."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from memory_v2.models.briefs import SplitBrief
from memory_v2.models.offline.naming import Terms, texts_of
from memory_v2.models.offline.outline import find_units, is_conversation
from memory_v2.text.dates import named_span
from memory_v2.text.speakers import is_message
from memory_v2.text.words import stem, words
from memory_v2.tree.block import Block, encode
from memory_v2.tree.headings import Outline
from memory_v2.tree.page import Page, page_source
from memory_v2.tree.path import child_path, fold

TARGET_SHARE = 0.45
"""How much a split leaves on the page, as a share of the threshold: less than half, so that the page can grow again."""
MAX_CHILD_SHARE = 0.75
"""Limits the size of a new child, as a share of the threshold, so that it can grow. A single larger block exceeds
it."""
MAX_CHILDREN = 12
"""Limits the new children of one split: more lines under `## Links` are hard to choose from."""
MAX_RUNS = 24
"""Limits the children of a split by size: they are runs of the text in its order, so more lines of them can be looked
through."""
LINK_BYTES = 230
"""An estimate of one line under `## Links` in bytes, without the path of the parent: a name and a description."""
LEAST_ALIKE = 4
"""The least notes that are divided by what they are alike in; half as many make a group."""
MOST_OF_CHILD = 40
"""How many blocks of a child are compared with the notes that may go there."""


@dataclass(frozen=True)
class NewChild:
    """One new child: its blocks, and its name if that is clear already; `also` tells it from others of that name. A
    `collection` is made of notes, and told by single words: a sentence of one says nothing of the others. What is of a
    `period` joins the child of that period; `kept` is another child that is there already."""

    numbers: tuple[int, ...]
    name: str = ""
    title: str = ""
    also: str = ""
    is_collection: bool = False
    is_period: bool = False
    kept: Page | None = None


class MeasuredPage:
    """The page that is split, with everything that is measured on it; each block's terms are counted once."""

    def __init__(self, brief: SplitBrief) -> None:
        self.brief = brief
        self.page = brief.view.page
        self.blocks = self.page.blocks
        self.body = _movable(self.page)
        self.sizes = [0, *(block.size for block in self.blocks)]
        self.units = find_units(brief.outline, self.body, self.full)

    @cached_property
    def is_talk(self) -> bool:
        """Whether the page is a conversation, or has messages of one."""
        body = [self.blocks[number - 1] for number in self.body]
        return any(is_message(block.content) for block in body) or is_conversation(body)

    @cached_property
    def collections(self) -> list[Page]:
        """The children that were made of notes of this page, and have room for more."""
        pages = [page for link in self.page.children if (page := self.brief.about(link.target)) is not None]
        return [page for page in pages if self._is_collection(page)]

    def _is_collection(self, child: Page) -> bool:
        name = child.path.rsplit("/", 1)[-1]
        return (
            child.path == child_path(self.page.path, name)
            and fold(child.properties.get("split_from", "")) == fold(self.page.path)
            and not (child.piece or child.children or page_source(child).is_document or named_span(name))
            and len(find_units(Outline(child.blocks), _movable(child), math.inf)) >= LEAST_ALIKE // 2
        )

    @cached_property
    def terms(self) -> Terms:
        """The terms of all blocks that may move, in the order of `body`, and of those of the collections."""
        return Terms(texts_of([*(self.blocks[number - 1] for number in self.body), *self._collected]))

    @cached_property
    def _collected(self) -> list[Block]:
        return [block for page in self.collections for block in self.some_of(page)]

    def some_of(self, child: Page) -> list[Block]:
        """The blocks of a child that are compared."""
        return [block for block in child.blocks[child.top :] if block.kind != "heading"][:MOST_OF_CHILD]

    def places(self, numbers: Iterable[int], kept: Page | None = None) -> list[int]:
        """Where these blocks, and those of a child, are among the `terms`."""
        found = [self._place[number] for number in numbers]
        start = len(self.body)
        for page in self.collections if kept else ():
            end = start + len(self.some_of(page))
            found += range(start, end) if page is kept else ()
            start = end
        return found

    @cached_property
    def _place(self) -> dict[int, int]:
        return {number: place for place, number in enumerate(self.body)}

    @cached_property
    def children(self) -> frozenset[str]:
        """The names of children that the page already lists."""
        names = {link.target: link.target.rsplit("/", 1)[-1] for link in self.page.children}
        return frozenset(name for target, name in names.items() if child_path(self.page.path, name) == target)

    @cached_property
    def above(self) -> frozenset[str]:
        """The stems of the names of the page and the pages above it: they do not set a part of it apart."""
        said = f"{self.page.title} {self.page.path.replace('/', ' ').replace('-', ' ')}"
        return frozenset(stem(word) for word in words(said))

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
        return LINK_BYTES + len(self.page.path.encode())

    @property
    def links(self) -> int:
        """The size of the lines under `## Links`, in bytes."""
        return sum(len(encode(link.line)) for link in self.page.children)

    def room_for(self, most: int) -> int:
        """How many new children the page has room to list, up to `most`."""
        room = self.brief.target - (self.page.size - self.size(self.body))
        return max(2, min(most, room // self.listed))

    def left(self, groups: Sequence[NewChild]) -> int:
        """The bytes left on the page when these groups move, including a link to each."""
        return self.page.size - sum(self.size(group.numbers) - self.listed for group in groups)


def _movable(page: Page) -> list[int]:
    """The numbers of the blocks of a page that may move."""
    return [number for number in range(1, len(page.blocks) + 1) if number not in page.fixed]
