"""What an operation is: one annotated function, and what a decorator says about it; and those that are running.

The function takes what it works with (the `Context`, the storage or the entries) and then its arguments. The method of
`Memory`, `Entries` or `Checkpoints` calls it, and says for people what each argument means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from memory_v2.errors import NotAllowed

if TYPE_CHECKING:
    from memory_v2.agent.operation import Cancellation


F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class OperationInfo:
    """What is said about an operation: its `name` in traces and in the history, and what it `changes`: the pages
    (`tree`), the entries, only how they are stored (`store`), or the pages and their history, which cannot be undone
    (`past`).

    A `recorded` operation has limits and leaves a trace; if that is the name of an argument, only when it is given. An
    operation that `recovers` finishes first those that were interrupted: all of them if it changes pages, else those
    that take no longer than a moment.
    """

    name: str
    changes: Literal["nothing", "tree", "entries", "store", "past"]
    recorded: bool | str
    recovers: bool

    def leaves_trace(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the operation is recorded when run with these arguments."""
        return self.recorded if isinstance(self.recorded, bool) else bool(arguments.get(self.recorded))


def operation(
    name: str,
    *,
    changes: Literal["nothing", "tree", "entries", "store", "past"] = "nothing",
    recorded: bool | str = False,
    recovers: bool = True,
) -> Callable[[F], F]:
    """Says what a function is as an operation. The function stays as it is."""

    def described(function: F) -> F:
        vars(function)["operation"] = OperationInfo(name, changes, recorded, recovers)
        return function

    return described


def info(function: Callable[..., Any]) -> OperationInfo:
    """What is said about an operation."""
    found: OperationInfo = vars(function)["operation"]
    return found


def check_id(given: str) -> None:
    """Raises `NotAllowed` if the id of an operation is not a string."""
    if not isinstance(given, str):
        raise NotAllowed(f"the id of an operation is a string, not {type(given).__name__}")


@dataclass(frozen=True, slots=True)
class RunningOperation:
    """An operation that has begun and not ended. `id` is its name in the history, `kind` that of the operation, such as
    `write`, and `since` the moment when it began, in UTC."""

    id: str
    kind: str
    since: datetime


class RunningOperations:
    """Those of one memory, in the order in which they began. Any number of threads may use it."""

    def __init__(self) -> None:
        self._cancellations: dict[RunningOperation, Cancellation] = {}

    @contextmanager
    def added(self, operation: RunningOperation, cancellation: Cancellation) -> Iterator[None]:
        """Lists an operation while it runs."""
        self._cancellations[operation] = cancellation
        try:
            yield
        finally:
            self._cancellations.pop(operation, None)

    def __iter__(self) -> Iterator[RunningOperation]:
        return iter(self._cancellations.copy())

    def cancel(self, id: str) -> bool:  # noqa: A002 - as it is called in the history
        """Cancels an operation; tells whether it ends with nothing stored."""
        check_id(id)
        running = self._cancellations.copy().items()
        found = next((cancellation for operation, cancellation in running if operation.id == id), None)
        return found is not None and found.cancel()
