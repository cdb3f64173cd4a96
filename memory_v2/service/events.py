"""Subscriptions, and the events themselves by WebSocket and by SSE."""

from __future__ import annotations

import json
import secrets
import uuid
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response, WebSocket
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.websockets import WebSocketDisconnect, WebSocketState

from memory_v2.service import tables
from memory_v2.service.access import Caller
from memory_v2.service.asyncapi import First
from memory_v2.service.call import Answer, Call
from memory_v2.service.edge import BASE, admitted, caller_of
from memory_v2.service.feed import stream
from memory_v2.service.models import Cursor, Limit, Name, Subscribe, iso
from memory_v2.service.operation import Operations, require_storable
from memory_v2.service.options import READ
from memory_v2.service.parts import Parts
from memory_v2.service.problem import Problem, problem_of

router = Operations()
sockets = APIRouter()
TICKET_SECONDS = 30
"""How long a ticket for a socket can be used, in seconds."""
SUBSCRIPTION_SECONDS = 2_592_000
CLOSED = {401: 4401, 403: 4403, 404: 4404, 429: 4429, 503: 1013}
"""What a socket is closed with, by the status that a request would get."""


@router.operation("POST /subscribe", READ, "subscribe", status_code=201)
def subscribe(call: Call, wish: Subscribe) -> Answer:
    """Stores which events one wants; a socket or a stream then names the subscription."""
    subscription_id, expires = str(uuid.uuid4()), call.now + SUBSCRIPTION_SECONDS
    values = {"filter": wish.model_dump(), "owner": call.caller.source, "created_at": call.now}
    call.transaction.insert(tables.subscriptions, subscription_id, values | {"expires_at": expires})
    _, newest = call.parts.store.event_bounds()
    cursor = call.parts.feed.cursor(newest)
    told = {"subscription_id": subscription_id, **wish.model_dump(), "cursor": cursor}
    return Answer({**told, "websocket": f"{BASE}/ws?subscription={subscription_id}", "expires_at": iso(expires)}, 201)


@router.operation("GET /subscriptions", READ, "subscriptions")
def subscriptions(call: Call, limit: Limit = 500, cursor: Cursor = "") -> Answer:
    """Lists the caller's subscriptions, oldest first, in parts as handoffs."""
    table = tables.subscriptions
    rows, more = call.transaction.find_part(table, table.c.owner == call.caller.source, limit=limit, cursor=cursor)
    told = [{"subscription_id": r["id"], **r["filter"], "created_at": iso(r["created_at"])} for r in rows]
    return Answer({"subscriptions": told, "next_cursor": more})


@router.operation("DELETE /subscribe/{subscription_id}", READ, "unsubscribe", status_code=204)
def unsubscribe(call: Call, subscription_id: Name) -> Answer:
    """Removes a subscription."""
    _subscription(call, subscription_id)
    call.transaction.delete(tables.subscriptions, subscription_id)
    return Answer(status=204)


@router.operation("POST /ticket", READ, "ticket", status_code=201)
def ticket(call: Call) -> Answer:
    """A ticket that opens one socket within 30 seconds: browsers cannot send the key with a socket."""
    text = secrets.token_urlsafe(32)
    caller = {"key_id": call.caller.key_id, "source": call.caller.source, "tenant": call.caller.tenant}
    call.transaction.immediate.set({f"ticket:{text}": caller}, TICKET_SECONDS)
    return Answer({"ticket": f"{call.caller.tenant}.{text}", "expires_in": TICKET_SECONDS}, 201)


