"""Contexts of sessions: the immediate part lives for 24 hours, the rest for 7 days."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import Body, Header, Request, Response
from sqlalchemy import func, select

from memory_v2.service import tables
from memory_v2.service.access import TIERS, access_of, named_readers, written_readers
from memory_v2.service.cache import Kept
from memory_v2.service.call import Answer, Call, begun, carry_out, encoded, etag, read_answer, size_of
from memory_v2.service.models import ContextPackage, Name
from memory_v2.service.operation import Operations
from memory_v2.service.options import READ, WRITE
from memory_v2.service.patching import PATCH_BODY, checked, read_patch
from memory_v2.service.problem import Problem
from memory_v2.service.store import Record

IMMEDIATE_SECONDS = 86_400
WORKING_SECONDS = 604_800


router = Operations()


@router.get("/context/{session_id}", response_model=ContextPackage)
async def load_context(request: Request, session_id: Name) -> Response:
    """Loads the context package of a session."""
    with request.app.state.parts.metrics.context_seconds.time():
        caller, parts = begun(request, READ, "context_load")
        stamp, kept = await parts.cache.find(_cache_key(caller.tenant, session_id))
        if kept is not None and caller.reads(*kept.access):
            return read_answer(request, kept.text, {"ETag": kept.etag})
        work = partial(_loaded, session_id=session_id, stamp=stamp)
        return await carry_out(request, READ, work, "context_load", writes=False)


def _loaded(call: Call, session_id: str, stamp: str) -> Answer:
    """The context package, which this process then has at hand."""
    row = _row(call, session_id)
    package = _package(call, row)
    ends = row["updated_at"] + IMMEDIATE_SECONDS, row["expires_at"]
    until = min(end for end in ends if end > call.now)
    kept = Kept(access_of(row), until, encoded(package), etag(package))
    call.parts.cache.keep(_cache_key(call.caller.tenant, session_id), stamp, kept)
    return Answer(package, tagged=True)


@router.operation("POST /context", WRITE, "context_create", response_model=ContextPackage, status_code=201)
def create_context(
    call: Call, package: ContextPackage, session: Annotated[Name | None, Header(alias="X-Memory-Session")] = None
) -> Answer:
    """Initialises the context of a session."""
    session_id = package.session_id or session
    if not session_id:
        raise Problem("VALIDATION_FAILED", "session_id is missing, in the body and in X-Memory-Session")
    call.transaction.lock(f"contexts of {call.caller.tenant}")
    _change(call, session_id)
    if call.transaction.get(tables.contexts, session_id) is not None:
        raise Problem("CONTEXT_EXISTS", session_id=session_id)
    sessions = TIERS[call.caller.tier].sessions
    query = select(func.count()).where(call.transaction.mine(tables.contexts))
    if sessions >= 0 and call.transaction.connection.execute(query).scalar_one() >= sessions:
        raise Problem("MEMORY_LIMIT_EXCEEDED", "the number of sessions is exceeded", sessions=sessions)
    document = _store(call, session_id, package, None)
    location = {"Location": f"/api/v1/memory/context/{session_id}"}
    return Answer(document, 201, location, tagged=True)


@router.operation("PUT /context/{session_id}", WRITE, "context_replace", response_model=ContextPackage)
def replace_context(call: Call, session_id: Name, package: ContextPackage) -> Answer:
    """Replaces a context; If-Match is required, so that no change is overwritten unseen."""
    row = _row(call, session_id, lock=True)
    call.caller.require_self(row, "write", named_too=True)
    call.match(lambda: _package(call, row), required=True)
    return Answer(_store(call, session_id, package, row), tagged=True)


@router.operation("PATCH /context/{session_id}", WRITE, "context_patch", response_model=ContextPackage, **PATCH_BODY)
def patch_context(call: Call, session_id: Name, change: Annotated[Any, Body()]) -> Answer:
    """Changes a part of a context, by JSON Patch or merge patch."""
    patched = read_patch(change, call.media_type)
    row = _row(call, session_id, lock=True)
    call.caller.require_self(row, "write", named_too=True)
    present = _package(call, row)
    call.match(lambda: present)
    wanted = patched(present)
    if not isinstance(wanted, dict) or wanted.get("session_id") != session_id:
        raise Problem("VALIDATION_FAILED", "a patch cannot change the session_id")
    return Answer(_store(call, session_id, checked(ContextPackage, wanted), row), tagged=True)


@router.operation("DELETE /context/{session_id}", WRITE, "context_delete", status_code=204)
def delete_context(call: Call, session_id: Name) -> Answer:
    """Deletes a context."""
    row = _row(call, session_id, lock=True)
    call.caller.require_self(row, "delete")
    call.match(lambda: _package(call, row))
    call.transaction.delete(tables.contexts, session_id)
    for key in _immediate_keys(session_id):
        call.transaction.immediate.delete(key)
    _tell(call, session_id, row, {"deleted": True})
    return Answer(status=204)


def authorize(call: Call, session_id: str, giver: str, agent: str) -> None:
    """Lets an agent that takes over read and write the context of a session, if that names who may and the giver is
    one of them."""
    row = call.transaction.get(tables.contexts, session_id, lock=True)
    named = named_readers(row["readers"]) if row is not None and row["visibility"] == "shared" else []
    if row is not None and named and giver in (row["owner"], *named):
        _change(call, session_id)
        call.transaction.update(tables.contexts, session_id, {"readers": written_readers([*named, agent])})


def _row(call: Call, session_id: str, lock: bool = False) -> Record:
    row = call.transaction.get(tables.contexts, session_id, lock)
    if row is None or not call.caller.reads(*access_of(row)):
        suggestion = "Initialize context first"
        raise Problem("CONTEXT_NOT_FOUND", session_id=session_id, suggestion=suggestion)
    if lock:
        _change(call, session_id)
    return row


def _change(call: Call, session_id: str) -> None:
    """To the end of the transaction, no process answers from its cache for the context; its row is locked."""
    call.parts.cache.stamps.mark(_cache_key(call.caller.tenant, session_id), call.transaction)


def _cache_key(tenant: str, session_id: str) -> str:
    return f"{tenant}/context/{session_id}"


def _package(call: Call, row: Record) -> dict[str, Any]:
    """The document of a row, with its immediate part."""
    keys = _immediate_keys(row["id"])
    found = call.transaction.immediate.get_all(keys)
    focus, rest = found.get(keys[0], {}), found.get(keys[1], {"working_set": {}, "active_agents": []})
    return _assembled(row, {"current_focus": focus, **rest})


def _assembled(row: Record, immediate: dict[str, Any]) -> dict[str, Any]:
    document = row["document"]
    context = {"immediate": immediate, **document["context"]}
    access = {"visibility": row["visibility"], "authorized_agents": named_readers(row["readers"])}
    return {"session_id": row["id"], "context": context, "metadata": document["metadata"], **access}


def _immediate_keys(session_id: str) -> tuple[str, str]:
    return f"immediate:{session_id}:focus", f"immediate:{session_id}:working"


def _store(call: Call, session_id: str, package: ContextPackage, row: Record | None) -> dict[str, Any]:
    if package.session_id not in (None, session_id):
        raise Problem("VALIDATION_FAILED", "the session_id of the body is another one", session_id=session_id)
    transaction, now = call.transaction, call.now
    dumped = package.model_dump(mode="json")
    context = dumped["context"]
    immediate = context.pop("immediate")
    focus_key, working_key = _immediate_keys(session_id)
    rest = {name: value for name, value in immediate.items() if name != "current_focus"}
    transaction.immediate.set({focus_key: immediate["current_focus"], working_key: rest}, IMMEDIATE_SECONDS)
    document = {"context": context, "metadata": dumped["metadata"]}
    values = {
        "document": document,
        "visibility": package.visibility,
        "readers": written_readers(package.authorized_agents),
        "updated_at": now,
        "expires_at": now + WORKING_SECONDS,
        "bytes": size_of(document),
    }
    if row is None:
        stored = values | {"owner": call.caller.source, "created_at": now}
        transaction.insert(tables.contexts, session_id, stored)
    else:
        if any(values[name] != row[name] for name in ("visibility", "readers")):
            call.caller.require_self(row, "share")
        transaction.update(tables.contexts, session_id, values)
        stored = {**row, **values}
    call.require_space()
    after = _assembled({**stored, "id": session_id}, immediate)
    _tell(call, session_id, stored, after["context"])
    return after


def _tell(call: Call, session_id: str, row: Record, changes: dict[str, Any]) -> None:
    source = {"type": "agent", "id": call.caller.source, "session": session_id}
    level = "immediate" if "immediate" in changes else "working"
    call.transaction.emit_update(f"context/{session_id}", level, source, changes, *access_of(row))
