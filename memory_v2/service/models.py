"""The documents of the service, as the specification has them; what it leaves open is optional."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from memory_v2.service.options import USUAL_SCOPES

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._:@-]*$"
Name = Annotated[str, Field(min_length=1, max_length=255, pattern=NAME_PATTERN)]
"""An id of a session, an agent or a source: it can stand in an address without escapes."""
AnyName = Annotated[str, Field(pattern=r"^(\*|[A-Za-z0-9][A-Za-z0-9._:@-]*)$", max_length=255)]
"""Such an id, or `*` for any."""
Level = Literal["immediate", "working", "longterm"]
SourceType = Literal["chat", "agent", "function", "api"]
Visibility = Literal["private", "shared", "public"]
Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=100)]], Field(max_length=100)]
Limit = Annotated[int, Field(ge=1, le=500)]
"""Records of a list that one answer has."""
Cursor = Annotated[str, Field(max_length=500)]
"""Where the next part of a list begins, as the answer with the part before says."""
Document = dict[str, Any]


def _written_out(value: Any) -> Any:
    if isinstance(value, str) and not re.match(r"\d{4}-\d\d", value):
        raise ValueError("a moment is written like 2026-11-24T09:00:00Z")
    return value


def _in_utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Moment = Annotated[datetime, BeforeValidator(_written_out), AfterValidator(_in_utc)]
"""A moment or a day, by ISO 8601, in UTC if it does not say; a bare number is neither."""


def _in_digits(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("a whole number is written in digits, without quotes")
    return value


IN_DIGITS = BeforeValidator(_in_digits)
"""Of a whole number in a body: `true` is none."""
MOST_BYTES = 4_000_000
"""Bytes of a document: of a request's body, and of what a patch makes."""
MOST_SECONDS = 3_153_600_000
"""A hundred years: the longest time that a key or a handoff may be given."""


def iso(seconds: float) -> str:
    """A moment as in all documents: ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Strict(BaseModel):
    """Unknown members are an error: they would be lost."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Open(BaseModel):
    """Unknown members are kept."""

    model_config = ConfigDict(extra="allow")


class Source(Strict):
    """Who an entry comes from. Without an `id`, the caller."""

    type: SourceType = "agent"
    id: Name | None = None
    session: Name | None = None


class Data(Strict):
    """What an entry says."""

    content: Document = Field(default_factory=dict)
    meta_tags: Tags = Field(default_factory=list)
    references: list[Annotated[str, Field(max_length=255)]] = Field(default_factory=list, max_length=100)


class NewEntry(Strict):
    """A memory entry to create; `ttl` in seconds is that of its level by default, and longterm has none."""

    source: Source = Field(default_factory=Source)
    level: Level = "working"
    data: Data
    ttl: Annotated[int, Field(ge=1, le=31_536_000), IN_DIGITS] | None = None
    visibility: Visibility = "shared"
    authorized_agents: list[Name] = Field(default_factory=list, max_length=100)


class MemoryEntry(NewEntry):
    """A memory entry as it is read."""

    id: str
    timestamp: datetime


class EntryBatch(Strict):
    """Entries to create together: all of them or none."""

    entries: list[NewEntry] = Field(min_length=1, max_length=100)


class EntryList(Strict):
    """Entries, and the cursor for the next ones."""

    entries: list[MemoryEntry]
    next_cursor: str | None = None


class Immediate(Open):
    """What a session is about now; kept for 24 hours."""

    current_focus: Document = Field(default_factory=dict)
    working_set: Document = Field(default_factory=dict)
    active_agents: list[Any] = Field(default_factory=list)


class Working(Open):
    """What a session has found out; kept for 7 days."""

    project_state: Document = Field(default_factory=dict)
    discovered_patterns: list[Any] = Field(default_factory=list)
    key_decisions: list[Any] = Field(default_factory=list)


class References(Open):
    """What a session refers to."""

    files: list[Any] = Field(default_factory=list)
    previous_sessions: list[Any] = Field(default_factory=list)
    related_agents: list[Any] = Field(default_factory=list)


