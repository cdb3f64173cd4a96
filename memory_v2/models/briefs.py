"""Briefs: the task of each operation as data, with everything that the model may see."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from memory_v2.index.base import Hit
from memory_v2.tree.block import Block
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page
from memory_v2.tree.path import TakenPaths
from memory_v2.tree.source import NO_SOURCE, Source

NO_PAGES = Graph({}, {})
"""A tree without a page."""


@dataclass(frozen=True, slots=True)
class PageView:
    """A page as the model sees it: blocks numbered from 1, links numbered `L1`, `L2`, …"""

    page: Page
    breadcrumb: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteBrief:
    """New text to be worked into the tree.

    `path` is the page it must go to, or `None`. `pages` are shown in full: that page or the root first, then likely
    ones. `places` are passages similar to the new text, best first. `known` maps each new block (from 1) that is
    already in the tree, word for word, to its page and block. `block_count` gives the number of blocks of a page.
    `source` is where the text came from and the day it was said, as far as the caller told. `tree` has the names and
    descriptions of all pages."""

    blocks: tuple[Block, ...]
    path: str | None
    pages: Sequence[PageView]
    places: Sequence[Hit]
    known: Mapping[int, tuple[str, int]]
    threshold: int
    now: datetime
    block_count: Callable[[str], int]
    source: Source = NO_SOURCE
    tree: Graph = NO_PAGES

    @property
    def shown(self) -> frozenset[str]:
        """The paths of the pages shown in full."""
        return frozenset(view.page.path for view in self.pages)

    @property
    def text(self) -> str:
        """The new text."""
        return "".join(block.text for block in self.blocks)

    @property
    def size(self) -> int:
        """The size of the new text in bytes."""
        return sum(block.size for block in self.blocks)


@dataclass(frozen=True, slots=True)
class SplitBrief:
    """A page to be split. Afterwards the page must be below `target` bytes and each child below `threshold`; new
    children may not use the paths in `taken`. Most of a `crowded` page are links, which are grouped until at most
    `most_children` are listed. `is_piece` tells whether a child holds a piece of a large block and cannot take in more.
    `about` gives the page that a link leads to, or `None`."""

    view: PageView
    threshold: int
    target: int
    taken: TakenPaths
    crowded: bool
    most_children: int
    now: datetime
    is_piece: Callable[[str], bool]
    about: Callable[[str], Page | None] = lambda path: None


@dataclass(frozen=True, slots=True)
class SearchBrief:
    """A question to be answered. `places` are passages from anywhere in the tree, best first; `root` is shown in full.
    `block_count` gives the number of blocks of a page."""

    query: str
    limit: int
    root: PageView | None
    places: Sequence[Hit]
    now: datetime
    block_count: Callable[[str], int]


Brief: TypeAlias = WriteBrief | SplitBrief | SearchBrief
