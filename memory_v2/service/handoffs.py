"""Handoffs: requested → claimed → completed or rejected; cancelled by who asked; expired when their time is over.

A claim is a lease: if its time ends, the handoff is requested again, and the old claim counts no more.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import ColumnElement, case, or_

from memory_v2.service import tables
from memory_v2.service.call import Answer, Call, size_of
from memory_v2.service.contexts import authorize
from memory_v2.service.models import (
    MOST_SECONDS,
    Claim,
    Cursor,
    Handoff,
    HandoffStep,
    Limit,
    Name,
    NewHandoff,
    iso,
)
from memory_v2.service.operation import Operations
from memory_v2.service.options import READ, WRITE
from memory_v2.service.problem import Problem

DEFAULT_SECONDS = 86_400
"""How long a handoff can be claimed if its request does not say."""
KEPT_SECONDS = 2_592_000
"""How long a handoff can be read, in seconds after its expiry."""
ANY = "*"
_HANDOFFS = tables.handoffs
StateQuery = Annotated[str | None, Query(pattern="^(requested|claimed|completed|rejected|cancelled|expired)$")]
router = Operations()


@router.operation("POST /handoff", WRITE, "handoff_request", response_model=Handoff, status_code=201)
def request_handoff(call: Call, new: NewHandoff) -> Answer:
    """Asks another agent to take over."""
    expiry = new.expiry.timestamp() if new.expiry else call.now + DEFAULT_SECONDS
    if expiry <= call.now:
        raise Problem("INVALID_HANDOFF", "expiry is in the past")
    if expiry > call.now + MOST_SECONDS:
        raise Problem("INVALID_HANDOFF", "expiry is more than a hundred years away")
    handoff_id = str(uuid.uuid4())
    document = new.model_dump(mode="json", by_alias=True) | {"result": {}}
    values = {
        "document": document,
        "state": "requested",
        "to_id": new.to.id,
        "owner": call.caller.source,
        "expiry": expiry,
        "history": [_step(call, "requested")],
        "created_at": call.now,
        "updated_at": call.now,
        "expires_at": expiry + KEPT_SECONDS,
        "bytes": size_of(document),
    }
    call.transaction.insert(_HANDOFFS, handoff_id, values)
    call.require_space()
    _tell(call, "handoff.requested", handoff_id, {**values, "id": handoff_id})
    return Answer(_document(call, _row(call, handoff_id)), 201, {"Location": f"/api/v1/memory/handoff/{handoff_id}"})


@router.operation("GET /handoff", READ, "handoff_list")
def list_handoffs(call: Call, state: StateQuery = None, limit: Limit = 100, cursor: Cursor = "") -> Answer:
    """Lists the handoffs that the caller has asked for or may take over, oldest first; `next_cursor` is that of the
    next part, if there is one."""
    columns = _HANDOFFS.c
    involved = or_(columns.to_id.in_([call.caller.source, ANY]), columns.owner == call.caller.source)
    where = [] if call.caller.is_admin else [involved]
    if state:
        where.append(_state_now(call) == state)
    rows, more = call.transaction.find_part(_HANDOFFS, *where, limit=limit, cursor=cursor)
    return Answer({"handoffs": [_document(call, row) for row in rows], "next_cursor": more})


@router.operation("GET /handoff/{handoff_id}", READ, "handoff_read", response_model=Handoff)
def read_handoff(call: Call, handoff_id: Name) -> Answer:
    """Reads a handoff with its history."""
    return Answer(_document(call, _row(call, handoff_id)), tagged=True)


@router.operation("POST /handoff/{handoff_id}/claim", WRITE, "handoff_claim", response_model=Handoff)
def claim_handoff(call: Call, handoff_id: Name, asked: Claim | None = None) -> Answer:
    """Takes a handoff over, for the time of a lease."""
    row = _row(call, handoff_id, lock=True)
    state = _state(call, row)
    if row["to_id"] not in (call.caller.source, ANY):
        raise Problem("PERMISSION_DENIED", "the handoff is for another agent")
    if state == "expired":
        raise Problem("HANDOFF_EXPIRED")
    if state != "requested":
        code = "HANDOFF_ALREADY_CLAIMED" if state == "claimed" else "HANDOFF_STATE"
        raise Problem(code, state=state)
    history = list(row["history"])
    if row["state"] == "claimed":
        history.append({"state": "requested", "at": iso(row["lease_expires"]), "by": "", "reason": "the lease ended"})
    changes = {
        "state": "claimed",
        "claimed_by": call.caller.source,
        "claim_id": str(uuid.uuid4()),
        "lease_expires": _lease_end(call, row, asked),
        "history": [*history, _step(call, "claimed")],
    }
    origin = row["document"]["from"]
    authorize(call, origin["id"], row["owner"], call.caller.source)
    return _changed(call, row, changes)


def _lease_end(call: Call, row: Mapping[str, Any], asked: Claim | None) -> float:
    return float(min(call.now + (asked or Claim()).lease_seconds, row["expiry"]))


@router.operation("POST /handoff/{handoff_id}/renew", WRITE, "handoff_renew", response_model=Handoff)
def renew_handoff(call: Call, handoff_id: Name, claim_id: Name, asked: Claim | None = None) -> Answer:
    """Makes the lease longer."""
    row = _held(call, handoff_id, claim_id)
    return _changed(call, row, {"lease_expires": _lease_end(call, row, asked)}, tells=False)


@router.operation("POST /handoff/{handoff_id}/complete", WRITE, "handoff_complete", response_model=Handoff)
def complete_handoff(call: Call, handoff_id: Name, step: HandoffStep) -> Answer:
    """Ends a handoff that the caller has claimed, with a result."""
    return _finished(call, _held(call, handoff_id, step.claim_id), step, "completed")


@router.operation("POST /handoff/{handoff_id}/reject", WRITE, "handoff_reject", response_model=Handoff)
def reject_handoff(call: Call, handoff_id: Name, step: HandoffStep) -> Answer:
    """Refuses a handoff, claimed or not."""
    row = _row(call, handoff_id, lock=True)
    if _state(call, row) != "requested" or row["to_id"] != call.caller.source:
        row = _held(call, handoff_id, step.claim_id)
    return _finished(call, row, step, "rejected")


def _finished(call: Call, row: Mapping[str, Any], step: HandoffStep, state: str) -> Answer:
    document = {**row["document"], "result": step.result}
    history = [*row["history"], _step(call, state, step.reason)]
    values = {"state": state, "document": document, "history": history, "bytes": size_of(document)}
    return _changed(call, row, values)


@router.operation("POST /handoff/{handoff_id}/cancel", WRITE, "handoff_cancel", response_model=Handoff)
def cancel_handoff(call: Call, handoff_id: Name, step: HandoffStep | None = None) -> Answer:
    """Takes a handoff back."""
    reason = step.reason if step else ""
    row = _row(call, handoff_id, lock=True)
    if row["owner"] != call.caller.source and not call.caller.is_admin:
        raise Problem("PERMISSION_DENIED", "only who asked for the handoff can cancel it")
    if (state := _state(call, row)) not in ("requested", "claimed"):
        raise Problem("HANDOFF_EXPIRED" if state == "expired" else "HANDOFF_STATE", state=state)
    return _changed(call, row, {"state": "cancelled", "history": [*row["history"], _step(call, "cancelled", reason)]})


def _row(call: Call, handoff_id: str, lock: bool = False) -> Mapping[str, Any]:
    row = call.transaction.get(_HANDOFFS, handoff_id, lock)
    me = call.caller.source
    involved = row is not None and (row["to_id"] in (me, ANY) or me in (row["owner"], row["claimed_by"]))
    if row is None or not (involved or call.caller.is_admin):
        raise Problem("HANDOFF_NOT_FOUND", handoff_id=handoff_id)
    if lock:
        call.match(lambda: _document(call, row))
    return row


def _held(call: Call, handoff_id: str, claim_id: str) -> Mapping[str, Any]:
    row = _row(call, handoff_id, lock=True)
    state = _state(call, row)
    if state != "claimed" or row["claimed_by"] != call.caller.source or row["claim_id"] != claim_id:
        raise Problem(
            "HANDOFF_EXPIRED" if state == "expired" else "HANDOFF_STATE", "the claim does not hold", state=state
        )
    return row


def _state(call: Call, row: Mapping[str, Any]) -> str:
    """The state now: time passes without anybody writing it down."""
    state = str(row["state"])
    if state in ("requested", "claimed") and row["expiry"] <= call.now:
        return "expired"
    return "requested" if state == "claimed" and row["lease_expires"] <= call.now else state


def _state_now(call: Call) -> ColumnElement[str]:
    """`_state` of a row, as a query asks for it."""
    columns = _HANDOFFS.c
    is_open = columns.state.in_(("requested", "claimed"))
    ended = (columns.state == "claimed") & (columns.lease_expires <= call.now)
    return case((is_open & (columns.expiry <= call.now), "expired"), (ended, "requested"), else_=columns.state)


def _changed(call: Call, row: Mapping[str, Any], changes: dict[str, Any], tells: bool = True) -> Answer:
    call.transaction.update(_HANDOFFS, row["id"], {**changes, "updated_at": call.now})
    if tells:
        state = changes["state"]
        call.parts.metrics.handoffs.labels(state).inc()
        _tell(call, f"handoff.{state}", row["id"], row)
    return Answer(_document(call, _row(call, row["id"])), tagged=True)


def _step(call: Call, state: str, reason: str = "") -> dict[str, Any]:
    return {"state": state, "at": iso(call.now), "by": call.caller.source, "reason": reason}


def _document(call: Call, row: Mapping[str, Any]) -> dict[str, Any]:
    state = _state(call, row)
    is_claimed = state in ("claimed", "completed", "rejected") and row["claimed_by"]
    mine = is_claimed and row["claimed_by"] == call.caller.source
    return {
        "handoff_id": row["id"],
        **row["document"],
        "expiry": iso(row["expiry"]),
        "state": state,
        "claimed_by": row["claimed_by"] if is_claimed else None,
        "claim_id": row["claim_id"] if mine else None,
        "lease_expires": iso(row["lease_expires"]) if state == "claimed" else None,
        "history": row["history"],
    }


def _tell(call: Call, kind: str, handoff_id: str, row: Mapping[str, Any]) -> None:
    document = row["document"]
    data = {"handoff_id": handoff_id} | {name: document[name] for name in ("from", "to", "priority")}
    readers = "" if row["to_id"] == ANY else f"|{row['to_id']}|"
    body = {"session": document["from"]["id"], "agent": row["to_id"], "data": data}
    call.transaction.emit(kind, f"handoff/{handoff_id}", body, row["owner"], "shared", readers)
