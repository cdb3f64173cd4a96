"""OpenAI's chat completions format, which many servers speak: writing a conversation, reading an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from memory_v2.errors import ModelError
from memory_v2.models.base import AssistantMessage, Conversation, Reply, StopReason, ToolCall, ToolMessage, Usage
from memory_v2.models.provider import NOTHING, UNREADABLE, parsed_arguments

_STOP: Mapping[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "length",
    "content_filter": "refusal",
}


def chat_messages(conversation: Conversation) -> list[dict[str, Any]]:
    """The system prompt and the messages, in order."""
    return [{"role": "system", "content": conversation.system.text}, *_messages(conversation)]


def chat_tools(conversation: Conversation) -> list[dict[str, Any]]:
    """The tools as functions."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in conversation.tools
    ]


def read_chat(completion: Any, keys: tuple[str, ...], price: Callable[[Usage], float | None]) -> Reply:
    """The answer in a chat completion, given as plain data. `keys` are those of the request. Raises `ModelError` if
    there is no answer."""
    try:
        choice = completion["choices"][0]
        message, usage = choice["message"], _usage(completion.get("usage") or {})
        return Reply(
            text=_text(message.get("content")) or message.get("refusal") or "",
            tool_calls=tuple(_call(call) for call in message.get("tool_calls") or []),
            usage=usage,
            stop_reason="refusal" if message.get("refusal") else _STOP.get(choice["finish_reason"], "other"),
            money=price(usage),
            raw=message,
            keys=keys,
        )
    except (KeyError, IndexError, TypeError, AttributeError, ArithmeticError) as error:
        raise ModelError(f"it {UNREADABLE}", retryable=True) from error


def _text(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    """The words of a message. Some servers answer in parts, of which those that think are not words."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part["text"] for part in content if part["type"] == "text")


def _messages(conversation: Conversation) -> Iterator[dict[str, Any]]:
    for message in conversation.messages:
        if isinstance(message, AssistantMessage):
            yield _assistant(message.reply)
        elif isinstance(message, ToolMessage):
            yield {"role": "tool", "tool_call_id": message.call.id, "content": message.prompt.text}
        else:
            yield {"role": "user", "content": message.prompt.text}


def _assistant(reply: Reply) -> dict[str, Any]:
    """The answer as a message of the conversation: its text, calls and signed thinking as the model sent them. Nothing
    else is sent back, because a server may reject fields that it added itself."""
    sent: Mapping[str, Any] = reply.raw or {}
    message: dict[str, Any] = {"role": "assistant", "content": sent.get("content")}
    if thoughts := sent.get("thinking_blocks"):  # Claude's thinking, as LiteLLM passes it on; it must be sent back
        message["thinking_blocks"] = thoughts
    if calls := sent.get("tool_calls"):
        return message | {"tool_calls": [_sent_call(call) for call in calls]}
    return message | {"content": reply.text or NOTHING}


def _sent_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call as the model sent it. Arguments that are not a JSON object in a string are replaced by what could be read,
    because servers reject them."""
    function = call["function"]
    sent = function["arguments"]
    read, malformed = parsed_arguments(sent)
    arguments = sent if isinstance(sent, str) and not malformed else json.dumps(read)
    return {"id": call["id"], "type": "function", "function": {"name": function["name"], "arguments": arguments}}


def _call(call: Mapping[str, Any]) -> ToolCall:
    arguments, malformed = parsed_arguments(call["function"]["arguments"])
    return ToolCall(call["function"]["name"], arguments, call["id"], malformed)


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Cached tokens are part of the prompt's tokens. A server that counts nothing is told by `with_usage`."""
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or 0
    written = details.get("cache_write_tokens") or details.get("cache_creation_tokens") or 0  # OpenAI's word, LiteLLM's
    return Usage(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0, cached, written)
