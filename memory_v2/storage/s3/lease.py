"""One change at a time among machines: a lock that is an object, and that runs out when its holder has died.

What a single page is never depends on it, only on the conditions of each write; nor does the history, whose next record
can be made once. The lease keeps machines from getting in each other's way.

Threads of one process queue, and hand the lease on to each other: that spares the requests of giving it back and taking
it again. After `TURN_SECONDS` they let other machines have it.
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
from memory_v2.storage.s3.errors import PreconditionFailed, UnknownOutcome
from memory_v2.storage.s3.queue import FairLock

LEASE_SECONDS = 30.0
"""A holder that has not renewed its lease for this many seconds has died, and is overtaken. Longer than a request with
all its attempts usually takes."""
RENEW_SECONDS = 10.0
"""The age in seconds at which a lease is renewed: a third of its life, so that two renewals may fail."""
WAIT_SECONDS = 90.0
"""The seconds after which waiting for the lease is given up: three holders in a row may have died."""
LOOK_SECONDS = 1.0
"""The seconds between two looks at whether the holder is alive."""
POLL_SECONDS = (0.02, 0.25)
"""The seconds between two attempts to take the lease: at first, and at most."""
TURN_SECONDS = 2.0
"""The seconds for which the threads of a process hand the lease on to each other while other machines may wait."""
GAP_SECONDS = 0.3
"""The seconds for which a process leaves the lease to others after its turn: longer than they pause between two
attempts, so that each of them gets a chance."""

logger = logging.getLogger(__name__)


class Lease:
    """The lock object at `key`. Re-entrant in a thread; the threads of a process get it in the order in which they
    ask."""

    def __init__(self, bucket: Bucket, key: str) -> None:
        self._bucket = bucket
        self._key = key
        self._queue = FairLock()
        self._holder = 0
        self._etag = ""
        self._turns = 0
        self._turn_began = self._gap_ends = self._renewed = 0.0
        self._has_changed = False
        self._ended = ""

    @contextmanager
    def held(self) -> Iterator[None]:
        """Raises `StorageError` when others have held it for `WAIT_SECONDS`."""
        if self.is_mine:
            yield
            return
        if not self._queue.acquire(WAIT_SECONDS):
            raise StorageError(
                f"other threads of this process have used {self._key} for {WAIT_SECONDS:.0f} seconds; try again later"
            )
        try:
            if not self._etag:
                self._take()
            self._holder, self._has_changed, self._ended = threading.get_ident(), False, ""
            try:
                yield
            finally:
                self._holder = 0
                self._let_go()
        finally:
            self._queue.release()

    @property
    def is_mine(self) -> bool:
        """Whether this thread holds it."""
        return self._holder == threading.get_ident()

    @property
    def turn(self) -> int:
        """The number of the turn for which this process has the lease, if this thread holds it, else 0. Within a turn
        nobody else changes anything."""
        return self._turns if self.is_mine else 0

    def renew(self) -> None:
        """A sign of life, if this thread holds it and it is time for one. Raises `StorageConflict` if it was lost to
        another holder and nothing was changed yet, else `StorageError`."""
        # The clock on the wall goes on when the machine sleeps.
        if not self.is_mine or abs(time.time() - self._renewed) < RENEW_SECONDS:
            return
        now = time.time()
        try:
            self._etag = self._bucket.replace(self._key, _token(), self._etag)
        except PreconditionFailed as error:
            if not self._has_changed:
                raise StorageConflict("this change took so long that another one went first; try again") from error
            self._end("this change took so long that another one went first")
            raise StorageError(self._ended) from error
        self._renewed = now

    def before_change(self) -> None:
        """To be called before each change. Raises as `renew` does, and `StorageError` if no more may be made."""
        if self.is_mine:
            if self._ended:
                raise StorageError(self._ended)
            self.renew()
            self._has_changed = True

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Around a change from which others follow. If nobody knows whether it was made, none of those can be made
        under this lease. What was done stays: restoring pages on a guess could lose text."""
        self.before_change()
        try:
            yield
        except UnknownOutcome as error:
            if self.is_mine:
                self._end(str(error))
            raise

    def _end(self, reason: str) -> None:
        self._ended = f"{reason}; nothing is lost: the next change completes what was begun"

    def _take(self) -> None:
        time.sleep(max(0.0, self._gap_ends - time.monotonic()))
        started = looked = time.monotonic()
        seen, since, pause = "", started, POLL_SECONDS[0]
        while True:
            asked = time.time()
            try:
                etag = self._bucket.create(self._key, _token())
                break
            except PreconditionFailed:
                now = time.monotonic()
            if not seen or now - looked >= LOOK_SECONDS:
                looked, found = now, self._bucket.head(self._key)
                if found and found.etag != seen:
                    seen, since = found.etag, now
                elif found and now - since >= LEASE_SECONDS:
                    try:
                        etag = self._bucket.replace(self._key, _token(), seen)
                        break
                    except PreconditionFailed:
                        continue
            if now - started > WAIT_SECONDS:
                raise StorageError(
                    f"{self._owner()} has held the memory for {WAIT_SECONDS:.0f} seconds; try again later"
                )
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(pause * 1.5, POLL_SECONDS[1])
        self._etag, self._renewed, self._turn_began = etag, asked, time.monotonic()
        self._turns += 1

    def _let_go(self) -> None:
        """Leaves the lease to the next thread of this process, or gives it back."""
        if self._queue.is_wanted and not self._ended:
            if time.monotonic() - self._turn_began < TURN_SECONDS:
                return
            self._gap_ends = time.monotonic() + GAP_SECONDS
        etag, self._etag = self._etag, ""
        try:
            self._bucket.delete(self._key, etag)
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
