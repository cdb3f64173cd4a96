"""The lock of a bucket: an object that a machine creates, renews and removes, and that expires if the machine dies.

Pages and history are safe without it: each write is conditional, and each record of the history can be created only
once. The lease keeps machines from running into conflicts.

Threads of one process queue and hand the lease on to each other, which saves the requests for releasing and taking it.
After `TURN_SECONDS` they leave it to other machines.
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
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from typing import TypeVar

from memory_v2.errors import StorageConflict, StorageError
from memory_v2.storage.s3.bucket import Bucket, PreconditionFailed, UnknownOutcome
from memory_v2.storage.versioned import FairLock

LEASE_SECONDS = 30.0
"""How long a lease lives without being renewed, in seconds. Others may take it then. Longer than a request usually
takes with all its attempts."""
RENEW_SECONDS = 10.0
"""The age, in seconds, at which a lease is renewed: a third of its life, so that two renewals may fail."""
WAIT_SECONDS = 90.0
"""How long to wait for the lease, in seconds: long enough for three holders in a row to die."""
LOOK_SECONDS = 1.0
"""The pause, in seconds, between two checks of whether the holder has renewed its lease."""
POLL_SECONDS = (0.02, 0.25)
"""The pause, in seconds, between two attempts to take the lease: at first, and at most."""
TURN_SECONDS = 2.0
"""How long, in seconds, the threads of a process may hand the lease on while other machines wait."""
GAP_SECONDS = 0.3
"""How long, in seconds, a process stays away from the lease after its turn: longer than others pause between two
attempts, so that each gets a chance."""
WORKERS = 16
"""How many requests are sent at once: half of the connections in a client's pool."""

Item = TypeVar("Item")
Result = TypeVar("Result")

logger = logging.getLogger(__name__)


class Lease:
    """The lease whose object is `key`. Re-entrant in a thread. The threads of a process get it in the order in which
    they ask."""

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
        self._last_acts: list[Callable[[], None]] = []

    @contextmanager
    def held(self, wait: bool = True) -> Iterator[None]:
        """Holds the lease. Raises `StorageError` if others hold it for `WAIT_SECONDS`."""
        if self.is_mine:
            yield
            return
        if not self._queue.acquire(WAIT_SECONDS if wait else 0.0):
            raise StorageError(
                f"other threads of this process have used {self._key} for {WAIT_SECONDS:.0f} seconds; try again later"
            )
        try:
            if not self._etag:
                self._take(WAIT_SECONDS if wait else 0.0)
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
        """The number of this process's turn with the lease; 0 if this thread does not hold it. Within a turn no other
        process changes anything."""
        return self._turns if self.is_mine else 0

    def renew(self) -> None:
        """Renews the lease if this thread holds it and it is due. If another holder has taken it, raises
        `StorageConflict` before the first change and `StorageError` after it."""
        # Wall-clock time, because it goes on while the machine sleeps.
        if not self.is_mine or abs(time.time() - self._renewed) < RENEW_SECONDS:
            return
        now = time.time()
        try:
            self._etag = self._bucket.replace(self._key, _token(), self._etag)
        except PreconditionFailed as error:
            if not self._has_changed:
                raise StorageConflict(
                    "this change took so long that another machine took the lock; try again"
                ) from error
            self._end("this change took so long that another machine took the lock")
            raise StorageError(self._ended) from error
        self._renewed = now

    def before_change(self) -> None:
        """Renews the lease before a change. Raises as `renew` does, and `StorageError` after an unknown outcome."""
        if self.is_mine:
            if self._ended:
                raise StorageError(self._ended)
            self.renew()
            self._has_changed = True

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Wraps a change that others depend on. If its outcome is unknown, no more changes are made under this lease.
        Earlier changes stay: undoing them on a guess could lose text."""
        self.before_change()
        try:
            yield
        except UnknownOutcome as error:
            if self.is_mine:
                self._end(str(error))
            raise

    def at_end_of_turn(self, act: Callable[[], None]) -> None:
        """Calls `act` once before the lease is released: when no thread of this process waits for it, or when the turn
        is over. A `StorageError` is only logged. Call it under the lease."""
        if act not in self._last_acts:
            self._last_acts.append(act)

    def _end(self, reason: str) -> None:
        self._ended = f"{reason}; nothing is lost: the next change completes this one"

    def _take(self, wait_seconds: float) -> None:
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
            if now - started > wait_seconds:
                raise StorageError(
                    f"{self._owner()} has held the memory for {WAIT_SECONDS:.0f} seconds; try again later"
                )
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(pause * 1.5, POLL_SECONDS[1])
        self._etag, self._renewed, self._turn_began = etag, asked, time.monotonic()
        self._turns += 1

    def _let_go(self) -> None:
        """Leaves the lease to the next thread of this process, or releases it."""
        if self._queue.is_wanted and not self._ended:
            if time.monotonic() - self._turn_began < TURN_SECONDS:
                return
            self._gap_ends = time.monotonic() + GAP_SECONDS
        etag, acts, self._etag, self._last_acts = self._etag, self._last_acts, "", []
        for act in () if self._ended else acts:
            try:
                act()
            except StorageError as error:
                logger.info("at the end of a turn: %s", error)
        try:
            self._bucket.delete(self._key, etag)
        except StorageError as error:  # the change is stored, and the lease expires by itself
            logger.debug("the lease was not released: %s", error)

    def _owner(self) -> str:
        found = self._bucket.get(self._key)
        try:
            return str(json.loads(found.data)["owner"]) if found else "another machine"
        except (ValueError, KeyError, TypeError):
            return "another machine"


def _token() -> bytes:
    """New bytes for the lease's object. They are unique, so each has its own tag."""
    owner = f"process {os.getpid()} on {platform.node()}"
    return json.dumps({"owner": owner, "at": datetime.now(UTC).isoformat(), "token": uuid.uuid4().hex}).encode()


def side_by_side(work: Callable[[Item], Result], items: Iterable[Item], lease: Lease) -> Iterator[Result]:
    """The results of `work` for the items, in order, computed by several threads. Renews the lease meanwhile."""
    several = list(items)
    with ThreadPoolExecutor(WORKERS) if len(several) > 1 else nullcontext() as pool:
        for result in (pool.map if pool else map)(work, several):
            with suppress(StorageError):  # a lost lease is reported at the next change of a page
                lease.renew()
            yield result
