"""How many requests a key may make in a minute."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

WINDOW = 60.0
"""Seconds; a window begins with the first request in it."""
MOST_WINDOWS = 50_000
"""Keys and addresses that one process counts for; after that, the one that came first is forgotten."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a request got: whether it is allowed, how many are left, and in how many seconds there are more."""

    allowed: bool
    remaining: int
    reset: float


class Limiter(Protocol):
    """Counts requests. It never admits more than `limit` in a window, over all processes that share it."""

    async def take(self, key: str, limit: int) -> Taken: ...


class LimiterInMemory:
    """For one process."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._windows: dict[str, tuple[float, int]] = {}
        self._lock = threading.Lock()

    async def take(self, key: str, limit: int) -> Taken:
        """Counts a request."""
        return self.count(key, limit)

    def count(self, key: str, limit: int) -> Taken:
        """As `take`, where nothing is awaited."""
        with self._lock:
            taken = self.left(key, limit)
            started = self._now() + taken.reset - WINDOW
            if key not in self._windows and len(self._windows) >= MOST_WINDOWS:
                self._windows.pop(next(iter(self._windows)))
            self._windows[key] = (started, limit - taken.remaining + taken.allowed)
            return Taken(taken.allowed, taken.remaining - taken.allowed, taken.reset)

    def left(self, key: str, limit: int) -> Taken:
        """What the next request would get."""
        now = self._now()
        started, count = self._windows.get(key, (now, 0))
        if started + WINDOW <= now:
            started, count = now, 0
        return Taken(count < limit, limit - count, started + WINDOW - now)
