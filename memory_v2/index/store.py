"""Where the tables are: in memory, or in a SQLite file, which others may damage, lock or delete."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from memory_v2.index.connections import FILE, Connections, delete, empty
from memory_v2.index.tables import snapshot, transaction

Result = TypeVar("Result")

COMPACTED_BYTES = 100_000_000
"""The size, in bytes, up to which a file is made smaller: it is copied in memory, and other writers wait for that."""

log = logging.getLogger(__name__)

_inherited: list[Connections] = []
"""Connections opened before a fork. SQLite does not allow the child to use them, nor to close them."""


class Store:
    """The tables of one process, whatever happens to their file.

    If the file fails, it is reopened, then deleted and rebuilt, then replaced by tables in memory. The index can be
    rebuilt from the pages, so only time is lost. In a file, readers run concurrently and writers take turns; in memory,
    all take turns.
    """

    def __init__(self, folder: Path | None, name: str = FILE, besides: str = "") -> None:
        """`besides` is the SQL of tables that the file of this name has besides those of every index."""
        self._file = None if folder is None else folder / name
        self._besides = besides
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._opened: Connections | None = None

    def run(self, work: Callable[[], Result]) -> Result:
        """Returns the result of `work`, which uses `reading` and `writing`. If the tables fail, it is called again, up
        to three times, so it must be safe to repeat."""
        for remedy in (self._retire, self._delete_file, self._leave_file):
            connections = self._connections()
            try:
                return work()
            except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter: SQLite quoted garbage
                log.debug("the index %s failed: %r", connections.file, error)
                if _is_locked(error) or remedy == self._leave_file:
                    self._leave_file(connections)
                elif self._opened is connections:  # else another thread has replaced it already
                    remedy(connections)
        return work()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A snapshot of the tables. Only query them inside: no callback, no other lock, no `writing`."""
        with self._connections().use() as tables, snapshot(tables):
            yield tables

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction on the tables. Only change them inside: no callback, no other lock, no `reading`."""
        while True:
            connections = self._connections()
            with connections.writer:
                if connections.is_retired:  # closed or given up while this thread waited
                    continue
                with connections.use() as tables, transaction(tables):
                    yield tables
                return

    def compact(self) -> None:
        """Makes the file as small as it can be, if it is not very large: worth it once many pages were taken in.
        What keeps it from that, such as a reader in another process, does not matter."""
        connections = self._connections()
        try:
            if connections.file is not None and connections.file.stat().st_size <= COMPACTED_BYTES:
                with connections.writer, connections.use() as tables:
                    tables.execute("VACUUM")
        except (sqlite3.Error, OSError) as error:
            log.info("the index %s stays as large as it is: %r", connections.file, error)

    def erase(self) -> None:
        """Empties the tables; no byte of them is left in the file. Other processes that have it open go on with it."""
        connections = self._connections()
        try:
            with connections.writer, connections.use() as tables:
                empty(tables, self._besides)
        except sqlite3.Error as error:
            log.info("the index %s could not be emptied, so it is deleted: %r", connections.file, error)
            self._delete_file(connections)

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        if (connections := self._opened) is not None and self._process == os.getpid():
            self._retire(connections)

    def _connections(self) -> Connections:
        if self._process != os.getpid():  # after a fork: the lock may be held by a thread that is not here
            self._lock, self._process = threading.Lock(), os.getpid()
            if self._opened is not None:
                _inherited.append(self._opened)
                self._opened = None
        with self._lock:
            if self._opened is None:
                self._opened = Connections(self._file, self._besides)
                # A store that nobody closed closes its file when it is collected, so that Python does not warn.
                self._closing = weakref.finalize(self, _close_here, os.getpid(), self._opened)
                self._closing.atexit = False
            return self._opened

    def _retire(self, connections: Connections) -> None:
        with self._lock:
            if self._opened is connections:
                self._opened = None
                self._closing.detach()
        connections.retire()

    def _delete_file(self, connections: Connections) -> None:
        self._retire(connections)
        try:
            if connections.file is not None:
                delete(connections.file)
        except OSError:
            self._file = None

    def _leave_file(self, connections: Connections) -> None:
        self._file = None
        self._retire(connections)


def erase_file(folder: Path | None, name: str = FILE, besides: str = "") -> None:
    """Empties the file of this name, if there is one: also if this process uses another one, or tables in memory."""
    if folder is not None and (folder / name).exists():
        store = Store(folder, name, besides)
        store.erase()
        store.close()


def _close_here(process: int, connections: Connections) -> None:
    """Closes the connections, unless this is a fork of the process that opened them."""
    if os.getpid() == process:
        connections.retire()


def _is_locked(error: Exception) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
