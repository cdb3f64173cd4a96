"""The scenes about entries can be recorded and played, and their judges see what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_v2.models.base import Conversation, Reply, ToolCall
from memory_v2.models.scripted import ScriptedModel
from tests.replay import consolidated, decider, inbox, record
from tests.replay.play import play
from tests.replay.scenario import Scenario
from tests.replay.small import provider
from tests.replay.stage import Stage
from tests.wire.dialects import Call, Says
from tests.wire.server import Request

Spoil = Callable[[str, dict[str, Any]], dict[str, Any] | None]


def decide(request: Request) -> Says:
    calls = decider.calls_for(request.turns[0][1])
    return Says("", [Call(name, given, f"call_{number}") for number, (name, given) in enumerate(calls)])


@pytest.mark.parametrize("scenario", [consolidated.SCENARIO, inbox.SCENARIO], ids=lambda one: one.name)
@pytest.mark.parametrize("wire", ["anthropic", "openai"])
def test_a_scene_about_entries_is_recorded_and_played(scenario: Scenario, wire: str, tmp_path: Path) -> None:
    with provider(decide) as one:
        asked = ["--only", scenario.name, "--wire", wire, "--endpoint", one.url, "--model", "live-reader"]
        assert record.main(asked, tmp_path) == 0
        assert len(one.requests) == {"consolidate-week": 3, "route-inbox": 1}[scenario.name]
    play(scenario, wire, tmp_path)


def week(spoil: Spoil) -> Stage:
    """The week, decided about well but for what is spoilt."""

    def answer(conversation: Conversation) -> Reply:
        calls = decider.calls_for(conversation.messages[0].prompt.text)  # type: ignore[union-attr]
        spoilt = ((name, spoil(name, dict(arguments))) for name, arguments in calls)
        return Reply("", tuple(ToolCall(name, one) for name, one in spoilt if one), stop_reason="tool_use")

    return Stage(ScriptedModel(answer))


def late(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The old day first."""
    text = str(given.get("text", ""))
    return (
        given | {"text": text.replace("2026-05-19 (before: 2026-05-12)", "2026-05-12, no: 2026-05-19")}
        if text
        else given
    )


def apart(name: str, given: dict[str, Any]) -> dict[str, Any] | None:
    """What contradicts itself is put side by side."""
    if name == "insert" and given["page"] == "technical":
        return None
    return given | {"blocks": "n2-n5, n7-n10"} if given.get("blocks") == "n3-n5, n7, n9-n10" else given


@pytest.mark.parametrize("spoil", [late, apart], ids=["the old day first", "side by side"])
def test_the_judge_of_the_week_sees_what_is_not_told_newest_first(spoil: Spoil) -> None:
    stage = week(spoil)
    shown = consolidated.act(stage)
    with pytest.raises(AssertionError, match="before"):
        consolidated.judge(stage, shown)


def test_the_judge_of_the_week_sees_a_lost_fact() -> None:
    stage = week(lambda name, given: given)
    shown = consolidated.act(stage)
    page = stage.storage.read("technical")
    stage.storage.write("technical", page.data.replace(b"2222", b"2223"))
    with pytest.raises(AssertionError):
        consolidated.judge(stage, shown)


def test_the_judge_of_the_week_sees_that_the_planner_decided() -> None:
    stage = week(lambda name, given: given)
    shown = consolidated.act(stage)
    with pytest.raises(AssertionError):
        consolidated.judge(stage, replace(shown, degraded="the model refused"))


def test_the_judge_of_the_inbox_sees_that_too_much_is_wrong() -> None:
    def answer(conversation: Conversation) -> Reply:
        everything = f"e1-e{len(inbox.NOTES)}"
        return Reply("", (ToolCall("route", {"notes": everything, "domain": "people"}),), stop_reason="tool_use")

    stage = Stage(ScriptedModel(answer))
    with pytest.raises(AssertionError, match="The booking page"):
        inbox.judge(stage, inbox.act(stage))
