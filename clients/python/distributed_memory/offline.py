"""The way to the service for a client with an offline folder.

A write is put into the outbox first and taken out when its answer is known. Writes are sent in order. Each keeps its
Idempotency-Key, so the service carries it out at most once, however often it is sent. The service knows a key for a
day: what may have been received longer ago is not sent again, but told.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from distributed_memory.delivery import Delivery, document_of, document_with
from distributed_memory.documents import Document, Pending, Replay, Undelivered
from distributed_memory.errors import (
    AuthenticationFailed,
    MemoryClientError,
    NotConnected,
    OutcomeUnknown,
    RateLimited,
    ServiceError,
    ServiceUnavailable,
)
from distributed_memory.folder import Folder, Write
from distributed_memory.retrying import Retry
from distributed_memory.wire import IO, Answer, Request

REPEATABLE_SECONDS = 82_800
"""How long a write that may have been received can be sent again: an hour less than the service knows its key."""
AWAY_SECONDS = 3.0
"""How long the service counts as away after it could not be reached: until then nothing is tried, so that not every
call waits for all retries."""
_AWAY = (NotConnected, ServiceUnavailable)
_NOT_NOW = (*_AWAY, AuthenticationFailed, RateLimited)
"""Errors that say nothing about the write itself: it stays in the outbox."""
_SHOWN = ("id", "method", "path", "body", "written_at")
_log = logging.getLogger("distributed_memory")


class OfflineDelivery(Delivery):
    """Sends requests by way of an offline folder. `key_id` names the API key without its secret."""

    def __init__(self, io: IO, retry: Retry, folder: Folder, key_id: str, now: Callable[[], float] = time.time) -> None:
        super().__init__(io, retry)
        self._folder, self._key_id, self._now = folder, key_id, now
        self._away_until = 0.0

    async def read(self, request: Request) -> Document:
        """What the service answers, else the last answer that it gave, with what waits to be written."""
        folder = self._folder
        known = await self._io.call(lambda: folder.read(request))
        waiting = await self._io.call(folder.writes)
        preview = previewed(known, request, waiting)
        if preview is not None and self._now() < self._away_until:
            return preview
        etag = known["etag"] if known else ""
        try:
            if waiting:  # one reads what one has written
                async with self._io.alone():
                    await self._send_all()
            answer = await self._retry.exchange(self._io, request.with_headers(If_None_Match=etag))
        except _AWAY:
            self._away_until = self._now() + AWAY_SECONDS
            if preview is None:
                raise
            return preview
        except ServiceError as error:
            if error.status in (404, 410):
                await self._io.call(lambda: folder.forget(request))
            raise
        if answer.status == 304 and known:
            return document_with(known["document"], etag)
        document = document_of(answer)
        await self._io.call(lambda: folder.keep(request, document, document.etag, self._now()))
        return document

    async def write(self, request: Request) -> Document:
        """What the service answers. If it cannot be reached, what was sent, which then waits in the outbox."""
        folder = self._folder
        async with self._io.alone():
            write = await self._io.call(lambda: folder.add(request, self._now()))
            try:
                if self._now() < self._away_until:
                    return document_with(write.body, pending=write.id)
                await self._send_all(before=write)
                answer = await self._send(write)
            except _AWAY:
                self._away_until = self._now() + AWAY_SECONDS
                return document_with(write.body, pending=write.id)
            except MemoryClientError:
                await self._io.call(lambda: folder.remove(write))
                raise
            await self._io.call(lambda: folder.remove(write))
            return document_of(answer)

    async def replay(self) -> Replay:
        """Sends what waits. Raises what keeps it from being sent at all."""
        known = {each["id"] for each in await self.undelivered()}
        async with self._io.alone():
            self._away_until = 0.0
            delivered = await self._send_all()
        given_up = [each for each in await self.undelivered() if each["id"] not in known]
        return {"delivered": delivered, "pending": len(await self.pending()), "undelivered": given_up}

    async def pending(self) -> list[Pending]:
        """The writes that wait, in order."""
        writes = await self._io.call(self._folder.writes)
        return [cast(Pending, {name: getattr(write, name) for name in _SHOWN}) for write in writes]

    async def undelivered(self) -> list[Undelivered]:
        """The writes that could not be delivered, in order."""
        found = await self._io.call(self._folder.undelivered)
        return [cast(Undelivered, {name: each[name] for name in (*_SHOWN, "error")}) for each in found]

    async def discard(self, write_id: str) -> bool:
        """Forgets a write that could not be delivered; says whether there was one."""
        return await self._io.call(lambda: self._folder.discard(write_id))

    async def _send_all(self, before: Write | None = None) -> int:
        """Sends the writes that wait, or those before this one, in order. Returns how many were delivered."""
        delivered = 0
        for write in await self._io.call(self._folder.writes):
            if before is not None and write.file_name >= before.file_name:
                break
            if not await self._io.call(partial(self._folder.is_waiting, write)):
                continue  # another process has delivered it
            try:
                await self._send(write)
            except _NOT_NOW:
                raise
            except (ServiceError, OutcomeUnknown) as error:
                await self._give_up(write, error)
            else:
                delivered += 1
                await self._io.call(partial(self._folder.remove, write))
        return delivered

    async def _send(self, write: Write) -> Answer:
        if write.attempted_at is not None:
            self._require_repeatable(write.attempted_at, write.attempted_by)
            return await self._retry.exchange(self._io, write.request)
        await self._io.call(lambda: self._folder.mark(write, self._now(), self._key_id))
        try:
            return await self._retry.exchange(self._io, write.request)
        except MemoryClientError as error:
            if not error.uncertain:
                await self._io.call(lambda: self._folder.mark(write, None, None))
            raise

    def _require_repeatable(self, attempted_at: float, attempted_by: str | None) -> None:
        if attempted_by != self._key_id:
            raise OutcomeUnknown("it may have been received with another API key, and the service knows it by its key")
        if self._now() - attempted_at > REPEATABLE_SECONDS:
            raise OutcomeUnknown("it may have been received a day ago or earlier, and the service knows it for a day")

    async def _give_up(self, write: Write, error: MemoryClientError) -> None:
        reason: dict[str, Any] = {"kind": type(error).__name__, "message": str(error)}
        if isinstance(error, ServiceError):
            reason |= {"code": error.code, "details": dict(error.details)}
        _log.warning("%s %s was not delivered: %s", write.method, write.path, error)
        await self._io.call(lambda: self._folder.give_up(write, reason))


def previewed(known: dict[str, Any] | None, request: Request, writes: list[Write]) -> Document | None:
    """A document as it was last read, with the waiting writes to it; `None` if nothing is known of it."""
    document, read_at = (known["document"], known["read_at"]) if known else (None, 0.0)
    etag = known["etag"] if known else ""
    for write in writes:
        is_creation = write.method == "POST" and f"{write.path}/{_session(write.body)}" == request.path
        if request.method != "GET" or not (is_creation or write.path == request.path):
            continue
        etag, read_at = "", read_at or write.written_at
        if write.method == "DELETE":
            document = None
        elif write.method == "PATCH" and isinstance(write.body, dict):
            document = merged(document, write.body)
        elif write.method in ("POST", "PUT"):
            document = {**(document or {}), **write.body}
    return None if document is None else document_with(document, etag, cached_at=read_at)


def merged(document: Any, patch: Any) -> Any:
    """A merge patch (RFC 7396) applied: null removes a member, an object changes members, all else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def _session(body: Any) -> str:
    return str(body.get("session_id", "")) if isinstance(body, dict) else ""
