"""The two clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from types import TracebackType
from typing import Any, Self

from distributed_memory.documents import Event, Level
from distributed_memory.events import Feed
from distributed_memory.http import BlockingIO, SuspendingIO
from distributed_memory.operations import Blocking, Suspending
from distributed_memory.wire import run_now


class MemoryClient(Blocking):
    """A client that blocks. Threads may share it."""

    _make_io = BlockingIO

    def subscribe(
        self,
        *,
        events: Iterable[str] = (),
        levels: Iterable[Level] = (),
        sessions: Iterable[str] = (),
        agents: Iterable[str] = (),
        cursor: str = "",
    ) -> Events:
        """The events that fit, from when they are first asked for or after a cursor: each once and in order, across
        interruptions. Without filters, all that the key may see."""
        return Events(self._feed(events, levels, sessions, agents, cursor))

    def close(self) -> None:
        """Closes all connections. What waits in the outbox stays there."""
        run_now(self._io.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncMemoryClient(Suspending):
    """A client whose operations are awaited, on asyncio or trio."""

    _make_io = SuspendingIO

    def subscribe(
        self,
        *,
        events: Iterable[str] = (),
        levels: Iterable[Level] = (),
        sessions: Iterable[str] = (),
        agents: Iterable[str] = (),
        cursor: str = "",
    ) -> AsyncEvents:
        """As `MemoryClient.subscribe`, for `async for`."""
        return AsyncEvents(self._feed(events, levels, sessions, agents, cursor))

    async def aclose(self) -> None:
        """Closes all connections. What waits in the outbox stays there."""
        await self._io.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()


class Events(Iterator[Event]):
    """Events, which never end by themselves. As a context manager it is subscribed at once."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    @property
    def cursor(self) -> str:
        """The place after the last event: kept somewhere, the next process goes on from it."""
        return self._feed.cursor

    def __next__(self) -> Event:
        return run_now(self._feed.next())

    def close(self) -> None:
        """Ends the subscription."""
        run_now(self._feed.close())

    def __enter__(self) -> Self:
        run_now(self._feed.open())
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class AsyncEvents(AsyncIterator[Event]):
    """Events, which never end by themselves. As a context manager it is subscribed at once."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    @property
    def cursor(self) -> str:
        """The place after the last event: kept somewhere, the next process goes on from it."""
        return self._feed.cursor

    async def __anext__(self) -> Event:
        return await self._feed.next()

    async def aclose(self) -> None:
        """Ends the subscription."""
        await self._feed.close()

    async def __aenter__(self) -> Self:
        await self._feed.open()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.aclose()
