"""The operations that are running on an open memory, for whoever wants to see or cancel them from another thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memory_v2.errors import NotAllowed

if TYPE_CHECKING:
    from memory_v2.agent.cancellation import Cancellation


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
