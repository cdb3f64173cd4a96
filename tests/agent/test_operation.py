"""One operation: what it may take holds for all of it, and it has one moment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from memory_v2.agent.operation import Operation
from memory_v2.errors import ModelError
from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Reply, Usage
from memory_v2.models.briefs import WriteBrief
from memory_v2.models.scripted import ScriptedModel
from memory_v2.settings import Limits
from memory_v2.storage.volatile import VolatileStorage
from tests.operations.scenes import SMALL, call, calls
from tests.properties.whole import clock, faults, pages_of

SECTIONS = "".join(
    f"## {name}\n\n{(name + ' has many facts. ') * 30}\n\n" for name in ("Alice", "Boats", "Carmen", "Deploy")
)


@dataclass
class Hand:
    """A clock with one hand."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_was_taken_is_added_up() -> None:
    hand = Hand(100.0)
    run = Operation(clock=hand)
    run.pay(Reply(usage=Usage(10, 5, 4, 2), money=0.25))
    hand.now = 103.5
    run.pay(Reply(usage=Usage(1, 1, 1, 1), money=0.5))
    assert (run.cost.calls, run.cost.usage, run.cost.money) == (2, Usage(11, 6, 5, 3), 0.75)
    assert run.cost.seconds == 3.5
    assert run.seconds_left == Limits().seconds - 3.5


def test_a_sum_with_a_price_that_nobody_knows_is_not_known() -> None:
    run, sums = Operation(), []
    for money in (0.25, 0.25, None, 0.25):
        run.pay(Reply(money=money))
        sums.append(run.cost.money)
    assert sums == [0.25, 0.5, None, None]


def test_money_that_is_not_known_reaches_no_limit_and_the_others_still_hold() -> None:
    run = Operation(Limits(turns=2, money=0.1))
    run.pay(Reply(money=None))
    assert run.reached is None
    run.pay(Reply(money=5.0))
    assert run.reached == "the limit of 2 turns was reached"


@pytest.mark.parametrize(
    ("limits", "replies", "reached"),
    [
        (Limits(turns=2), [Reply()], None),
        (Limits(turns=2), [Reply(), Reply()], "the limit of 2 turns was reached"),
        (Limits(tokens=10_000), [Reply(usage=Usage(6_000, 3_999))], None),
        (Limits(tokens=10_000), [Reply(usage=Usage(6_000, 4_000))], "the limit of 10,000 tokens was reached"),
        (Limits(money=0.3), [Reply(money=0.25)], None),
        (Limits(money=0.3), [Reply(money=0.25), Reply(money=0.05)], "the limit of 0.3 dollars was reached"),
    ],
)
def test_the_first_limit_that_is_reached_is_named(limits: Limits, replies: list[Reply], reached: str | None) -> None:
    run = Operation(limits)
    for reply in replies:
        run.pay(reply)
    assert run.reached == reached


# the whole operation


def placing_all(money: float = 0.0) -> ScriptedModel:
    """A model that writes to the root, and to which no page is worth dividing."""

    def answer(conversation: Conversation) -> Reply:
        if isinstance(brief := conversation.brief, WriteBrief):
            made = call("place", blocks=f"n1-n{len(brief.blocks)}", page="memory")
            return Reply(tool_calls=(made,), usage=Usage(10, 5), stop_reason="tool_use", money=money)
        return calls(call("leave_whole", reason="it is fine as it is"))

    return ScriptedModel(answer)


@pytest.mark.parametrize(
    ("limits", "reached"),
    [
        (Limits(turns=1), "the limit of 1 turns was reached"),
        (Limits(tokens=15), "the limit of 15 tokens was reached"),
        (Limits(money=0.2), "the limit of 0.2 dollars was reached"),
    ],
)
def test_a_write_and_the_splits_after_it_share_what_they_may_take(limits: Limits, reached: str) -> None:
    model = placing_all(money=0.2)
    memory = Memory(VolatileStorage(clock), model, threshold=SMALL, limits=limits, now=clock)
    result = memory.write(SECTIONS)
    assert len(model.sent) == 1
    assert (result.decided_by, result.degraded) == ("scripted", f"scripted: {reached}")
    assert result.split_triggered
    assert faults(pages_of(memory.storage), SMALL) == []


def test_the_next_operation_may_take_as_much_again() -> None:
    model = placing_all(money=0.2)
    memory = Memory(VolatileStorage(clock), model, limits=Limits(turns=1, money=0.2), now=clock)
    results = [memory.write(f"Fact number {n}.") for n in range(3)]
    assert [(result.degraded, result.cost.calls) for result in results] == [("", 1)] * 3


def test_what_a_write_tells_to_have_cost_is_that_of_all_its_splits_too(tmp_path: Path) -> None:
    model = placing_all()
    memory = Memory(VolatileStorage(clock, tmp_path), model, threshold=SMALL, limits=Limits(turns=9), now=clock)
    result = memory.write(SECTIONS)
    assert len(model.sent) > 1
    replies = memory.trace(result.trace).of("reply")
    assert result.cost.calls == len(replies) > len(model.sent), "the planner's turns are told, too"
    assert result.cost.usage.input_tokens == sum(reply["usage"]["input_tokens"] for reply in replies)


def test_a_second_try_on_a_page_that_others_changed_shares_it_too() -> None:
    storage = VolatileStorage(clock)
    Memory(storage, now=clock).write("What was there.")

    def answer(_: Conversation) -> Reply:
        storage.write("memory", storage.read("memory").data.replace(b"was there", b"is there"))
        return calls(call("place", blocks="n1", page="memory", after=2))

    model = ScriptedModel(answer)
    result = Memory(storage, model, limits=Limits(turns=1), now=clock).write("One more fact.")
    assert len(model.sent) == 1
    assert (result.decided_by, result.degraded) == ("offline", "scripted: the limit of 1 turns was reached")
    assert Memory(storage).read().count("One more fact.") == 1


def test_a_provider_that_failed_is_not_asked_again_for_the_splits_that_follow() -> None:
    model = ScriptedModel(lambda _: ModelError("the line is dead"))
    memory = Memory(VolatileStorage(clock), model, threshold=SMALL, now=clock)
    result = memory.write(SECTIONS)
    assert result.split_triggered
    assert len(model.sent) == 1
    assert result.degraded == "scripted: the model failed: the line is dead"
    assert memory.write("Another day.\n").degraded  # but at the next operation it is
    assert len(model.sent) == 2
