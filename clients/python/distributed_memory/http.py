"""Input and output over httpx: one that blocks, one that suspends. All that the two clients do differently is here."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import httpx

from distributed_memory.errors import NotConnected
from distributed_memory.wire import Answer, Request

T = TypeVar("T")
SILENT_SECONDS = 45.0
"""How long a stream may be silent before it counts as broken: the service pings every 15 seconds."""
_NOT_RECEIVED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
"""What says for sure that the service has not received a request."""


class BlockingIO:
    """For the synchronous client: its coroutines never suspend."""

    def __init__(self, base_url: str, headers: dict[str, str], timeout: float) -> None:
        self._client = httpx.Client(base_url=base_url, headers=headers, timeout=timeout)
        self._lock = threading.Lock()

    async def send(self, request: Request) -> Answer:
        """Sends a request and reads the answer. Raises `NotConnected`."""
        with _translated():
            return _answer(self._client.send(self._built(request)))

    async def open(self, request: Request) -> BlockingStream:
        """Sends a request whose answer goes on. Raises `NotConnected`."""
        with _translated():
            response = self._client.send(self._built(request, SILENT_SECONDS), stream=True)
            if response.status_code != 200:
                response.read()
            return BlockingStream(response)

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        time.sleep(seconds)

    async def call(self, work: Callable[[], T]) -> T:
        """Does work with files."""
        return work()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """One thread at a time."""
        with self._lock:
            yield

    async def close(self) -> None:
        """Closes all connections."""
        self._client.close()

    def _built(self, request: Request, silent: float | None = None) -> httpx.Request:
        return self._client.build_request(**_parts(request, self._client.timeout, silent))


class SuspendingIO:
    """For the asynchronous client, on asyncio or trio."""

    def __init__(self, base_url: str, headers: dict[str, str], timeout: float) -> None:
        self._client = httpx.AsyncClient(base_url=base_url, headers=headers, timeout=timeout)
        self._lock = anyio.Lock()

    async def send(self, request: Request) -> Answer:
        """Sends a request and reads the answer. Raises `NotConnected`."""
        with _translated():
            return _answer(await self._client.send(self._built(request)))

    async def open(self, request: Request) -> SuspendingStream:
        """Sends a request whose answer goes on. Raises `NotConnected`."""
        with _translated():
            response = await self._client.send(self._built(request, SILENT_SECONDS), stream=True)
            if response.status_code != 200:
                await response.aread()
            return SuspendingStream(response)

    async def sleep(self, seconds: float) -> None:
        """Waits, and lets others run."""
        await anyio.sleep(seconds)

    async def call(self, work: Callable[[], T]) -> T:
        """Does work with files in a thread."""
        return await anyio.to_thread.run_sync(work)

    def alone(self) -> AbstractAsyncContextManager[object]:
        """One task at a time."""
        return self._lock

    async def close(self) -> None:
        """Closes all connections."""
        await self._client.aclose()

    def _built(self, request: Request, silent: float | None = None) -> httpx.Request:
        return self._client.build_request(**_parts(request, self._client.timeout, silent))


class BlockingStream:
    """An answer that goes on, read line by line."""

    def __init__(self, response: httpx.Response) -> None:
        self._response, self._lines = response, Lines()
        self._parts = response.iter_bytes()
        self.answer = _answer(response)

    async def next_line(self) -> str | None:
        """The next line; `None` at the end. Raises `NotConnected`."""
        with _translated():
            while (line := self._lines.take()) is None:
                part = next(self._parts, None)
                if part is None:
                    return None
                self._lines.add(part)
        return line

    async def close(self) -> None:
        """Ends it."""
        self._response.close()


class SuspendingStream:
    """An answer that goes on, read line by line."""

    def __init__(self, response: httpx.Response) -> None:
        self._response, self._lines = response, Lines()
        self._parts = response.aiter_bytes()
        self.answer = _answer(response)

    async def next_line(self) -> str | None:
        """The next line; `None` at the end. Raises `NotConnected`."""
        with _translated():
            while (line := self._lines.take()) is None:
                part = await anext(self._parts, None)
                if part is None:
                    return None
                self._lines.add(part)
        return line

    async def close(self) -> None:
        """Ends it."""
        await self._response.aclose()


class Lines:
    """Bytes as lines, which only a line feed ends: JSON may hold the other separators of Unicode."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def add(self, part: bytes) -> None:
        """Takes more bytes in."""
        self._rest += part

    def take(self) -> str | None:
        """The next whole line, or `None`."""
        end = self._rest.find(b"\n")
        if end < 0:
            return None
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line.decode().rstrip("\r")


def _parts(request: Request, timeout: httpx.Timeout, silent: float | None) -> dict[str, Any]:
    content = None if request.body is None else json.dumps(request.body).encode()
    kind = {"Content-Type": "application/json"} if content is not None else {}
    return {
        "method": request.method,
        "url": request.path,
        "params": dict(request.query) or None,
        "content": content,
        "headers": {**kind, **request.headers},
        "timeout": timeout if silent is None else httpx.Timeout(timeout.connect, read=silent),
    }


def _answer(response: httpx.Response) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status_code, headers, response.content if response.is_closed else b"")


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except httpx.TransportError as error:
        failure = NotConnected(f"no answer from the service: {error}")
        failure.uncertain = not isinstance(error, _NOT_RECEIVED)
        raise failure from error
