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
    named = next((name for one in found if (name := _request_id(one["input"])) is not None), None)
    if named is None:
        return None
    is_json = found[0]["type"] != "json_invalid"
    what = "this is no request of the protocol" if is_json else f"the request cannot be read: {found[0]['msg']}"
    code = types.INVALID_REQUEST if is_json else types.PARSE_ERROR
    return types.JSONRPCError(
        jsonrpc="2.0",
        id=named,
        error=types.ErrorData(code=code, message=f"{what}; nothing was done, correct it and send it again"),
    )


def _request_id(given: object) -> str | int | None:
    """The id of the request in what could not be read, if it has a method and an id that an answer can name."""
    try:
        request = json.loads(given) if isinstance(given, str) else given
        if not isinstance(request, dict) or "method" not in request:
            return None
        named = request.get("id")
        str(named).encode()  # half of an emoji cannot be sent
    except (ValueError, RecursionError):
        return None
    return named if isinstance(named, (str, int)) else None
