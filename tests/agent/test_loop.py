"""The one loop: within limits, always to an end, and everything on record."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any

import pytest

from memory_v2.agent.arguments import Argument
from memory_v2.agent.loop import MAX_CALLS_IN_A_REPLY, PLANNER_TURNS, Decision, Undecided, decide
from memory_v2.agent.operation import Operation
from memory_v2.agent.task import Task, TaskTool
from memory_v2.errors import InvalidSetting, ModelError, SilicaError, ToolProblem
from memory_v2.models.base import Conversation, Prompt, Reply, ToolCall, Usage
from memory_v2.models.briefs import SearchBrief
from memory_v2.models.scripted import Answer, ScriptedModel
from memory_v2.settings import Limits
from memory_v2.trace.recording import Event, Trace

NOW = datetime(2026, 3, 1, tzinfo=UTC)
BRIEF = SearchBrief("anything", 10, None, (), NOW, lambda path: 0)


@dataclass(frozen=True, slots=True)
class Put:
    word: Annotated[str, Argument(min_length=1, max_length=20)]


@dataclass(frozen=True, slots=True)
class Look:
    pass


@dataclass
class Words(Task):
    """A task: to put down the words that are wanted."""

    wanted: frozenset[str] = frozenset()
    max_corrections: int = 1
    kind: str = "search"
    reads_on: bool = False
    words: list[str] = field(default_factory=list)
    brief: SearchBrief = BRIEF

    @property
    def tools(self) -> Sequence[TaskTool[Any]]:
        return (TaskTool("answer", Put, self.put), TaskTool("open_pages", Look, self.look, decides=False))

    def put(self, call: Put) -> Prompt:
        if call.word == "bad":
            raise ToolProblem("not this word; take another")
        self.words.append(call.word)
        return Prompt("done", {"what": f"{call.word} is put down"})

    def look(self, _: Look) -> Prompt:
        return Prompt("pages", {"views": [], "missing": []})

    def objections(self) -> list[str]:
        return [f"{word} is missing; put it down" for word in sorted(self.wanted - set(self.words))]

    def checked(self) -> list[str]:
        return [f"{len(self.words)} words are put down"]


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
) -> tuple[Decision[Words], ScriptedModel, Operation]:
    model, operation = ScriptedModel(script), run_of(limits, clock)
    planner = ScriptedModel(list(SCRIPT_OF_PLANNER), "offline")
    return decide(task, (model, planner), operation), model, operation


def run_of(limits: Limits | None = None, clock: Callable[[], float] = lambda: 0.0) -> Operation:
    return Operation(limits or Limits(), Trace("some name"), clock, sleep=lambda _: None)


def endings(operation: Operation) -> list[str]:
    """How each conversation ended."""
    return [event["reason"] for event in operation.trace.of("decided")]


def asked(operation: Operation) -> list[str]:
    """Which models were asked, in order."""
    return [event["model"] for event in operation.trace.of("ask")]


def conversations(operation: Operation) -> list[list[Event]]:
    """The events, from each opening of a conversation to the next."""
    found: list[list[Event]] = []
    for event in operation.trace.events:
        if event["event"] == "ask":
            found.append([])
        found[-1].append(event)
    return found


def sent_last(model: ScriptedModel) -> str:
    return model.sent[-1].messages[-1]


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
    decision, model, operation = run([wrong, put("a")])
    assert decision.task.words == ["a"]
    assert "fit its schema" in sent_last(model)
    json.dumps(operation.trace.events)


@pytest.mark.parametrize("name", ["store", "", "answer ", "x" * 5_000, "\ud800", None, ["answer"], {"a": 1}])
def test_a_tool_that_is_not_there_is_named_with_those_that_are(name: Any) -> None:
    decision, model, operation = run([Reply(tool_calls=(ToolCall(name, {"word": "a"}),)), put("a")])
    assert decision.task.words == ["a"]
    assert "there is no tool" in sent_last(model)
    assert "use one of answer, open_pages" in sent_last(model)
    assert len(sent_last(model)) < 300
    json.dumps(operation.trace.events)


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


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), RecursionError(), TimeoutError(), OSError()])
def test_a_model_that_breaks_down_does_not_break_the_operation(error: Exception) -> None:
    decision, _, _ = run([error])
    assert decision.degraded == "scripted: the model failed: it broke down"


@pytest.mark.parametrize("answer", [None, "text", 3, {"text": "x"}])
def test_what_is_no_reply_is_no_decision(answer: Any) -> None:
    decision, _, _ = run([answer])
    assert (decision.decided_by, decision.degraded) == (
        "offline",
        "scripted: the model failed: it answered with something that is no reply",
    )


def test_a_failed_model_leaves_nothing_to_the_next() -> None:
    decision, _, _ = run([put("left", "bad"), ModelError("gone")], lambda: Words(frozenset("a")))
    assert decision.task.words == ["planned", "a", "b", "c"]


@pytest.mark.parametrize("max_corrections", [0, 1, 2, 3])
def test_a_task_is_sent_back_as_often_as_it_has_patience(max_corrections: int) -> None:
    decision, model, operation = run([put("x")] * 9, lambda: Words(frozenset("a"), max_corrections))
    assert len(model.sent) == max_corrections + 1
    assert decision.decided_by == "offline"
    assert decision.degraded == "scripted: its decision did not pass the guard: a is missing; put it down"
    assert endings(operation)[0] == "its decision did not pass the guard: a is missing; put it down"


@pytest.mark.parametrize(
    ("then", "limits"),
    [
        (Reply("Done."), Limits()),
        (Reply("The rest is", stop_reason="length"), Limits()),
        (ModelError("gone"), Limits()),
        (put("bad"), Limits(turns=2)),
    ],
    ids=["words", "cut off", "failed", "limit"],
)
def test_a_decision_that_stands_is_taken_whatever_was_refused_beside_it(then: Answer, limits: Limits) -> None:
    script = [put("a", "bad"), then, Reply("Done.")]
    decision, model, _ = run(script, lambda: Words(frozenset("a")), limits)
    assert (decision.task.words, decision.decided_by, decision.degraded) == (["a"], "scripted", "")
    assert not any("nothing was decided" in message for sent in model.sent for message in sent.messages)


def test_a_decision_that_is_called_done_too_early_is_told_what_it_lacks() -> None:
    decision, model, _ = run([put("a", "bad"), Reply("Done."), put("b")], lambda: Words(frozenset("ab")))
    assert (decision.task.words, decision.degraded) == (["a", "b"], "")
    assert "b is missing; put it down" in sent_last(model)


def test_what_is_missing_while_a_model_still_reads_does_not_count_against_it() -> None:
    reading = [Reply(tool_calls=(*put(word).tool_calls, *LOOK.tool_calls)) for word in "abc"]
    decision, model, _ = run([*reading, put("d")], lambda: Words(frozenset("abcd")))
    assert (decision.task.words, decision.degraded) == (["a", "b", "c", "d"], "")
    assert "d is missing; put it down" in sent_last(model)


# limits


@pytest.mark.parametrize("turns", [1, 2, 5])
def test_no_more_turns_are_taken_than_allowed(turns: int) -> None:
    decision, model, _ = run([LOOK] * 99, limits=Limits(turns=turns))
    assert len(model.sent) == turns
    assert decision.degraded == f"scripted: the limit of {turns} turns was reached"
    assert decision.decided_by == "offline"


def test_no_more_tokens_are_spent_than_allowed() -> None:
    dear = Reply(tool_calls=LOOK.tool_calls, usage=Usage(600, 100, 500))
    decision, model, operation = run([dear] * 9, limits=Limits(tokens=1_000))
    assert len(model.sent) == 2
    assert decision.degraded == "scripted: the limit of 1,000 tokens was reached"
    assert operation.cost.usage.input_tokens >= 1_200


def test_no_more_time_is_taken_than_allowed() -> None:
    clock = Clock()

    def slow(_: Conversation) -> Reply:
        clock.now += 3.0
        return LOOK

    decision, model, operation = run(slow, limits=Limits(turns=99, seconds=10), clock=clock)
    assert len(model.sent) == 4
    assert decision.degraded == "scripted: the limit of 10 seconds was reached"
    assert operation.cost.seconds == 12.0
    assert [event["seconds"] for event in operation.trace.of("reply")] == [3.0, 3.0, 3.0, 3.0, 0.0]


@dataclass
class Clock:
    """A clock that goes on when it is told to."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def test_no_more_money_is_spent_than_allowed() -> None:
    dear = Reply(tool_calls=LOOK.tool_calls, money=0.04)
    decision, model, operation = run([dear] * 9, limits=Limits(money=0.1))
    assert len(model.sent) == 3
    assert decision.degraded == "scripted: the limit of 0.1 dollars was reached"
    assert operation.cost.money == pytest.approx(0.12)


