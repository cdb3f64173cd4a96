"""The agents whose sessions are recorded: they show a model what the faces give, and nothing of a run is by chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.tools import claude_tools, dispatch, openai_tools
from tests.replay.agents import AGENT_WIRES, MOST_TURNS, Desk, carried_out_on
from tests.replay.cassette import cassette_file, load
from tests.replay.counted import counted_ids
from tests.replay.play import ReplayFailed, play
from tests.replay.record import record
from tests.replay.scenario import Scenario
from tests.replay.small import provider, source
from tests.wire.dialects import Call, Says
from tests.wire.server import Request

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
WORDS = "remember that tea is at four"
wires = pytest.mark.parametrize("wire", AGENT_WIRES)


def agent(request: Request) -> Says:
    """Notes what it is told, makes a mistake, looks at the history, and answers."""
    made = [
        Call("write_memory", {"content": "Tea is at four."}, "call_1"),
        Call("read_memory", {"path": "coffee"}, "call_2"),
        Call("memory_history", {}, "call_3"),
    ]
    done = sum(turn[0] == "result" for turn in request.turns)
    return Says(calls=[made[done]]) if done < len(made) else Says("Noted.")


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    """A short session, each time with a new memory."""
    numbers = iter(range(10))

    def act(desk: Desk) -> Desk:
        with Memory(LocalStorage(tmp_path / f"memory-{next(numbers)}"), now=lambda: NOW) as memory, counted_ids("1"):
            desk.session("Be brief.", desk.agent.model.tools(memory), [WORDS], carried_out_on(memory))
        return desk

    return Scenario("tea", "an agent notes something", act, judge, AGENT_WIRES, Desk)


def judge(_: Desk, desk: Desk) -> None:
    assert desk.answers == ["Noted."]
    assert [call.name for call in desk.calls[0]] == ["write_memory", "read_memory", "memory_history"]


@pytest.fixture
def recorded(scenario: Scenario, tmp_path: Path) -> Callable[[str], list[Request]]:
    """Records the scenario by a wire; what was asked."""

    def recorded(wire: str) -> list[Request]:
        with provider(agent) as one:
            assert record(scenario, source(wire, one), tmp_path, tmp_path / "aside")
            assert not one.complaints
            return one.requests

    return recorded


@wires
def test_a_session_of_an_agent_is_played_again_to_the_letter(
    wire: str, scenario: Scenario, recorded: Callable[[str], list[Request]], tmp_path: Path
) -> None:
    recorded(wire)
    play(scenario, wire, tmp_path)
    with pytest.raises(ReplayFailed, match=r"request 2: .* is not recorded"):
        play(replace(scenario, act=otherwise(scenario)), wire, tmp_path)


def otherwise(scenario: Scenario) -> Callable[[Desk], Any]:
    """The session, with tools whose results say something else."""

    def act(desk: Desk) -> Any:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("tests.replay.agents.dispatch", lambda *call: replace(dispatch(*call), text="Done."))
            return scenario.act(desk)

    return act


@wires
def test_an_agent_gets_the_tools_and_results_that_the_memory_gives(
    wire: str, recorded: Callable[[str], list[Request]], tmp_path: Path
) -> None:
    requests = recorded(wire)
    (body, *_) = [one["request"]["body"]["json"] for one in load(cassette_file("tea", wire, tmp_path))["interactions"]]
    memory = Memory(LocalStorage(tmp_path / "another"))
    assert body["tools"] == {AGENT_WIRES[0]: claude_tools, AGENT_WIRES[1]: openai_tools}[wire](memory)
    results = [turn[2] for turn in requests[-1].turns if turn[0] == "result"]
    assert results[0].startswith("Written on 'memory'")
    assert "list_memory_files" in results[1]


def test_with_counted_ids_two_runs_have_the_same_history(tmp_path: Path) -> None:
    told = []
    for number in range(2):
        with Memory(LocalStorage(tmp_path / str(number)), now=lambda: NOW) as memory, counted_ids("1"):
            for text in ("Tea is at four.", "Coffee is at nine."):
                dispatch(memory, "write_memory", {"content": text})
            told.append(dispatch(memory, "memory_history", {}).text)
    assert told[0] == told[1]
    assert len({line.split()[0] for line in told[0].splitlines()}) == 2


def test_an_agent_that_goes_in_circles_is_stopped(scenario: Scenario, tmp_path: Path) -> None:
    with provider(lambda _: Says(calls=[Call("memory_history", {}, "call_1")])) as one:
        assert not record(scenario, source(AGENT_WIRES[0], one), tmp_path, tmp_path / "aside")
        assert len(one.requests) == MOST_TURNS
