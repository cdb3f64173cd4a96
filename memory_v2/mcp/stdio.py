"""Serving over standard input and output, to the host that has started this process.

Requests that cannot be read are answered with an error, so that their client does not wait: the SDK drops them, and
JavaScript sends half of an emoji as `\\ud83d`, which is valid JSON and which pydantic refuses.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator
from contextlib import suppress
from typing import TypeAlias

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from memory_v2.mcp.server import MemoryServer

Incoming: TypeAlias = SessionMessage | Exception


def serve(served: MemoryServer) -> None:
    """Serves the process that has started this one, until it closes standard input."""

    async def run() -> None:
        server = served.server()
        onward, readable = anyio.create_memory_object_stream[Incoming]()
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
            if sys.platform != "win32":
                tasks.start_soon(_die_by_signal, served.close)
            tasks.start_soon(_answer_unreadable, incoming, onward, outgoing.send)
            await server.run(readable, outgoing, server.create_initialization_options())
            await outgoing.aclose()  # what was answered last is still written
            tasks.cancel_scope.cancel()

    try:
        anyio.run(run)
    except* BrokenPipeError:
        pass  # the host has gone without closing standard input first


async def _die_by_signal(close: Callable[[], None]) -> None:
    """Finishes what is open when the host or a person stops the process. Reading standard input cannot be interrupted,
    so the process then has the end that the signal gives it."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            await anyio.to_thread.run_sync(close)
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)


async def _answer_unreadable(
    incoming: AsyncIterable[Incoming],
    onward: MemoryObjectSendStream[Incoming],
    answer: Callable[[SessionMessage], Awaitable[None]],
) -> None:
    """Hands on what comes in, until its end, but for unreadable requests whose id can be read."""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server has ended
        async with onward:
            async for item in incoming:
                refusals = list(_refusals(item)) if isinstance(item, ValidationError) else []
                for refusal in refusals:
                    await answer(SessionMessage(refusal))
                if not refusals:
                    await onward.send(item)


def _refusals(error: ValidationError) -> Iterator[types.JSONRPCError]:
    errors = error.errors(include_url=False)
    given, requests = next(((each["input"], some) for each in errors if (some := _requests(each["input"]))), (None, []))
    if errors[0]["type"] == "json_invalid":
        what, code = f"the request cannot be read: {errors[0]['msg']}", types.PARSE_ERROR
    elif isinstance(given, list):
        what, code = "requests are sent one by one, not in a list", types.INVALID_REQUEST
    else:
        what, code = "this is no request of the protocol", types.INVALID_REQUEST
    error_data = types.ErrorData(code=code, message=f"{what}; nothing was done, correct it and send it again")
    for request in requests:
        yield types.JSONRPCError(jsonrpc="2.0", id=request["id"], error=error_data)


def _requests(given: object) -> list[dict[str, str | int]]:
    """The requests in what could not be read that have a method and an id; several, if it is a batch."""
    if isinstance(given, str):
        try:
            given = json.loads(given, strict=False)
        except (ValueError, RecursionError):
            return []
    several = given if isinstance(given, list) else [given]
    return [each for each in several if isinstance(each, dict) and "method" in each and _is_id(each.get("id"))]


def _is_id(given: object) -> bool:
    """Whether an answer can have this id: no `true`, which Python counts among the numbers, and no half an emoji."""
    if isinstance(given, str):
        return not any("\ud800" <= c <= "\udfff" for c in given)
    return isinstance(given, int) and not isinstance(given, bool)
