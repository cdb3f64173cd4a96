"""Where the tables are: in memory, or in a SQLite file, which others may damage, lock or delete. Each thread that uses
them at the same time has a connection.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TypeVar

from memory_v2.index.tables import ASKED, SCHEMA, VERSION, check_rows, snapshot, transaction
from memory_v2.storage.local.disk import create_private

FILE = "index.sqlite"
BUSY_SECONDS = 5.0
"""Seconds to wait for another process's lock on the file before tables in memory are used instead. A transaction takes
well under a second, so a process that holds the lock for longer has stopped."""
MAX_IDLE = 4
"""Connections that are kept open while nobody uses them; opening one takes 0.3 ms. Each may keep `CACHE_KIB`."""
PAGE_BYTES = 512
"""The size, in bytes, of a page of a new file. Each table and each index takes one at least; at SQLite's usual 4096,
that is more than the text of a small memory. Of 1024 a row of compressed texts would leave half unused."""
CACHE_KIB = 32_000
"""How much of the file, in KiB, a connection keeps in memory: the whole index of about 4 MB of Markdown."""


class Connections:
    """The connections to one file, or the one connection to tables in memory.

    The connection used last is used next, so a single thread uses a single connection, and its cache stays warm.
    """

    def __init__(self, file: Path | None, besides: str = "") -> None:
        """`besides` is the SQL of tables that this file has besides those of every index."""
        self.file = file
        self.besides = besides
        self.writer = threading.Lock()
        """Held while writing. Threads queue here, in order; at SQLite's lock on the file they would have to poll."""
        # Each connection to `:memory:` has its own tables, so all threads have to share one and take turns.
        self._turn: AbstractContextManager[object] = nullcontext() if file else threading.Lock()
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._inode: tuple[int, int] | None = None
        self.is_retired = False
        """Set when these connections must not be used again, because the file was closed or has failed."""

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """A connection for this thread alone. Raises `sqlite3.Error` if it cannot be opened."""
        with self._turn:
            tables = self._take()
            is_sound = True
            try:
                yield tables
            except (sqlite3.Error, UnicodeDecodeError):
                is_sound = False
                raise
            finally:
                self._put_back(tables, is_sound)

    def retire(self) -> None:
        """Closes the connections; one that is in use is closed when its user is done."""
        with self._lock:
            self.is_retired = True
            while self._idle:
                self._idle.pop().close()

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        tables, inode = _open(self.file, self.besides)  # without the lock, as it may wait for another process
        with self._lock:
            is_first, self._inode = self._inode is None, self._inode or inode
        with _closed_on_error(tables):
            if self._inode != inode:
                raise sqlite3.OperationalError(f"{self.file} was replaced by another file")
            if is_first:
                with snapshot(tables):
                    check_rows(tables)
        return tables

    def _put_back(self, tables: sqlite3.Connection, is_sound: bool) -> None:
        with self._lock:
            if is_sound and not tables.in_transaction and not self.is_retired and len(self._idle) < MAX_IDLE:
                self._idle.append(tables)
            else:
                tables.close()


class _OtherVersion(Exception):
    """The file was made by another version of this program."""


def delete(file: Path) -> None:
    """Removes the file and the files that SQLite keeps beside it."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


def _open(file: Path | None, besides: str) -> tuple[sqlite3.Connection, tuple[int, int]]:
    """A new connection, and the device and inode of its file."""
    if file is None:
        return _connect(":memory:", besides), (0, 0)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        create_private(file)
        try:
            tables = _connect(str(file), besides)
        except _OtherVersion:
            delete(file)
            return _open(file, besides)
        with _closed_on_error(tables):
            found = file.stat()
    except OSError as error:
        raise sqlite3.OperationalError(f"cannot open {file}") from error
    return tables, (found.st_dev, found.st_ino)


@contextmanager
def _closed_on_error(tables: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        tables.close()
        raise


def _connect(name: str, besides: str) -> sqlite3.Connection:
    tables = sqlite3.connect(name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    with _closed_on_error(tables):
        tables.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        tables.execute("PRAGMA synchronous = OFF")
        tables.execute("PRAGMA temp_store = MEMORY")
        tables.execute("PRAGMA cell_size_check = ON")
        tables.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        if _version(tables) != VERSION:
            _create(tables, besides)
        tables.execute(ASKED)
    return tables


def empty(tables: sqlite3.Connection, besides: str = "") -> None:
    """Makes the tables anew, and the file without a trace of the old ones."""
    with transaction(tables):
        for kind in ("VIRTUAL TABLE", "TABLE"):
            listed = tables.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
            for name, sql in listed:
                if str(sql).startswith(f"CREATE {kind}"):
                    tables.execute(f"DROP TABLE IF EXISTS {name}")
        _make_tables(tables, besides)
    tables.execute("VACUUM")


def _version(tables: sqlite3.Connection) -> int:
    return int(tables.execute("PRAGMA user_version").fetchone()[0])


def _create(tables: sqlite3.Connection, besides: str) -> None:
    with transaction(tables):
        if _version(tables) == VERSION:  # made by another process while this one waited
            return
        if tables.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise _OtherVersion
        _make_tables(tables, besides)


def _make_tables(tables: sqlite3.Connection, besides: str) -> None:
    for statement in f"{besides}{SCHEMA}".split(";\n"):
        tables.execute(statement)


Result = TypeVar("Result")

COMPACTED_BYTES = 100_000_000
"""The size, in bytes, up to which a file is made smaller: it is copied in memory, and other writers wait for that."""

log = logging.getLogger(__name__)

_inherited: list[Connections] = []
"""Connections opened before a fork. SQLite does not allow the child to use them, nor to close them."""


class IndexStore:
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

    @property
    def is_kept(self) -> bool:
        """Whether the tables are in a file, as far as their last use has shown."""
        return self._file is not None

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
        store = IndexStore(folder, name, besides)
        store.erase()
        store.close()


def _close_here(process: int, connections: Connections) -> None:
    """Closes the connections, unless this is a fork of the process that opened them."""
    if os.getpid() == process:
        connections.retire()


def _is_locked(error: Exception) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
