"""The one loop: within limits, always to an end, and everything on record."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any

import pytest
from pydantic import Field

from memory_v2.agent.limits import Limits
from memory_v2.agent.loop import MAX_CALLS_IN_A_REPLY, Decision, Undecided, decide
from memory_v2.agent.tools import Arguments, Tool
from memory_v2.agent.trace import Trace
from memory_v2.errors import ModelError, SilicaError, ToolProblem
from memory_v2.models.base import Conversation, Prompt, Reply, Returned, ToolCall, Usage
from memory_v2.models.briefs import SearchBrief
from memory_v2.models.scripted import Answer, ScriptedModel

NOW = datetime(2026, 3, 1, tzinfo=UTC)
BRIEF = SearchBrief("anything", 10, None, (), NOW)


class Put(Arguments):
    word: Annotated[str, Field(min_length=1, max_length=20)]


class Look(Arguments):
    pass


@dataclass
class Words:
    """A task: to put down the words that are wanted."""

    wanted: frozenset[str] = frozenset()
    patience: int = 1
    words: list[str] = field(default_factory=list)
    brief: SearchBrief = BRIEF
    system: Prompt = field(default_factory=lambda: Prompt("search/system"))
    opening: Prompt = field(default_factory=lambda: Prompt("search/task", {"brief": BRIEF}))

    @property
    def tools(self) -> Sequence[Tool[Any]]:
        return (Tool("answer", Put, self.put), Tool("open_pages", Look, self.look, decides=False))

    def put(self, call: Put) -> Prompt:
        if call.word == "bad":
            raise ToolProblem("not this word; take another")
        self.words.append(call.word)
        return Prompt("done", {"what": f"{call.word} is put down"})

    def look(self, _: Look) -> Prompt:
        return Prompt("pages", {"views": []})

    def objections(self) -> list[str]:
        return [f"{word} is missing; put it down" for word in sorted(self.wanted - set(self.words))]


def put(*words: str, usage: Usage | None = None) -> Reply:
    calls = tuple(ToolCall("answer", {"word": word}) for word in words)
    return Reply("beside the point", calls, usage or Usage(10, 5), "tool_use")


LOOK = Reply(tool_calls=(ToolCall("open_pages", {}),), usage=Usage(10, 5), stop_reason="tool_use")
SCRIPT_OF_PLANNER = [put("planned", "a", "b", "c")] * 9


def run(
    script: Iterable[Answer] | Callable[[Conversation], Answer],
    task: Callable[[], Words] = Words,
    limits: Limits | None = None,
    clock: Callable[[], float] = lambda: 0.0,
) -> tuple[Decision[Words], ScriptedModel, Trace]:
    model, trace = ScriptedModel(script), Trace("search", NOW)
    planner = ScriptedModel(list(SCRIPT_OF_PLANNER), "offline")
    return decide(task, (model, planner), limits or Limits(), trace, clock), model, trace


def sent_last(model: ScriptedModel) -> str:
    return model.sent[-1].messages[-1]


def test_a_decision_in_one_turn_is_carried_out() -> None:
    decision, model, trace = run([put("a")])
    assert (decision.task.words, decision.decided_by, decision.degraded) == (["a"], "scripted", "")
    assert decision.cost.calls == len(model.sent) == 1
    assert [attempt.ended for attempt in trace.attempts] == [""]


def test_looking_does_not_end_the_loop() -> None:
    decision, model, _ = run([LOOK, LOOK, put("a")])
    assert decision.task.words == ["a"]
    assert len(model.sent) == 3


def test_calls_side_by_side_are_carried_out_in_order() -> None:
    decision, _, _ = run([put("a", "b", "c")])
    assert decision.task.words == ["a", "b", "c"]


def test_a_call_that_has_to_be_mended_is_sent_back_and_what_was_accepted_stands() -> None:
    decision, model, _ = run([put("a", "bad", "b"), put("c")])
    assert decision.task.words == ["a", "b", "c"]
    assert "not this word" in model.sent[1].messages[-2]
    assert decision.degraded == ""


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"word": ""},
        {"word": 3},
        {"word": "x" * 21},
        {"word": "a", "more": 1},
        {"word": None},
        {"word": "\ud800"},
        [],
        None,
        "a",
    ],
)
def test_arguments_that_do_not_fit_are_sent_back(arguments: Any) -> None:
    wrong = Reply(tool_calls=(ToolCall("answer", arguments),), stop_reason="tool_use")
    decision, model, trace = run([wrong, put("a")])
    assert decision.task.words == ["a"]
    assert "fit its schema" in sent_last(model)
    json.dumps(trace.to_dict())


@pytest.mark.parametrize("name", ["store", "", "answer ", "x" * 5_000, "\ud800", None, ["answer"], {"a": 1}])
def test_a_tool_that_is_not_there_is_named_with_those_that_are(name: Any) -> None:
    decision, model, trace = run([Reply(tool_calls=(ToolCall(name, {"word": "a"}),)), put("a")])
    assert decision.task.words == ["a"]
    assert "there is no tool" in sent_last(model)
    assert "use one of answer, open_pages" in sent_last(model)
    assert len(sent_last(model)) < 300
    json.dumps(trace.to_dict())


def test_an_answer_without_a_tool_is_asked_for_one_and_then_the_planner_decides() -> None:
    decision, model, _ = run([Reply("Let me think"), put("a")])
    assert decision.task.words == ["a"]
    assert "answer, open_pages" in sent_last(model)
    decision, model, _ = run([Reply("Let me think"), Reply("Still thinking"), put("a")])
    assert len(model.sent) == 2
    assert (decision.decided_by, decision.degraded) == ("offline", "scripted: the model answered without using a tool")


def test_an_answer_that_is_cut_off_is_asked_for_a_shorter_one() -> None:
    decision, model, _ = run([Reply("# A very long", stop_reason="length"), put("a")])
    assert decision.task.words == ["a"]
    assert "Answer shorter" in sent_last(model)


def test_a_refusal_is_not_asked_again() -> None:
    decision, model, _ = run([Reply("I cannot help with that", stop_reason="refusal"), put("a")])
    assert len(model.sent) == 1
    assert decision.degraded == "scripted: the model refused"
    assert decision.decided_by == "offline"


def test_a_refusal_with_calls_is_a_refusal() -> None:
    refused = Reply("no", put("a").tool_calls, stop_reason="refusal")
    decision, _, _ = run([refused])
    assert (decision.decided_by, decision.task.words) == ("offline", ["planned", "a", "b", "c"])


@pytest.mark.parametrize("error", [ModelError("overloaded", retryable=True), ModelError("no key")])
def test_a_provider_that_fails_is_named_in_the_result(error: ModelError) -> None:
    decision, _, trace = run([error])
    assert decision.degraded == f"scripted: the model failed: {error}"
    assert [attempt.model for attempt in trace.attempts] == ["scripted", "offline"]


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), RecursionError(), TimeoutError(), OSError()])
def test_a_model_that_breaks_down_does_not_break_the_operation(error: Exception) -> None:
    decision, _, _ = run([error])
    assert decision.degraded == "scripted: the model broke down"


@pytest.mark.parametrize("answer", [None, "text", 3, {"text": "x"}])
def test_what_is_no_reply_is_no_decision(answer: Any) -> None:
    decision, _, _ = run([answer])
    assert (decision.decided_by, decision.degraded) == (
        "offline",
        "scripted: the model answered with something that is no reply",
    )


def test_a_failed_model_leaves_nothing_to_the_next() -> None:
    decision, _, _ = run([put("left", "bad"), ModelError("gone")])
    assert "left" not in decision.task.words


def test_a_decision_that_fails_the_guard_is_sent_back_with_what_to_do() -> None:
    decision, model, _ = run([put("a"), put("b")], lambda: Words(frozenset("ab")))
    assert decision.task.words == ["a", "b"]
    assert "b is missing; put it down" in sent_last(model)
    assert decision.degraded == ""


@pytest.mark.parametrize("patience", [0, 1, 2, 3])
def test_a_task_is_sent_back_as_often_as_it_has_patience(patience: int) -> None:
    decision, model, trace = run([put("x")] * 9, lambda: Words(frozenset("a"), patience))
    assert len(model.sent) == patience + 1
    assert decision.decided_by == "offline"
    assert decision.degraded == "scripted: its decision did not pass the guard: a is missing; put it down"
    assert trace.attempts[0].ended == "its decision did not pass the guard: a is missing; put it down"


# limits


@pytest.mark.parametrize("turns", [1, 2, 5])
def test_no_more_turns_are_taken_than_allowed(turns: int) -> None:
    decision, model, _ = run([LOOK] * 99, limits=Limits(turns=turns))
    assert len(model.sent) == turns
    assert decision.degraded == f"scripted: the limit of {turns} turns was reached"
    assert decision.decided_by == "offline"


def test_mending_for_ever_ends_at_the_limit() -> None:
    decision, model, _ = run(lambda _: put("bad"), limits=Limits(turns=6))
    assert len(model.sent) == 6
    assert decision.decided_by == "offline"


def test_no_more_tokens_are_spent_than_allowed() -> None:
    dear = Reply(tool_calls=LOOK.tool_calls, usage=Usage(600, 100, 500))
    decision, model, _ = run([dear] * 9, limits=Limits(tokens=1_000))
    assert len(model.sent) == 2
    assert decision.degraded == "scripted: the limit of 1,000 tokens was reached"
    assert decision.cost.usage.input_tokens >= 1_200


def test_no_more_time_is_taken_than_allowed() -> None:
    clock = Clock(step=3.0)
    decision, model, _ = run([LOOK] * 99, limits=Limits(turns=99, seconds=10), clock=clock)
    assert len(model.sent) == 4
    assert decision.degraded == "scripted: the limit of 10 seconds was reached"


@dataclass
class Clock:
    """A clock that goes on by a step each time it is read."""

    step: float
    now: float = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now - self.step


@pytest.mark.parametrize("limits", [Limits(turns=0), Limits(tokens=0), Limits(seconds=0), Limits(money=0)])
def test_a_limit_of_nothing_asks_no_model_and_the_planner_still_decides(limits: Limits) -> None:
    decision, model, _ = run([put("a")], limits=limits, clock=Clock(1.0))
    assert model.sent == []
    assert decision.decided_by == "offline"
    assert "was reached" in decision.degraded


def test_a_decision_on_the_last_turn_counts() -> None:
    decision, _, _ = run([LOOK, put("a")], limits=Limits(turns=2))
    assert (decision.decided_by, decision.degraded) == ("scripted", "")


def test_what_a_failed_model_cost_is_told_too() -> None:
    decision, _, _ = run([LOOK, ModelError("gone")])
    assert decision.cost.calls == 2
    assert decision.cost.usage.input_tokens == 20


def test_a_flood_of_calls_is_cut_and_sent_back() -> None:
    decision, model, _ = run([put(*["a"] * (MAX_CALLS_IN_A_REPLY + 50)), put("b")])
    assert len(decision.task.words) == MAX_CALLS_IN_A_REPLY + 1
    assert "was not looked at" in sent_last(model)


def test_when_nobody_can_decide_that_is_an_error_of_ours() -> None:
    trace = Trace("search", NOW)
    models = (ScriptedModel([ModelError("one")], "a"), ScriptedModel([ModelError("two")], "b"))
    with pytest.raises(Undecided, match="a: the model failed: one; b: the model failed: two") as raised:
        decide(Words, models, Limits(), trace)
    assert isinstance(raised.value, SilicaError)
    assert [attempt.ended for attempt in trace.attempts] == ["the model failed: one", "the model failed: two"]


# the record


def test_the_trace_holds_every_message_in_order() -> None:
    script: list[Answer] = [Reply("hm"), put("bad"), LOOK, put("a"), put("b")]
    decision, _, trace = run(script, lambda: Words(frozenset("ab")))
    assert decision.degraded == ""
    record = json.loads(json.dumps(trace.to_dict()))
    messages = record["attempts"][0]["messages"]
    assert [(m["role"], m.get("template")) for m in messages] == [
        ("user", "search/task"),
        ("assistant", None),
        ("user", "no_call"),
        ("assistant", None),
        ("tool", "problem"),
        ("assistant", None),
        ("tool", "pages"),
        ("assistant", None),
        ("tool", "done"),
        ("user", "objections"),
        ("assistant", None),
        ("tool", "done"),
    ]
    assert messages[3]["calls"] == [{"name": "answer", "arguments": {"word": "bad"}}]
    assert messages[3]["input_tokens"] == 10
    assert "anything" in messages[0]["text"]
    assert messages[4]["error"] is True


def test_the_trace_holds_the_attempt_that_failed_and_the_one_that_did_not() -> None:
    _, _, trace = run([LOOK, ModelError("gone")])
    assert [(a.model, a.ended) for a in trace.attempts] == [("scripted", "the model failed: gone"), ("offline", "")]
    assert any(isinstance(message, Returned) for message in trace.attempts[0].messages)


def test_the_conversation_is_only_ever_added_to() -> None:
    _, model, _ = run([LOOK, put("bad"), put("a")])
    for earlier, later in zip(model.sent, model.sent[1:], strict=False):
        assert later.messages[: len(earlier.messages)] == earlier.messages
        assert (later.system, later.tools) == (earlier.system, earlier.tools)


def test_a_scripted_model_records_what_it_was_sent() -> None:
    _, model, _ = run([put("a")])
    assert model.sent[0].tools == ("answer", "open_pages")
    assert "You search the memory" in model.sent[0].system
    assert "anything" in model.sent[0].messages[0]


def test_a_script_that_has_run_out_is_a_failure_of_the_model() -> None:
    decision, _, _ = run([LOOK])
    assert decision.degraded == "scripted: the model failed: the script has no further answer"
