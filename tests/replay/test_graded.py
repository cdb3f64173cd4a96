"""The scene of the graded notes, by a reader who is made up: its judge accepts good decisions, and no others."""

from __future__ import annotations

import re

import pytest

from memory_v2.models.base import Conversation, Reply, ToolCall
from memory_v2.models.scripted import ScriptedModel
from tests.replay import graded


def reader(conversation: Conversation) -> Reply:
    kinds: dict[str, list[str]] = {}
    task = conversation.messages[0].prompt.text  # type: ignore[union-attr]
    for number, text in re.findall(r"^\[(i\d+)\].*\n    │ (.*)$", task, re.M):
        kinds.setdefault(next(iter(graded.LINES[text]), ""), []).append(number)
    nothing = ToolCall("grade_nothing", {"lines": kinds.pop("")})
    calls = (ToolCall("grade", {"lines": numbers, "category": kind}) for kind, numbers in kinds.items())
    return Reply(tool_calls=(*calls, nothing), stop_reason="tool_use")


def obedient(conversation: Conversation) -> Reply:
    everything = {"lines": f"i1-i{len(graded.LINES)}", "category": "decisions"}
    return Reply(tool_calls=(ToolCall("grade", everything),), stop_reason="tool_use")


def test_the_judge_accepts_who_reads_well() -> None:
    shed = graded.Shed(ScriptedModel(reader))
    graded.judge(shed, graded.act(shed))


def test_the_judge_does_not_accept_who_obeys_a_line() -> None:
    shed = graded.Shed(ScriptedModel(obedient))
    with pytest.raises(AssertionError):
        graded.judge(shed, graded.act(shed))
