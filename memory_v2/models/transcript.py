"""A conversation as plain data: what traces keep, and what a recording is matched on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args

from memory_v2.models.base import Conversation, Message, Reply, StopReason, ToolCall, ToolResult, Usage, UserMessage

STOP_REASONS = get_args(StopReason)


def preamble(conversation: Conversation) -> dict[str, Any]:
    """What stands before the messages: the system's words and the tools."""
    tools = [{"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in conversation.tools]
    return {"system": conversation.system.text, "tools": tools}


def message_data(message: Message) -> dict[str, Any]:
    """One message, in words."""
    match message:
        case UserMessage(prompt):
            return {"role": "user", "text": prompt.text}
        case ToolResult(call, prompt, is_error):
            return {"role": "tool", "name": str(call.name), "text": prompt.text, "error": is_error}
        case _:
            reply = message.reply
            return {"role": "assistant", "text": reply.text, "calls": [call_data(call) for call in reply.tool_calls]}


def call_data(call: ToolCall) -> dict[str, Any]:
    """One tool call: its name and its arguments."""
    arguments: Any = call.arguments  # of a model of somebody's own making, it may be anything
    told = {"name": str(call.name), "arguments": dict(arguments) if isinstance(arguments, Mapping) else arguments}
    return told | ({"malformed": call.malformed} if call.malformed else {})


def reply_data(reply: Reply) -> dict[str, Any]:
    """A whole answer; `read_reply` reads it again."""
    return {
        "text": reply.text,
        "calls": [{"id": str(call.id), **call_data(call)} for call in reply.tool_calls],
        "stop": reply.stop_reason if reply.stop_reason in STOP_REASONS else "other",
        "usage": asdict(reply.usage),
        "money": reply.money,
        "raw": reply.raw,
    }


def read_reply(data: Mapping[str, Any]) -> Reply:
    """The answer that `reply_data` wrote."""
    return Reply(
        text=data["text"],
        tool_calls=tuple(ToolCall(**call) for call in data["calls"]),
        usage=Usage(**data["usage"]),
        stop_reason=data["stop"],
        money=data["money"],
        raw=data["raw"],
    )
