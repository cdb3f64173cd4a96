"""The contract of the index. It is derived from the pages and may be deleted at any time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memory_v2.errors import Unreadable
from memory_v2.storage.base import Stamp, Stored
from memory_v2.storage.history import Change
from memory_v2.text.dates import Span
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page

if TYPE_CHECKING:
    from memory_v2.index.beside import Beside


class PageSource(Protocol):
    """The source of the indexed pages: any storage, any folder of notes."""

    def stamps(self) -> Iterable[Stamp]:
        """A stamp of every page, in no order, without reading any."""

    def read(self, path: str) -> Stored:
        """The page's bytes; raises `PageNotFound`, and `Unreadable` if only this page cannot be read."""

    def unlisted_folders(self) -> Iterable[str]:
        """The folders (`projects/`) that could not be listed at the last look: pages below them may still exist."""

    def get_modified_time(self, path: str) -> datetime:
        """When the page was last changed, in UTC; raises `PageNotFound`."""


@dataclass(frozen=True, slots=True)
class EntryHit:
    """What a hit that is an entry says of itself: what it is called, whose it is, into which pages it has been worked,
    whether it is archived, and what its score was made of: how well it answers, times its confidence, times the weight
    that its age has left it. One that is `past` is no answer: it has expired, and nobody asked for such entries."""

    id: str
    agent: str
    consolidated_into: tuple[str, ...]
    archived: bool
    answers: float
    confidence: float
    weight: float
    decay: str
    source: str = ""
    tags: tuple[str, ...] = ()
    past: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One place that answers a query: lines `first_line` to `last_line` of a page, verbatim (or part of a very long
    line), in block number `block` (0 for `## Links`)."""

    path: str
    block: int
    first_line: int
    last_line: int
    text: str
    score: float
    """How well it answers, from 0 to 1; comparable within one search only."""
    date: date | None
    """The day on which it was said, never a future one; see `index.said`."""
    section: tuple[str, ...]
    """The headings above it, outermost first."""
    found_by: str
    """Why it was found, in words: `pytest, silica`, `date May 2023`."""
    speaks_of: str = ""
    """The day or days that it speaks of, if others than `date`: `2026-03-01`, `Mar 2026`."""
    signs: tuple[tuple[str, float], ...] = ()
    """What added to the score, each sign in words with its points: `("the day asked for", 6.0)`."""
    entry: EntryHit | None = None
    """If it is an entry, and no part of a page: the path is that of its file."""


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page as the index knows it, without reading it."""

    path: str
    title: str
    size: int
    last_updated: datetime


class PageIndex(Protocol):
    """Full text and links of all pages.

    Any number of threads may use it at once. Locks are taken in one order: the storage's first, the index's after it.
    A thread that holds the storage's lock may call every method; the index never calls back while it holds a lock.
    """

    @property
    def unreadable(self) -> Mapping[str, Unreadable]:
        """The pages that the last refresh could not read. They are in the index without their text."""

    @property
    def is_new(self) -> bool:
        """Whether no page is in the index: what was removed before it was made, only the history knows."""

    def refresh(
        self, on_change: Callable[[Collection[str]], bool] = ..., only: Collection[str] | None = None
    ) -> Collection[str]:
        """Indexes the pages whose stamps have changed, and returns their paths; with `only`, looks at these pages at
        least.

        `on_change` gets the paths first. No lock is held then, so it may take the storage's lock. If it returns
        `False`, the next refresh passes it these pages again."""

    def update(self, changed: Iterable[Page], removed: Iterable[str], recorded: Change = ...) -> None:
        """Indexes the pages that a commit has just stored. `recorded` is the change as the history has it: when its
        lines were written is then known without reading it there."""

    def search(self, query: str, limit: int = 10, *, within: Collection[str] | None = None) -> list[Hit]:
        """The places that best answer a query, best first; only on the pages `within`, if given."""

    def similar(self, text: str, limit: int = 10, *, within: Collection[str] | None = None) -> list[Hit]:
        """The places that share most with a text, best first: where it may belong."""

    def recall(
        self, query: str, limit: int = 10, *, within: Collection[str] | None = None, beside: Beside | None = None
    ) -> list[Hit]:
        """As `search`, with places `beside` the pages; and by meaning too where that was chosen and is installed, if
        the question is in Latin script: the model knows no other. What is found for the first time is then encoded
        first, with progress."""

    @property
    def is_dense(self) -> bool:
        """Whether `recall` goes by meaning too."""

    @property
    def not_by_meaning(self) -> str:
        """Why `recall` goes by words only although meaning was chosen, and what to do; else empty."""

    def told(self, query: str, texts: Sequence[tuple[str, date | None]], beside: Beside | None = None) -> list[float]:
        """How much of what a question asks for each text, said on that day, tells, from 0 to 1; see `index.told`. 1 for
        each if that cannot be found out."""

    def respelled(self, query: str, beside: Beside | None = None) -> dict[str, str]:
        """The words of a query that neither a page nor an entry `beside` them has, in any form, each with the word most
        like it; see `index.spelling`."""

    def said(self, path: str, blocks: Collection[int]) -> tuple[date | None, str]:
        """The day on which the newest of these blocks of a page was said, and other days that they speak of."""

    def said_then(self, days: Sequence[Span], limit: int, within: Collection[str] | None = None) -> list[Hit]:
        """What was said on these days, whatever its words, the newest first; nothing if that cannot be found out."""

    def same(self, texts: Iterable[str]) -> dict[str, tuple[str, int]]:
        """The page and block of each of these texts that is in the tree already, regardless of markup and spacing."""

    def problems(self) -> dict[str, str]:
        """What searches do not find, and why, by page: pages that could not be indexed; with the root, all of them."""

    def erase(self, folder: Path | None) -> None:
        """Removes all that is in the index, to the last byte, and all that another process may have in the index in
        `folder`; the next use fills it again."""

    def close(self) -> None:
        """Closes its files; the next use opens them again."""

    def rows(self) -> list[PageRow]:
        """Every page, sorted by path."""

    def graph(self) -> Graph:
        """The pages and their links."""
