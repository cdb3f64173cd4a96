"""Asking a model: again where that may help, and never for longer than there is time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from memory_v2.agent.loop import MAX_RETRY_AFTER, MAX_WAIT, TRIES, ask
from memory_v2.agent.operation import Operation
from memory_v2.errors import InvalidSetting, ModelError
from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Prompt, Reply, ToolCall, Usage, UserMessage
from memory_v2.models.briefs import SearchBrief
from memory_v2.models.scripted import ScriptedModel
from memory_v2.settings import Limits
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.trace.recording import Trace
from tests.operations.scenes import call, calls
from tests.properties.whole import clock, stands

BRIEF = SearchBrief("anything", 10, None, (), datetime(2026, 3, 1, tzinfo=UTC), lambda path: 0)
ANSWER = Reply("an answer")
BUSY = ModelError("the provider is busy", retryable=True)
FACT = "Silica uses pytest 8.3 since 2026-02-03."


def conversation() -> Conversation:
    return Conversation(Prompt("search/system"), (), BRIEF, [UserMessage(Prompt("search/task", {"brief": BRIEF}))])


@dataclass
class Watch:
    """A clock that only waiting moves."""

    now: float = 0.0
    waits: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def run_on(watch: Watch, limits: Limits | None = None, chance: float = 0.5) -> Operation:
    return Operation(limits or Limits(), Trace("some name"), watch, watch.sleep, lambda: chance)


def busy_for(seconds: float | None) -> ModelError:
    return ModelError("the provider is busy", retryable=True, retry_after=seconds)


# again


def test_a_failure_that_may_pass_is_waited_for_longer_each_time() -> None:
    watch, model = Watch(), ScriptedModel([BUSY, BUSY, BUSY, ANSWER])
    run = run_on(watch)
    assert ask(model, conversation(), run) is ANSWER
    assert watch.waits == [0.5, 1.0, 2.0]
    assert [(e["error"], e["retryable"]) for e in run.trace.of("failed")] == [("the provider is busy", True)] * 3


@pytest.mark.parametrize(("chance", "first"), [(0.0, 0.375), (1.0, 0.625)])
def test_waits_are_spread_so_that_not_all_come_back_at_once(chance: float, first: float) -> None:
    watch = Watch()
    ask(ScriptedModel([BUSY, ANSWER]), conversation(), run_on(watch, chance=chance))
    assert watch.waits == [first]


def test_no_wait_is_longer_than_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_v2.agent.loop.TRIES", 9)
    watch = Watch()
    with pytest.raises(ModelError):
        ask(ScriptedModel([BUSY] * 9), conversation(), run_on(watch))
    assert watch.waits == [0.5, 1.0, 2.0, 4.0, MAX_WAIT, MAX_WAIT, MAX_WAIT, MAX_WAIT]


def test_after_the_last_try_the_failure_is_told_and_nobody_waits_for_it() -> None:
    watch, model = Watch(), ScriptedModel([BUSY] * 99)
    with pytest.raises(ModelError) as raised:
        ask(model, conversation(), run_on(watch))
    assert raised.value is BUSY
    assert (len(model.sent), len(watch.waits)) == (TRIES, TRIES - 1)


def test_a_failure_that_stays_is_not_tried_again() -> None:
    watch, model = Watch(), ScriptedModel([ModelError("the key is wrong"), ANSWER])
    run = run_on(watch)
    with pytest.raises(ModelError, match="the key is wrong"):
        ask(model, conversation(), run)
    assert (len(model.sent), watch.waits) == (1, [])
    assert [(e["error"], e["retryable"]) for e in run.trace.of("failed")] == [("the key is wrong", False)]


# when the provider says


@pytest.mark.parametrize(
    ("after", "waited"), [(7.0, 7.0), (MAX_RETRY_AFTER, MAX_RETRY_AFTER), (0.1, 0.5), (0.0, 0.5), (-3.0, 0.5)]
)
def test_nobody_comes_back_before_the_provider_says_so(after: float, waited: float) -> None:
    watch = Watch()
    assert ask(ScriptedModel([busy_for(after), ANSWER]), conversation(), run_on(watch)) is ANSWER
    assert watch.waits == [waited]


@pytest.mark.parametrize("after", [MAX_RETRY_AFTER + 1, 86_400.0, float("inf")])
def test_a_provider_that_wants_too_much_patience_is_given_up(after: float) -> None:
    watch, model = Watch(), ScriptedModel([busy_for(after), ANSWER])
    with pytest.raises(ModelError, match="busy"):
        ask(model, conversation(), run_on(watch, Limits(seconds=1_000_000)))
    assert (len(model.sent), watch.waits) == (1, [])


# within the time


@pytest.mark.parametrize(("seconds", "waits"), [(0.4, []), (1.4, [0.5]), (3.0, [0.5, 1.0]), (4.0, [0.5, 1.0, 2.0])])
def test_there_is_no_waiting_beyond_the_seconds_left(seconds: float, waits: list[float]) -> None:
    watch, model = Watch(), ScriptedModel([BUSY] * 99)
    with pytest.raises(ModelError, match="busy"):
        ask(model, conversation(), run_on(watch, Limits(seconds=seconds)))
    assert watch.waits == waits
    assert watch.now < seconds


class Silent:
    """A model that answers when it is allowed to, which may be never."""

    name = "silent"

    def __init__(self, answer: Reply = ANSWER) -> None:
        self.may_answer = threading.Event()
        self.answer = answer

    def respond(self, asked: Conversation) -> Reply:
        """The answer, in its own time."""
        assert asked.system.text
        self.may_answer.wait()
        return self.answer

    @contextmanager
    def left_to_itself(self) -> Iterator[None]:
        """At the end it may answer, and its threads come to their end."""
        try:
            yield
        finally:
            self.may_answer.set()
            for thread in self.threads:
                thread.join()

    @property
    def threads(self) -> list[threading.Thread]:
        """Those that wait for it."""
        return [thread for thread in threading.enumerate() if thread.name == f"asking {self.name}"]


def test_a_model_that_never_answers_does_not_keep_the_text_out_of_the_tree() -> None:
    place = calls(call("place", blocks="n1", page="memory"))
    model, storage = Silent(place), VolatileStorage(clock)
    Memory(storage, now=clock).write("What was there.")  # what has to be loaded is: the time is the model's
    memory = Memory(storage, model, limits=Limits(seconds=0.5), now=clock)
    with model.left_to_itself():
        result = memory.write(FACT)
        assert stands(memory, FACT)
        assert result.decided_by == "offline"
        assert result.degraded == "silent: the model failed: there was no answer within the limit of 0.5 seconds"
        before = storage.read("memory")
    assert storage.read("memory") == before, "what it answered too late was carried out"


def test_the_limit_of_seconds_holds_for_an_answer_and_the_waiting_before_it() -> None:
    model = Silent()
    answers = iter([BUSY])

    def busy_and_then_silent(asked: Conversation) -> Reply:
        for error in answers:
            raise error
        return model.respond(asked)

    waits: list[float] = []
    run = Operation(Limits(seconds=0.7), Trace("some name"), sleep=waits.append, chance=lambda: 0.0)
    with model.left_to_itself(), pytest.raises(ModelError, match=r"within the limit of 0\.7 seconds"):
        ask(ScriptedModel(busy_and_then_silent, "silent"), conversation(), run)
    assert waits == [0.375]


# what is nobody's failure


@pytest.mark.parametrize(
    "operation",
    [lambda memory: memory.write(FACT), lambda memory: memory.search("pytest"), lambda memory: memory.split()],
)
def test_an_error_of_the_caller_ends_the_operation_and_nothing_is_stored(operation: Callable[[Memory], Any]) -> None:
    storage = VolatileStorage(clock)
    Memory(storage, now=clock).write("What was there.\n\n" * 200, path="memory")
    before = storage.read("memory")
    with pytest.raises(InvalidSetting, match="there is no key"):
        operation(Memory(storage, ScriptedModel([InvalidSetting("there is no key")]), threshold=2_048, now=clock))
    assert (storage.list_files(), storage.read("memory")) == (["memory"], before)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_whoever_ends_the_program_ends_it(error: BaseException) -> None:
    def ending(_: Conversation) -> Reply:
        raise error

    with pytest.raises(type(error)) as raised:
        ask(ScriptedModel(ending), conversation(), run_on(Watch()))
    assert raised.value is error


def test_a_model_that_breaks_down_is_asked_once_and_logged_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    watch, model = Watch(), ScriptedModel([bug := ZeroDivisionError("a bug"), ANSWER])
    with pytest.raises(ModelError, match="it broke down") as raised:
        ask(model, conversation(), run_on(watch))
    assert raised.value.__cause__ is bug
    assert (len(model.sent), watch.waits) == (1, [])
    assert [record.exc_info and record.exc_info[1] for record in caplog.records] == [bug]
    assert caplog.records[0].levelno == logging.ERROR


NO_REPLIES: dict[str, Any] = {
    "nothing": None,
    "a text": "text",
    "a dictionary": {"text": "x"},
    "a text that is none": Reply(None),  # type: ignore[arg-type]  # all of these are what types forbid
    "calls that are none": Reply(tool_calls=None),  # type: ignore[arg-type]
    "a call that is none": Reply(tool_calls=(ToolCall("a", {}), None)),  # type: ignore[arg-type]
    "no usage": Reply(usage=None),  # type: ignore[arg-type]
    "words as tokens": Reply(usage=Usage("1")),  # type: ignore[arg-type]
    "words as tokens of a cache": Reply(usage=Usage(1, 1, 1, "1")),  # type: ignore[arg-type]
    "fewer tokens than none": Reply(usage=Usage(-1_000, 1)),
    "words as money": Reply(money="1"),  # type: ignore[arg-type]
    "money that is no number": Reply(money=float("nan")),
    "less money than none": Reply(money=-1.0),
}


@pytest.mark.parametrize("answer", NO_REPLIES.values(), ids=NO_REPLIES.keys())
def test_what_no_limit_could_be_held_with_is_no_reply(answer: Any) -> None:
    class Odd:
        name = "odd"

        def respond(self, _: Conversation) -> Reply:
            odd: Reply = answer
            return odd

    with pytest.raises(ModelError, match="it answered with something that is no reply"):
        ask(Odd(), conversation(), run_on(Watch()))
    memory = Memory(VolatileStorage(clock), Odd(), now=clock)
    assert memory.write(FACT).decided_by == "offline"
    assert stands(memory, FACT)


class Slow(ScriptedModel):
    """A model whose SDK takes long to import."""

    def __init__(self, watch: Watch, seconds: float) -> None:
        super().__init__([ANSWER])
        self._watch = watch
        self._seconds = seconds

    def prepare(self) -> None:
        self._watch.now += self._seconds


def test_the_time_that_it_takes_to_load_a_model_counts_against_no_limit() -> None:
    watch = Watch()
    operation = run_on(watch, Limits(seconds=10))
    assert ask(Slow(watch, 25), conversation(), operation) == ANSWER
    assert (operation.reached, operation.seconds_left, operation.cost.seconds) == (None, 10, 25)
    watch.now += 10
    assert operation.reached == "the limit of 10 seconds was reached"


def test_a_model_that_cannot_be_loaded_has_failed() -> None:
    class Broken(ScriptedModel):
        def prepare(self) -> None:
            raise ImportError("no module named x")

    with pytest.raises(ModelError, match="it broke down"):
        ask(Broken([ANSWER]), conversation(), run_on(Watch()))
