"""Ends connections to PostgreSQL on which no answer comes.

A server that is frozen keeps its sockets open and acknowledges what is sent to it, so neither its own limits nor those
of TCP end the wait.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from typing import Any, Self

import psycopg
from sqlalchemy import Connection, Engine, event

ANSWER_SECONDS = 6.0
"""How long one statement may take, in seconds: a server that is alive ends it earlier by itself."""
LOOK_SECONDS = 0.5


class Patience:
    """Watches the connections of an engine until it is closed. Who waits on one that is ended gets the error of a lost
    connection."""

    def __init__(self, engine: Engine) -> None:
        self._since: dict[Any, float] = {}
        self._closed = threading.Event()
        cursor = self._cursor()
        event.listen(engine, "connect", lambda connection, _: setattr(connection, "cursor_factory", cursor))
        for name in ("commit", "rollback"):
            event.listen(engine, name, lambda connection, *_: self._begin(_driver(connection)))
        event.listen(engine.pool, "reset", lambda connection, *_: self._begin(connection))
        event.listen(engine.pool, "checkin", lambda connection, *_: self._end(connection))
        threading.Thread(target=self._look, daemon=True).start()

    def close(self) -> None:
        """Watches no longer."""
        self._closed.set()

    def _cursor(self) -> type[psycopg.Cursor[Any]]:
        patience = self

        class Watched(psycopg.Cursor[Any]):
            def execute(self, *given: Any, **named: Any) -> Self:
                patience._begin(self.connection)
                super().execute(*given, **named)
                patience._end(self.connection)
                return self

        return Watched

    def _begin(self, connection: Any) -> None:
        self._since[connection] = time.monotonic()

    def _end(self, connection: Any) -> None:
        self._since.pop(connection, None)

    def _look(self) -> None:
        while not self._closed.wait(LOOK_SECONDS):
            limit = time.monotonic() - ANSWER_SECONDS
            for connection, since in list(self._since.items()):
                if since < limit:
                    self._end(connection)
                    _end_connection(connection)


def _driver(connection: Connection) -> Any:
    """The connection as the driver has it; `None` for one that is lost already."""
    return None if connection.invalidated else connection.connection.dbapi_connection


def _end_connection(connection: Any) -> None:
    """Ends the socket under a connection, for whoever waits on it in another thread."""
    with contextlib.suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as end:
        end.shutdown(socket.SHUT_RDWR)
