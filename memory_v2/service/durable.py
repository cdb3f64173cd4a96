"""Makes what is committed durable: many commits by one flush.

Commits that flush for themselves wait for the disk one after the other. Here the transaction, with its
locks, has ended before; whoever was committed before a flush begins is durable when it ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from sqlalchemy import Engine

FLUSH = "SELECT pg_logical_emit_message(true, 'silica', '')"
"""What makes PostgreSQL flush its log, when it is committed by itself."""
Durable = Callable[[], None]
"""Returns once all that was committed before the call is durable. Raises what an outage raises."""


def durable(engine: Engine) -> Durable:
    """How the commits of an engine, which do not flush, become durable."""
    if engine.dialect.name == "sqlite":
        return _Together(f"{engine.url.database}-wal")

    def flush() -> None:
        """The server flushes its log up to this commit, together with those of others."""
        with engine.connect() as connection:
            connection.exec_driver_sql(FLUSH)

    return flush


class _Together:
    """Flushes the log of an SQLite file. Those who ask while it is flushed share the next flush."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._asked = self._done = 0
        self._flushing = False
        self._changed = threading.Condition()

    def __call__(self) -> None:
        with self._changed:
            self._asked += 1
            mine = self._asked
            while self._done < mine:
                if self._flushing:
                    self._changed.wait()
                else:
                    self._flush()

    def _flush(self) -> None:
        asked, self._flushing = self._asked, True
        self._changed.release()
        try:
            _flush_file(self._path)
        finally:
            self._changed.acquire()
            self._flushing = False
            self._changed.notify_all()
        self._done = asked


def _flush_file(path: str) -> None:
    try:
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        raise ConnectionError("the log of the store cannot be flushed") from error
