"""Which notes in a bucket this machine has written, and on which of them one of its processes still works."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memory_v2.storage.local.disk import make_folder
from memory_v2.storage.s3.cache import PageCache

FOLDER = "claims"
LOCK = ".lock"


class Claims:
    """A file in the local cache for each note that this machine has written, and a lock while a process works on it.
    The system releases the lock when its process dies. Without a cache nothing is known."""

    def __init__(self, cache: PageCache) -> None:
        self._cache = cache

    @contextmanager
    def held(self, name: str, is_new: bool) -> Iterator[bool | None]:
        """Holds the note; one that `is_new` becomes this machine's. Yields `False` while another of its processes works
        on it, and `None` if it is not known to be this machine's."""
        mark = self._mark(name)
        if mark is None or not (is_new or mark.exists()):
            yield None
            return
        from filelock import FileLock, Timeout  # 40 ms of start-up, which reading should not pay

        lock = FileLock(mark.with_suffix(LOCK), mode=0o600, fallback_to_soft=False)
        is_free: bool | None = True
        try:
            make_folder(mark.parent)
            lock.acquire(timeout=0)
            mark.touch(mode=0o600)
        except Timeout:
            is_free = False
        except OSError:  # the cache is full, or its disk has no locks
            is_free = None
        try:
            yield is_free
        finally:
            lock.release()

    def forget(self, name: str) -> None:
        """Removes what is known of a note that is gone."""
        if mark := self._mark(name):
            for file in (mark, mark.with_suffix(LOCK)):
                with suppress(OSError):
                    file.unlink()

    def sweep(self, seconds: float) -> None:
        """Removes what has not been used for this long."""
        if folder := self._cache.folder:
            with suppress(OSError):
                for file in (folder / FOLDER).iterdir():
                    if time.time() - file.stat().st_mtime > seconds:
                        file.unlink(missing_ok=True)

    def _mark(self, name: str) -> Path | None:
        folder = self._cache.folder
        return folder / FOLDER / name.rpartition("/")[2] if folder else None
