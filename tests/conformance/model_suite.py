"""What every adapter promises: inherit `ModelConformance` and say which adapter, and which format it speaks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import pytest

from memory_v2.errors import ModelError
from memory_v2.models.base import (
    AssistantMessage,
    Conversation,
    Model,
    Reply,
    StopReason,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from memory_v2.models.provider import MAX_OUTPUT_TOKENS
from tests.wire.adapters import KEY, NOBODY, SYSTEM, TOOLS, Adapter, Words, conversation
from tests.wire.dialects import Call, Dialect, Says
from tests.wire.server import Fails, Hangs, Provider, Resets, Sends, serving

WORD = Call("put", {"word": "boat"}, "call_a")
SECOND = Call("put", {"word": "ship"}, "call_b")
SCRIPTS = 'naïve "quotes" \\ 日本語 данные 🧠👩‍💻 \u2028 \x7f'
USAGE = Usage(input_tokens=1_000, output_tokens=70, cached_tokens=600, cache_write_tokens=250)
STOPS: Mapping[StopReason, StopReason] = {
    "end": "end",
    "tool_use": "tool_use",
    "length": "length",
    "refusal": "refusal",
    "other": "other",
}
NOT_JSON = {
    "cut off": '{"word": "bo',
    "no JSON": "word=boat",
    "empty": "",
    "a list": '["boat"]',
    "a string": '"boat"',
    "null": "null",
    "a number": "7",
}
TOO_DEEP = "[" * 50_000
STATUSES = {
    400: ("it rejected the request", False),
    401: ("it rejected the key", False),
    402: ("it requires payment", False),
    403: ("it does not permit this with the key", False),
    404: ("it does not know the model, or is not at this address", False),
    408: ("it did not answer in time", True),
    409: ("it is still busy with this request", True),
    413: ("it rejected the request as too long", False),
    418: ("it rejected the request", False),
    422: ("it rejected the request", False),
    429: ("it is rate-limiting requests", True),
    500: ("it had an internal error", True),
    501: ("it had an internal error", True),
    502: ("it had an internal error", True),
    503: ("it had an internal error", True),
    504: ("it had an internal error", True),
    529: ("it is overloaded", True),
}
UNREADABLE = {
    "cut off": Sends(lambda body: body[: len(body) // 2]),
    "HTML": Sends(b"<html><body>Sign in to the network</body></html>", "text/html"),
    "nothing": Sends(b""),
    "null": Sends(b"null"),
    "a list": Sends(b"[1, 2]"),
    "an object": Sends(b"{}"),
    "something else": Sends(b'{"status": "ok"}'),
    "not UTF-8": Sends(lambda body: body.replace(b"here", b"\xff\xfe")),
    "too deep": Sends(TOO_DEEP.encode()),
}


@pytest.mark.allow_hosts(["127.0.0.1"])
class ModelConformance:
    """The conformance suite, over real HTTP."""

    adapter: ClassVar[Adapter]
    dialect: ClassVar[Dialect]
    name: ClassVar[str]
    key_header: ClassVar[tuple[str, str]]
    price: ClassVar[tuple[str, float, float, float, float]]
    """A model, and the dollars for a million of its tokens: input, output, cached, cache write."""
    stops: ClassVar[Mapping[StopReason, StopReason]] = STOPS
    parses: ClassVar[bool] = False
    """Whether the SDK reads the arguments of a call by itself, and fails where it cannot."""
    insists: ClassVar[bool] = False
    """Whether the SDK does not read an answer without content or usage, which no provider sends."""
    thinks: ClassVar[bool] = False
    """Whether thoughts are signed, and have to be sent back."""

    @pytest.fixture
    def provider(self) -> Iterator[Provider]:
        """The other end; what it was asked must have been within its rules."""
        with serving() as provider:
            yield provider

    @pytest.fixture
    def model(self, provider: Provider) -> Model:
        """The adapter, with the provider at its other end."""
        return type(self).adapter(provider.url)

    def reply(self, model: Model, provider: Provider, says: Says) -> Reply:
        """What the model makes of an answer."""
        provider.script = [says]
        return model.respond(conversation())

    def two_turns(self, model: Model, provider: Provider, says: Says) -> Conversation:
        """A first answer, something back for each of its calls, and a second answer."""
        provider.script = [says, Says("Done.")]
        talk = conversation()
        reply = model.respond(talk)
        results = [ToolMessage(call, Words(f"result of {call.id}")) for call in reply.tool_calls]
        talk.messages += [AssistantMessage(reply), *results, UserMessage(Words("Go on."))]
        assert model.respond(talk).text == "Done."
        return talk

    def test_it_is_called_what_it_was_asked_for(self, model: Model) -> None:
        assert model.name == self.name

    # What is sent

    def test_everything_the_conversation_holds_is_sent(self, model: Model, provider: Provider) -> None:
        self.reply(model, provider, Says("Done."))
        request = provider.requests[0]
        assert request.dialect.path == self.dialect.path
        assert request.system == SYSTEM
        assert request.tools == [(tool.name, tool.description, tool.schema) for tool in TOOLS]
        assert request.turns == [("user", "Put down a word.")]
        assert request.body["model"] == NOBODY
        assert MAX_OUTPUT_TOKENS in (request.body.get("max_tokens"), request.body.get("max_completion_tokens"))

    def test_nothing_that_a_provider_may_not_take_is_sent(self, model: Model, provider: Provider) -> None:
        self.reply(model, provider, Says("Done."))
        known = {"model", "messages", "tools", "system", "max_tokens", "max_completion_tokens"}
        assert provider.requests[0].body.keys() <= known

    def test_the_key_is_sent_where_the_provider_looks_for_it(self, model: Model, provider: Provider) -> None:
        self.reply(model, provider, Says("Done."))
        request = provider.requests[0]
        name, value = self.key_header
        assert request.key == KEY
        assert request.headers[name] == value
        assert [header for header, value in request.headers.items() if KEY in value] == [name]
        assert KEY.encode() not in request.data

    def test_a_conversation_of_several_turns_is_sent_back_whole(self, model: Model, provider: Provider) -> None:
        provider.script = [
            Says("First a look.", [Call("look", {"pages": ["a", "b"]}, "call_0")]),
            Says(None if not self.insists else "", [WORD, SECOND]),
            Says("I think that is all."),
            Says("Done."),
        ]
        talk = conversation()
        for extra in ((), (UserMessage(Words("One of them is wrong.")),), (UserMessage(Words("Use a tool.")),)):
            reply = model.respond(talk)
            returned = [
                ToolMessage(call, Words(f"result of {call.id}"), call.id == "call_b") for call in reply.tool_calls
            ]
            talk.messages += [AssistantMessage(reply), *returned, *extra]
        model.respond(talk)
        assert provider.requests[-1].turns == [
            ("user", "Put down a word."),
            ("assistant", "First a look."),
            ("call", "call_0", "look", {"pages": ["a", "b"]}),
            ("result", "call_0", "result of call_0"),
            ("call", "call_a", "put", {"word": "boat"}),
            ("call", "call_b", "put", {"word": "ship"}),
            ("result", "call_a", "result of call_a"),
            ("result", "call_b", "result of call_b"),
            ("user", "One of them is wrong."),
            ("assistant", "I think that is all."),
            ("user", "Use a tool."),
        ]

    def test_signed_thoughts_are_sent_back_before_all_else(self, model: Model, provider: Provider) -> None:
        self.two_turns(model, provider, Says("Well.", [WORD], thought="boats are words"))
        thought = [("thought", "boats are words", "c2lnbmVk")] if self.thinks else []
        assert provider.requests[1].turns == [
            ("user", "Put down a word."),
            *thought,
            ("assistant", "Well."),
            ("call", "call_a", "put", {"word": "boat"}),
            ("result", "call_a", "result of call_a"),
            ("user", "Go on."),
        ]

    def test_what_was_sent_once_is_sent_again_to_the_letter(self, model: Model, provider: Provider) -> None:
        talk = self.two_turns(model, provider, Says("Well.", [WORD, SECOND], thought="boats are words"))
        provider.script = lambda _: Says("Done.")
        talk.messages += [AssistantMessage(Reply("Done.", raw=None)), UserMessage(Words("More."))]
        model.respond(talk)
        for before, after in zip(provider.requests, provider.requests[1:], strict=False):
            assert _cacheable(after).startswith(_cacheable(before))

    def test_the_conversation_is_not_changed(self, model: Model, provider: Provider) -> None:
        broken = Call("put", NOT_JSON["cut off"], "call_b")
        provider.script = [Says("Well.", [WORD, broken], thought="boats are words"), Says("Done.")]
        talk = conversation()
        reply = model.respond(talk)
        talk.messages += [AssistantMessage(reply), *(ToolMessage(call, Words("ok")) for call in reply.tool_calls)]
        raw, messages = json.dumps(reply.raw), list(talk.messages)
        model.respond(talk)
        assert json.dumps(reply.raw) == raw
        assert talk.messages == messages

    def test_an_answer_of_another_making_is_sent_as_its_words(self, model: Model, provider: Provider) -> None:
        provider.script = [Says("Done.")]
        model.respond(conversation(AssistantMessage(Reply("by hand")), UserMessage(Words("Go on."))))
        assert provider.requests[0].turns[1:] == [("assistant", "by hand"), ("user", "Go on.")]

    # What is read

    def test_a_call_of_a_tool_is_read(self, model: Model, provider: Provider) -> None:
        reply = self.reply(model, provider, Says("", [WORD]))
        assert reply.tool_calls == (ToolCall("put", {"word": "boat"}, "call_a"),)
        assert (reply.text, reply.stop_reason) == ("", "tool_use")

    def test_several_calls_are_read_in_their_order(self, model: Model, provider: Provider) -> None:
        calls = [Call("put", {"word": str(n)}, f"call_{n}") for n in range(12)]
        reply = self.reply(model, provider, Says("", calls))
        assert reply.tool_calls == tuple(ToolCall("put", {"word": str(n)}, f"call_{n}") for n in range(12))

    def test_text_beside_calls_is_read(self, model: Model, provider: Provider) -> None:
        reply = self.reply(model, provider, Says("I put it down.", [WORD]))
        assert reply.text == "I put it down."
        assert reply.tool_calls == (ToolCall("put", {"word": "boat"}, "call_a"),)

    def test_every_script_is_sent_and_read_as_it_is(self, model: Model, provider: Provider) -> None:
        talk = self.two_turns(model, provider, Says(SCRIPTS, [Call("put", {"word": SCRIPTS}, "call_a")]))
        answered = talk.messages[1]
        assert isinstance(answered, AssistantMessage)
        assert answered.reply.text == SCRIPTS
        assert answered.reply.tool_calls == (ToolCall("put", {"word": SCRIPTS}, "call_a"),)
        assert provider.requests[1].turns[1:3] == [("assistant", SCRIPTS), ("call", "call_a", "put", {"word": SCRIPTS})]
        provider.script = lambda _: Says("Done.")
        model.respond(conversation(AssistantMessage(Reply("x")), UserMessage(Words(SCRIPTS))))
        assert provider.requests[2].turns[-1] == ("user", SCRIPTS)

    @pytest.mark.parametrize("stop", STOPS)
    def test_why_it_stopped_is_read(self, model: Model, provider: Provider, stop: StopReason) -> None:
        calls = [WORD] if stop == "tool_use" else []
        assert self.reply(model, provider, Says("So", calls, stop=stop)).stop_reason == self.stops[stop]

    def test_a_call_that_was_cut_off_is_read_as_such(self, model: Model, provider: Provider) -> None:
        reply = self.reply(model, provider, Says("So", [WORD, SECOND], stop="length"))
        assert reply.stop_reason == "length"
        assert [call.id for call in reply.tool_calls] == ["call_a", "call_b"]

    def test_all_tokens_are_counted_once(self, model: Model, provider: Provider) -> None:
        assert self.reply(model, provider, Says("So", usage=USAGE)).usage == USAGE

    def test_tokens_that_nobody_counts_are_estimated(self, model: Model, provider: Provider) -> None:
        if self.insists:
            with pytest.raises(ModelError, match=r"^it sent an unreadable answer$"):
                self.reply(model, provider, Says("So", usage=None))
            return
        reply = self.reply(model, provider, Says("So", usage=None))
        assert reply.is_estimate
        assert reply.usage.input_tokens > 0
        assert reply.usage.output_tokens > 0

    @pytest.mark.parametrize("sent", NOT_JSON.values(), ids=NOT_JSON.keys())
    def test_arguments_that_are_no_object_are_told_and_not_sent_back(
        self, model: Model, provider: Provider, sent: str
    ) -> None:
        talk = self.two_turns(model, provider, Says("", [Call("put", sent, "call_a"), SECOND]))
        answered = talk.messages[1]
        assert isinstance(answered, AssistantMessage)
        broken, good = answered.reply.tool_calls
        assert (broken.name, broken.arguments, broken.id) == ("put", {}, "call_a")
        assert broken.malformed
        assert good == ToolCall("put", {"word": "ship"}, "call_b")
        assert provider.requests[1].turns[1:3] == [
            ("call", "call_a", "put", {}),
            ("call", "call_b", "put", {"word": "ship"}),
        ]

    def test_arguments_nested_without_end_bring_nothing_down(self, model: Model, provider: Provider) -> None:
        says = Says("", [Call("put", TOO_DEEP, "call_a")])
        if self.parses:
            with pytest.raises(ModelError, match=r"^it sent an unreadable answer$"):
                self.reply(model, provider, says)
            return
        self.two_turns(model, provider, says)
        assert provider.requests[1].turns[1] == ("call", "call_a", "put", {})

    @pytest.mark.parametrize("text", ["", " \n"], ids=["empty", "blank"])
    def test_an_answer_without_a_word_can_be_sent_back(self, model: Model, provider: Provider, text: str) -> None:
        talk = self.two_turns(model, provider, Says(text))
        answered = talk.messages[1]
        assert isinstance(answered, AssistantMessage)
        assert (answered.reply.text.strip(), answered.reply.tool_calls) == ("", ())
        assert [turn[0] for turn in provider.requests[1].turns] == ["user", "assistant", "user"]

    def test_an_answer_without_content_is_an_empty_one(self, model: Model, provider: Provider) -> None:
        if self.insists:
            with pytest.raises(ModelError, match=r"^it sent an unreadable answer$"):
                self.reply(model, provider, Says(None))
            return
        talk = self.two_turns(model, provider, Says(None))
        answered = talk.messages[1]
        assert isinstance(answered, AssistantMessage)
        assert (answered.reply.text, answered.reply.tool_calls) == ("", ())

    def test_the_answer_is_kept_as_plain_data(self, model: Model, provider: Provider) -> None:
        reply = self.reply(model, provider, Says("So", [WORD], thought="boats"))
        assert json.loads(json.dumps(reply.raw)) == reply.raw
        assert reply.is_well_formed

    def test_threads_may_ask_at_once(self, model: Model, provider: Provider) -> None:
        provider.script = lambda request: Says(request.turns[-1][1])

        def ask(number: int) -> str:
            return model.respond(
                conversation(AssistantMessage(Reply("x")), UserMessage(Words(f"number {number}")))
            ).text

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(ask, range(24))) == [f"number {number}" for number in range(24)]

    # What it costs

    def test_the_price_is_that_of_the_table(self, provider: Provider) -> None:
        name, sent, answered, cached, written = self.price
        dollars = (150 * sent + 600 * cached + 250 * written + 70 * answered) / 1_000_000
        for model in (name, f"{name}-20260101", f"{name}-2026-01-01"):
            provider.script = lambda _: Says("So", usage=USAGE)
            reply = type(self).adapter(provider.url, model).respond(conversation())
            assert reply.money == pytest.approx(dollars)

    def test_the_price_of_an_unknown_model_is_unknown(self, model: Model, provider: Provider) -> None:
        assert self.reply(model, provider, Says("So", usage=USAGE)).money is None

    def test_a_price_of_ones_own_goes_before_the_table(self, provider: Provider, tmp_path: Path) -> None:
        name = self.price[0]
        own = tmp_path / "prices.json"
        own.write_text(json.dumps({"models": {name: {"input": 2, "output": 10}, NOBODY: {"input": 1, "output": 1}}}))
        provider.script = lambda _: Says("So", usage=USAGE)
        asked = {n: type(self).adapter(provider.url, n, own).respond(conversation()).money for n in (name, NOBODY)}
        assert asked == {name: pytest.approx((1_000 * 2 + 70 * 10) / 1_000_000), NOBODY: pytest.approx(1_070 / 1e6)}

    # What fails

    @pytest.mark.parametrize("status", STATUSES)
    def test_a_status_says_what_happened_and_whether_to_try_again(
        self, model: Model, provider: Provider, status: int
    ) -> None:
        provider.script = [Fails(status, "its own words")]
        words, retryable = STATUSES[status]
        failed = self.failure(model)
        assert str(failed) == f"{words} (HTTP {status}: its own words)"
        assert (failed.retryable, failed.retry_after) == (retryable, None)
        assert len(provider.requests) == 1, "an adapter asks once; whether to ask again is not for it to decide"

    @pytest.mark.parametrize("answer", UNREADABLE.values(), ids=UNREADABLE.keys())
    def test_what_is_no_answer_may_be_one_the_next_time(self, model: Model, provider: Provider, answer: Sends) -> None:
        provider.script = [answer]
        failed = self.failure(model)
        assert (str(failed), failed.retryable) == ("it sent an unreadable answer", True)

    def test_a_connection_that_breaks_is_told_from_an_answer(self, model: Model, provider: Provider) -> None:
        provider.script = [Resets()]
        failed = self.failure(model)
        assert (str(failed), failed.retryable) == ("it cannot be reached (Connection reset by peer)", True)

    def test_nobody_at_the_address_is_told(self) -> None:
        with serving() as gone:
            pass
        failed = self.failure(type(self).adapter(gone.url))
        assert (str(failed), failed.retryable) == ("it cannot be reached (Connection refused)", True)

    def test_an_answer_that_never_comes_is_a_failure(
        self, model: Model, provider: Provider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module = type(model).__module__
        monkeypatch.setattr(f"{module}.REQUEST_SECONDS", 0.2)
        provider.script = [Hangs()]
        failed = self.failure(model)
        assert (str(failed), failed.retryable) == ("it did not answer in time", True)

    @pytest.mark.parametrize(
        ("value", "seconds"),
        [
            ("7", 7.0),
            ("0.25", 0.25),
            ("-3", 0.0),
            ("soon", None),
            ("", None),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
            ("Thu, 01 Jan 99999 00:00:00 GMT", None),
        ],
    )
    def test_how_long_to_wait_is_read(
        self, model: Model, provider: Provider, value: str, seconds: float | None
    ) -> None:
        provider.script = [Fails(429, headers={"retry-after": value})]
        assert self.failure(model).retry_after == seconds

    @pytest.mark.parametrize(("status", "asked", "retryable"), [(429, "false", False), (400, "true", True)])
    def test_a_provider_that_says_whether_to_try_again_is_obeyed(
        self, model: Model, provider: Provider, status: int, asked: str, retryable: bool
    ) -> None:
        provider.script = [Fails(status, headers={"x-should-retry": asked})]
        assert self.failure(model).retryable is retryable

    def test_the_key_is_not_repeated(self, model: Model, provider: Provider) -> None:
        provider.script = [Fails(401, f"the key {KEY} is not ours, Bearer {KEY}")]
        assert str(self.failure(model)) == "it rejected the key (HTTP 401: the key … is not ours, Bearer …)"
        assert KEY not in repr(model)

    def test_a_word_that_stands_for_a_key_is_none(self, provider: Provider) -> None:
        provider.script = [Fails(400, "none of these models")]
        failed = self.failure(type(self).adapter(provider.url, key="none"))
        assert str(failed) == "it rejected the request (HTTP 400: none of these models)"

    def test_the_failure_of_another_model_is_not_taken_for_its_own(self, model: Model, provider: Provider) -> None:
        provider.script = [Fails(401, "another story"), Resets()]
        try:
            model.respond(conversation())
        except ModelError:
            failed = self.failure(model)
        assert str(failed) == "it cannot be reached (Connection reset by peer)"

    def test_a_providers_words_are_one_line_and_no_book(self, model: Model, provider: Provider) -> None:
        provider.script = [Fails(400, "one\ntwo\r\n\tthree " * 10_000)]
        said = str(self.failure(model))
        assert said.startswith("it rejected the request (HTTP 400: one two three one two three ")
        assert said.isprintable()
        assert len(said) < 300

    def failure(self, model: Model) -> ModelError:
        """How an answer fails."""
        with pytest.raises(ModelError) as failed:
            model.respond(conversation())
        return failed.value


def _cacheable(request: Any) -> str:
    """What a cache is keyed on, in its order: the tools, the system's words, the messages; without the marks, which
    are no part of it."""
    body = json.loads(request.data)
    parts = [body["tools"], body.get("system"), *body["messages"]]
    return "\n".join(json.dumps(_unmarked(part), ensure_ascii=False) for part in parts) + "\n"


def _unmarked(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _unmarked(value) for key, value in data.items() if key != "cache_control"}
    return [_unmarked(one) for one in data] if isinstance(data, list) else data
