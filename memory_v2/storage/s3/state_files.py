"""State files in a bucket: the note `pending/1f3a` is the object `<prefix>/.metadata/pending/1f3a.json`; and which of
them this machine has written."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from memory_v2.storage.base import StateFiles, is_note_name
from memory_v2.storage.local.disk import make_folder
from memory_v2.storage.s3.bucket import Bucket
from memory_v2.storage.s3.cache import PageCache
from memory_v2.storage.s3.lease import Lease

SUFFIX = ".json"
FOLDER = "claims"
LOCK = ".lock"
CLAIM_SECONDS = 900.0
"""The age of another machine's note, in seconds, at which its operation is taken for dead. The longest operations take
minutes."""


class S3State(StateFiles):
    """The notes below a prefix of a bucket; a change under the `lease` renews it. `claims` knows this machine's own."""

    recovery_interval = 60.0
    """In seconds. A search costs requests, and claims last for minutes anyway."""

    def __init__(self, bucket: Bucket, prefix: str, lease: Lease, claims: Claims) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._lease = lease
        self._claims = claims
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
        self._claims.forget(name)

    def names(self, folder: str) -> list[str]:
        keys = (key for key, _ in self._bucket.list(f"{self._prefix}{folder}/"))
        names = (
            key.removeprefix(f"{self._prefix}{folder}/").removesuffix(SUFFIX) for key in keys if key.endswith(SUFFIX)
        )
        return sorted(f"{folder}/{name}" for name in names if is_note_name(name))

    @contextmanager
    def claim(self, name: str, is_new: bool = False) -> Iterator[bool]:
        """A note of this machine is free when no process works on it. Whether another machine has
        died is unknown, so its note is free when it is older than `CLAIM_SECONDS`."""
        if name in self._claimed:
            yield False
            return
        with self._claims.held(name, is_new) as is_free:
            if is_free is False or (is_free is None and not is_new and self._is_young(name)):
                yield False
                return
            self._claimed.add(name)
            try:
                yield True
            finally:
                self._claimed.discard(name)

    def _is_young(self, name: str) -> bool:
        found = self._bucket.head(self._key(name))
        return found is not None and (datetime.now(UTC) - found.modified).total_seconds() <= CLAIM_SECONDS

    def sweep(self) -> None:
        """Writes of objects are atomic, so there are claims only, in the local cache."""
        self._claims.sweep(CLAIM_SECONDS)

    def _key(self, name: str) -> str:
        return f"{self._prefix}{name}{SUFFIX}"


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