@pytest.mark.parametrize("limits", [Limits(turns=0), Limits(tokens=0), Limits(seconds=0), Limits(money=0)])
def test_a_limit_of_nothing_asks_no_model_and_the_planner_still_decides(limits: Limits) -> None:
    decision, model, _ = run([put("a")], limits=limits)
    assert model.sent == []
    assert decision.decided_by == "offline"
    assert "was reached" in decision.degraded


def test_a_decision_on_the_last_turn_counts() -> None:
    decision, _, _ = run([LOOK, put("a")], limits=Limits(turns=2))
    assert (decision.decided_by, decision.degraded) == ("scripted", "")


def test_what_a_failed_model_cost_is_told_too() -> None:
    _, _, operation = run([LOOK, ModelError("gone")])
    assert operation.cost.calls == 2
    assert operation.cost.usage.input_tokens == 20


def test_a_flood_of_calls_is_cut_and_sent_back() -> None:
    decision, model, _ = run([put(*["a"] * (MAX_CALLS_IN_A_REPLY + 50)), put("b")])
    assert len(decision.task.words) == MAX_CALLS_IN_A_REPLY + 1
    assert "was not looked at" in sent_last(model)


def test_when_nobody_can_decide_that_is_an_error_of_ours() -> None:
    operation = run_of()
    models = (ScriptedModel([ModelError("one")], "a"), ScriptedModel([ModelError("two")], "b"))
    with pytest.raises(Undecided, match="a: the model failed: one; b: the model failed: two") as raised:
        decide(Words, models, operation)
    assert isinstance(raised.value, SilicaError)
    assert endings(operation) == ["the model failed: one", "the model failed: two"]