class Context(Strict):
    """The three parts of a context."""

    immediate: Immediate = Field(default_factory=Immediate)
    working: Working = Field(default_factory=Working)
    references: References = Field(default_factory=References)


class Metadata(Open):
    """Where a session runs."""

    platform: str = ""
    window_usage: str = ""
    last_checkpoint: str | None = None


class ContextPackage(Strict):
    """The context of a session. Without a `session_id`, that of the path or of the header X-Memory-Session."""

    session_id: Name | None = None
    context: Context = Field(default_factory=Context)
    metadata: Metadata = Field(default_factory=Metadata)
    visibility: Visibility = "shared"
    authorized_agents: list[Name] = Field(default_factory=list, max_length=100)


class From(Strict):
    """Who hands over."""

    type: SourceType = "chat"
    id: Name
    platform: str = ""


class To(Strict):
    """Who takes over: `*` is any of this type."""

    type: Literal["agent", "chat", "function"]
    id: AnyName


class NewHandoff(Strict):
    """A handoff to request."""

    from_: From = Field(alias="from")
    to: To
    context: Document = {}
    instructions: str = Field(default="", max_length=100_000)
    priority: Literal["immediate", "normal", "background"] = "normal"
    expiry: Moment | None = None


class Claim(Strict):
    """How long the claimer may be silent, in seconds."""

    lease_seconds: Annotated[int, Field(ge=1, le=86_400), IN_DIGITS] = 300


class HandoffStep(Strict):
    """A step by the holder of a claim; `result` stays with the handoff."""

    claim_id: str = ""
    reason: str = Field(default="", max_length=10_000)
    result: Document = {}


class Handoff(Strict):
    """A handoff as it is read, with what has happened to it."""

    handoff_id: str
    from_: From = Field(alias="from")
    to: To
    context: Document
    instructions: str
    priority: str
    expiry: datetime
    state: Literal["requested", "claimed", "completed", "rejected", "cancelled", "expired"]
    claimed_by: str | None = None
    claim_id: str | None = None
    lease_expires: datetime | None = None
    result: Document = {}
    history: list[Document] = []


class AgentUpdate(Strict):
    """A change of an agent's state: a merge patch, or the whole state."""

    state: Document
    mode: Literal["merge", "replace"] = "merge"
    session: Name | None = None


class AgentState(Strict):
    """An agent's state."""

    agent_id: str
    state: Document
    updated_at: datetime
    updated_by: str


class Search(Strict):
    """A question to the long-term memory: the core's search over entries and pages."""

    query: str = Field(min_length=1, max_length=10_000)
    limit: Annotated[int, Field(ge=1, le=100), IN_DIGITS] = 10
    only: Literal["pages", "entries"] | None = None
    tags: Tags = []
    since: str | None = None
    until: str | None = None
    under: str | None = None
    agent: Name | None = None


class Subscribe(Strict):
    """Which events a subscription is for; an empty list is all of them."""

    events: list[str] = Field(default=[], max_length=20)
    levels: list[Level] = []
    sessions: list[Name] = Field(default=[], max_length=100)
    agents: list[Name] = Field(default=[], max_length=100)


class NewKey(Strict):
    """A key to create, for these sources; `*` is any."""

    name: str = Field(default="", max_length=255)
    sources: list[AnyName] = Field(default=["*"], min_length=1, max_length=100)
    scopes: list[str] = Field(default=[*USUAL_SCOPES], max_length=10)
    tier: Literal["free_tier", "standard_tier", "unlimited_tier"] = "standard_tier"
    tenant: Name | None = None
    expires_in: Annotated[int, Field(ge=1, le=MOST_SECONDS), IN_DIGITS] | None = None


class NewPage(Strict):
    """A text for the pages: on a page, or where it belongs."""

    text: str = Field(min_length=1, max_length=1_000_000)
    path: str | None = None
    mode: Literal["update", "append", "replace"] = "update"
    source: str | None = None


class PageText(Strict):
    """The whole text of a page."""

    text: str = Field(max_length=1_000_000)
