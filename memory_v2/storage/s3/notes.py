"""What the program notes in a bucket: the note `pending/1f3a` is the object `<prefix>/.metadata/pending/1f3a.json`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from memory_v2.storage.base import is_note_name
from memory_v2.storage.s3.bucket import Bucket
from memory_v2.storage.s3.lease import Lease

SUFFIX = ".json"
CLAIM_SECONDS = 900.0
"""Whoever began work so many seconds ago and has not ended it has died. The longest operations take minutes."""


class S3Notes:
    """The notes below a prefix of a bucket; `lease` has a say in each change."""

    recovery_interval = 60.0

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
        if turn and turn == known:  # nobody else changes such a note meanwhile
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
    def claim(self, name: str) -> Iterator[bool]:
        """See `Notes`. Nobody can see from here whether a machine has died, so the age of the note tells."""
        if name in self._claimed:
            yield False
            return
        found = self._bucket.head(self._key(name))
        if found and (datetime.now(UTC) - found.modified).total_seconds() <= CLAIM_SECONDS:
            yield False
            return
        self._claimed.add(name)
        try:
            yield True
        finally:
            self._claimed.discard(name)

    def sweep(self) -> None:
        """An object is whole or not there, and a claim is none."""

    def _key(self, name: str) -> str:
        return f"{self._prefix}{name}{SUFFIX}"
