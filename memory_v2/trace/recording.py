"""The record of one operation while it happens: what was shown, answered, checked, and what came of it, as data."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, get_args, overload

from memory_v2.models.base import Conversation, Message, Reply, StopReason, ToolCall, ToolResult, UserMessage
from memory_v2.models.keys import hidden, long_enough

if TYPE_CHECKING:
    from memory_v2.trace import format as kinds  # which imports pydantic

_OWN = ("begin", "commit")
"""Events that hold the user's text and the pages, which a replay needs to the letter."""

logger = logging.getLogger(__name__)

Event: TypeAlias = dict[str, Any]
"""Plain data, with its kind under `event`; `trace/format.py` has the fields of each kind."""


@dataclass
class Trace:
    """The events of one operation in order, and the pages as it first read them (path → digest; empty: no page).
    `name` is the name of its file, empty until it is saved. `listener` is called with each event as it happens. `keys`
    are those that providers were sent: only what the user wrote, and the pages, may hold them."""

    name: str = ""
    events: list[Event] = field(default_factory=list)
    reads: dict[str, str] = field(default_factory=dict)
    listener: Callable[[Event], object] | None = field(default=None, repr=False, compare=False)
    keys: set[str] = field(default_factory=set, repr=False, compare=False)

    @overload
    def add(self, event: Literal["begin"], **data: Unpack[kinds.Begin]) -> None: ...
    @overload
    def add(self, event: Literal["ask"], **data: Unpack[kinds.Ask]) -> None: ...
    @overload
    def add(self, event: Literal["message"], **data: Unpack[kinds.Message]) -> None: ...
    @overload
    def add(self, event: Literal["reply"], **data: Unpack[kinds.Reply]) -> None: ...
    @overload
    def add(self, event: Literal["failed"], **data: Unpack[kinds.Failed]) -> None: ...
    @overload
    def add(self, event: Literal["decided"], **data: Unpack[kinds.Decided]) -> None: ...
    @overload
    def add(self, event: Literal["conflict"], **data: Unpack[kinds.Conflict]) -> None: ...
    @overload
    def add(self, event: Literal["commit"], **data: Unpack[kinds.Commit]) -> None: ...
    @overload
    def add(self, event: Literal["found"], **data: Unpack[kinds.Found]) -> None: ...
    @overload
    def add(self, event: Literal["undo"], **data: Unpack[kinds.Undo]) -> None: ...
    @overload
    def add(self, event: Literal["error"], **data: Unpack[kinds.Error]) -> None: ...
    @overload
    def add(self, event: Literal["end"], **data: Unpack[kinds.End]) -> None: ...
    def add(self, event: str, **data: Any) -> None:
        """Appends an event, and tells the listener. An error of the listener is logged and changes nothing."""
        try:
            told = {"event": event, **(data if event in _OWN else self.without_keys(data))}
        except RecursionError:  # nested without end
            told = {"event": "unreadable", "was": event}
        self.events.append(told)
        if self.listener is None:
            return
        try:
            self.listener(told)
        except Exception:  # it is no part of the operation
            logger.exception("the listener failed on the event %s", event)

    def began(self, operation: str, arguments: dict[str, Any], started: datetime, **setting: Any) -> None:
        """Appends that the operation begins."""
        self.add("begin", operation=operation, arguments=arguments, started=started.isoformat(), **setting)

    def asked(self, task: str, model: str, conversation: Conversation, in_words: bool) -> None:
        """Appends that a model is asked; for a model that reads no prose, only the name of the template."""
        shown = preamble(conversation) if in_words else {"template": conversation.system.template}
        self.add("ask", task=task, model=model, **shown)

    def said(self, message: Message, in_words: bool) -> None:
        """Appends what a model is shown."""
        if isinstance(message, UserMessage | ToolResult):
            self.add("message", template=message.prompt.template, **message_data(message, in_words))

    def answered(self, reply: Reply, seconds: float) -> None:
        """Appends what a model answered, and how long that took."""
        self.keys.update(reply.keys)
        self.add("reply", seconds=round(seconds, 3), **reply_data(reply))

    def without_keys(self, value: Any) -> Any:
        """The same plain data without the keys that providers were sent."""
        return hidden(value, long_enough(self.keys))

    def of(self, event: str) -> list[Event]:
        """The events of one kind."""
        return [one for one in self.events if one["event"] == event]


def digest(data: bytes) -> str:
    """A short hash of a page's bytes."""
    return hashlib.sha256(data).hexdigest()[:16]


def preamble(conversation: Conversation) -> dict[str, Any]:
    """What stands before the messages: the system's words and the tools."""
    tools = [{"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in conversation.tools]
    return {"system": conversation.system.text, "tools": tools}


def message_data(message: Message, in_words: bool = True) -> dict[str, Any]:
    """One message. Wording it costs time: for a model that reads no prose it is left out."""
    match message:
        case UserMessage(prompt):
            return {"role": "user"} | ({"text": prompt.text} if in_words else {})
        case ToolResult(call, prompt, is_error):
            text = {"text": prompt.text} if in_words else {}
            return {"role": "tool", "name": str(call.name), **text, "error": is_error}
        case _:
            reply = message.reply
            return {"role": "assistant", "text": reply.text, "calls": [call_data(call) for call in reply.tool_calls]}


def call_data(call: ToolCall) -> dict[str, Any]:
    """One tool call: its name and its arguments."""
    arguments: Any = call.arguments  # of a model of somebody's own making, it may be anything
    told = {"name": str(call.name), "arguments": dict(arguments) if isinstance(arguments, Mapping) else arguments}
    return told | ({"malformed": call.malformed} if call.malformed else {})


def reply_data(reply: Reply) -> dict[str, Any]:
    """A whole answer."""
    return {
        "text": reply.text,
        "calls": [{"id": str(call.id), **call_data(call)} for call in reply.tool_calls],
        "stop": reply.stop_reason if reply.stop_reason in get_args(StopReason) else "other",
        "usage": asdict(reply.usage),
        "money": reply.money,
        "raw": reply.raw,
    } | ({"is_estimate": True} if reply.is_estimate else {})
