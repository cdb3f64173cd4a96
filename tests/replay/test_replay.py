"""What a live model decided comes about again from its recording, and from nothing else."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pytest_socket import SocketBlockedError

import memory_v2.prompts
from tests.replay.cassette import cassette_file, dump, load
from tests.replay.play import ReplayFailed, play
from tests.replay.scenario import Scenario
from tests.replay.scenarios import SCENARIOS

PLAYED = [
    pytest.param(scenario, wire, id=f"{scenario.name}-{wire}") for scenario in SCENARIOS for wire in scenario.wires
]
FIRST = SCENARIOS[0]


@pytest.mark.parametrize(("scenario", "wire"), PLAYED)
def test_what_was_decided_live_is_decided_again(scenario: Scenario, wire: str) -> None:
    play(scenario, wire)


def garbled(cassette: Any) -> None:
    cassette["interactions"][0]["response"]["body"] = {"text": "<html>"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda cassette: cassette["interactions"][0]["request"].update(body={"json": {}}), "request 1: .* differs at"),
        (lambda cassette: cassette["interactions"].append(cassette["interactions"][0]), "recorded requests were not"),
        (lambda cassette: cassette["interactions"].clear(), "nothing is recorded of POST"),
        (garbled, "answer 1 cannot be read"),
    ],
    ids=["another request", "half played", "missing", "unreadable answer"],
)
def test_a_play_that_leaves_its_recording_fails(change: Callable[[Any], object], problem: str, tmp_path: Path) -> None:
    cassette = load(cassette_file(FIRST.name, "anthropic"))
    change(cassette)
    file = cassette_file(FIRST.name, "anthropic", tmp_path)
    file.parent.mkdir()
    file.write_text(dump(cassette), "utf-8")
    with pytest.raises(ReplayFailed, match=problem):
        play(FIRST, "anthropic", tmp_path)


def test_a_changed_prompt_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    render = memory_v2.prompts.render

    def changed(name: str, data: Mapping[str, Any]) -> str:
        return render(name, data) + (" Be brief." if name == "write/system" else "")

    monkeypatch.setattr(memory_v2.prompts, "render", changed)
    with pytest.raises(ReplayFailed, match=r"differs at system\[0\]\.text:(.|\n)* Be brief\."):
        play(FIRST, "anthropic")


def test_a_scenario_without_a_recording_fails(tmp_path: Path) -> None:
    with pytest.raises(ReplayFailed, match="is not recorded"):
        play(FIRST, "anthropic", tmp_path)


def test_a_decision_that_the_judge_does_not_accept_fails() -> None:
    def judge(stage: Any, result: Any) -> None:
        assert result is None

    with pytest.raises(AssertionError, match="is None"):
        play(Scenario(FIRST.name, "", FIRST.act, judge), "anthropic")


@pytest.mark.filterwarnings("ignore:A test tried to use socket")
def test_no_test_opens_a_socket_that_does_not_say_so() -> None:
    with pytest.raises(SocketBlockedError):
        socket.create_connection(("192.0.2.1", 443), timeout=1)
