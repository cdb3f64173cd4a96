"""What deciding about entries works with: the entries themselves, and the parts of an operation on pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Generic, Self, TypeVar

from memory_v2.agent.limits import Cost
from memory_v2.entries.area import Area
from memory_v2.entries.planned import Planned
from memory_v2.operations.context import Context
from memory_v2.trace.recording import Event, Trace

Plan = TypeVar("Plan")


@dataclass(frozen=True)
class Desk:
    """The entries, and what an operation that asks a model works with."""

    area: Area
    context: Context


@dataclass(frozen=True, slots=True)
class Decided(Planned[Plan], Generic[Plan]):
    """A plan that a model has decided, and the id of the operation that carried it out. `decided_by` names the model,
    `degraded` says why it was not the configured one; then what it has cost, and the name of the trace."""

    decided_by: str = "program"
    degraded: str = ""
    cost: Cost = field(default_factory=Cost)
    trace: str = ""

    def with_cost(self, cost: Cost, trace: str) -> Self:
        """The result with the cost of the whole operation and the name of its trace."""
        return replace(self, cost=cost, trace=trace)


@contextmanager
def part_of(context: Context) -> Iterator[Context]:
    """A context for one decision of several in an operation, with the limits for itself. What is decided goes into the
    operation's trace; what a dry run stores does not. A provider that has failed is not asked again."""
    whole = context.operation

    def forward(event: Event) -> None:
        if event["event"] != "commit":
            whole.trace.add(event["event"], **{key: value for key, value in event.items() if key != "event"})

    trace = Trace(listener=forward, reads=whole.trace.reads, keys=whole.trace.keys)
    part = whole.part(trace)
    try:
        yield replace(context, operation=part)
    finally:
        whole.abort_reason = part.abort_reason
