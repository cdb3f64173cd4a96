"""Notes in a bucket: the note `pending/1f3a` is the object `<prefix>/.metadata/pending/1f3a.json`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from memory_v2.storage.base import is_note_name
from memory_v2.storage.s3.bucket import Bucket
from memory_v2.storage.s3.lease import Lease

SUFFIX = ".json"
CLAIM_SECONDS = 900.0
"""The age of a note, in seconds, at which its operation is taken for dead. The longest operations take minutes."""


class S3Notes:
    """The notes below a prefix of a bucket; a change under the `lease` renews it."""

    recovery_interval = 60.0
    """In seconds. A search costs requests, and claims last for minutes anyway."""

    def __init__(self, bucket: Bucket, prefix: str, lease: Lease) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._lease = lease
        self._claimed: set[str] = set()
        self._read: dict[str, tuple[int, bytes | None]] = {}

    def read(self, name: str) -> bytes | None:
        """See `Notes`."""
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
        """See `Notes`."""
        self._lease.before_change()
        self._read.pop(name, None)
        self._bucket.put(self._key(name), data)

    def remove(self, name: str) -> None:
        """See `Notes`."""
        self._lease.before_change()
        self._read.pop(name, None)
        self._bucket.delete(self._key(name))

    def names(self, folder: str) -> list[str]:
        """See `Notes`."""
        keys = (key for key, _ in self._bucket.list(f"{self._prefix}{folder}/"))
        names = (
            key.removeprefix(f"{self._prefix}{folder}/").removesuffix(SUFFIX) for key in keys if key.endswith(SUFFIX)
        )
        return sorted(f"{folder}/{name}" for name in names if is_note_name(name))

    @contextmanager
    def claim(self, name: str, is_new: bool = False) -> Iterator[bool]:
        """See `Notes`. Whether another machine has died is unknown, so a note older than `CLAIM_SECONDS` is free."""
        if name in self._claimed:
            yield False
            return
        found = None if is_new else self._bucket.head(self._key(name))
        if found and (datetime.now(UTC) - found.modified).total_seconds() <= CLAIM_SECONDS:
            yield False
            return
        self._claimed.add(name)
        try:
            yield True
        finally:
            self._claimed.discard(name)

    def sweep(self) -> None:
        """Nothing to do: writes of objects are atomic, and claims are not stored."""

    def _key(self, name: str) -> str:
        return f"{self._prefix}{name}{SUFFIX}"
