"""Claude, over Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_v2.errors import InvalidSetting, ModelError
from memory_v2.models.base import (
    AssistantMessage,
    Conversation,
    Model,
    Reply,
    StopReason,
    ToolCall,
    Usage,
    UserMessage,
    keys_sent,
)
from memory_v2.models.prices import load_prices, with_usage
from memory_v2.models.provider import (
    FAILED,
    MAX_OUTPUT_TOKENS,
    NOTHING,
    REQUEST_SECONDS,
    UNREADABLE,
    Failure,
    check_key,
    needs_key,
    parsed_arguments,
    read_json,
    require,
    translated,
)

if TYPE_CHECKING:
    from anthropic import Anthropic

CACHED = {"type": "ephemeral"}
"""Marks the end of a prefix that the prompt cache should keep: tools and system prompt, and the conversation so far."""

_STOP: Mapping[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_use",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class AnthropicModel:
    """A model by Anthropic. Without arguments, the SDK finds key and address: `ANTHROPIC_API_KEY`, a profile,
    `ANTHROPIC_BASE_URL`. Raises `InvalidSetting` if the package `anthropic` is not installed or there is no key, and
    `ModelError` if a request fails."""

    def __init__(
        self, model: str, *, api_key: str | None = None, base_url: str | None = None, prices: Path | None = None
    ) -> None:
        require("anthropic")
        self.name = f"anthropic:{model}"
        self._model = model
        self._api_key = api_key
        self._base_url = base_url
        self._prices = load_prices(prices)

    def prepare(self) -> None:
        """Imports the SDK, which takes about a second."""
        import anthropic  # noqa: F401 - only to have it loaded

    def respond(self, conversation: Conversation) -> Reply:
        """The next answer."""
        import anthropic

        client, request = self._client, self._request(conversation)
        try:
            sent = client.messages.with_raw_response.create(**request)
        except (anthropic.AnthropicError, ValueError) as error:
            raise translated(error, failures()) from error
        reply = self._reply(sent.read(), keys_sent(sent.http_request.headers))
        return with_usage(reply, conversation, lambda usage: self._prices.cost(self._model, usage))

    @cached_property
    def _client(self) -> Anthropic:
        import anthropic

        try:
            client = anthropic.Anthropic(
                api_key=self._api_key, base_url=self._base_url, max_retries=0, timeout=REQUEST_SECONDS
            )
        except anthropic.AnthropicError as error:  # the chosen profile is unusable
            raise InvalidSetting(f"the model {self.name} has no usable key: {error}") from error
        except Exception as error:  # an unusable address, proxy or certificate
            raise InvalidSetting(f"the model {self.name} cannot be set up: {error}") from error
        if not (client.api_key or client.auth_token or client.credentials):
            raise needs_key(self.name, "ANTHROPIC_API_KEY")
        check_key(self.name, client.api_key or client.auth_token)
        return client

    def _request(self, conversation: Conversation) -> dict[str, Any]:
        messages = _messages(conversation)
        messages[-1]["content"][-1]["cache_control"] = CACHED
        return {
            "model": self._model,
            "max_tokens": MAX_OUTPUT_TOKENS,
            "system": [{"type": "text", "text": conversation.system.text, "cache_control": CACHED}],
            "tools": [
                {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
                for tool in conversation.tools
            ],
            "messages": messages,
        }

    def _reply(self, body: bytes, keys: tuple[str, ...]) -> Reply:
        try:
            message = read_json(body)
            content, usage = message["content"] or [], _usage(message.get("usage") or {})
            return Reply(
                text="".join(block["text"] for block in content if block["type"] == "text"),
                tool_calls=tuple(_call(block) for block in content if block["type"] == "tool_use"),
                usage=usage,
                stop_reason=_STOP.get(message["stop_reason"], "other"),
                money=self._prices.cost(self._model, usage),
                raw=message,
                keys=keys,
            )
        except (ValueError, ArithmeticError, RecursionError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"it {UNREADABLE}", retryable=True) from error


def failures() -> tuple[Failure, ...]:
    """The SDK's exceptions, specific ones first, and what each means if there is no HTTP status."""
    import anthropic

    return (
        (anthropic.APITimeoutError, "did not answer in time", True),
        (anthropic.APIConnectionError, "cannot be reached", True),
        (anthropic.APIResponseValidationError, UNREADABLE, True),
        (anthropic.CredentialsError, "has no usable key", False),
        (anthropic.AnthropicError, FAILED, False),
        (ValueError, "could not be called", False),
    )


def _messages(conversation: Conversation) -> list[dict[str, Any]]:
    """The conversation in turns: everything between two answers, tool results included, is one message of the user."""
    messages: list[dict[str, Any]] = []
    for role, block in _blocks(conversation):
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": []})
        messages[-1]["content"].append(block)
    return messages


def _blocks(conversation: Conversation) -> Iterator[tuple[str, dict[str, Any]]]:
    for message in conversation.messages:
        if isinstance(message, AssistantMessage):
            for block in _content(message.reply):
                yield "assistant", block
        elif isinstance(message, UserMessage):
            yield "user", {"type": "text", "text": message.prompt.text}
        else:
            result = {"type": "tool_result", "tool_use_id": message.call.id, "content": message.prompt.text}
            yield "user", result | ({"is_error": True} if message.is_error else {})


def _content(reply: Reply) -> list[dict[str, Any]]:
    """The answer as the model sent it, including its thinking, which must be sent back. Parts that the API would reject
    are repaired: blank text, an empty answer, arguments that are not an object."""
    content = [dict(block) for block in (reply.raw or {}).get("content") or []]
    for block in content:
        if block["type"] == "tool_use":
            block["input"] = parsed_arguments(block["input"])[0]
    content = [block for block in content if block["type"] != "text" or block["text"].strip()]
    return content or [{"type": "text", "text": reply.text.strip() or NOTHING}]


def _call(block: Mapping[str, Any]) -> ToolCall:
    arguments, malformed = parsed_arguments(block["input"])
    return ToolCall(block["name"], arguments, block["id"], malformed)


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Anthropic counts tokens read from and written to the cache separately; `input_tokens` here includes them."""
    cached, written = usage.get("cache_read_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
    return Usage((usage.get("input_tokens") or 0) + cached + written, usage.get("output_tokens") or 0, cached, written)


_: type[Model] = AnthropicModel
