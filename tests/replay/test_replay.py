"""What a live model decided comes about again from its recording, and from nothing else."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_socket import SocketBlockedError

import memory_v2.agent.loop
import memory_v2.prompts
from memory_v2.errors import SilicaError
from memory_v2.operations.results import WriteResult
from tests.replay.cassette import dump, load
from tests.replay.play import WIRES, ReplayFailed, play, unlike
from tests.replay.scenario import Scenario
from tests.replay.scenarios import SCENARIOS
from tests.replay.small import TEXT, recorded, tea
from tests.replay.stage import Stage

PLAYED = [
    pytest.param(scenario, wire, id=f"{scenario.name}-{wire}") for scenario in SCENARIOS for wire in scenario.wires
]


@pytest.mark.parametrize(("scenario", "wire"), PLAYED)
def test_what_was_decided_live_is_decided_again(scenario: Scenario, wire: str) -> None:
    play(scenario, wire)


@pytest.mark.parametrize("wire", WIRES)
def test_a_recording_is_played_without_whom_it_was_recorded_from(wire: str, tmp_path: Path) -> None:
    recorded(tmp_path, wire)
    play(tea(), wire, tmp_path)


@pytest.mark.parametrize("wire", WIRES)
def test_an_unrecorded_request_fails_at_once_and_says_where_it_differs(
    wire: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(tmp_path, wire)
    asked = counted(monkeypatch)
    with pytest.raises(ReplayFailed) as failed:
        play(tea("Tea is at five.\n"), wire, tmp_path)
    for told in (f"tea ({wire}), request 1:", "Tea is at four", "Tea is at five", f"make record ONLY=tea WIRE={wire}"):
        assert told in str(failed.value)
    assert len(asked) == 1, "it was tried again"


def test_a_request_fails_that_is_made_more_often_than_it_was_recorded(tmp_path: Path) -> None:
    recorded(tmp_path)
    twice = acting(
        lambda stage: [other.memory.write(TEXT) for other in (stage, Stage(stage.memory._engine.parts.model))]
    )
    with pytest.raises(ReplayFailed, match="request 3: POST /v1/messages is made more often than it is recorded"):
        play(twice, "anthropic", tmp_path)


def test_a_request_fails_whose_place_in_the_recording_is_missing(tmp_path: Path) -> None:
    change(recorded(tmp_path), lambda cassette: cassette["interactions"].pop())
    with pytest.raises(ReplayFailed, match=r"request 2: .* number 1, differs at messages.* more places"):
        play(tea(), "anthropic", tmp_path)


def test_a_failed_request_fails_the_play_even_if_the_scenario_gets_over_it(tmp_path: Path) -> None:
    def gets_over(stage: Stage) -> WriteResult:
        with suppress(SilicaError):
            stage.memory.write("Tea is at five.\n")
        return stage.offline.write(TEXT)

    recorded(tmp_path)
    with pytest.raises(ReplayFailed, match="is not recorded"):
        play(acting(gets_over), "anthropic", tmp_path)


@pytest.mark.parametrize(
    ("template", "place"),
    [
        ("write/system", r"system\[0\]\.text"),
        ("write/task", r"messages\[0\]\.content\[0\]\.text"),
        ("tools/place", r"tools\[1\]\.description"),
        ("pages", r"messages\[2\]\.content\[0\]\.content"),
    ],
)
def test_a_changed_template_fails(template: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(tmp_path)
    render = memory_v2.prompts.render

    def changed(name: str, data: Mapping[str, Any]) -> str:
        return render(name, data) + (" Be brief." if name == template else "")

    monkeypatch.setattr(memory_v2.prompts, "render", changed)
    with pytest.raises(ReplayFailed, match=rf"differs at {place}:(.|\n)* Be brief\."):
        play(tea(), "anthropic", tmp_path)


def test_a_half_played_recording_fails(tmp_path: Path) -> None:
    change(recorded(tmp_path), lambda cassette: cassette["interactions"].append(cassette["interactions"][0]))
    with pytest.raises(ReplayFailed, match="1 of 3 recorded requests were not made"):
        play(tea(), "anthropic", tmp_path)


def test_a_recorded_answer_that_cannot_be_read_fails(tmp_path: Path) -> None:
    def garble(cassette: Any) -> None:
        cassette["interactions"][1]["response"]["body"] = {"text": "<html>"}

    change(recorded(tmp_path), garble)
    with pytest.raises(ReplayFailed, match="answer 2 cannot be read"):
        play(tea(), "anthropic", tmp_path)


def test_a_scenario_without_a_recording_fails(tmp_path: Path) -> None:
    with pytest.raises(ReplayFailed, match=r"tea \(openai\) is not recorded"):
        play(tea(), "openai", tmp_path)


def test_a_decision_that_the_judge_does_not_accept_fails(tmp_path: Path) -> None:
    recorded(tmp_path)

    def judge(stage: Stage, result: WriteResult) -> None:
        assert "coffee" in stage.text()

    with pytest.raises(AssertionError, match="coffee"):
        play(Scenario("tea", "", tea().act, judge), "anthropic", tmp_path)


def test_a_request_to_another_address_is_told() -> None:
    asked, other = (
        SimpleNamespace(method="POST", path=path, body=b"{}") for path in ("/v1/embeddings", "/v1/messages")
    )
    assert unlike(asked, [other]) == "nothing is recorded of POST /v1/embeddings"


@pytest.mark.filterwarnings("ignore:A test tried to use socket")
@pytest.mark.parametrize("host", ["127.0.0.1", "192.0.2.1"])
def test_no_test_opens_a_socket_that_does_not_say_so(host: str) -> None:
    with pytest.raises(SocketBlockedError):
        socket.create_connection((host, 443), timeout=1)


def acting(act: Callable[[Stage], Any]) -> Scenario:
    return Scenario("tea", "other requests than were recorded", act, lambda stage, result: None)


def change(file: Path, how: Callable[[Any], object]) -> None:
    cassette = load(file)
    how(cassette)
    file.write_text(dump(cassette), "utf-8")


def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Each try to have a model answer."""
    tries: list[object] = []
    answer = memory_v2.agent.loop._answer

    def counting(*asked: Any) -> Any:
        tries.append(asked)
        return answer(*asked)

    monkeypatch.setattr(memory_v2.agent.loop, "_answer", counting)
    return tries
