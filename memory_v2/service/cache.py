"""Contexts at hand, so that reading one again asks no database.

What a process remembers of a record counts only while its stamp is the same. Who changes a record marks it as being
changed before the commit and gives it a new stamp afterwards, before the change is acknowledged: so no process
answers with what was there before an acknowledged change. If the marker dies, its mark ends by itself, and
until then everybody reads the database.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from memory_v2.service.store import Transaction

MOST_REMEMBERED = 1_000
MOST_BYTES = 65_536
"""Bytes of a context that is remembered; together they take 64 MB at most."""
MARK_SECONDS = 60
"""How long a mark lasts whose process has died, in seconds: longer than any transaction."""
STAMP_SECONDS = 86_400
"""How long an unused stamp is kept, in seconds; a record without one gets a new one."""
MARK = "changing"


class Stamps(Protocol):
    """The stamps of records, for all processes that share them."""

    async def stamp(self, key: str) -> str:
        """The stamp of a record; empty while somebody changes it."""

    def mark(self, key: str, transaction: Transaction) -> None:
        """Marks a record as being changed before a transaction commits; at its end the record has a new stamp, unless
        another transaction has marked it."""


class StampsInMemory:
    """For one process, in which each transaction comes to its end."""

    def __init__(self) -> None:
        self._stamps: dict[str, str] = {}
        self._lock = threading.Lock()

    async def stamp(self, key: str) -> str:
        """The stamp of a record; without one it gets a new one."""
        with self._lock:
            if len(self._stamps) > 10 * MOST_REMEMBERED:
                self._stamps = {key: stamp for key, stamp in self._stamps.items() if stamp.startswith(MARK)}
            stamp = self._stamps.setdefault(key, uuid.uuid4().hex)
        return "" if stamp.startswith(MARK) else stamp

    def mark(self, key: str, transaction: Transaction) -> None:
        """Marks a record."""
        mine = new_mark()
        with self._lock:
            self._stamps[key] = mine

        def end() -> None:
            with self._lock:
                if self._stamps.get(key) == mine:
                    del self._stamps[key]

        transaction.at_end.append(end)


def new_mark() -> str:
    """A mark of its own."""
    return f"{MARK} {uuid.uuid4().hex}"


@dataclass(frozen=True, slots=True)
class Kept:
    """A record as it is answered: who may read it, until when it holds, its text and its ETag."""

    access: tuple[str, str, str]
    until: float
    text: bytes
    etag: str


class Cache:
    """What one process remembers."""

    def __init__(self, stamps: Stamps, now: Callable[[], float]) -> None:
        self.stamps, self._now = stamps, now
        self._kept: dict[str, tuple[str, Kept]] = {}
        self._generation = 0
        self._lock = threading.Lock()

    async def find(self, key: str) -> tuple[str, Kept | None]:
        """The stamp of a record, and the record itself if it is at hand."""
        generation = self._generation
        stamp = await self.stamps.stamp(key)
        if not stamp:
            return "", None
        stamp = f"{generation} {stamp}"
        was, kept = self._kept.get(key, ("", None))
        return stamp, kept if kept and was == stamp and self._now() < kept.until else None

    def keep(self, key: str, stamp: str, kept: Kept) -> None:
        """Remembers a record that was read after its stamp."""
        if not stamp or len(kept.text) > MOST_BYTES:
            return
        with self._lock:
            if len(self._kept) >= MOST_REMEMBERED:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = stamp, kept

    def clear(self) -> None:
        """Forgets everything: the stamps may be older ones again."""
        self._generation += 1
