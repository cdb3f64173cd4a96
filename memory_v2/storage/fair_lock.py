"""A lock that serves threads in the order in which they ask for it; the locks of `threading` do not."""

from __future__ import annotations

import threading
from collections import deque


class FairLock:
    """Held by one thread at a time, first come, first served. Not re-entrant."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._is_held = False
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, timeout: float) -> bool:
        """Waits up to `timeout` seconds; returns whether this thread now holds the lock."""
        turn = threading.Event()
        with self._changing:
            if not self._is_held:
                self._is_held = True
                return True
            self._waiting.append(turn)
        if turn.wait(timeout):
            return True
        with self._changing:
            if turn.is_set():  # its turn came at the last moment
                return True
            self._waiting.remove(turn)
            return False

    def release(self) -> None:
        """Hands the lock to the thread that has waited longest, or frees it."""
        with self._changing:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._is_held = False

    @property
    def is_wanted(self) -> bool:
        """Whether a thread is waiting for the lock."""
        return bool(self._waiting)
