"""States of agents: the present one lives for 24 hours, the past ones for 7 days."""

from __future__ import annotations

import uuid
from typing import Any

from memory_v2.service import tables
from memory_v2.service.call import Answer, Call, size_of
from memory_v2.service.contexts import IMMEDIATE_SECONDS, WORKING_SECONDS
from memory_v2.service.models import AgentState, AgentUpdate, Cursor, Limit, Name, iso
from memory_v2.service.operation import Operations
from memory_v2.service.options import READ, WRITE
from memory_v2.service.patching import merged
from memory_v2.service.problem import Problem

_STATES = tables.agent_states
router = Operations()


@router.operation("GET /agent/{agent_id}/state", READ, "agent_state", response_model=AgentState)
def agent_state(call: Call, agent_id: Name) -> Answer:
    """Reads the state of an agent."""
    present = _present(call, agent_id)
    if present is None:
        raise Problem("AGENT_NOT_FOUND", agent_id=agent_id)
    return Answer(present, tagged=True)


@router.operation("POST /agent/{agent_id}/update", WRITE, "agent_update", response_model=AgentState)
def update_agent(call: Call, agent_id: Name, update: AgentUpdate) -> Answer:
    """Changes the state of an agent."""
    if call.caller.source != agent_id and not call.caller.is_admin:
        raise Problem("PERMISSION_DENIED", "only the agent itself changes its state", agent_id=agent_id)
    call.transaction.lock(f"agent/{agent_id}")
    present = _present(call, agent_id)
    call.match(None if present is None else lambda: present)
    old = present["state"] if present else {}
    given = update.model_dump(mode="json")["state"]
    state = merged(old, given) if update.mode == "merge" else given
    new = _document(agent_id, state, call.now, call.caller.source)
    call.transaction.immediate.set({f"immediate:{agent_id}:state": new}, IMMEDIATE_SECONDS)
    values = {
        "agent_id": agent_id,
        "state": state,
        "updated_by": call.caller.source,
        "created_at": call.now,
        "expires_at": call.now + WORKING_SECONDS,
        "bytes": size_of(state),
    }
    call.transaction.insert(_STATES, f"{agent_id}:{call.now:.6f}:{uuid.uuid4().hex[:8]}", values)
    call.require_space()
    data = {"agent_id": agent_id, "old_state": old, "new_state": state}
    body = {"session": update.session, "agent": agent_id, "data": data}
    call.transaction.emit("agent.state_changed", f"agent/{agent_id}", body, agent_id)
    return Answer(new, tagged=True)


@router.operation("GET /agent/{agent_id}/history", READ, "agent_history")
def agent_history(call: Call, agent_id: Name, limit: Limit = 100, cursor: Cursor = "") -> Answer:
    """Lists the states that an agent has had, newest first, in parts as handoffs."""
    rows, more = call.transaction.find_part(
        _STATES, _STATES.c.agent_id == agent_id, limit=limit, cursor=cursor, is_newest_first=True
    )
    if not rows and not cursor:
        raise Problem("AGENT_NOT_FOUND", agent_id=agent_id)
    history = [_document(agent_id, row["state"], row["created_at"], row["updated_by"]) for row in rows]
    return Answer({"agent_id": agent_id, "history": history, "next_cursor": more})


def _document(agent_id: str, state: Any, at: float, by: str) -> dict[str, Any]:
    return {"agent_id": agent_id, "state": state, "updated_at": iso(at), "updated_by": by}


def _present(call: Call, agent_id: str) -> dict[str, Any] | None:
    found: dict[str, Any] | None = call.transaction.immediate.get(f"immediate:{agent_id}:state")
    return found
