"""What every operation works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memory_v2.agent.operation import Operation
from memory_v2.index.base import PageIndex
from memory_v2.models.base import Model
from memory_v2.pending import PendingNote
from memory_v2.storage.base import MemoryStorage
from memory_v2.tree.page import Page

MAX_CHILDREN = 32
"""A page that lists more children than this is divided, however few bytes it has: nobody can choose among them."""


def overgrown(page: Page, threshold: int) -> bool:
    """Whether a page has to be split: too many bytes, or too many children for anybody to choose among."""
    return page.size > threshold or len(page.children) > MAX_CHILDREN


def utc_now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Context:
    """The parts an operation is made of. `model` decides, `planner` finishes what it cannot, `operation` is what
    is being done."""

    storage: MemoryStorage
    index: PageIndex
    model: Model
    planner: Model
    threshold: int
    now: Callable[[], datetime] = utc_now
    operation: Operation = field(default_factory=Operation)

    @property
    def note(self) -> PendingNote:
        """What the operation has noted about what is left to do."""
        if self.operation.note is None:
            self.operation.note = PendingNote(self.storage.notes, self.operation.id)
        return self.operation.note

    @property
    def models(self) -> tuple[Model, ...]:
        """Who decides, in turn."""
        return (self.model,) if self.model is self.planner else (self.model, self.planner)
