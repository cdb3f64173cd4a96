"""Pages in a temporary folder that goes with the object: for tests and throw-away memories. And such folders, for
whatever else needs one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from tempfile import mkdtemp
from weakref import finalize

from memory_v2.storage.base import ANY, Expected
from memory_v2.storage.local.storage import LocalStorage
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


def temporary_folder(user: object, within: str | None = None) -> Path:
    """A new folder, which is removed when `user` is no longer used; not at the end of a process that was forked
    meanwhile."""
    folder = mkdtemp(prefix="silica-", dir=within)
    finalize(user, _remove, folder, os.getpid())
    return Path(folder)


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
