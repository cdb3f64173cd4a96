"""The parts that every operation works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from memory_v2.agent.operation import Operation
from memory_v2.index.full_text import FullTextIndex
from memory_v2.models.base import Model
from memory_v2.operations.freshness import Freshness
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.pending import PendingNote
from memory_v2.text.calendar import Calendar, utc_now
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page
from memory_v2.tree.path import fold

MAX_CHILDREN = 32
"""How many children a split may make, or leave when it groups links. A page without groups may list as many as fit in
its bytes."""
LEAST_GROUPS = 5
"""How many groups a page lists at least whose links are grouped."""


def overgrown(page: Page, threshold: int, graph: Graph) -> bool:
    """Whether a page must be split: it has too many bytes, whether they are text or links; or its links are grouped,
    and so many more have come that the groups are hard to see among them."""
    return page.size > threshold or has_loose_links(page, graph)


def has_loose_links(page: Page, graph: Graph) -> bool:
    """Whether a page that lists groups lists more than a reader looks through."""
    if len(page.children) <= MAX_CHILDREN:
        return False
    return sum(graph.lists_only(graph.known.get(fold(link.target), "")) for link in page.children) >= LEAST_GROUPS


@dataclass(frozen=True)
class Context:
    """The parts that an operation works with. `model` decides, and `planner` takes over if it fails; `threshold` is the
    size of a page, in bytes, above which it is split; `timezone` says which day a moment falls on; `operation` is the
    one that is running; `freshness` tells whether the index is up to date."""

    storage: MemoryStorage
    index: FullTextIndex
    model: Model
    planner: Model
    threshold: int
    now: Callable[[], datetime] = utc_now
    timezone: tzinfo = UTC
    operation: Operation = field(default_factory=Operation)
    freshness: Freshness = field(default_factory=Freshness)

    @property
    def calendar(self) -> Calendar:
        """What day it is, and on which day a moment falls."""
        return Calendar(self.timezone, self.now)

    @property
    def note(self) -> PendingNote:
        """The operation's pending note."""
        if self.operation.note is None:
            self.operation.note = PendingNote(self.storage.state, self.operation.id)
        return self.operation.note

    @property
    def models(self) -> tuple[Model, ...]:
        """The models that decide, in order: the next one is asked if one fails."""
        return (self.model,) if self.model is self.planner else (self.model, self.planner)
