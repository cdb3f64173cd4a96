"""Handoffs, agents, and keys."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from memory_v2.service import agents, handoffs
from memory_v2.service.bodies import StrictRoute
from memory_v2.service.call import Answer, Call, carry_out
from memory_v2.service.edge import BASE
from memory_v2.service.keys import create_key, list_keys, revoke_key
from memory_v2.service.models import (
    AgentState,
    AgentUpdate,
    Claim,
    Cursor,
    Handoff,
    HandoffStep,
    Limit,
    Name,
    NewHandoff,
    NewKey,
)
from memory_v2.service.options import ADMIN, READ, WRITE
from memory_v2.service.problem import Problem

router = APIRouter(prefix=BASE, route_class=StrictRoute)
StateQuery = Annotated[str | None, Query(pattern="^(requested|claimed|completed|rejected|cancelled|expired)$")]


@router.post("/handoff", response_model=Handoff, status_code=201)
async def request_handoff(request: Request, new: NewHandoff) -> Response:
    """Asks another agent to take over."""
    return await carry_out(request, WRITE, lambda call: handoffs.request_handoff(call, new), "handoff_request")


@router.get("/handoff")
async def list_handoffs(
    request: Request, state: StateQuery = None, limit: Limit = 100, cursor: Cursor = ""
) -> Response:
    """Lists the handoffs that the caller has asked for or may take over, oldest first; `next_cursor` is that of the
    next part, if there is one."""
    asked = (state, limit, cursor)
    return await carry_out(request, READ, lambda call: handoffs.list_handoffs(call, *asked), "handoff_list", False)


@router.get("/handoff/{handoff_id}", response_model=Handoff)
async def read_handoff(request: Request, handoff_id: Name) -> Response:
    """Reads a handoff with its history."""
    return await carry_out(request, READ, lambda call: handoffs.read_handoff(call, handoff_id), "handoff_read", False)


@router.post("/handoff/{handoff_id}/claim", response_model=Handoff)
async def claim_handoff(request: Request, handoff_id: Name, asked: Claim | None = None) -> Response:
    """Takes a handoff over, for the time of a lease."""
    lease = asked or Claim()
    return await carry_out(request, WRITE, lambda call: handoffs.claim(call, handoff_id, lease), "handoff_claim")


@router.post("/handoff/{handoff_id}/renew", response_model=Handoff)
async def renew_handoff(request: Request, handoff_id: Name, claim_id: Name, asked: Claim | None = None) -> Response:
    """Makes the lease longer."""
    lease = asked or Claim()
    return await carry_out(
        request, WRITE, lambda call: handoffs.renew(call, handoff_id, lease, claim_id), "handoff_renew"
    )


@router.post("/handoff/{handoff_id}/complete", response_model=Handoff)
async def complete_handoff(request: Request, handoff_id: Name, step: HandoffStep) -> Response:
    """Ends a handoff that the caller has claimed, with a result."""
    work = partial(handoffs.finish, handoff_id=handoff_id, step=step, state="completed")
    return await carry_out(request, WRITE, work, "handoff_complete")


@router.post("/handoff/{handoff_id}/reject", response_model=Handoff)
async def reject_handoff(request: Request, handoff_id: Name, step: HandoffStep) -> Response:
    """Refuses a handoff, claimed or not."""
    return await carry_out(
        request, WRITE, lambda call: handoffs.finish(call, handoff_id, step, "rejected"), "handoff_reject"
    )


@router.post("/handoff/{handoff_id}/cancel", response_model=Handoff)
async def cancel_handoff(request: Request, handoff_id: Name, step: HandoffStep | None = None) -> Response:
    """Takes a handoff back."""
    told = step or HandoffStep()
    return await carry_out(request, WRITE, lambda call: handoffs.cancel(call, handoff_id, told), "handoff_cancel")


@router.get("/agent/{agent_id}/state", response_model=AgentState)
async def agent_state(request: Request, agent_id: Name) -> Response:
    """Reads the state of an agent."""
    return await carry_out(request, READ, lambda call: agents.agent_state(call, agent_id), "agent_state", writes=False)


@router.post("/agent/{agent_id}/update", response_model=AgentState)
async def update_agent(request: Request, agent_id: Name, update: AgentUpdate) -> Response:
    """Changes the state of an agent."""
    return await carry_out(request, WRITE, lambda call: agents.update_agent(call, agent_id, update), "agent_update")


@router.get("/agent/{agent_id}/history")
async def agent_history(request: Request, agent_id: Name, limit: Limit = 100, cursor: Cursor = "") -> Response:
    """Lists the states that an agent has had, newest first, in parts as handoffs."""
    asked = (agent_id, limit, cursor)
    return await carry_out(request, READ, lambda call: agents.agent_history(call, *asked), "agent_history", False)


@router.post("/keys", status_code=201)
async def new_key(request: Request, new: NewKey) -> Response:
    """Creates a key of the caller's tenant; its text is shown this once."""

    def work(call: Call) -> Answer:
        if new.tenant not in (None, call.caller.tenant):
            raise Problem("PERMISSION_DENIED", "a key can only be made for one's own tenant")
        return Answer(create_key(call.transaction, call.caller.tenant, new), 201)

    return await carry_out(request, ADMIN, work, "key_create")


@router.get("/keys")
async def all_keys(request: Request) -> Response:
    """Lists the keys of the tenant."""
    return await carry_out(
        request, ADMIN, lambda call: Answer({"keys": list_keys(call.transaction)}), "key_list", False
    )


@router.delete("/keys/{key_id}", status_code=204)
async def end_key(request: Request, key_id: Name) -> Response:
    """Revokes a key: everywhere within two seconds, and its event streams end."""

    def work(call: Call) -> Answer:
        revoke_key(call.transaction, key_id)
        return Answer(status=204)

    response = await carry_out(request, ADMIN, work, "key_revoke")
    request.app.state.parts.keys.forget(key_id)
    return response
