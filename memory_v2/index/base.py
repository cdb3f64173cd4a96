"""The contract of the index. It is derived from the pages and may be deleted at any time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Protocol

from memory_v2.storage.base import Stamp, Stored

if TYPE_CHECKING:
    import sqlite3  # which reading a page should not load

    from memory_v2.index.entries import File
    from memory_v2.index.postings import Only
    from memory_v2.index.ranking import Ranked


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
    """What a hit that is an entry says of itself: what it is called, whose it is, its home, into which pages it has
    been worked, whether it is archived, and what its score was made of: how well it answers, times its confidence,
    times the weight that its age has left it. One that is `past` is no answer: it has expired, and nobody asked for
    such entries."""

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
    home: str = ""
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
    """What added to the score, each sign in words with its points: `("the day asked for", 4.0)`."""
    entry: EntryHit | None = None
    """If it is an entry, and no part of a page: the path is that of its file."""
    earlier: bool = False
    """Whether the first hit is a newer version of it."""
    near: float = 0.0
    """How near in meaning it is to the query, as a cosine; 0 if that is not known."""


class EntrySearch(Protocol):
    """The entries of one search, which are ranked with the pages."""

    @property
    def alone(self) -> bool:
        """Whether no page is searched."""

    def conditions(self, tables: sqlite3.Connection) -> Sequence[Only]:
        """Which entries may answer: for each condition, the best are proposed."""

    def hits(self, ranked: Sequence[Ranked], files: Mapping[int, File]) -> list[Hit]:
        """A hit for each of these places; `files` has their entries by page."""

    def arranged(self, hits: Sequence[Hit], limit: int) -> list[Hit]:
        """All hits in their order, pages and entries, as they are shown."""


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page as the index knows it, without reading it."""

    path: str
    title: str
    size: int
    last_updated: datetime
