"""How much tenants have stored, without summing it up for each write."""

from __future__ import annotations

import time

from memory_v2.service.store import Transaction

BELIEVED_SECONDS = 1.0
"""How long a sum is believed, in seconds: what other processes write in that time may go over a quota."""
MOST_TENANTS = 10_000


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
