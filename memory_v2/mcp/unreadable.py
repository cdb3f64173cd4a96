"""Requests on standard input that cannot be read: each is answered with an error, so that its client does not wait.

The SDK drops them. JavaScript sends half of an emoji as `\\ud83d`, which is valid JSON and which pydantic refuses.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

Incoming: TypeAlias = SessionMessage | Exception


async def answer_unreadable(
    incoming: AsyncIterable[Incoming],
    onward: MemoryObjectSendStream[Incoming],
    answer: Callable[[SessionMessage], Awaitable[None]],
) -> None:
    """Hands on what comes in, until its end, but for unreadable requests whose id can be read."""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server has ended
        async with onward:
            async for item in incoming:
                if isinstance(item, ValidationError) and (refusal := _refusal(item)):
                    await answer(SessionMessage(refusal))
                else:
                    await onward.send(item)


def _refusal(error: ValidationError) -> types.JSONRPCError | None:
    found = error.errors(include_url=False)
    request = next((given for one in found if (given := _request(one["input"]))), None)
    if request is None:
        return None
    is_json = found[0]["type"] != "json_invalid"
    what = "this is no request of the protocol" if is_json else f"the request cannot be read: {found[0]['msg']}"
    code = types.INVALID_REQUEST if is_json else types.PARSE_ERROR
    return types.JSONRPCError(
        jsonrpc="2.0",
        id=request["id"],
        error=types.ErrorData(code=code, message=f"{what}; nothing was done, correct it and send it again"),
    )


def _request(given: object) -> dict[str, str | int] | None:
    """The request in what could not be read, if it has a method and an id."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return None
    if isinstance(given, dict) and "method" in given and isinstance(given.get("id"), (str, int)):
        return given
    return None
