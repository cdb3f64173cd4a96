"""Cancelling an operation from another thread: at once while it waits, and never while its change is being stored."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from weakref import WeakSet

from memory_v2.errors import Cancelled, StorageConflict


class CancelScope:
    """All that a caller waits for, whatever operations it is: cancelled as one."""

    def __init__(self) -> None:
        self._is_cancelled = False
        self._adding = threading.Lock()
        self._cancellations: WeakSet[Cancellation] = WeakSet()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """What this thread begins inside belongs to the scope."""
        before = _scope.set(self)
        try:
            yield
        finally:
            _scope.reset(before)

    def add(self, cancellation: Cancellation) -> None:
        """Adds an operation that begins; in a cancelled scope it is cancelled at once."""
        with self._adding:
            self._cancellations.add(cancellation)
            is_cancelled = self._is_cancelled
        if is_cancelled:
            cancellation.cancel()

    def cancel(self) -> None:
        """Cancels what is running, and what begins later. Waits while a change is being stored."""
        with self._adding:
            self._is_cancelled = True
            running = list(self._cancellations)
        for cancellation in running:
            cancellation.cancel()


_scope: ContextVar[CancelScope | None] = ContextVar("cancel scope", default=None)


class Cancellation:
    """Whether an operation is to stop. One thread carries the operation out; any other thread may cancel it."""

    def __init__(self) -> None:
        self.is_cancelled = False
        self._deciding = threading.Lock()  # whether the operation is cancelled or its change is stored
        self._may_be_stored = False
        self._has_ended = False
        self._waits_for: threading.Event | None = None
        if (scope := _scope.get()) is not None:
            scope.add(self)

    def cancel(self) -> bool:
        """Asks the operation to stop; tells whether it will, with nothing stored. Once its change is stored, only the
        splits that follow are left out. While the change is being stored, this waits to see what comes of it."""
        with self._deciding:
            if self._has_ended:
                return False
            self.is_cancelled = True
            if self._waits_for is not None:
                self._waits_for.set()
            return not self._may_be_stored

    def check(self) -> None:
        """Raises `Cancelled` if the operation is to stop."""
        if self.is_cancelled:
            raise Cancelled("the operation was cancelled; nothing was stored")

    def wait(self, event: threading.Event, seconds: float) -> None:
        """Waits for an event, so many seconds at most. Raises `Cancelled` as soon as the operation is to stop."""
        with self._deciding:
            self.check()
            self._waits_for = event
        event.wait(min(max(seconds, 0.0), threading.TIMEOUT_MAX))
        self.check()

    @contextmanager
    def storing(self) -> Iterator[None]:
        """Holds while a change is stored: until then the operation can be cancelled, afterwards not any more. Raises
        `Cancelled`."""
        with self._deciding:
            self.check()
            try:
                yield
            except StorageConflict:  # nothing was changed
                raise
            except BaseException:  # some of it may be stored, and the rest is completed on next use
                self._may_be_stored = True
                raise
            self._may_be_stored = True

    def end(self) -> None:
        """The operation has done all; it cannot be cancelled any more. Raises `Cancelled` if `cancel` has promised."""
        with self._deciding:
            self._has_ended = True
            if not self._may_be_stored:
                self.check()
