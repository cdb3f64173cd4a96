"""The record of one operation: what was shown, what was answered, what was checked, what came of it.

A trace is a list of events, each plain data with its kind under `event`:

    begin      the operation, its arguments, the model, the limits, the moment
    ask        a conversation opens: for which task, to which model, with which system words and tools
    message    what the model is shown: {role: user | tool, text}; a model that reads no prose has only the template
    reply      what it answers: text, calls, usage, money, seconds
    failed     a try that the provider did not answer
    decided    how the conversation ended: `reason` is empty if its decision was taken, `checked` says what was found
    conflict   somebody else was faster; the decision is made again
    commit     the pages that were stored: {path, before, after}
    found      the places that a search found
    error      why the operation failed
    end        what all of it cost, and the digest of each page that it read, as it was first
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from memory_v2.models.base import Conversation, Message, Reply, ToolResult, UserMessage
from memory_v2.models.transcript import message_data, preamble, reply_data

Event: TypeAlias = dict[str, Any]


@dataclass
class Trace:
    """The events of one operation in order, and which pages it read first (path → digest, empty: there was none).
    `name` is what it is called where it is kept; empty as long as it is not."""

    name: str = ""
    events: list[Event] = field(default_factory=list)
    reads: dict[str, str] = field(default_factory=dict)

    def add(self, event: str, **data: Any) -> None:
        """Notes that something happened."""
        self.events.append({"event": event, **data})

    def asked(self, task: str, model: str, conversation: Conversation, in_words: bool) -> None:
        """Notes that a model is asked; of one that reads no prose, the templates' names."""
        shown = preamble(conversation) if in_words else {"template": conversation.system.template}
        self.add("ask", task=task, model=model, **shown)

    def said(self, message: Message, in_words: bool) -> None:
        """Notes what a model was shown."""
        if not isinstance(message, UserMessage | ToolResult):
            return
        if in_words:
            data = message_data(message)
        elif isinstance(message, ToolResult):
            data = {"role": "tool", "name": str(message.call.name), "error": message.is_error}
        else:
            data = {"role": "user"}
        self.add("message", template=message.prompt.template, **data)

    def answered(self, reply: Reply, seconds: float) -> None:
        """Notes what a model answered, and how long that took."""
        self.add("reply", seconds=round(seconds, 3), **reply_data(reply))

    def of(self, event: str) -> list[Event]:
        """The events of one kind."""
        return [one for one in self.events if one["event"] == event]


def begin(operation: str, arguments: dict[str, Any], started: datetime, **setting: Any) -> Trace:
    """A trace that begins now."""
    trace = Trace()
    trace.add("begin", operation=operation, arguments=arguments, started=started.isoformat(), **setting)
    return trace


def digest(data: bytes) -> str:
    """What tells the bytes of a page from others."""
    return hashlib.sha256(data).hexdigest()[:16]
