"""One commit at a time among machines: a lock that is an object, and that runs out when its holder has died.

What a single page is never depends on it, only on the conditions of each write; it keeps apart what changes several.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import random
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from memory_v2.errors import StorageConflict, StorageError
from memory_v2.storage.s3.bucket import Bucket
from memory_v2.storage.s3.errors import PreconditionFailed

LEASE_SECONDS = 30.0
"""A holder that shows no sign of life for so long has died, and is overtaken."""
RENEW_SECONDS = 10.0
WAIT_SECONDS = 90.0
LOOK_SECONDS = 1.0
POLL_SECONDS = (0.02, 0.25)

logger = logging.getLogger(__name__)


class Lease:
    """The lock object at `key`. Re-entrant in a thread; threads of one process wait without asking the server."""

    def __init__(self, bucket: Bucket, key: str) -> None:
        self._bucket = bucket
        self._key = key
        self._threads = threading.RLock()
        self._depth = 0
        self._holder = 0
        self._etag = ""
        self._renewed = 0.0
        self._has_changed = False
        self._ended = ""

    @contextmanager
    def held(self) -> Iterator[None]:
        """Raises `StorageError` when others have held it for `WAIT_SECONDS`."""
        if not self._threads.acquire(timeout=WAIT_SECONDS):
            raise StorageError(f"another thread has held {self._key} for {WAIT_SECONDS:.0f} seconds; try again later")
        try:
            if self._depth == 0:
                self._take()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._holder = 0
                    self._give_back()
        finally:
            self._threads.release()

    @property
    def is_mine(self) -> bool:
        """Whether this thread holds it."""
        return self._holder == threading.get_ident()

    def keep(self) -> None:
        """A sign of life, if this thread holds it and it is time for one. Raises `StorageConflict` if it was lost to
        another holder and nothing was changed yet, else `StorageError`."""
        # The clock on the wall goes on when the machine sleeps.
        if not self.is_mine or abs(time.time() - self._renewed) < RENEW_SECONDS:
            return
        now = time.time()
        try:
            self._etag = self._bucket.replace(self._key, _token(), self._etag).etag
        except PreconditionFailed as error:
            if not self._has_changed:
                raise StorageConflict("this commit took so long that another one went first; try again") from error
            self.end("this commit took so long that another one went first")
            raise StorageError(self._ended) from error
        self._renewed = now

    def before_change(self) -> None:
        """To be called before each change; raises as `keep` does, and `StorageError` when no more may be made."""
        if self.is_mine:
            if self._ended:
                raise StorageError(self._ended)
            self.keep()
            self._has_changed = True

    def end(self, reason: str) -> None:
        """Allows no further change while this thread holds it. What was done so far must stay then: taking back the
        pages that a page links to, without knowing whether that page was stored, would lose what they hold."""
        if self.is_mine:
            self._ended = f"{reason}; nothing is lost, and whoever changes something next finishes what was begun"

    def _take(self) -> None:
        started = looked = time.monotonic()
        seen, since, pause = "", started, POLL_SECONDS[0]
        while True:
            asked = time.time()
            try:
                etag = self._bucket.create(self._key, _token()).etag
                break
            except PreconditionFailed:
                now = time.monotonic()
            if not seen or now - looked >= LOOK_SECONDS:
                looked, found = now, self._bucket.head(self._key)
                if found and found.etag != seen:
                    seen, since = found.etag, now
                elif found and now - since >= LEASE_SECONDS:
                    try:
                        etag = self._bucket.replace(self._key, _token(), seen).etag
                        break
                    except PreconditionFailed:
                        continue
            if now - started > WAIT_SECONDS:
                raise StorageError(
                    f"{self._owner()} has held the memory for {WAIT_SECONDS:.0f} seconds; try again later"
                )
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(pause * 1.5, POLL_SECONDS[1])
        self._etag, self._renewed, self._holder = etag, asked, threading.get_ident()
        self._has_changed, self._ended = False, ""

    def _give_back(self) -> None:
        try:
            self._bucket.delete(self._key, self._etag)
        except StorageError as error:  # what was stored is stored; the lease runs out by itself
            logger.debug("the lock was not given back: %s", error)

    def _owner(self) -> str:
        found = self._bucket.get(self._key)
        try:
            return str(json.loads(found.data)["owner"]) if found else "another machine"
        except (ValueError, KeyError, TypeError):
            return "another machine"


def _token() -> bytes:
    """Never the same twice, so that each has a tag of its own."""
    owner = f"process {os.getpid()} on {platform.node()}"
    return json.dumps({"owner": owner, "at": datetime.now(UTC).isoformat(), "token": uuid.uuid4().hex}).encode()
