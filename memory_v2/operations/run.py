"""Running an operation with its own limits, time and trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC
from itertools import islice
from typing import Any, Protocol, Self, TypeVar

from memory_v2.agent.limits import Cost, Limits
from memory_v2.agent.operation import Operation
from memory_v2.operations.context import Context
from memory_v2.storage.base import MemoryStorage
from memory_v2.trace.files import Traces
from memory_v2.trace.recording import begin

STORED_ANYWAY = "the change was already being stored: it is in the memory, or will be finished on next use"

MAX_NEWER = 50
"""How many of the newest revisions are searched for an interrupted operation: far more than others can add within the
moment of an interrupt."""


class _Result(Protocol):
    def with_cost(self, cost: Cost, trace: str) -> Self: ...


R = TypeVar("R", bound=_Result)


@dataclass(frozen=True)
class Runner:
    """Runs operations within the limits. `traces` is called after an operation, because the first write creates the
    folder for traces."""

    limits: Limits
    traces: Callable[[], Traces | None]

    def run(
        self,
        context: Context,
        operation: str,
        act: Callable[[Context], R],
        arguments: dict[str, Any],
        id: str = "",  # noqa: A002 - as it is called in the history
    ) -> R:
        """Runs one operation and returns its result with cost and trace. The trace is saved even if the operation
        fails. `id` is the id of an interrupted operation that is continued."""
        started = context.now().astimezone(UTC)
        setting: dict[str, Any] = {
            "model": context.model.name,
            "threshold": context.threshold,
            "limits": asdict(self.limits),
        }
        if id:
            setting["goes_on"] = True
        trace = begin(operation, arguments, started, **setting)
        current = Operation(self.limits, trace, id=id) if id else Operation(self.limits, trace)
        trace_name = ""
        try:
            result = act(replace(context, now=lambda: started, operation=current))
        except BaseException as error:
            trace.add("error", kind=type(error).__name__, message=str(error))
            if isinstance(error, KeyboardInterrupt) and (trace.of("commit") or _is_recorded(context.storage, current)):
                raise KeyboardInterrupt(STORED_ANYWAY) from error
            raise
        finally:
            trace.add("end", cost=asdict(current.cost), reads=trace.reads)
            if traces := self.traces():
                trace_name = traces.save(trace, operation, started, current.id)
        return result.with_cost(current.cost, trace_name)


def _is_recorded(storage: MemoryStorage, operation: Operation) -> bool:
    """Whether the operation is in the history: its change is then in the memory or will be completed."""
    newest = islice(storage.history.revisions(), MAX_NEWER)
    return any(revision.operation == operation.id for revision in newest)
