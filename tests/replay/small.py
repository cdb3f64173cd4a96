"""A small scenario and a provider on this machine to record it from: to try out what recordings are to notice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_socket import disable_socket, enable_socket, socket_allow_hosts

from memory_v2.operations.results import WriteResult
from tests.replay.cassette import cassette_file
from tests.replay.play import NO_KEY, WIRES
from tests.replay.record import Source, record
from tests.replay.scenario import Scenario
from tests.replay.stage import Stage
from tests.wire.dialects import Call, Says
from tests.wire.server import HOST, Provider, Request, Script, serving

TEXT = "Tea is at four.\n"
LOOK = Says("Let me look first.", [Call("read_pages", {"paths": ["memory"]}, "call_1")])
PLACE = Says("", [Call("place", {"blocks": "n1", "page": "memory"}, "call_2")])


def tea(text: str = TEXT) -> Scenario:
    """A write that takes two requests."""
    return Scenario("tea", "a small write", lambda stage: stage.memory.write(text), judge_tea, WIRES)


def judge_tea(stage: Stage, result: WriteResult) -> None:
    assert "Tea is at" in stage.text(result.path)
    assert result.degraded == ""


def decide(request: Request) -> Says:
    return PLACE if any(turn[0] == "result" for turn in request.turns) else LOOK


@contextmanager
def provider(script: Script = decide) -> Iterator[Provider]:
    """Who answers; no other machine can be reached meanwhile, and none at all afterwards."""
    enable_socket()
    socket_allow_hosts([HOST], allow_unix_socket=True)
    try:
        with serving() as one:
            one.script = script
            yield one
    finally:
        disable_socket(allow_unix_socket=True)


def source(wire: str, one: Provider) -> Source:
    return Source(wire, one.url, NO_KEY, "some-model", "By a test.")


def recorded(folder: Path, wire: str = "anthropic") -> Path:
    """A recording of the small scenario."""
    with provider() as one:
        assert record(tea(), source(wire, one), folder, folder / "aside")
    return cassette_file("tea", wire, folder)
