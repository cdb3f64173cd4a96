"""Pages in a temporary folder that goes with the object: for tests and throw-away memories."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from memory_v2.storage.base import ANY, Expected
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.temporary import temporary_folder
from memory_v2.storage.versioned import VersionedStorage
from memory_v2.text.days import utc_now

IN_MEMORY = "/dev/shm"
"""Where Linux has a folder that is kept in memory; elsewhere it is on the disk."""


class VolatileStorage(LocalStorage):
    """A `MemoryStorage` that is gone when it is no longer used. `clock` gives modified times, in UTC. The index and the
    traces are kept in `cache_folder`, if one is given."""

    cache_folder: Path | None = None
    recorded_at = VersionedStorage.recorded_at

    def __init__(self, clock: Callable[[], datetime] = utc_now, cache_folder: Path | None = None) -> None:
        super().__init__(temporary_folder(self, IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None))
        self.where = "in memory"
        self._clock = clock
        self.cache_folder = cache_folder
        self.state.recovery_interval = 0.0

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        version = super().write(path, data, expected)
        moment = self._clock().timestamp()
        os.utime(self._file(path), (moment, moment))
        return version
