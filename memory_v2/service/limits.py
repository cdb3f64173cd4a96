"""How many requests a key may make in a minute."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

WINDOW = 60.0
"""Seconds; a window begins with the first request in it."""


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
        now = self._now()
        with self._lock:
            if len(self._windows) > 10_000:
                self._windows = {k: w for k, w in self._windows.items() if w[0] + WINDOW > now}
            started, count = self._windows.get(key, (now, 0))
            if started + WINDOW <= now:
                started, count = now, 0
            allowed = count < limit
            count += allowed
            self._windows[key] = (started, count)
        return Taken(allowed, limit - count, started + WINDOW - now)
