"""What a view works with: the request, the memory, and what the visitor may do."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import TypeVar

from memory_v2.errors import NotAllowed, SilicaError
from memory_v2.memory import Memory
from memory_v2.models.offline import OfflinePlanner
from memory_v2.notes.notes import Notes
from memory_v2.text.days import Calendar
from memory_v2.view.rendering import render
from memory_v2.view.web import Request, Response, address

T = TypeVar("T")
QUICK_SECONDS = 10.0
"""How long a search as one types may take, in seconds."""


@dataclass(frozen=True)
class Subject:
    """What is shown: a memory, and folders of notes."""

    memory: Memory
    notes: Sequence[Notes] = ()

    @cached_property
    def quick(self) -> Memory:
        """The same memory, where the offline planner answers at once and leaves no trace: a search as one types must
        not cost anything."""
        return self.memory.with_model(OfflinePlanner(), QUICK_SECONDS, traces=0)

    def warm(self) -> None:
        """Opens what a first search needs, and begins the history, which takes seconds in a large memory."""
        with suppress(SilicaError):
            self.quick.search("memory", 1)
            self.memory.history()


@dataclass(frozen=True)
class Visit:
    """A request of somebody who may see the page. `base` is the path of the page at its server; `secret` goes into each
    form, so that no other page can send one."""

    request: Request
    subject: Subject
    base: str = ""
    secret: str = ""
    can_write: bool = True
    sees_entries: bool = True
    """Whether entries and traces are shown: at a service, entries have readers of their own."""
    can_leave: bool = False

    @property
    def memory(self) -> Memory:
        """The memory that is shown."""
        return self.subject.memory

    @property
    def calendar(self) -> Calendar:
        """The clock and the time zone of the memory."""
        return self.memory.entries.store.calendar

    @property
    def today(self) -> date:
        """The day of the visit."""
        return self.calendar.today

    @property
    def yesterday(self) -> date:
        """The day before it."""
        return self.today - timedelta(days=1)

    def at(self, *parts: str, anchor: str = "", **query: object) -> str:
        """The address of a view."""
        return address(self.base, *parts, anchor=anchor, **query)

    def asked(self, name: str) -> str:
        """A field of the query, without blanks around it; empty if it is not there."""
        return self.request.query.get(name, "").strip()

    def number(self, name: str) -> int:
        """A field of the query that is a number; 0 if it is none."""
        text = self.asked(name)
        return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else 0

    def part(self, items: Sequence[T], most: int) -> tuple[Sequence[T], dict[str, int]]:
        """The part of a list that is asked for, and what a template needs to lead to the others."""
        first = self.number("from")
        return items[first : first + most], {"first": first, "most": most, "count": len(items)}

    def require_entries(self) -> None:
        """Raises `NotAllowed` for a visitor who may see pages only."""
        if not self.sees_entries:
            raise NotAllowed("this key may see pages; entries and traces need the scope admin")

    def show(self, template: str, status: int = 200, **data: object) -> Response:
        """A page made of a template."""
        return Response(render(template, {"visit": self, "at": self.at, **data}), status)
