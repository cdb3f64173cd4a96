"""One request: who asks, the transaction it runs in, and what it answers.

`carry_out` holds what is the same for all: the scope, the Idempotency-Key, the quota, and that all of it is one
transaction.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fastapi import Request, Response
from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool

from memory_v2.agent.operation import asked_by
from memory_v2.memory import Memory
from memory_v2.service import tables
from memory_v2.service.access import TIERS, Caller
from memory_v2.service.parts import Parts
from memory_v2.service.problem import Problem
from memory_v2.service.store import Store, Transaction
from memory_v2.service.together import TakesLong

IDEMPOTENCY_SECONDS = 86_400
"""How long the answer to an Idempotency-Key is kept, in seconds."""
MEGABYTE = 1_000_000
_SORTED = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode
_COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


@dataclass
class Answer:
    """What a request is answered with; if it is `tagged`, with the ETag of the body."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    tagged: bool = False


@dataclass
class Call:
    """A request in its transaction."""

    caller: Caller
    transaction: Transaction
    parts: Parts
    wanted: Set[str] = frozenset()
    unwanted: Set[str] = frozenset()
    """The versions that If-Match and If-None-Match name."""
    media_type: str = ""
    """What the body of the request is."""

    @property
    def now(self) -> float:
        """The moment of the request, in seconds since 1970."""
        return self.transaction.now

    @property
    def memory(self) -> Memory:
        """The long-term memory of the tenant, where a model may think."""
        if self.transaction.is_shared:
            raise TakesLong
        return self.parts.memories.of(self.caller.tenant)

    def match(self, read: Callable[[], Any] | None, required: bool = False) -> None:
        """Raises `Problem` if the request is for another version than the present document, which is read if need be,
        or for none although it must be. `None` is what does not exist."""
        wanted, unwanted = self.wanted, self.unwanted
        if required and not wanted and "*" not in unwanted:
            raise Problem("PRECONDITION_REQUIRED", "send the ETag of the last read as If-Match, or * to overwrite")
        if read is None:
            if wanted:  # `*` is any version, and there is none
                raise Problem("VERSION_CONFLICT", "there is nothing of which this could be the version")
        elif unwanted or not wanted <= {"*"}:
            tag = etag(read())
            if (wanted and not wanted & {"*", tag}) or unwanted & {"*", tag}:
                raise Problem("VERSION_CONFLICT", headers={"ETag": tag}, etag=tag)

    def require_space(self) -> None:
        """Raises `Problem` if the tenant has more than its quota now."""
        megabytes = TIERS[self.caller.tier].storage_mb
        if megabytes < 0 or self.parts.space.suffices(self.transaction, megabytes * MEGABYTE):
            return
        used = self.parts.space.measure(self.transaction)
        if used > megabytes * MEGABYTE:
            raise Problem("MEMORY_LIMIT_EXCEEDED", storage_mb=megabytes, used_bytes=used)


def etag(document: Any) -> str:
    """A strong ETag: of equal documents equal, of different ones different."""
    return f'"{hashlib.sha256(_SORTED(document).encode("utf-8", "surrogatepass")).hexdigest()[:32]}"'


def encoded(document: Any) -> bytes:
    """A document as it is sent."""
    return _COMPACT(document).encode("utf-8", "surrogatepass")


def size_of(document: Any) -> int:
    """The bytes that a document counts for."""
    return len(to_json(document))


def begun(request: Request, scope: str, operation: str) -> tuple[Caller, Parts]:
    """Who asks, and of what. Raises `Problem` if the caller may not."""
    request.state.operation = operation
    caller: Caller = request.state.caller
    caller.require(scope)
    return caller, request.app.state.parts


async def carry_out(
    request: Request, scope: str, work: Callable[[Call], Answer], operation: str, writes: bool = True
) -> Response:
    """Does the work of a request in one transaction, or raises."""
    done = partial(_done, request, scope, work, operation, writes)
    store: Store = request.app.state.parts.store
    response: Response = await (store.do(done) if writes else run_in_threadpool(done))
    return response


def _done(request: Request, scope: str, work: Callable[[Call], Answer], operation: str, writes: bool) -> Response:
    caller, parts = begun(request, scope, operation)
    key = _idempotency_key(request) if writes else ""
    running = _in_flight(parts, f"{caller.tenant}/{caller.key_id}/{key}" if key else "")
    with running, parts.store.transaction(caller.tenant, writes) as transaction:
        wanted, unwanted = _tags(request, "if-match"), _tags(request, "if-none-match")
        call = Call(caller, transaction, parts, wanted, unwanted, request.headers.get("content-type", ""))
        record, fingerprint = f"{caller.key_id}:{key}", _fingerprint(request, caller) if key else ""
        if key and not transaction.try_lock(record):  # another process is working on it
            raise Problem("IDEMPOTENCY_KEY_IN_PROGRESS", headers={"Retry-After": "1"})
        if key and (known := transaction.get(tables.idempotency, record)):
            if known["fingerprint"] != fingerprint:
                raise Problem("IDEMPOTENCY_KEY_REUSED")
            return _response(json.loads(known["answer"]), replayed=True)
        with asked_by(caller.source):
            answer = work(call)
        if answer.tagged:
            answer.headers["ETag"] = etag(answer.body)
        told = {"status": answer.status, "body": answer.body, "headers": answer.headers}
        if key:
            expires = call.now + IDEMPOTENCY_SECONDS
            values = {"fingerprint": fingerprint, "answer": json.dumps(told), "expires_at": expires}
            transaction.insert(tables.idempotency, record, values)
    if not writes:
        return read_answer(request, encoded(answer.body), answer.headers)
    return _response(told)


def read_answer(request: Request, text: bytes, headers: dict[str, str]) -> Response:
    """What a read is answered with: nothing if the caller has this version already."""
    if "ETag" in headers and _tags(request, "if-none-match") & {"*", headers["ETag"]}:
        return Response(status_code=304, headers=headers)
    return Response(text, headers=headers, media_type="application/json")


def _tags(request: Request, name: str) -> Set[str]:
    """The versions that a header names; weak ones are equal to strong ones in If-None-Match alone."""
    listed = ",".join(request.headers.getlist(name))
    if name == "if-none-match":
        listed = listed.replace("W/", "")
    return {tag.strip() for tag in listed.split(",")} - {""}


def _response(told: dict[str, Any], replayed: bool = False) -> Response:
    headers = told["headers"] | ({"Idempotent-Replayed": "true"} if replayed else {})
    if told["body"] is None:
        return Response(status_code=told["status"], headers=headers)
    return Response(encoded(told["body"]), told["status"], headers, media_type="application/json")


def _fingerprint(request: Request, caller: Caller) -> str:
    """Of equal requests equal."""
    asked = f"{caller.source} {request.method} {request.url.path}?{request.url.query}"
    return hashlib.sha256(f"{asked} {request.state.body.hexdigest()}".encode()).hexdigest()


def _idempotency_key(request: Request) -> str:
    key = request.headers.get("idempotency-key", "").strip().strip('"')
    if len(key) > 255:
        raise Problem("VALIDATION_FAILED", "an Idempotency-Key has at most 255 characters")
    return key


@contextmanager
def _in_flight(parts: Parts, key: str) -> Iterator[None]:
    if not key:
        yield
        return
    with parts.lock:
        if key in parts.in_flight:
            raise Problem("IDEMPOTENCY_KEY_IN_PROGRESS", headers={"Retry-After": "1"})
        parts.in_flight.add(key)
    try:
        yield
    finally:
        parts.in_flight.discard(key)
