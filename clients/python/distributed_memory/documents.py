"""The documents of the service, as it reads and writes them: plain dicts, with their types for checkers and editors.

Every document that the client returns is a `Document`: a dict that also knows its ETag, and whether it comes from the
offline cache or waits to be written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

JSON = dict[str, Any]
Level = Literal["immediate", "working", "longterm"]
Visibility = Literal["private", "shared", "public"]
Priority = Literal["immediate", "normal", "background"]


class Document(dict[str, Any]):
    """A document and what is known about it. Copies made by `copy` know the same; `dict(document)` knows nothing."""

    etag: str = ""
    """The version that was read. A document that is written back overwrites only this version."""
    cached_at: float | None = None
    """When it was read, in seconds since 1970, if the service could not be reached and this is the cached copy."""
    pending: str | None = None
    """The id of the write in the outbox, if the service could not be reached: this is what was sent."""


def etag_of(document: object) -> str:
    """The version of a document that the client returned; empty if it is not one, or has none."""
    return document.etag if isinstance(document, Document) else ""


def is_cached(document: object) -> bool:
    """Whether a document comes from the offline cache."""
    return isinstance(document, Document) and document.cached_at is not None


def is_pending(document: object) -> bool:
    """Whether a write waits in the outbox, so that the document is only what was sent."""
    return isinstance(document, Document) and document.pending is not None


class Source(TypedDict):
    """Who an entry comes from."""

    type: Literal["chat", "agent", "function", "api"]
    id: NotRequired[str | None]
    session: NotRequired[str | None]


class Data(TypedDict):
    """What an entry says."""

    content: JSON
    meta_tags: NotRequired[list[str]]
    references: NotRequired[list[str]]


class NewEntry(TypedDict):
    """An entry to create; `ttl` in seconds."""

    data: Data
    source: NotRequired[Source]
    level: NotRequired[Level]
    ttl: NotRequired[int | None]
    visibility: NotRequired[Visibility]
    authorized_agents: NotRequired[list[str]]


class Entry(TypedDict):
    """An entry as it is read."""

    id: str
    timestamp: str
    source: Source
    level: Level
    data: Data
    ttl: int | None
    visibility: Visibility
    authorized_agents: list[str]


class EntryList(TypedDict):
    """Entries, and the cursor for the next ones."""

    entries: list[Entry]
    next_cursor: str | None


class Context(TypedDict, total=False):
    """The three parts of a context."""

    immediate: JSON
    working: JSON
    references: JSON


class ContextPackage(TypedDict):
    """The context of a session."""

    session_id: str
    context: Context
    metadata: JSON
    visibility: Visibility
    authorized_agents: list[str]


class Party(TypedDict):
    """Who hands over or takes over; the id `*` is anybody of this type."""

    type: Literal["chat", "agent", "function", "api"]
    id: str
    platform: NotRequired[str]


Handoff = TypedDict(
    "Handoff",
    {
        "handoff_id": str,
        "from": Party,
        "to": Party,
        "context": JSON,
        "instructions": str,
        "priority": Priority,
        "expiry": str,
        "state": Literal["requested", "claimed", "completed", "rejected", "cancelled", "expired"],
        "claimed_by": str | None,
        "claim_id": str | None,
        "lease_expires": str | None,
        "result": JSON,
        "history": list[JSON],
    },
)
"""A handoff as it is read."""


class HandoffList(TypedDict):
    """Handoffs, oldest first."""

    handoffs: list[Handoff]


class AgentState(TypedDict):
    """The state of an agent."""

    agent_id: str
    state: JSON
    updated_at: str
    updated_by: str


class AgentHistory(TypedDict):
    """The states that an agent has had, newest first."""

    agent_id: str
    history: list[AgentState]


class SearchAnswer(TypedDict):
    """What the long-term memory answers, and whether it does."""

    results: list[JSON]
    answered: bool
    decided_by: str
    degraded: Any


class Page(TypedDict):
    """A page of the long-term memory."""

    path: str
    text: str


class PageList(TypedDict):
    """The pages, with their links."""

    pages: list[JSON]


class Written(TypedDict):
    """Where a text went."""

    path: str
    outcome: str
    decided_by: str
    degraded: Any
    new_files: list[str]


class Event(TypedDict):
    """A change, or `resync_required`: events were missed, so load the state again."""

    event: str
    cursor: str
    id: NotRequired[str]
    type: NotRequired[str]
    subject: NotRequired[str]
    time: NotRequired[str]
    level: NotRequired[Level]
    data: NotRequired[JSON]


class Pending(TypedDict):
    """A write in the outbox."""

    id: str
    method: str
    path: str
    body: Any
    written_at: float


class Undelivered(Pending):
    """A write that could not be delivered, and why."""

    error: JSON


class Replay(TypedDict):
    """How an outbox was emptied: how many writes were delivered and still wait, and which could not be."""

    delivered: int
    pending: int
    undelivered: list[Undelivered]


def without_none(document: Mapping[str, Any]) -> JSON:
    """The members that were given."""
    return {name: value for name, value in document.items() if value is not None}
