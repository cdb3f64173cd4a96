"""How reads and writes reach the service; `offline.py` has the way with an outbox between."""

from __future__ import annotations

import uuid
from typing import Any

from distributed_memory.documents import Document
from distributed_memory.retrying import Retry
from distributed_memory.wire import IO, Answer, Request


class Delivery:
    """Sends requests, and repeats them while that may help."""

    def __init__(self, io: IO, retry: Retry) -> None:
        self._io, self._retry = io, retry

    async def read(self, request: Request) -> Document:
        """What the service answers."""
        return document_of(await self._retry.exchange(self._io, request))

    async def ask(self, request: Request) -> Document:
        """What the service answers to a write that only makes sense now. However often it is sent, it is done once."""
        keyed = request.with_headers(Idempotency_Key=str(uuid.uuid4()))
        return document_of(await self._retry.exchange(self._io, keyed))

    async def write(self, request: Request) -> Document:
        """What the service answers to a write."""
        return await self.ask(request)


def document_of(answer: Answer) -> Document:
    """The document of an answer, with its version."""
    return document_with(answer.document or {}, etag=answer.headers.get("etag", ""))


def document_with(body: Any, etag: str = "", cached_at: float | None = None, pending: str | None = None) -> Document:
    """A document and what is known about it."""
    document = Document(body if isinstance(body, dict) else {})
    document.etag, document.cached_at, document.pending = etag, cached_at, pending
    return document
