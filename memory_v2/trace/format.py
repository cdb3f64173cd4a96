"""The events of a trace: for each kind its fields, checked by pydantic where one is read. Importing this is slow, so
writing a trace does not.

A trace in a file is a line of JSON for each event, with its kind under `event`. The first line is `format`; fields and
kinds that are not known here, which a later version may write, are kept unchecked.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from pydantic import (
    AfterValidator,
    ConfigDict,
    InstanceOf,
    NonNegativeFloat,
    NonNegativeInt,
    StrictInt,
    TypeAdapter,
    with_config,
)
from typing_extensions import TypedDict

from memory_v2.models.base import StopReason

Moment: TypeAlias = Annotated[str, AfterValidator(datetime.fromisoformat)]
Text: TypeAlias = InstanceOf[str]
"""Text of pages: it may hold lone surrogates, which stand for bytes that are not UTF-8."""


_exact = with_config(ConfigDict(extra="forbid"))
"""Makes a part of an event have its fields and no others."""


@_exact
class Limits(TypedDict):
    """What an operation may take."""

    turns: NonNegativeInt
    tokens: NonNegativeInt
    seconds: NonNegativeFloat
    money: NonNegativeFloat


@_exact
class Call(TypedDict):
    """A call of a tool."""

    id: str
    name: str
    arguments: Any
    malformed: NotRequired[str]


@_exact
class Usage(TypedDict):
    """The tokens of a request, or of all."""

    input_tokens: NonNegativeInt
    output_tokens: NonNegativeInt
    cached_tokens: NonNegativeInt
    cache_write_tokens: NonNegativeInt


@_exact
class PageChange(TypedDict):
    """A page before and after a change; null where there is none."""

    path: str
    before: Text | None
    after: Text | None


class Cost(TypedDict):
    """What an operation took."""

    calls: NonNegativeInt
    usage: Usage
    seconds: float
    money: NonNegativeFloat | None


class Format(TypedDict):
    """The first line of a file."""

    format: int


class Begin(TypedDict):
    """An operation begins, or `goes_on` after it was interrupted. Notes have no pages, and so no `threshold`."""

    operation: str
    arguments: dict[str, Any]
    started: Moment
    model: str
    threshold: NotRequired[StrictInt]
    limits: Limits
    goes_on: NotRequired[bool]


class Ask(TypedDict):
    """A conversation opens: a model is given a task. One that reads no prose is given only the template's data."""

    task: str
    model: str
    system: NotRequired[Text]
    tools: NotRequired[list[dict[str, Any]]]
    template: NotRequired[str]


class Message(TypedDict):
    """What the model is shown, or what a tool `name` gives back to it; without `text` for one that reads no prose."""

    template: str
    role: Literal["user", "tool"]
    name: NotRequired[str]
    text: NotRequired[Text]
    error: NotRequired[bool]


class Reply(TypedDict):
    """What the model answers; `money` is in US dollars, null if the price is not known; `is_estimate` if the provider
    told no usage."""

    seconds: float
    text: Text
    calls: list[Call]
    stop: StopReason
    usage: Usage
    money: NonNegativeFloat | None
    raw: Any
    is_estimate: NotRequired[bool]


class Failed(TypedDict):
    """The provider did not answer."""

    error: str
    retryable: bool


class Decided(TypedDict):
    """The conversation ends: `reason` says why there is no decision; if it is empty, `checked` says what was found."""

    reason: str
    checked: list[str]
    carried_over: NotRequired[bool]
    """Whether this is the decision before, taken again for the same blocks of pages that others have changed."""


class Conflict(TypedDict):
    """Another writer changed a page first, so the operation tries again."""

    error: str


class Commit(TypedDict):
    """Pages are stored."""

    revision: str
    pages: list[PageChange]


class Found(TypedDict):
    """A search found these places: `path:first-last` line."""

    places: list[str]


class Undo(TypedDict):
    """An operation of the history is taken back."""

    of: str


class Error(TypedDict):
    """The operation failed."""

    kind: str
    message: str


class End(TypedDict):
    """The operation is over: what it took, and the digest of each page that it read, as it was first."""

    cost: Cost
    reads: dict[str, str]
    cancelled: NotRequired[bool]
    """Whether it was told to stop: it stored nothing, or left out splits that would have followed."""


class Unreadable(TypedDict):
    """An event of the kind `was` could not be written as JSON."""

    was: str


KINDS: Mapping[str, TypeAdapter[Any]] = {
    shape.__name__.lower(): TypeAdapter(shape)
    for shape in (
        Format, Begin, Ask, Message, Reply, Failed, Decided, Conflict, Commit, Found, Undo, Error, End, Unreadable
    )
}  # fmt: skip


def checked_event(value: Any) -> dict[str, Any]:
    """The event, unchanged, if its fields are right for its kind, or its kind is unknown. Raises `ValueError`."""
    if not isinstance(value, dict) or not isinstance(value.get("event"), str):
        raise ValueError("an event is an object that names its kind")
    if kind := KINDS.get(value["event"]):
        kind.validate_python(value)
    return value
