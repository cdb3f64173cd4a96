"""How much a key may use: requests in a minute, and the bytes of its tenant, which are not summed up for each write."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from memory_v2.service.store import Transaction

WINDOW = 60.0
"""Seconds; a window begins with the first request in it."""
MOST_WINDOWS = 50_000
"""Keys and addresses that one process counts for; after that, the one that came first is forgotten."""
BELIEVED_SECONDS = 1.0
"""How long a sum is believed, in seconds: what other processes write in that time may go over a quota."""
MOST_TENANTS = 10_000


@dataclass(frozen=True, slots=True)
class Taken:
    """What a request got: whether it is allowed, how many are left, and in how many seconds there are more."""

    allowed: bool
    remaining: int
    reset: float


class LimiterInMemory:
    """Counts the requests of one process: never more than `limit` are admitted in a window."""

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


class Space:
    """The last sum of each tenant, with what this process has written since; nobody is refused by it."""

    def __init__(self) -> None:
        self._measured: dict[str, tuple[float, int]] = {}

    def suffices(self, transaction: Transaction, limit: int) -> bool:
        """Whether it is known that what the transaction has written is within the limit."""
        at, used = self._measured.get(transaction.tenant, (0.0, limit))
        used += transaction.written
        self._measured[transaction.tenant] = at, used
        return used <= limit and time.monotonic() - at < BELIEVED_SECONDS

    def measure(self, transaction: Transaction) -> int:
        """The bytes that the tenant has now."""
        used = transaction.used_bytes()
        if len(self._measured) >= MOST_TENANTS:
            self._measured.clear()
        self._measured[transaction.tenant] = time.monotonic(), used
        return used
