"""When interrupted operations are finished: before a memory is used, and again from time to time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memory_v2.errors import StorageError, Unreadable
from memory_v2.storage.base import PENDING, MemoryStorage
from memory_v2.storage.format import is_current

if TYPE_CHECKING:
    from memory_v2.recovery import Recovered

logger = logging.getLogger(__name__)


class Recovery:
    """The recovery of an open memory. `finish` finishes what was interrupted; `done` is what it has finished so far."""

    def __init__(
        self,
        storage: MemoryStorage,
        now: Callable[[], datetime] | None,
        finish: Callable[[], Iterable[Recovered]],
    ) -> None:
        self._storage = storage
        self._now = now
        self._finish = finish
        self._next = 0.0
        self.done: list[Recovered] = []

    def attempt(self) -> None:
        """Finishes what was interrupted, unless that was looked for a moment ago."""
        notes, now = self._storage.state, time.monotonic()
        if now < self._next:
            return
        try:
            is_old = not is_current(notes)
        except Unreadable as error:  # whoever reads need not wait for it, and a change fails
            self._next = now + notes.recovery_interval
            logger.warning("the format of this memory is unknown: %s", error)
            return
        is_first, self._next = not self._next, now + notes.recovery_interval
        try:
            if is_old and is_first:
                self._storage.make_room_for_entries(self._now() if self._now else datetime.now(UTC))
            if is_left := self._storage.interrupted() is not None or bool(notes.names(PENDING)):
                self.done += self._finish()
        except StorageError as error:
            logger.warning("an interrupted operation could not be finished: %s", error)
            return
        if is_first or is_left:
            notes.sweep()
