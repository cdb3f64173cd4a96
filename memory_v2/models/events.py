"""What the events of a trace must hold, for whoever reads one from a file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    InstanceOf,
    NonNegativeFloat,
    NonNegativeInt,
    StrictInt,
    TypeAdapter,
)

from memory_v2.models.base import StopReason

Moment: TypeAlias = Annotated[str, AfterValidator(datetime.fromisoformat)]
Text: TypeAlias = InstanceOf[str]
"""Text of pages: it may hold halves of pairs, which stand for bytes that are not UTF-8."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=False)


class _Limits(BaseModel):
    model_config = ConfigDict(extra="forbid")

    turns: NonNegativeInt
    tokens: NonNegativeInt
    seconds: NonNegativeFloat
    money: NonNegativeFloat


class _Format(_Part):
    format: int


class _Begin(_Part):
    operation: str
    arguments: dict[str, Any]
    started: Moment
    model: str
    threshold: StrictInt
    limits: _Limits


class _Ask(_Part):
    task: str
    model: str
    system: Text | None = None
    tools: list[dict[str, Any]] | None = None


class _Message(_Part):
    role: Literal["user", "tool"]
    template: str
    name: str = ""
    text: Text = ""
    error: bool = False


class _Call(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str
    name: str
    arguments: Any
    malformed: str = ""


class _Usage(BaseModel):
    model_config = ConfigDict(extra="forbid")

    input_tokens: NonNegativeInt
    output_tokens: NonNegativeInt
    cached_tokens: NonNegativeInt
    cache_write_tokens: NonNegativeInt


class _Reply(_Part):
    seconds: float
    text: Text
    calls: list[_Call]
    stop: StopReason
    usage: _Usage
    money: NonNegativeFloat | None
    raw: Any


class _Failed(_Part):
    error: str
    retryable: bool


class _Decided(_Part):
    reason: str
    checked: list[str]


class _Change(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: str
    before: Text | None
    after: Text | None


class _Commit(_Part):
    revision: str
    pages: list[_Change]


class _Found(_Part):
    places: list[str]


class _Error(_Part):
    kind: str
    message: str


class _Conflict(_Part):
    error: str


class _Cost(_Part):
    calls: NonNegativeInt
    usage: _Usage
    seconds: float
    money: NonNegativeFloat | None


class _End(_Part):
    cost: _Cost
    reads: dict[str, str]


KINDS: Mapping[str, type[BaseModel]] = {
    "format": _Format,
    "begin": _Begin,
    "ask": _Ask,
    "message": _Message,
    "reply": _Reply,
    "failed": _Failed,
    "decided": _Decided,
    "conflict": _Conflict,
    "commit": _Commit,
    "found": _Found,
    "error": _Error,
    "end": _End,
}


def checked_event(value: Any) -> dict[str, Any]:
    """The event, as it was given, if it holds what one of its kind must; raises `ValueError`. Of kinds that are not
    known here, which a later version may write, nothing is asked."""
    event: dict[str, Any] = TypeAdapter(dict[str, Any]).validate_python(value)
    if kind := KINDS.get(TypeAdapter(str).validate_python(event.get("event"))):
        kind.model_validate(event)
    return event
