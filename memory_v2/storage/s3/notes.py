"""What the program notes in a bucket: the note `pending/1f3a` is the object `<prefix>/.metadata/pending/1f3a.json`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from memory_v2.storage.base import is_note_name
from memory_v2.storage.s3.bucket import Bucket

SUFFIX = ".json"
CLAIM_SECONDS = 900.0
"""Who was at work on something and has not ended it after so long is taken for dead."""


class S3Notes:
    """The notes below a prefix of a bucket; `before_change` is called before each change, and may forbid it."""

    recovery_interval = 60.0

    def __init__(self, bucket: Bucket, prefix: str, before_change: Callable[[], None]) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._before_change = before_change

    def read(self, name: str) -> bytes | None:
        """See `Notes`."""
        found = self._bucket.get(self._key(name))
        return found.data if found else None

    def write(self, name: str, data: bytes) -> None:
        """See `Notes`."""
        self._before_change()
        self._bucket.put(self._key(name), data)

    def remove(self, name: str) -> None:
        """See `Notes`."""
        self._before_change()
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
        found = self._bucket.head(self._key(name))
        yield found is None or (datetime.now(UTC) - found.modified).total_seconds() > CLAIM_SECONDS

    def sweep(self) -> None:
        """An object is whole or not there, and a claim is none."""

    def _key(self, name: str) -> str:
        return f"{self._prefix}{name}{SUFFIX}"
