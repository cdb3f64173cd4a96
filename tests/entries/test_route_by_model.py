"""With a model, what the rules leave in the inbox is sorted by a loop; the rules stay first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_v2 import Memory
from memory_v2.errors import ModelError
from memory_v2.models.base import Conversation, Reply
from memory_v2.models.scripted import ScriptedModel
from tests.entries.made import answering

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
Calls = list[tuple[str, dict[str, Any]]]


@pytest.fixture(autouse=True)
def inbox(memory: Memory) -> None:
    memory.entries.capture("Lesson: test the restore.", date="2026-02-15")
    memory.entries.capture("Nginx answers 413 above 20 MB.", date="2026-02-16", tags=["web"])
    memory.entries.capture("Soup for lunch.", date="2026-02-17")


def with_model(memory: Memory, decide: Callable[[Conversation], Reply]) -> Memory:
    return Memory(memory.storage, ScriptedModel(decide), now=lambda: NOW)


GOOD: Calls = [("route", {"notes": "e1", "domain": "Technical"}), ("leave", {"notes": "e2", "why": "a meal"})]


def homes(memory: Memory) -> list[str | None]:
    return [entry.home for entry in memory.entries.list_entries()]


def test_the_rules_come_first_and_a_model_sorts_what_they_leave(memory: Memory) -> None:
    told: list[str] = []
    live = with_model(memory, answering(*GOOD, told=told))
    done = live.entries.route(apply=True)
    assert (done.decided_by, done.degraded) == ("scripted", "")
    assert homes(memory) == ["insights", "technical", None]
    assert "[e1] 2026-02-16 · tags: web\n    │ Nginx answers 413 above 20 MB.\n[e2] 2026-02-17\n" in told[0]
    assert "test the restore" not in told[0], "the rules have routed it"
    assert [(one.name[-3:], one.reason) for one in done.planned] == [
        ("001", "lesson (label, 3)"),
        ("001", "by scripted"),
    ]
    assert done.skipped[0].reason == "a meal (by scripted)"
    memory.undo()
    assert homes(memory) == [None, None, None]


def test_what_was_shown_is_carried_out_without_asking_again(memory: Memory) -> None:
    told: list[str] = []
    live = with_model(memory, answering(*GOOD, told=told))
    shown = live.entries.route()
    assert homes(memory) == [None, None, None]
    memory.entries.capture("The lamp of the jetty is broken.", date="2026-02-18")
    assert len(told) == 1
    later = with_model(memory, answering(("leave", {"notes": "e1", "why": "none fits"}), told=told))
    done = later.entries.route(apply=True)
    assert len(told) == 2, "only the new one is asked for"
    assert "lamp" in told[1]
    assert "Nginx" not in told[1]
    assert done.planned == shown.planned
    assert homes(memory) == ["insights", "technical", None, None]


def test_a_model_is_asked_once_about_what_it_leaves_unless_the_domains_change(memory: Memory) -> None:
    told: list[str] = []
    live = with_model(memory, answering(*GOOD, told=told))
    live.entries.route(apply=True)
    live.entries.route(apply=True)
    assert len(told) == 1
    memory.entries.set_domains('[food]\ndescription = "Meals"\n')
    again = with_model(memory, answering(("route", {"notes": "e1", "domain": "food"}), told=told))
    again.entries.route(apply=True)
    assert len(told) == 2
    assert homes(memory) == ["insights", "technical", "food"]


def test_a_model_is_asked_about_domains_that_are_not_utf_8(memory: Memory, tmp_path: Path) -> None:
    memory.entries.set_domains('[food]\ndescription = "Meals, caf?"\n')
    page = tmp_path / "entries/domains.md"
    page.write_bytes(page.read_bytes().replace(b"?", b"\xe9"))
    told: list[str] = []
    with_model(memory, answering(("route", {"notes": "e1-e3", "domain": "food"}), told=told)).entries.route(apply=True)
    assert "Meals, caf\ufffd" in told[0]
    assert homes(memory) == ["food"] * 3


def test_the_beginning_of_a_long_entry_is_shown(memory: Memory) -> None:
    memory.entries.capture("word " * 5_000, date="2026-02-18")
    told: list[str] = []
    with_model(memory, answering(*GOOD, told=told)).entries.route()
    assert len(told[0]) < 4_000


@pytest.mark.parametrize("damaged", [b"{", b"[]", b"{}"])
def test_decisions_that_are_not_to_be_read_are_made_again(memory: Memory, damaged: bytes) -> None:
    live = with_model(memory, answering(*GOOD))
    live.entries.route()
    memory.storage.state.write("plans/route", damaged)
    live.entries.route(apply=True)
    assert homes(memory) == ["insights", "technical", None]


@pytest.mark.parametrize(
    ("calls", "problem"),
    [
        ([("route", {"notes": "e1-e2", "domain": "kitchen"})], "there is no domain 'kitchen'"),
        ([("route", {"notes": "e1, e9", "domain": "technical"})], "out of range"),
        ([*GOOD, ("route", {"notes": "e1", "domain": "people"})], "e1 is decided already"),
        ([GOOD[0]], "e2: nothing is decided yet"),
        ([("leave", {"notes": "e1"})], "why"),
        ([("place", {"blocks": "n1", "page": "memory"})], "there is no tool"),
    ],
)
def test_a_wrong_decision_is_sent_back_and_then_nothing_more_is_routed(
    memory: Memory, calls: Calls, problem: str
) -> None:
    told: list[str] = []
    done = with_model(memory, answering(*calls, told=told)).entries.route(apply=True)
    assert any(problem in one for one in told), told
    assert done.degraded
    assert homes(memory)[0] == "insights"


def test_a_model_that_fails_leaves_the_rest_in_the_inbox(memory: Memory) -> None:
    def fails(conversation: Conversation) -> Reply:
        raise ModelError("the provider is down")

    done = with_model(memory, fails).entries.route(apply=True)
    assert "the provider is down" in done.degraded
    assert done.decided_by == "offline"
    assert homes(memory) == ["insights", None, None]
    with_model(memory, answering(*GOOD)).entries.route(apply=True)
    assert homes(memory) == ["insights", "technical", None], "it is asked again"


def test_a_model_is_not_asked_if_the_rules_leave_nothing(memory: Memory) -> None:
    live = with_model(memory, answering(*GOOD))
    live.entries.route(apply=True)
    lunch = next(entry for entry in memory.entries.list_entries() if entry.home is None)
    file = next(Path(memory.storage.where).rglob(f"{lunch.name}.md"))
    file.unlink()
    done = with_model(memory, lambda conversation: Reply("", stop_reason="refusal")).entries.route(apply=True)
    assert (done.planned, done.decided_by, done.cost.calls) == ((), "program", 0)


def test_without_a_model_routing_leaves_no_trace_and_keeps_nothing(memory: Memory) -> None:
    memory.entries.route()
    memory.entries.route(apply=True)
    assert memory.traces() == []
    assert memory.storage.state.read("plans/route") is None
