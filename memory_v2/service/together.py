"""Writes of an SQLite file, which has one writer at a time: those that wait are carried out in one transaction, and one
flush makes all of them durable. Each is a part of it that fails alone.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine
from starlette.concurrency import run_in_threadpool

BUSY_SECONDS = 5.0
"""How long a write waits for another one before the store counts as not available."""
MOST = 100
"""Writes of one transaction: the first of them waits for the last."""
LOOKS = 4
"""Turns of the event loop before a transaction begins: what arrives while the last answers are sent is carried out with
what waits already. It takes no time if nothing arrives."""
Work = Callable[[], Any]
Outcome = tuple[Any, Exception | None]


class TakesLong(Exception):
    """Raised by work that may take long, if others would wait for it: it is done again, in a turn of its own."""


class Turn:
    """A transaction of the file. `at_end` are called with whether it is committed."""

    def __init__(self, connection: Connection, is_shared: bool) -> None:
        self.connection, self.is_shared = connection, is_shared
        self.at_end: list[Callable[[bool], None]] = []
        self._driver: Any = connection.connection.driver_connection

    @contextmanager
    def part(self) -> Iterator[None]:
        """What fails in here has changed nothing, and does not keep the rest from being committed."""
        if not self._driver.in_transaction:
            raise ConnectionError("an error has ended the transaction")  # SQLite does so if the disk is full
        self._driver.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            if self._driver.in_transaction:
                self._driver.execute("ROLLBACK TO part")
            raise
        self._driver.execute("RELEASE part")


class Together:
    """The turns of the writers of one file."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._lock, self._here = engine, threading.Lock(), threading.local()
        self._waiting: list[tuple[Work, asyncio.Future[Any]]] = []
        self._running: asyncio.Task[None] | None = None

    @property
    def turn(self) -> Turn | None:
        """The turn that this thread has."""
        return getattr(self._here, "turn", None)

    @contextmanager
    def begun(self, is_shared: bool = False) -> Iterator[Turn]:
        """A turn for this thread; what it has written is durable when it ends. Raises `TimeoutError`."""
        if not self._lock.acquire(timeout=BUSY_SECONDS):
            raise TimeoutError("the store is busy")
        try:
            with self._engine.connect() as connection:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                self._here.turn = turn = Turn(connection, is_shared)
                is_committed = False
                try:
                    yield turn
                    connection.exec_driver_sql("COMMIT")  # the driver's own is silent where no transaction is open
                    is_committed = True
                finally:
                    del self._here.turn
                    for end in turn.at_end:
                        end(is_committed)
        finally:
            self._lock.release()

    async def do(self, work: Work) -> Any:
        """What the work returns or raises, which is done in a thread together with all that waits."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((work, future))
        if self._running is None:
            self._running = asyncio.create_task(self._go_on())
        return await future

    async def _go_on(self) -> None:
        try:
            while self._waiting:
                for _ in range(LOOKS):
                    await asyncio.sleep(0)
                now, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
                outcomes = await run_in_threadpool(self._do_all, [work for work, _ in now])
                for (_, future), (result, error) in zip(now, outcomes, strict=True):
                    if not future.cancelled():
                        future.set_result(result) if error is None else future.set_exception(error)
        finally:
            self._running = None

    def _do_all(self, works: list[Work]) -> list[Outcome]:
        try:
            with self.begun(is_shared=True):
                return [_outcome(work) for work in works]
        except Exception as error:  # noqa: BLE001 - each of them raises it where it is awaited
            return [(None, error)] * len(works)


def _outcome(work: Work) -> Outcome:
    try:
        return work(), None
    except Exception as error:  # noqa: BLE001 - raised where it is awaited
        return None, error
