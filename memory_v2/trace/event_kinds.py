"""The events of a trace: for each kind its fields, checked by pydantic where one is read. Importing this is slow, so
writing a trace does not.

A trace in a file is a line of JSON for each event, with its kind under `event`. The first line is `format`; fields and
kinds that are not known here, which a later version may write, are kept unchecked.
"""

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
    create_model,
)

from memory_v2.models.base import StopReason

Moment: TypeAlias = Annotated[str, AfterValidator(datetime.fromisoformat)]
Text: TypeAlias = InstanceOf[str]
"""Text of pages: it may hold lone surrogates, which stand for bytes that are not UTF-8."""


def _has(extra: Literal["ignore", "forbid"] = "ignore", **fields: Any) -> type[BaseModel]:
    """An object with these fields; one that is given as a list of its type may be left out."""
    given: dict[str, Any] = {
        name: (kind[0], None) if isinstance(kind, list) else (kind, ...) for name, kind in fields.items()
    }
    return create_model("Event", __config__=ConfigDict(extra=extra), **given)


_LIMITS: Any = _has(
    "forbid", turns=NonNegativeInt, tokens=NonNegativeInt, seconds=NonNegativeFloat, money=NonNegativeFloat
)
_CALL: Any = _has("forbid", id=str, name=str, arguments=Any, malformed=[str])
_USAGE: Any = _has(
    "forbid",
    input_tokens=NonNegativeInt,
    output_tokens=NonNegativeInt,
    cached_tokens=NonNegativeInt,
    cache_write_tokens=NonNegativeInt,
)
_PAGE: Any = _has("forbid", path=str, before=Text | None, after=Text | None)
_COST: Any = _has(calls=NonNegativeInt, usage=_USAGE, seconds=float, money=NonNegativeFloat | None)

KINDS: Mapping[str, type[BaseModel]] = {
    "format": _has(format=int),
    # An operation begins, or goes on after it was interrupted. Notes have no pages, and so no threshold.
    "begin": _has(
        operation=str,
        arguments=dict[str, Any],
        started=Moment,
        model=str,
        threshold=[StrictInt],
        limits=_LIMITS,
        goes_on=[bool],
    ),
    # A model is given a task. One that reads no prose is given only the template's data.
    "ask": _has(task=str, model=str, system=[Text], tools=[list[dict[str, Any]]], template=[str]),
    # What the model is shown, or what a tool gives back to it.
    "message": _has(template=str, role=Literal["user", "tool"], name=[str], text=[Text], error=[bool]),
    # What the model answers; money is in US dollars, null if the price is not known; an estimate if the provider told
    # no usage.
    "reply": _has(
        seconds=float,
        text=Text,
        calls=list[_CALL],
        stop=StopReason,
        usage=_USAGE,
        money=NonNegativeFloat | None,
        raw=Any,
        is_estimate=[bool],
    ),
    # The provider did not answer.
    "failed": _has(error=str, retryable=bool),
    # The conversation ends: why there is no decision, or what was checked.
    "decided": _has(reason=str, checked=list[str]),
    # Another writer changed a page first, so the operation tries again.
    "conflict": _has(error=str),
    # Pages are stored.
    "commit": _has(revision=str, pages=list[_PAGE]),
    # A search found these places: `path:first-last` line.
    "found": _has(places=list[str]),
    # An operation of the history is taken back.
    "undo": _has(of=str),
    # The operation failed.
    "error": _has(kind=str, message=str),
    # The operation is over: what it took, and the digest of each page that it read. One that was cancelled stored
    # nothing, or left out splits that would have followed.
    "end": _has(cost=_COST, reads=dict[str, str], cancelled=[bool]),
    # An event of the kind `was` could not be written as JSON.
    "unreadable": _has(was=str),
}


def checked_event(value: Any) -> dict[str, Any]:
    """The event, unchanged, if its fields are right for its kind, or its kind is unknown. Raises `ValueError`."""
    if not isinstance(value, dict) or not isinstance(value.get("event"), str):
        raise ValueError("an event is an object that names its kind")
    if kind := KINDS.get(value["event"]):
        kind.model_validate(value)
    return value
