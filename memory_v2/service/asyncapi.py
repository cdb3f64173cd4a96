"""The AsyncAPI document of the socket, whose messages and events are models."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from memory_v2.service.models import From, Level, Name, Source, Strict, Subscribe, To

VERSION = "3.0.0"
_DEFS = "#/components/schemas/{model}"
HANDOFF_EVENTS = tuple(f"handoff.{state}" for state in ("requested", "claimed", "completed", "rejected", "cancelled"))


class First(Subscribe):
    """The first message of a client: from where, and which events. With `cursor` or `subscription` in the address it
    is not waited for."""

    action: str = Field(default="subscribe", pattern="^subscribe$")
    cursor: str | None = None
    subscription_id: Name | None = None


class Place(Strict):
    """`subscribed`: changes follow; `resync_required`: load the state again; `ping`: the stream lives."""

    event: str = Field(pattern="^(subscribed|resync_required|ping)$")
    cursor: str


class Envelope(BaseModel):
    """A change, by CloudEvents 1.0; `event`, `level` and `data` are the specification's."""

    specversion: str = Field(pattern=r"^1\.0$")
    id: str
    source: str
    type: str
    subject: str
    time: str
    datacontenttype: str
    sequence: str = Field(pattern=r"^\d{20}$")
    cursor: str
    event: str
    level: Level | None = None
    data: Any


class Updated(Strict):
    """What `memory.updated` tells."""

    entry_id: str
    source: Source
    changes: dict[str, Any]


class HandedOver(Strict):
    """What the events of a handoff tell."""

    handoff_id: str
    from_: From = Field(alias="from")
    to: To
    priority: str


class StateChanged(Strict):
    """What `agent.state_changed` tells."""

    agent_id: str
    old_state: dict[str, Any]
    new_state: dict[str, Any]


EVENTS: dict[str, type[BaseModel]] = {
    "memory.updated": Updated,
    **dict.fromkeys(HANDOFF_EVENTS, HandedOver),
    "agent.state_changed": StateChanged,
}
"""Each event, and what its `data` is."""


def described(version: str, base: str, problem: dict[str, Any]) -> dict[str, Any]:
    """The document of the socket under `base`."""
    schemas: dict[str, Any] = {"Problem": problem}
    for model in (First, Place, Envelope, Updated, HandedOver, StateChanged):
        schema = model.model_json_schema(ref_template=_DEFS)
        schemas |= schema.pop("$defs", {}) | {model.__name__: schema}
    messages = {"first": _message("First"), "place": _message("Place")}
    messages["error"] = {"payload": {"allOf": [_ref("Problem"), _named("error")]}}
    for event, data in EVENTS.items():
        narrowed = {"properties": {"data": _ref(data.__name__)}}
        messages[event] = {"name": event, "payload": {"allOf": [_ref("Envelope"), _named(event), narrowed]}}
    from_service = [{"$ref": f"#/channels/socket/messages/{name}"} for name in messages if name != "first"]
    return {
        "asyncapi": VERSION,
        "info": {"title": "Silica Memory", "version": version, "description": "Changes, once each and in order."},
        "channels": {
            "socket": {
                "address": f"{base}/ws",
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
                "bindings": {"ws": {"method": "GET", "query": _QUERY}},
            }
        },
        "operations": {
            "subscribe": {
                "action": "receive",
                "channel": {"$ref": "#/channels/socket"},
                "messages": [{"$ref": "#/channels/socket/messages/first"}],
            },
            "tell": {"action": "send", "channel": {"$ref": "#/channels/socket"}, "messages": from_service},
        },
        "components": {"messages": messages, "schemas": schemas},
    }


_QUERY = {
    "type": "object",
    "properties": {
        "cursor": {"type": "string", "description": "Where to go on; empty is now."},
        "subscription": {"type": "string", "description": "The id of a stored subscription."},
        "ticket": {"type": "string", "description": "In place of the key, for browsers; it is good once."},
    },
}


def _message(model: str) -> dict[str, Any]:
    return {"name": model.lower(), "payload": _ref(model)}


def _ref(model: str) -> dict[str, str]:
    return {"$ref": _DEFS.format(model=model)}


def _named(event: str) -> dict[str, Any]:
    return {"properties": {"event": {"const": event}}}
