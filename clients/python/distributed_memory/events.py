"""Events, which go on by themselves after whatever interrupts them.

The service sends them as Server-Sent Events. Each carries the cursor from which to go on, so each comes once and in
order; if the service no longer keeps what was missed, it says `resync_required` instead.
"""

from __future__ import annotations

import json
from typing import Any, cast

from distributed_memory.delivery import Delivery
from distributed_memory.documents import Event
from distributed_memory.errors import NotConnected, NotFound, ServiceError, service_error
from distributed_memory.retrying import TEMPORARY, Retry
from distributed_memory.wire import IO, Request, Stream

_UNSEEN = frozenset({"subscribed", "ping"})
_STATUS_OF = {"UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "SUBSCRIPTION_NOT_FOUND": 404}
"""Statuses of the errors that end a stream, which are told by their code alone."""


class Feed:
    """A subscription: `next` waits for the next event. `cursor` is the place of the last one."""

    def __init__(self, io: IO, retry: Retry, delivery: Delivery, wish: dict[str, Any], cursor: str) -> None:
        self._io, self._retry, self._delivery, self._wish = io, retry, delivery, wish
        self.cursor = cursor
        self._subscription = ""
        self._stream: Stream | None = None
        self._failures = 0

    async def open(self) -> None:
        """Subscribes: from now on no event is missed."""
        if not self._subscription:
            made = await self._delivery.ask(Request("POST", "/subscribe", self._wish))
            self._subscription = made["subscription_id"]
            self.cursor = self.cursor or made["cursor"]

    async def next(self) -> Event:
        """The next event. Raises `ServiceError` if the service ends the stream for good."""
        while True:
            try:
                message = await self._message(await self._connected())
            except NotConnected:
                message = None
            except ServiceError as error:
                await self._drop()
                if isinstance(error, NotFound) and self._subscription:
                    self._subscription = ""  # it has expired: make it again, and go on from the cursor
                elif error.status not in TEMPORARY:
                    raise
                message = None
            if message is None:
                await self._drop()
                await self._io.sleep(self._retry.wait(min(self._failures, 10)))
                self._failures += 1
                continue
            self._failures = 0
            self.cursor = message["cursor"]
            if message["event"] not in _UNSEEN:
                return cast(Event, message)

    async def close(self) -> None:
        """Ends the subscription; the service would forget it by itself in a month."""
        await self._drop()
        subscription, self._subscription = self._subscription, ""
        if subscription:
            try:
                await self._io.send(Request("DELETE", f"/subscribe/{subscription}"))
            except NotConnected:
                return

    async def _connected(self) -> Stream:
        if self._stream is None:
            await self.open()
            query = {"cursor": self.cursor, "subscription": self._subscription}
            stream = await self._io.open(
                Request("GET", "/events", query=query, headers={"Accept": "text/event-stream"})
            )
            self._stream = stream
            if stream.answer.status != 200:
                raise service_error(stream.answer.status, stream.answer.document)
        return self._stream

    async def _message(self, stream: Stream) -> dict[str, Any] | None:
        """The next message of a stream; `None` if the stream has ended. Raises `ServiceError` for an error in it."""
        kind, data = "", ""
        while (line := await stream.next_line()) is not None:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                kind = value
            elif name == "data":
                data += value
            elif not line and data:
                document = json.loads(data)
                if kind == "error":
                    raise service_error(_STATUS_OF.get(document.get("code", ""), 503), {"error": document})
                return dict(document)
        return None

    async def _drop(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.close()
