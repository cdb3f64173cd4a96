"""State files in a bucket: the note `pending/1f3a` is the object `<prefix>/.metadata/pending/1f3a.json`; and which of
them this machine has written."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from memory_v2.storage.base import NOTE_SUFFIX, StateFiles, notes_in
from memory_v2.storage.local.disk import make_folder
from memory_v2.storage.s3.bucket import Bucket
from memory_v2.storage.s3.cache import PageCache
from memory_v2.storage.s3.lease import Lease

FOLDER = "claims"
LOCK = ".lock"
CLAIM_SECONDS = 900.0
"""The age of another machine's note, in seconds, at which its operation is taken for dead. The longest operations take
minutes."""


class S3State(StateFiles):
    """The notes below a prefix of a bucket; a change under the `lease` renews it. The local `cache` has a file for each
    note that this machine has written."""

    recovery_interval = 60.0
    """In seconds. A search costs requests, and claims last for minutes anyway."""

    def __init__(self, bucket: Bucket, prefix: str, lease: Lease, cache: PageCache) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._lease = lease
        self._cache = cache
        self._claimed: set[str] = set()
        self._read: dict[str, tuple[int, bytes | None]] = {}

    def read(self, name: str) -> bytes | None:
        turn = self._lease.turn
        known, data = self._read.get(name, (0, None))
        if turn and turn == known:  # nobody else changes this note while we hold the lease
            return data
        found = self._bucket.get(self._key(name))
        data = found.data if found else None
        if turn and "/" not in name:
            self._read[name] = turn, data
        return data

    def write(self, name: str, data: bytes) -> None:
        self._lease.before_change()
        self._read.pop(name, None)
        self._bucket.put(self._key(name), data)

    def remove(self, name: str) -> None:
        self._lease.before_change()
        self._read.pop(name, None)
        self._bucket.delete(self._key(name))
        if mark := self._mark(name):
            for file in (mark, mark.with_suffix(LOCK)):
                with suppress(OSError):
                    file.unlink()

    def names(self, folder: str) -> list[str]:
        prefix = f"{self._prefix}{folder}/"
        return notes_in(folder, (key.removeprefix(prefix) for key, _ in self._bucket.list(prefix)))

    @contextmanager
    def claim(self, name: str, is_new: bool = False) -> Iterator[bool]:
        """A note of this machine is free when no process works on it. Whether another machine has died is unknown, so
        its note is free when it is older than `CLAIM_SECONDS`."""
        if name in self._claimed:
            yield False
            return
        with self._held(name, is_new) as is_free:
            if is_free is False or (is_free is None and not is_new and self._is_young(name)):
                yield False
                return
            self._claimed.add(name)
            try:
                yield True
            finally:
                self._claimed.discard(name)

    @contextmanager
    def _held(self, name: str, is_new: bool) -> Iterator[bool | None]:
        """Holds a file in the local cache, for a note of this machine, also one that `is_new`: the system
        releases it when its process dies. Yields `False` while another process works on it, and `None` if it is not
        known to be this machine's. Without a cache nothing is known."""
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

    def _is_young(self, name: str) -> bool:
        found = self._bucket.head(self._key(name))
        return found is not None and (datetime.now(UTC) - found.modified).total_seconds() <= CLAIM_SECONDS

    def sweep(self) -> None:
        """Writes of objects are atomic, so there are claims only, in the local cache."""
        if folder := self._cache.folder:
            with suppress(OSError):
                for file in (folder / FOLDER).iterdir():
                    if time.time() - file.stat().st_mtime > CLAIM_SECONDS:
                        file.unlink(missing_ok=True)

    def _key(self, name: str) -> str:
        return f"{self._prefix}{name}{NOTE_SUFFIX}"

    def _mark(self, name: str) -> Path | None:
        folder = self._cache.folder
        return folder / FOLDER / name.rpartition("/")[2] if folder else None
