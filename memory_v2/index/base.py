"""What can be asked of the index. All of it is derived from the pages and may be deleted at any time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from memory_v2.storage.base import Stamp, Stored
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page


class PageSource(Protocol):
    """Where the pages come from that are indexed: any storage, any folder of notes."""

    def stamps(self) -> Iterable[Stamp]:
        """A stamp of every page, in no order, without reading any."""

    def read(self, path: str) -> Stored:
        """The page's bytes; raises `PageNotFound`."""

    def get_modified_time(self, path: str) -> datetime:
        """When the page was last changed, in UTC; raises `PageNotFound`."""


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
    """Full text and links of all pages.

    Any number of threads may use it at once. Locks are taken in one order: the storage's first, the index's after it.
    A thread that holds the storage's lock may call every method; the index never calls back while it holds a lock.
    """

    def refresh(self, on_change: Callable[[Collection[str]], bool] = ...) -> Collection[str]:
        """Takes in what was changed outside, as the stamps tell, and returns the paths of those pages.

        `on_change` is told the paths before the pages are taken in, so it may take the storage's lock. If it returns
        `False`, the next refresh tells it of these pages again."""

    def update(self, changed: Iterable[Page], removed: Iterable[str]) -> None:
        """Takes in what a commit has just stored."""

    def search(self, query: str, limit: int = 10, *, within: Collection[str] | None = None) -> list[Hit]:
        """The best places for a query, best first; only on the pages `within`, if given."""

    def same(self, texts: Iterable[str]) -> dict[str, tuple[str, int]]:
        """The page and block at which each of these texts is in the tree already, whatever its markup and spacing."""

    def close(self) -> None:
        """Closes its files; the next use opens them again."""

    def rows(self) -> list[PageRow]:
        """Every page, sorted by path."""

    def graph(self) -> Graph:
        """The pages and their links."""
