"""What happens to a request before and after its route: an id, the caller, the limit of its key, the size of its body;
then its line in the log, its metrics, and the one form of every error.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
import traceback
import uuid
from ipaddress import IPv6Address
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_v2.service.access import TIERS, Caller
from memory_v2.service.keys import key_id_of
from memory_v2.service.limits import WINDOW
from memory_v2.service.models import MOST_BYTES
from memory_v2.service.parts import Parts
from memory_v2.service.problem import Problem, problem_of

BASE = "/api/v1/memory"


class Edge:
    """What every HTTP request passes. A socket signs in at `events.py`, and a browser at `viewing.py`."""

    def __init__(self, app: ASGIApp, parts: Parts) -> None:
        self._app, self._parts = app, parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request; a fault of the program becomes an answer too."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        state = scope.setdefault("state", {})
        state.update(request_id=str(uuid.uuid4()), body=hashlib.sha256(), operation="", limits={})
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                added = {"x-request-id": state["request_id"], **state["limits"]}
                message["headers"] += [(name.encode(), value.encode()) for name, value in added.items()]
            await send(message)

        try:
            if scope["path"].startswith(f"{BASE}/") or scope["path"] == BASE:
                await self._admit(scope)
            await self._app(scope, _measured(scope, receive), answer)
        except Exception as error:  # noqa: BLE001 - the outermost edge
            problem = problem_of(error)
            if problem is None:
                problem = Problem("INTERNAL_ERROR")
                trace = "".join(traceback.format_exception(error))
                self._parts.log.write("ERROR", "fault", request_id=state["request_id"], status="error", traceback=trace)
            if not status:
                await send_problem(problem, state["request_id"], Headers(scope=scope), answer)
        finally:
            self._record(scope, status, time.perf_counter() - started)

    async def _admit(self, scope: Scope) -> None:
        """Finds the caller and counts the request. Raises `Problem`."""
        scope["state"]["caller"] = caller = await caller_of(self._parts, scope)
        scope["state"]["limits"] = await admitted(self._parts, caller)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        state = scope["state"]
        operation = state["operation"] or "other"
        outcome = "success" if status < 400 else "refused" if status < 500 else "error"
        self._parts.metrics.operations.labels(operation, outcome).inc()
        if operation == "other" and status < 400:
            return
        session = Headers(scope=scope).get("x-memory-session") or scope.get("path_params", {}).get("session_id")
        line = {
            "session_id": session,
            "duration_ms": round(seconds * 1000, 3),
            "status": outcome,
            "http_status": status,
            "request_id": state["request_id"],
        }
        self._parts.log.write("ERROR" if status >= 500 else "INFO", operation, **line)
        if self._parts.tracing:
            self._parts.tracing.record(operation, line, Headers(scope=scope), time.time_ns() - int(seconds * 1e9))


async def caller_of(parts: Parts, scope: Scope) -> Caller:
    """Who asks, by the key in the headers. Raises `Problem`."""
    headers = Headers(scope=scope)
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return await holder_of(token if scheme.lower() == "bearer" else "", parts, scope, headers.get("x-memory-source"))


async def holder_of(token: str, parts: Parts, scope: Scope, source: str | None = None) -> Caller:
    """Whose key this is; wrong ones are counted by the address they come from. Raises `Problem`."""
    keys, key_id, address = parts.keys, key_id_of(token), _origin(scope)
    keys.require_trust(key_id, address)
    try:
        known = keys.remembered(key_id)
        return keys.find(token, source) if known else await run_in_threadpool(keys.find, token, source)
    except Problem as problem:
        if key_id and problem.code == "UNAUTHENTICATED":
            keys.count_wrong(address)
        raise


def _origin(scope: Scope) -> str:
    """The address of a client: of an IPv6 one the network, in which it may take any address."""
    address = str((scope.get("client") or [""])[0])
    return IPv6Address(address).packed[:8].hex() if ":" in address else address


async def admitted(parts: Parts, caller: Caller) -> dict[str, str]:
    """Counts a request of a key and returns the headers that say what is left. Raises `Problem`."""
    limit = TIERS[caller.tier].requests_per_minute
    if limit < 0:
        return {}
    taken = await parts.limiter.take(caller.key_id, limit)
    reset = max(1, math.ceil(taken.reset))
    headers = {
        "ratelimit-policy": f'"minute";q={limit};w={WINDOW:.0f}',
        "ratelimit": f'"minute";r={taken.remaining};t={reset}',
    }
    if not taken.allowed:
        retry = {**headers, "Retry-After": str(reset)}
        raise Problem("RATE_LIMIT_EXCEEDED", headers=retry, requests_per_minute=limit, retry_after=reset)
    return headers


async def send_problem(problem: Problem, request_id: str, asked: Headers, send: Send) -> None:
    """Answers with a problem; whoever accepts only plain JSON gets it as that."""
    accept = asked.get("accept", "")
    plain = "application/json" in accept and "problem" not in accept
    body = json.dumps(problem.document(request_id), ensure_ascii=False, default=str).encode("utf-8", "replace")
    kind = "application/json" if plain else "application/problem+json"
    headers = {"content-type": kind, "content-length": str(len(body)), **problem.headers}
    raw = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def _measured(scope: Scope, receive: Receive) -> Receive:
    """The request's body as it comes, hashed and with a limit."""
    read = 0
    digest: Any = scope["state"]["body"]

    async def next_part() -> Message:
        nonlocal read
        message = await receive()
        if message["type"] == "http.request":
            part = message.get("body", b"")
            read += len(part)
            if read > MOST_BYTES:
                raise Problem("PAYLOAD_TOO_LARGE", most_bytes=MOST_BYTES)
            digest.update(part)
        return message

    return next_part
