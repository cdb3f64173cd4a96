"""Freshness: when the index must look at all pages again, and doing so.

An open memory updates its index with what it changes itself. What others change is seen by a look at all pages, which
costs more the more pages there are. So a look is made only if the history has moved without this memory, or if the last
look is some time ago. The pages that an operation changes are always read from the storage, never from the index.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memory_v2.errors import StorageError
from memory_v2.storage.history import History

if TYPE_CHECKING:
    from memory_v2.operations.context import Context
    from memory_v2.storage.base import MemoryStorage

MAX_AGE = 1.0
"""How old, in seconds, the last look may be: a page edited by hand is noticed after this time at the latest."""
MAX_WAIT = 1.0
"""How long, in seconds, a thread waits for the look of another one before it looks itself: a disk may be slow."""
LOOKS_COST = 0.1
"""The share of the time that looks may take. In a small tree, where one takes a millisecond, edits are noticed after
ten; in a large one after `MAX_AGE`."""

logger = logging.getLogger(__name__)


class Freshness:
    """How fresh the index of an open memory is. Any number of threads may use it."""

    def __init__(self) -> None:
        self._looking = threading.Lock()
        self._next_look = 0.0
        self._seen: str | None = None
        """The stamp of the history as of the last look, and after each change that was made since by this memory."""
        self._is_committing = False
        self.misses_removals = False
        """Whether pages may have been removed by hand before the index was made, which the history has not recorded."""

    @contextmanager
    def look(self, history: History, even_if_fresh: bool = False) -> Iterator[bool]:
        """Wraps a look at all pages; yields whether one is due. Threads that wait for the look of another one need none
        of their own."""
        if not even_if_fresh and not self._is_due(history):
            yield False
            return
        is_mine = self._looking.acquire(timeout=MAX_WAIT)
        try:
            if not even_if_fresh and not self._is_due(history):
                yield False
                return
            began, self._next_look, self._seen = time.monotonic(), 0.0, _stamp(history)
            yield True
            self._next_look = began + min((time.monotonic() - began) / LOOKS_COST, MAX_AGE)
        finally:
            if is_mine:
                self._looking.release()

    @contextmanager
    def committing(self, history: History) -> Iterator[None]:
        """Wraps a change whose pages are in the index at the end. Call it under the storage's lock."""
        before = _stamp(history)
        self._is_committing = True
        try:
            yield
            if self._seen == before:
                self._seen = _stamp(history)
        finally:
            self._is_committing = False

    def expire(self) -> None:
        """Makes a look due."""
        self._seen, self._next_look = None, 0.0

    def _is_due(self, history: History) -> bool:
        if time.monotonic() >= self._next_look or self._seen is None:
            return True
        return not self._is_committing and _stamp(history) != self._seen


def refresh(context: Context, even_if_fresh: bool = False) -> None:
    """Records external edits in the history and brings the index up to date, if that is due."""

    def record(paths: Collection[str]) -> bool:
        storage, freshness = context.storage, context.freshness
        freshness.misses_removals |= context.index.is_new
        try:
            with storage.lock(wait=False), freshness.committing(storage.history):
                removed = _removed(storage) if freshness.misses_removals else set()
                storage.record_external_edits({*paths, *removed}, context.now())
            freshness.misses_removals = False
            return True
        except StorageError as error:  # a read-only disk must not stop readers
            logger.info("external edits could not be recorded in the history: %s", error)
            return False

    with context.freshness.look(context.storage.history, even_if_fresh) as is_due:
        if is_due:
            context.index.refresh(record)


def _removed(storage: MemoryStorage) -> set[str]:
    """The pages of the newest revision that are gone. It reads them all: do so only if the index is new."""
    history = storage.history
    try:
        known = history.pages(history.head) if history.begun else {}
    except StorageError as error:
        logger.warning("the history cannot tell which pages were removed by hand: %s", error)
        return set()
    gone = known.keys() - set(storage.list_files())
    hidden = tuple(storage.unlisted_folders())
    return {path for path in gone if not path.startswith(hidden)}


def _stamp(history: History) -> str | None:
    try:
        return history.stamp
    except StorageError:  # damaged, or not readable: the pages are
        return None
