"""The tasks as data: what each operation lets a model see."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from memory_v2.index.base import Hit
from memory_v2.tree.block import Block
from memory_v2.tree.page import Page
from memory_v2.tree.path import TakenPaths


@dataclass(frozen=True, slots=True)
class PageView:
    """A page as it is shown: its blocks are numbered from 1, its links as `L1`, `L2`, …"""

    page: Page
    breadcrumb: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteBrief:
    """New text to be worked into the tree.

    `path` is the page it must go to, or `None`. `pages` are shown in full: the root or that page first, then those
    that are likely. `places` are passages like the new text, best first. `known` tells which new blocks (from 1) stand
    in the tree already, word for word, and where. `block_count` tells how many blocks a page has.
    """

    blocks: tuple[Block, ...]
    path: str | None
    pages: Sequence[PageView]
    places: Sequence[Hit]
    known: Mapping[int, tuple[str, int]]
    threshold: int
    now: datetime
    block_count: Callable[[str], int]

    @property
    def shown(self) -> frozenset[str]:
        """The paths of the pages that are shown in full."""
        return frozenset(view.page.path for view in self.pages)

    @property
    def text(self) -> str:
        """The new text."""
        return "".join(block.text for block in self.blocks)


@dataclass(frozen=True, slots=True)
class SplitBrief:
    """A page to be divided. After it the page itself should be below `target` bytes, each child below `threshold`;
    `taken` are the paths that no new child may have. `crowded` if it has too many links rather than bytes: then at most
    `most_children` may be left. `pieces` are listed pages that hold part of a large block, and take no more."""

    view: PageView
    threshold: int
    target: int
    taken: TakenPaths
    crowded: bool
    most_children: int
    now: datetime
    pieces: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SearchBrief:
    """A question. `places` are passages from anywhere in the tree, best first; `root` is shown in full.
    `block_count` gives the number of blocks of a page."""

    query: str
    limit: int
    root: PageView | None
    places: Sequence[Hit]
    now: datetime
    block_count: Callable[[str], int]


Brief: TypeAlias = WriteBrief | SplitBrief | SearchBrief
