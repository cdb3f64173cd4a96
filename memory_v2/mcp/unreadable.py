"""Requests on standard input that cannot be read: each is answered with an error, so that its client does not wait.

The SDK drops them. JavaScript sends half of an emoji as `\\ud83d`, which is valid JSON and which pydantic refuses.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator
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
                refusals = list(_refusals(item)) if isinstance(item, ValidationError) else []
                for refusal in refusals:
                    await answer(SessionMessage(refusal))
                if not refusals:
                    await onward.send(item)


def _refusals(error: ValidationError) -> Iterator[types.JSONRPCError]:
    found = error.errors(include_url=False)
    given, requests = next(((one["input"], some) for one in found if (some := _requests(one["input"]))), (None, []))
    if found[0]["type"] == "json_invalid":
        what, code = f"the request cannot be read: {found[0]['msg']}", types.PARSE_ERROR
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
    return [one for one in several if isinstance(one, dict) and "method" in one and _is_id(one.get("id"))]


def _is_id(given: object) -> bool:
    """Whether an answer can have this id: no `true`, which Python counts among the numbers, and no half an emoji."""
    if isinstance(given, str):
        return not any("\ud800" <= c <= "\udfff" for c in given)
    return isinstance(given, int) and not isinstance(given, bool)
