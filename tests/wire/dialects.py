"""What two providers say and hear, written down a second time: nothing here knows how the adapters do it.

A script says things in a neutral form, and a test reads in a neutral form what was sent. `rules` are those for which a
provider answers with status 400; they are the reason why a conversation has to be sent back with care.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from memory_v2.models.base import StopReason, Usage

Body: TypeAlias = Mapping[str, Any]
Turn: TypeAlias = tuple[Any, ...]
"""`("user", text)`, `("assistant", text)`, `("call", id, name, arguments)`, `("result", id, text)`, `("thought", text,
signature)`."""


@dataclass(frozen=True)
class Call:
    """A tool call; `arguments` that are no object are sent as they are, which no provider should do."""

    name: str
    arguments: Any
    id: str = "call_1"


@dataclass(frozen=True)
class Says:
    """An answer. `text` may be empty, or not there at all; so may the usage."""

    text: str | None = ""
    calls: Sequence[Call] = ()
    usage: Usage | None = Usage(10, 5)  # noqa: RUF009 - frozen
    stop: StopReason | None = None
    thought: str = ""

    @property
    def stop_reason(self) -> StopReason:
        """Why it stops: as told, else as its calls have it."""
        return self.stop or ("tool_use" if self.calls else "end")


class Bearer:
    """What the formats of OpenAI share: where the key is, and how an error looks."""

    def key(self, headers: Mapping[str, str]) -> str | None:
        """The key that came with a request, where the provider looks for it."""
        return _bearer(headers)

    def refusal(self, status: int, message: str) -> Body:
        """An error."""
        return {"error": {"message": message, "type": "some_error", "param": None, "code": None}}


class Anthropic:
    """The Messages API."""

    path = "/v1/messages"
    _STOP: Mapping[StopReason, str] = {
        "end": "end_turn",
        "tool_use": "tool_use",
        "length": "max_tokens",
        "refusal": "refusal",
        "other": "a_reason_without_a_name",  # LiteLLM reads `pause_turn` as the end, or as a length, by its version
    }

    def key(self, headers: Mapping[str, str]) -> str | None:
        return headers.get("x-api-key") or _bearer(headers)

    def answer(self, says: Says) -> Body:
        content: list[Body] = []
        if says.thought:
            content.append({"type": "thinking", "thinking": says.thought, "signature": "c2lnbmVk"})
        if says.text:
            content.append({"type": "text", "text": says.text})
        for call in says.calls:
            content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "some-model",
            "content": None if says.text is None and not content else content,
            "stop_reason": self._STOP[says.stop_reason],
            "stop_sequence": None,
        }
        return message | ({"usage": self._usage(says.usage)} if says.usage else {})

    def _usage(self, usage: Usage) -> Body:
        return {
            "input_tokens": usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens,
            "cache_read_input_tokens": usage.cached_tokens,
            "cache_creation_input_tokens": usage.cache_write_tokens,
            "output_tokens": usage.output_tokens,
        }

    def refusal(self, status: int, message: str) -> Body:
        return {"type": "error", "error": {"type": "some_error", "message": message}, "request_id": "req_1"}

    def system(self, body: Body) -> str:
        return "".join(block["text"] for block in body["system"])

    def tools(self, body: Body) -> list[tuple[str, str, Body]]:
        return [(tool["name"], tool["description"], tool["input_schema"]) for tool in body["tools"]]

    def turns(self, body: Body) -> Iterator[Turn]:
        for message in body["messages"]:
            for block in _blocks(message["content"]):
                match block["type"]:
                    case "text":
                        yield (message["role"], block["text"])
                    case "tool_use":
                        yield ("call", block["id"], block["name"], block["input"])
                    case "tool_result":
                        text = "".join(part["text"] for part in _blocks(block["content"]))
                        yield ("result", block["tool_use_id"], text)
                    case "thinking":
                        yield ("thought", block["thinking"], block["signature"])
                    case other:
                        yield (other,)

    def errors(self, body: Body) -> list[str]:
        """The ids of the results that are marked as errors."""
        blocks = (block for message in body["messages"] for block in _blocks(message["content"]))
        return [block["tool_use_id"] for block in blocks if block.get("is_error")]

    def rules(self, body: Body) -> Iterator[str]:
        yield from _sampling(body)
        if not isinstance(body.get("max_tokens"), int):
            yield "max_tokens: required"
        if json.dumps(body).count('"cache_control"') > 4:
            yield "no more than 4 blocks may be marked for the cache"
        open_calls: list[str] = []
        for number, message in enumerate(body["messages"]):
            blocks = _blocks(message["content"])
            if message["role"] != ("assistant" if number % 2 else "user"):
                yield f"messages.{number}: the roles have to alternate, beginning with the user"
            if not blocks:
                yield f"messages.{number}: empty"
            results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            if results != open_calls or [block["type"] for block in blocks[: len(results)]].count("tool_result") != len(
                results
            ):
                yield f"messages.{number}: the results of {open_calls} have to come first, there are {results}"
            open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
            for block in blocks:
                if block["type"] == "text" and not block["text"].strip():
                    yield f"messages.{number}: a text without a word"
                if block["type"] == "tool_use" and not isinstance(block["input"], dict):
                    yield f"messages.{number}: input has to be an object"
                if block["type"] == "thinking" and not block.get("signature"):
                    yield f"messages.{number}: a thought that is not signed"
        if body["messages"][-1]["role"] != "user":
            yield "the last word has to be the user's"


class OpenAI(Bearer):
    """Chat completions."""

    path = "/v1/chat/completions"
    _STOP: Mapping[StopReason, str] = {
        "end": "stop",
        "tool_use": "tool_calls",
        "length": "length",
        "refusal": "content_filter",
        "other": "somehow",
    }

    def answer(self, says: Says) -> Body:
        message: dict[str, Any] = {"role": "assistant", "content": says.text, "refusal": None, "annotations": []}
        if says.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": call.name,
                        "arguments": json.dumps(call.arguments) if isinstance(call.arguments, dict) else call.arguments,
                    },
                }
                for call in says.calls
            ]
        if says.thought:
            message["reasoning_content"] = says.thought
        completion = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "some-model",
            "choices": [
                {"index": 0, "message": message, "logprobs": None, "finish_reason": self._STOP[says.stop_reason]}
            ],
        }
        return completion | ({"usage": self._usage(says.usage)} if says.usage else {})

    def _usage(self, usage: Usage) -> Body:
        return {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "prompt_tokens_details": {
                "cached_tokens": usage.cached_tokens,
                "cache_write_tokens": usage.cache_write_tokens,
            },
        }

    def system(self, body: Body) -> str:
        return "".join(_text(message["content"]) for message in body["messages"] if message["role"] == "system")

    def tools(self, body: Body) -> list[tuple[str, str, Body]]:
        functions = [tool["function"] for tool in body["tools"]]
        return [(function["name"], function["description"], function["parameters"]) for function in functions]

    def turns(self, body: Body) -> Iterator[Turn]:
        for message in body["messages"]:
            match message["role"]:
                case "system":
                    pass
                case "tool":
                    yield ("result", message["tool_call_id"], _text(message["content"]))
                case role:
                    if message.get("content"):
                        yield (role, _text(message["content"]))
                    for call in message.get("tool_calls") or ():
                        function = call["function"]
                        yield ("call", call["id"], function["name"], json.loads(function["arguments"]))

    def rules(self, body: Body) -> Iterator[str]:
        yield from _sampling(body)
        open_calls: list[str] = []
        for number, message in enumerate(body["messages"]):
            known = {"role", "content", "tool_calls", "tool_call_id", "name"}
            if strange := sorted(message.keys() - known):
                yield f"messages.{number}: {strange} is not taken back by every server"
            if message["role"] == "tool":
                if message["tool_call_id"] not in open_calls:
                    yield f"messages.{number}: no call has the id {message['tool_call_id']}"
                open_calls = [one for one in open_calls if one != message["tool_call_id"]]
                continue
            if open_calls:
                yield f"messages.{number}: there is no result for {open_calls}"
            calls = message.get("tool_calls") or []
            open_calls = [call["id"] for call in calls]
            if not calls and not _text(message.get("content")):
                yield f"messages.{number}: a message without a word"
            for call in calls:
                if not isinstance(_loaded(call["function"]["arguments"]), dict):
                    yield f"messages.{number}: arguments have to be an object in JSON"


class Responses(Bearer):
    """OpenAI's Responses API, as a client uses it that keeps the conversation itself."""

    path = "/v1/responses"

    def answer(self, says: Says) -> Body:
        output: list[Body] = []
        if says.text:
            part = {"type": "output_text", "text": says.text, "annotations": []}
            output.append(
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
            )
        for call in says.calls:
            output.append(
                {
                    "type": "function_call",
                    "id": f"fc_{call.id}",
                    "call_id": call.id,
                    "name": call.name,
                    "arguments": json.dumps(call.arguments),
                    "status": "completed",
                }
            )
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": "some-model",
            "status": "completed",
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }

    def system(self, body: Body) -> str:
        return str(body.get("instructions", ""))

    def tools(self, body: Body) -> list[tuple[str, str, Body]]:
        return [(tool["name"], tool["description"], tool["parameters"]) for tool in body["tools"]]

    def turns(self, body: Body) -> Iterator[Turn]:
        for item in body["input"]:
            match item.get("type", "message"):
                case "message":
                    yield (item["role"], _text(item["content"]))
                case "function_call":
                    yield ("call", item["call_id"], item["name"], json.loads(item["arguments"]))
                case "function_call_output":
                    yield ("result", item["call_id"], item["output"])

    def rules(self, body: Body) -> Iterator[str]:
        yield from _sampling(body)
        open_calls: list[str] = []
        for number, item in enumerate(body["input"]):
            match item.get("type", "message"):
                case "function_call":
                    open_calls.append(item["call_id"])
                case "function_call_output" if item["call_id"] in open_calls:
                    open_calls.remove(item["call_id"])
                case "function_call_output":
                    yield f"input.{number}: no call has the id {item['call_id']}"
        if open_calls:
            yield f"there is no result for {open_calls}"


Dialect: TypeAlias = Anthropic | OpenAI | Responses
"""One provider's format: it answers and refuses, reads what was sent, and knows the rules of a request."""


def _bearer(headers: Mapping[str, str]) -> str | None:
    kind, _, key = headers.get("authorization", "").partition(" ")
    return key if kind == "Bearer" else None


def _sampling(body: Body) -> Iterator[str]:
    for name in ("temperature", "top_p", "top_k", "seed"):
        if name in body:
            yield f"{name}: is not taken any more"


def _blocks(content: Any) -> list[Body]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(content: Any) -> str:
    return "".join(block["text"] for block in _blocks(content or ""))


def _loaded(text: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError):
        return None