def test_a_planner_that_decides_nothing_ends_by_its_turns_and_by_no_limit() -> None:
    operation = run_of(Limits(turns=0, tokens=0, seconds=0, money=0))
    planner = ScriptedModel([LOOK] * 99, "offline")
    with pytest.raises(Undecided, match=f"offline: the limit of {PLANNER_TURNS} turns was reached"):
        decide(Words, (planner,), operation)
    assert len(planner.sent) == PLANNER_TURNS


def test_a_model_that_is_set_up_wrongly_is_an_error_of_the_caller() -> None:
    operation = run_of()
    with pytest.raises(InvalidSetting, match="no key"):
        decide(Words, (ScriptedModel([InvalidSetting("there is no key")]), ScriptedModel([put("a")])), operation)
    assert asked(operation) == ["scripted"]


# calls that came in broken


def test_a_call_that_was_cut_off_is_made_again_and_those_before_it_stand() -> None:
    cut = Reply(tool_calls=put("a", "b").tool_calls, stop_reason="length")
    decision, model, _ = run([cut, put("c")])
    assert decision.task.words == ["a", "c"]
    assert "your answer was cut off in this call; make it again, and shorter" in sent_last(model)
    assert decision.degraded == ""


def test_arguments_that_are_no_json_object_are_sent_back() -> None:
    broken = Reply(tool_calls=(ToolCall("answer", {}, malformed='{"word": "a'),), stop_reason="tool_use")
    decision, model, operation = run([broken, put("a")])
    assert decision.task.words == ["a"]
    assert "the arguments of answer are no JSON object; make the call again" in sent_last(model)
    assert operation.trace.of("reply")[0]["calls"][0]["malformed"] == '{"word": "a'


# the record


def test_the_trace_holds_every_message_in_order() -> None:
    script: list[Answer] = [Reply("hm"), put("bad"), LOOK, put("a"), put("b")]
    decision, _, operation = run(script, lambda: Words(frozenset("ab")))
    assert decision.degraded == ""
    events = json.loads(json.dumps(operation.trace.events))
    assert [(e["event"], e.get("role"), e.get("template")) for e in events] == [
        ("ask", None, None),
        ("message", "user", "search/task"),
        ("reply", None, None),
        ("message", "user", "no_call"),
        ("reply", None, None),
        ("message", "tool", "problem"),
        ("reply", None, None),
        ("message", "tool", "pages"),
        ("reply", None, None),
        ("message", "tool", "done"),
        ("message", "user", "objections"),
        ("reply", None, None),
        ("message", "tool", "done"),
        ("decided", None, None),
    ]
    assert (events[0]["task"], events[0]["model"]) == ("search", "scripted")
    assert "You search the memory" in events[0]["system"]
    assert [tool["name"] for tool in events[0]["tools"]] == ["answer", "open_pages"]
    assert events[4]["calls"] == [{"id": "", "name": "answer", "arguments": {"word": "bad"}}]
    assert events[4]["usage"]["input_tokens"] == 10
    assert "anything" in events[1]["text"]
    assert "not this word" in events[5]["text"]
    assert events[5]["error"] is True


def test_the_trace_holds_the_attempt_that_failed_and_the_one_that_did_not() -> None:
    _, _, operation = run([LOOK, ModelError("gone")])
    assert list(zip(asked(operation), endings(operation), strict=True)) == [
        ("scripted", "the model failed: gone"),
        ("offline", ""),
    ]
    assert [event["checked"] for event in operation.trace.of("decided")] == [[], ["4 words are put down"]]
    failed, _ = conversations(operation)
    assert any(event.get("role") == "tool" for event in failed)
    assert [event["error"] for event in failed if event["event"] == "failed"] == ["gone"]


def test_what_nobody_has_read_is_not_worded_for_the_trace() -> None:
    class Blind(ScriptedModel):
        def respond(self, conversation: Conversation) -> Reply:
            return put("a")

    operation = run_of()
    decide(Words, (Blind([], "offline"),), operation)
    ask, opening, _, returned, _ = operation.trace.events
    assert ask == {"event": "ask", "task": "search", "model": "offline", "template": "search/system"}
    assert opening == {"event": "message", "template": "search/task", "role": "user"}
    assert returned == {"event": "message", "template": "done", "role": "tool", "name": "answer", "error": False}


def test_the_conversation_is_only_ever_added_to() -> None:
    _, model, _ = run([LOOK, put("bad"), put("a")])
    for earlier, later in zip(model.sent, model.sent[1:], strict=False):
        assert later.messages[: len(earlier.messages)] == earlier.messages
        assert (later.system, later.tools) == (earlier.system, earlier.tools)
