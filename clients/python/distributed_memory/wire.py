"""Requests and answers as data, and the input and output that the rest of the package is written against.

The package is written once, as coroutines that await nothing but an `IO`. The asynchronous client gives them one that
suspends. The synchronous client gives them one that blocks instead, so such a coroutine ends in one step: `run_now`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the service; `path` is below `/api/v1/memory`."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def with_headers(self, **headers: str) -> Request:
        """The same request with more headers; `If_Match` is the header If-Match. Empty ones are left out."""
        more = {name.replace("_", "-"): value for name, value in headers.items() if value}
        return Request(self.method, self.path, self.body, self.query, {**self.headers, **more})


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service answered; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def document(self) -> Any:
        """The body as JSON; `None` if it is empty or no JSON."""
        try:
            return json.loads(self.body) if self.body else None
        except ValueError:
            return None


class Stream(Protocol):
    """An answer that goes on. `next_line` returns `None` at its end, and raises `NotConnected` if it breaks off."""

    answer: Answer

    async def next_line(self) -> str | None: ...
    async def close(self) -> None: ...


class IO(Protocol):
    """All that the package does outside of itself. `send` and `open` raise `NotConnected`."""

    async def send(self, request: Request) -> Answer: ...
    async def open(self, request: Request) -> Stream: ...
    async def sleep(self, seconds: float) -> None: ...
    async def call(self, work: Callable[[], T]) -> T:
        """Does work that blocks for a moment, with files."""
        ...

    def alone(self) -> AbstractAsyncContextManager[object]:
        """A lock of the client."""
        ...

    async def close(self) -> None: ...


def run_now(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("the coroutine has suspended")