@router.get("/events")
async def events(
    request: Request,
    cursor: Annotated[str, Query(max_length=100)] = "",
    subscription: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """The events after a cursor, then those that happen, as Server-Sent Events; Last-Event-ID is a cursor too."""
    parts: Parts = request.app.state.parts
    caller: Caller = request.state.caller
    caller.require(READ)
    wish = await run_in_threadpool(_wish, parts, caller, subscription)
    request.state.operation = "events_sse"
    place = request.headers.get("last-event-id", "") or cursor
    return StreamingResponse(
        _as_sse(parts, caller, wish, place), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def _as_sse(parts: Parts, caller: Caller, wish: Subscribe, cursor: str) -> AsyncIterator[str]:
    with parts.metrics.sockets.track_inprogress(), parts.feed.listening():
        try:
            async for message in stream(parts.feed, parts.keys, parts.metrics, caller, wish, cursor):
                yield f"id: {message.cursor}\nevent: {message.kind}\ndata: {message.text}\n\n"
        except Problem as problem:
            yield f"event: error\ndata: {json.dumps(problem.document('')['error'])}\n\n"


@sockets.websocket(f"{BASE}/ws")
async def socket(websocket: WebSocket) -> None:
    """The events by WebSocket. The client may send `{"action": "subscribe", "cursor": …, "events": […]}` first; with a
    cursor or a subscription in the address nothing is waited for."""
    parts: Parts = websocket.app.state.parts
    await websocket.accept()
    with parts.metrics.sockets.track_inprogress(), parts.feed.listening():
        try:
            require_storable(websocket.scope)
            caller = await _caller(parts, websocket)
            caller.require(READ)
            await admitted(parts, caller)
            cursor, wish = await _asked(parts, caller, websocket)
            async for message in stream(parts.feed, parts.keys, parts.metrics, caller, wish, cursor):
                await websocket.send_text(message.text)
            await websocket.close(1012)  # the service restarts: come again with the cursor
        except WebSocketDisconnect:
            pass
        except Exception as error:  # noqa: BLE001 - the outermost edge of a socket
            problem = problem_of(error) or Problem("INTERNAL_ERROR")
            if websocket.client_state is WebSocketState.CONNECTED:
                await websocket.send_json({"event": "error", **problem.document("")})
                await websocket.close(CLOSED.get(problem.status, 1008), problem.code)


async def _caller(parts: Parts, websocket: WebSocket) -> Caller:
    text = websocket.query_params.get("ticket")
    if text is None:
        return await caller_of(parts, websocket.scope)
    return await run_in_threadpool(_ticket_holder, parts, text)


def _ticket_holder(parts: Parts, text: str) -> Caller:
    """The caller for whom a ticket was made; it is used up."""
    tenant, _, secret = text.rpartition(".")
    with parts.store.transaction(tenant) as transaction:
        transaction.lock(f"ticket:{secret}")
        holder = transaction.immediate.get(f"ticket:{secret}")
        transaction.immediate.delete(f"ticket:{secret}")
    if holder is None:
        raise Problem("UNAUTHENTICATED", "the ticket was used or is too old")
    return parts.keys.caller(holder["key_id"], holder["source"])


async def _asked(parts: Parts, caller: Caller, websocket: WebSocket) -> tuple[str, Subscribe]:
    given = websocket.query_params
    if "cursor" in given or "subscription" in given:
        return given.get("cursor", ""), await run_in_threadpool(_wish, parts, caller, given.get("subscription", ""))
    try:
        first = First.model_validate_json(await websocket.receive_text())
    except (ValidationError, KeyError) as error:  # a KeyError is a message that is no text
        raise Problem("VALIDATION_FAILED", str(error)[:500]) from error
    stored = await run_in_threadpool(_wish, parts, caller, first.subscription_id or "")
    return first.cursor or "", stored if first.subscription_id else first


def _wish(parts: Parts, caller: Caller, subscription: str) -> Subscribe:
    if not subscription:
        return Subscribe()
    with parts.store.transaction(caller.tenant, writes=False) as transaction:
        row = _subscription(Call(caller, transaction, parts), subscription)
        return Subscribe.model_validate(row["filter"])


def _subscription(call: Call, subscription_id: str) -> Any:
    row = call.transaction.get(tables.subscriptions, subscription_id)
    if row is None or (row["owner"] != call.caller.source and not call.caller.is_admin):
        raise Problem("SUBSCRIPTION_NOT_FOUND", subscription_id=subscription_id)
    return row
