"""What can be asked of the index. All of it is derived from the pages and may be deleted at any time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page


@dataclass(frozen=True, slots=True)
class Hit:
    """One place that answers a query: what stands in lines `first_line` to `last_line` of a page, verbatim (of a very
    long line, a part), in its block number `block` (0: in `## Links`)."""

    path: str
    block: int
    first_line: int
    last_line: int
    text: str
    score: float
    """How well it answers, from 0 to 1; comparable within one search only."""
    date: date | None
    """The day it speaks of or was said: its own, its heading's, its page's name; the page's last change, else."""
    section: tuple[str, ...]
    """The headings above it, outermost first."""
    found_by: str
    """Why it was found, in words: `pytest, silica`, `date May 2023`."""


@dataclass(frozen=True, slots=True)
class PageRow:
    """What the index knows of a page without reading it."""

    path: str
    title: str
    size: int
    last_updated: datetime


class PageIndex(Protocol):
    """Full text and links of all pages."""

    def refresh(self, noticed: Callable[[Collection[str]], bool] = ...) -> Collection[str]:
        """Takes in whatever was changed outside, told by the storage's stamps; returns the paths that had changed.
        `noticed` is told them before, and says whether that was enough; else they are noticed again."""

    def update(self, changed: Iterable[Page], removed: Iterable[str]) -> None:
        """Takes in what a commit has just stored."""

    def search(self, query: str, limit: int = 10, *, within: Collection[str] | None = None) -> list[Hit]:
        """The best places for a query, best first; only on the pages `within`, if given."""

    def same(self, texts: Iterable[str]) -> dict[str, tuple[str, int]]:
        """Which of these texts stand in the tree already, in other dress at most: the page and block of each."""

    def close(self) -> None:
        """Lets go of what it holds open; the next use opens it again."""

    def rows(self) -> list[PageRow]:
        """Every page, sorted by path."""

    def graph(self) -> Graph:
        """The pages and their links."""
