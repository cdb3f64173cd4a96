from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from memory_v2.models.base import AssistantMessage, Model, Reply, StopReason, ToolCall, ToolMessage, UserMessage
from tests.wire.adapters import ADAPTERS, KEY, Words, conversation
from tests.wire.dialects import Anthropic, Body, OpenAI, Says
from tests.wire.server import Provider, Sends

from .model_suite import SECOND, STOPS, WORD, ModelConformance

MARK = {"type": "ephemeral"}


class _Claude(ModelConformance):
    dialect = Anthropic()
    price = ("claude-sonnet-5", 2.0, 10.0, 0.2, 2.5)
    thinks = True

    def test_the_cache_is_told_to_keep_the_system_and_the_conversation(self, model: Model, provider: Provider) -> None:
        provider.script = [Says("", [WORD, SECOND]), Says("Done.")]
        talk = conversation()
        reply = model.respond(talk)
        talk.messages += [AssistantMessage(reply), *(ToolMessage(call, Words("ok")) for call in reply.tool_calls)]
        model.respond(talk)
        for request in provider.requests:
            *_, last = request.body["messages"][-1]["content"]
            assert last["cache_control"] == MARK
            assert request.body["system"][-1]["cache_control"] == MARK
            assert json.dumps(request.body).count("cache_control") == 2
        assert last["tool_use_id"] == "call_b"


class TestAnthropic(_Claude):
    adapter = ADAPTERS["anthropic"]
    name = "anthropic:nobodys-model"
    key_header = ("authorization", f"Bearer {KEY}")

    def test_a_result_that_has_to_be_mended_is_marked(self, model: Model, provider: Provider) -> None:
        provider.script = [Says("", [WORD, SECOND]), Says("Done.")]
        talk = conversation()
        first, second = model.respond(talk).tool_calls
        raw = {"content": [{"type": "tool_use", "id": c.id, "name": c.name, "input": {}} for c in (first, second)]}
        talk.messages += [
            AssistantMessage(Reply(raw=raw)),
            ToolMessage(first, Words("ok")),
            ToolMessage(second, Words("no"), True),
        ]
        model.respond(talk)
        assert Anthropic().errors(provider.requests[1].body) == ["call_b"]

    def test_content_that_nobody_here_knows_is_sent_back_as_it_came(self, model: Model, provider: Provider) -> None:
        content: list[Body] = [
            {"type": "redacted_thinking", "data": "c2VjcmV0"},
            {"type": "text", "text": "So", "citations": None},
            {"type": "something_new", "of": [{"the": "future"}]},
            {"type": "tool_use", "id": "call_a", "name": "put", "input": {"word": "b"}, "caller": {"type": "direct"}},
        ]
        message = {"role": "assistant", "content": content, "stop_reason": "tool_use"}
        provider.script = [Sends(json.dumps(message).encode()), Says("Done.")]
        talk = conversation()
        reply = model.respond(talk)
        assert (reply.text, reply.tool_calls) == ("So", (ToolCall("put", {"word": "b"}, "call_a"),))
        talk.messages += [AssistantMessage(reply), ToolMessage(reply.tool_calls[0], Words("ok"))]
        model.respond(talk)
        assert provider.requests[1].body["messages"][1] == {"role": "assistant", "content": content}

    def test_a_blank_text_beside_a_call_is_not_sent_back(self, model: Model, provider: Provider) -> None:
        self.two_turns(model, provider, Says(" ", [WORD]))
        assert [turn[0] for turn in provider.requests[1].turns] == ["user", "call", "result", "user"]


class TestOpenAI(ModelConformance):
    adapter = ADAPTERS["openai"]
    dialect = OpenAI()
    name = "openai:nobodys-model"
    key_header = ("authorization", f"Bearer {KEY}")
    price = ("gpt-5.6", 4.0, 20.0, 0.4, 5.0)

    def test_a_refusal_in_words_is_one(self, model: Model, provider: Provider) -> None:
        provider.script = [Sends(lambda body: body.replace(b'"refusal": null', b'"refusal": "I will not."'))]
        reply = model.respond(conversation())
        assert (reply.stop_reason, reply.text) == ("refusal", "I will not.")

    def test_arguments_that_came_as_an_object_are_read(self, model: Model, provider: Provider) -> None:
        provider.script = [Sends(_with_object), Says("Done.")]
        talk = conversation()
        reply = model.respond(talk)
        assert reply.tool_calls == (ToolCall("put", {"word": "boat"}, "call_1"),)
        talk.messages += [
            AssistantMessage(reply),
            ToolMessage(reply.tool_calls[0], Words("ok")),
            UserMessage(Words("Go on.")),
        ]
        model.respond(talk)
        assert provider.requests[1].turns[1] == ("call", "call_1", "put", {"word": "boat"})


class _ThroughLiteLLM(ModelConformance):
    stops: ClassVar[Mapping[StopReason, StopReason]] = {**STOPS, "other": "end"}
    """LiteLLM takes a reason that it has no name for as the end."""


class TestLiteLLMToAnthropic(_ThroughLiteLLM, _Claude):
    adapter = ADAPTERS["litellm-anthropic"]
    name = "litellm:anthropic/nobodys-model"
    key_header = ("x-api-key", KEY)
    insists = True


class TestLiteLLMToOpenAI(_ThroughLiteLLM):
    adapter = ADAPTERS["litellm-openai"]
    dialect = OpenAI()
    name = "litellm:openai/nobodys-model"
    parses = True
    key_header = ("authorization", f"Bearer {KEY}")
    price = ("gpt-5.6", 4.0, 20.0, 0.4, 5.0)

    def test_a_model_that_only_litellm_knows_has_its_price(self, provider: Provider) -> None:
        provider.script = [Says("So")]
        money = type(self).adapter(provider.url, "gpt-3.5-turbo").respond(conversation()).money
        assert money is not None
        assert 0 < money < 0.001


def _with_object(body: bytes) -> bytes:
    completion: Any = json.loads(body)
    completion["choices"][0]["message"]["tool_calls"][0]["function"] = {"name": "put", "arguments": {"word": "boat"}}
    return json.dumps(completion).encode()
