"""Putting together what operations work with, and running one with its own limits, time and trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, runtime_checkable

from memory_v2.agent import load
from memory_v2.agent.operation import Cost, Operation, new_id
from memory_v2.index.dense.chosen import Dense
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.store import Store
from memory_v2.models.base import Model
from memory_v2.operations.context import Context
from memory_v2.operations.operation import RunningOperation, RunningOperations
from memory_v2.settings import Limits
from memory_v2.storage.base import MemoryStorage
from memory_v2.text.calendar import Calendar
from memory_v2.trace.recording import Event, Trace, Traces

if TYPE_CHECKING:
    from memory_v2.index.entries import EntryIndex


def open_context(
    storage: MemoryStorage,
    model: str | Model,
    prices: Path | None,
    threshold: int,
    calendar: Calendar,
    is_dense: bool,
    store: Store,
    entries: Callable[[], EntryIndex],
) -> Context:
    """The parts for the operations of a memory: its index is opened, with its `entries` in the same `store`, and
    its model is loaded by its name. Raises `InvalidSetting`, `ModelError`."""
    planner = load.load_model(load.OFFLINE)
    decides = model
    if isinstance(decides, str):
        decides = planner if decides == load.OFFLINE else load.load_model(decides, prices)
    return Context(
        storage=storage,
        index=FullTextIndex(
            storage, None, storage.history, calendar, Dense() if is_dense else None, store=store, entries=entries
        ),
        model=decides,
        planner=planner,
        threshold=threshold,
        now=calendar.now,
        timezone=calendar.zone,
    )


STORED_ANYWAY = "the change was already being stored: it is in the memory, or will be finished on next use"

MAX_NEWER = 50
"""How many of the newest revisions are searched for an interrupted operation: far more than others can add within the
moment of an interrupt."""


R = TypeVar("R")


@runtime_checkable
class _HasCost(Protocol):
    def with_cost(self, cost: Cost, trace: str) -> Self: ...


@dataclass(frozen=True)
class Runner:
    """Runs operations within the limits. `traces` is called after an operation, because the first write creates the
    folder for traces. `running` lists the operations while they run. `on_event` is called with an operation's id and
    each event of its trace."""

    limits: Limits
    traces: Callable[[], Traces | None]
    running: RunningOperations = field(default_factory=RunningOperations)
    on_event: Callable[[str, Event], object] | None = None

    def run(
        self,
        context: Context,
        operation: str,
        act: Callable[[Context], R],
        arguments: dict[str, Any],
        id: str = "",  # noqa: A002 - as it is called in the history
    ) -> R:
        """Runs one operation and returns its result with cost and trace. The trace is saved even if the operation
        fails. `id` is the id of an interrupted operation that is continued. Raises `Cancelled`."""
        started = context.now().astimezone(UTC)
        setting: dict[str, Any] = {
            "model": context.model.name,
            "threshold": context.threshold,
            "limits": asdict(self.limits),
        }
        if context.index.is_dense:
            setting["dense"] = True
        if id:
            setting["goes_on"] = True
        id = id or new_id()  # noqa: A001 - as above
        trace = Trace(listener=partial(self.on_event, id) if self.on_event else None)
        current = Operation(self.limits, trace, id=id)
        with self.running.added(RunningOperation(id, operation, started), current.cancellation):
            trace.began(operation, arguments, started, **setting)
            return self._recorded(replace(context, now=lambda: started, operation=current), operation, act)

    def _recorded(self, context: Context, operation: str, act: Callable[[Context], R]) -> R:
        current, trace, cancellation = context.operation, context.operation.trace, context.operation.cancellation
        kept_as = ""
        try:
            result = act(context)
            cancellation.end()
        except BaseException as error:
            trace.add("error", kind=type(error).__name__, message=str(error))
            if isinstance(error, KeyboardInterrupt) and (trace.of("commit") or _is_recorded(context.storage, current)):
                raise KeyboardInterrupt(STORED_ANYWAY) from error
            raise
        finally:
            told = {"cancelled": True} if cancellation.is_cancelled else {}
            trace.add("end", cost=asdict(current.cost), reads=trace.reads, **told)
            if traces := self.traces():
                kept_as = traces.save(trace, operation, context.now(), current.id)
        return result.with_cost(current.cost, kept_as) if isinstance(result, _HasCost) else result


def _is_recorded(storage: MemoryStorage, operation: Operation) -> bool:
    """Whether the operation is in the history: its change is then in the memory or will be completed."""
    newest = islice(storage.history.revisions(), MAX_NEWER)
    return any(revision.operation == operation.id for revision in newest)
