"""The record of one operation: what was shown, what was answered, what was checked, what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory_v2.models.base import Answered, Message, Reply, Returned, Said


@dataclass(frozen=True, slots=True)
class Attempt:
    """One model's try at a task: its messages in order, and how it ended (empty: it succeeded)."""

    model: str
    messages: tuple[Message, ...]
    ended: str = ""


@dataclass
class Trace:
    """All attempts of one operation, and its result; every value is plain data in `to_dict`."""

    operation: str
    started: datetime
    attempts: list[Attempt] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON can hold it. What no model read in words is given by its template's name."""
        return {
            "operation": self.operation,
            "started": self.started.isoformat(),
            "attempts": [
                {"model": a.model, "ended": a.ended, "messages": list(_messages(a.messages))} for a in self.attempts
            ],
            "result": self.result,
        }


def _messages(messages: tuple[Message, ...]) -> Iterator[dict[str, Any]]:
    for message in messages:
        match message:
            case Said(prompt):
                yield {"role": "user", "template": prompt.template, "text": prompt.__dict__.get("text")}
            case Answered(reply):
                yield {"role": "assistant", **_reply(reply)}
            case Returned(call, prompt, is_error):
                text = prompt.__dict__.get("text")
                yield {"role": "tool", "name": call.name, "template": prompt.template, "text": text, "error": is_error}


def _reply(reply: Reply) -> dict[str, Any]:
    return {
        "text": reply.text,
        "calls": [{"name": str(call.name), "arguments": call.arguments} for call in reply.tool_calls],
        "stop": reply.stop_reason,
        "input_tokens": reply.usage.input_tokens,
        "output_tokens": reply.usage.output_tokens,
        "cached_tokens": reply.usage.cached_tokens,
    }
