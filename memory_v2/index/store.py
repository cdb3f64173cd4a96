"""Where the tables are: in one SQLite file that may be broken, locked or deleted by anybody, or in memory."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from memory_v2.index.tables import SCHEMA, VERSION, transaction

Result = TypeVar("Result")

FILE = "index.sqlite"
BUSY_SECONDS = 5.0

log = logging.getLogger(__name__)


class Store:
    """The tables of one process; whatever becomes of the file, `run` finds tables to work on.

    A file that cannot be used is tried once more, then made anew, then left alone for tables in memory: what is in the
    index can be read again from the pages, so nothing is lost but time.
    """

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / FILE
        self._lock = threading.RLock()
        self._tables: sqlite3.Connection | None = None
        self._process = os.getpid()
        self.generation = 0
        """Raised each time other tables are opened: what was known of the old ones may not hold for the new."""

    def run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """What `work` gives for the tables. It may be called again on other tables, so it does nothing else."""
        with self._lock:
            if self._process != os.getpid():  # SQLite's connections do not survive a fork
                self._tables, self._process = None, os.getpid()
            for remedy in (self._close, self._delete_file, self._leave_file):
                try:
                    return work(self._opened())
                except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter for a message that quotes garbage
                    log.debug("the index %s failed: %r", self._file, error)
                    self._close()
                    if _is_locked(error):
                        self._leave_file()
                    else:
                        remedy()
            return work(self._opened())

    def close(self) -> None:
        """Lets go of the file; the next use opens it again."""
        with self._lock:
            self._close()

    def _opened(self) -> sqlite3.Connection:
        if self._tables is None:
            try:
                self._tables = _open(self._file)
            except OSError as error:
                raise sqlite3.OperationalError(f"cannot open {self._file}") from error
            self.generation += 1
            # A memory that nobody closed lets go of its file when it is collected, not with a warning of Python's.
            self._closing = weakref.finalize(self, _close_here, os.getpid(), self._tables)
            self._closing.atexit = False
        return self._tables

    def _close(self) -> None:
        tables, self._tables = self._tables, None
        if tables is not None:
            tables.close()
            self._closing.detach()

    def _delete_file(self) -> None:
        try:
            if self._file is not None:
                _delete(self._file)
        except OSError:
            self._leave_file()

    def _leave_file(self) -> None:
        self._file = None


def _close_here(process: int, tables: sqlite3.Connection) -> None:
    """Closes what this process has opened: a child of it must leave the connection alone."""
    if os.getpid() == process:
        tables.close()


def _open(file: Path | None) -> sqlite3.Connection:
    if file is None:
        return _connect(":memory:")
    file.parent.mkdir(parents=True, exist_ok=True)
    # Whoever may not read the pages may not read them here.
    os.close(os.open(file, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600))
    try:
        return _connect(str(file))
    except _OtherVersion:
        _delete(file)
        return _connect(str(file))


class _OtherVersion(Exception):
    """The file was made by another version of this program."""


def _connect(name: str) -> sqlite3.Connection:
    tables = sqlite3.connect(name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        tables.execute("PRAGMA synchronous = OFF")
        tables.execute("PRAGMA temp_store = MEMORY")
        tables.execute("PRAGMA cell_size_check = ON")
        tables.execute("PRAGMA cache_size = -32000")
        if _version(tables) != VERSION:
            _create(tables)
    except BaseException:
        tables.close()
        raise
    return tables


def _is_locked(error: Exception) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _version(tables: sqlite3.Connection) -> int:
    return int(tables.execute("PRAGMA user_version").fetchone()[0])


def _create(tables: sqlite3.Connection) -> None:
    with transaction(tables):
        if _version(tables) == VERSION:  # made by another process while this one waited
            return
        if tables.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise _OtherVersion
        for statement in SCHEMA.split(";\n"):
            tables.execute(statement)


def _delete(file: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
