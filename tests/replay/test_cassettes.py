"""The recordings that are kept: each is of a scenario, says where it comes from, and tells no secret."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.replay.cassette import FOLDER, cassette_file, dump, load
from tests.replay.leaks import keys, machines, name
from tests.replay.scenarios import SCENARIOS

README = "README.md"
TRACES = ("session", "scenario")
"""Folders of traces, which are no cassettes: of the demo, and of the half year of notes."""

CASSETTES = sorted(FOLDER.rglob("*.yaml"))
FILES = sorted(file for file in FOLDER.rglob("*") if file.is_file())


def wanted(folder: Path) -> set[Path]:
    return {cassette_file(scenario.name, wire, folder) for scenario in SCENARIOS for wire in scenario.wires}


def unrecorded(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in wanted(folder) if not file.is_file())


def orphans(folder: Path) -> list[str]:
    """The files that no scenario plays."""
    traces = {file for name in TRACES for file in (folder / name).glob("*.jsonl")}
    files = {file for file in folder.rglob("*") if not file.is_dir()}
    return sorted(str(file.relative_to(folder)) for file in files - traces - wanted(folder) - {folder / README})


def unsigned(file: Path) -> Iterator[str]:
    """What a cassette does not say of itself, or says wrongly."""
    signed = load(file)["recorded"]
    for part in ("at", "model", "wire", "endpoint", "how"):
        if not isinstance(signed.get(part), str) or not signed[part].strip():
            yield f"{name(file)}: {part}"
    if signed.get("wire") != file.parent.name:
        yield f"{name(file)}: another wire"
    try:
        date.fromisoformat(str(signed.get("at")))
    except ValueError:
        yield f"{name(file)}: no date"


def test_every_scenario_is_recorded_by_each_of_its_wires() -> None:
    assert unrecorded(FOLDER) == []


def test_every_recording_is_of_a_scenario() -> None:
    assert orphans(FOLDER) == []


def test_each_cassette_says_when_from_which_model_and_how_it_was_recorded() -> None:
    assert [found for file in CASSETTES for found in unsigned(file)] == []


def test_no_recording_holds_a_key() -> None:
    assert [found for file in FILES for found in keys(file)] == []


def test_no_cassette_tells_of_the_machine_on_which_it_was_recorded() -> None:
    assert [found for file in CASSETTES for found in machines(file)] == []


# each of these checks notices what it is there for


@pytest.fixture
def complete(tmp_path: Path) -> Path:
    """A folder in which nothing is missing."""
    for file in [*wanted(tmp_path), tmp_path / README, *(tmp_path / one / "1.jsonl" for one in TRACES)]:
        file.parent.mkdir(exist_ok=True)
        file.touch()
    assert unrecorded(tmp_path) == orphans(tmp_path) == []
    return tmp_path


def test_a_missing_recording_is_noticed(complete: Path) -> None:
    file = cassette_file(SCENARIOS[0].name, SCENARIOS[0].wires[0], complete)
    file.unlink()
    assert unrecorded(complete) == [f"{SCENARIOS[0].wires[0]}/{SCENARIOS[0].name}.yaml"]


@pytest.mark.parametrize(
    "stray",
    [
        "anthropic/nobody.yaml",
        f"nowhere/{SCENARIOS[0].name}.yaml",
        f"anthropic/{SCENARIOS[0].name}.yml",
        f"{TRACES[0]}/1.yaml",
        f"{TRACES[0]}/more/1.jsonl",
        f"anthropic/{README}",
    ],
)
def test_an_orphan_is_noticed(stray: str, complete: Path) -> None:
    (complete / stray).parent.mkdir(exist_ok=True)
    (complete / stray).touch()
    assert orphans(complete) == [stray]


Planted = Callable[[Callable[[Any], object]], Path]


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    """Makes a copy of a cassette with something changed in it."""

    def plant(how: Callable[[Any], object]) -> Path:
        cassette = load(CASSETTES[0])
        how(cassette)
        copy = cassette_file("copy", CASSETTES[0].parent.name, tmp_path)
        copy.parent.mkdir()
        copy.write_text(dump(cassette), "utf-8")
        return copy

    return plant


# Put together here, so that no scanner takes these for real.
SECRETS = {
    "a provider's key": "sk-" + "ant-api03-aB1_" * 3,
    "a bearer token": "Bearer " + "abc123def456",
    "a JSON web token": "eyJhbGciOiJI" + ".eyJzdWIiOiIx" + ".c2lnbmVk",
    "a key of AWS": "AKIA" + "ABCDEFGH23456789",
    "a key of Google": "AIza" + "x1" * 18,
    "a token of GitHub": "ghp_" + "a1" * 18,
    "a token of Slack": "xoxb-" + "123456-abcdef",
    "a token of Hugging Face": "hf_" + "aB" * 17,
    "a private key": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "a header that carries a key": "X-API-Key: " + "abc",
}


@pytest.mark.parametrize(("kind", "secret"), SECRETS.items(), ids=SECRETS)
def test_a_key_in_a_trace_is_noticed(kind: str, secret: str, tmp_path: Path) -> None:
    trace = tmp_path / "1.jsonl"
    trace.write_text(json.dumps({"event": "begin"}) + "\n" + json.dumps({"text": ["one", secret]}) + "\n", "utf-8")
    assert keys(trace) == [f"{tmp_path.name}/1.jsonl: {kind} at [1].text[1]"]


@pytest.mark.parametrize(
    ("side", "words"),
    [("request", "see /Users/ada"), ("response", "localhost:8765")],
)
def test_a_header_that_carries_a_key_and_what_tells_of_a_machine_are_noticed(
    side: str, words: str, planted: Planted
) -> None:
    def plant(cassette: Any) -> None:
        cassette["interactions"][0][side]["headers"]["x-api-key"] = ["none"]
        cassette["interactions"][0]["request"]["uri"] = "https://api.example.com/v1/messages"
        cassette["recorded"] |= {"how": f"By hand, from {words}.", "at": "yesterday"}

    copy = planted(plant)
    assert [found.partition(" at ")[2] for found in keys(copy)] == [f"interactions[0].{side}.headers"]
    assert [found.partition(": ")[2] for found in machines(copy)][1:] == [
        "the host in the address of request 1",
        f"the headers ['x-api-key'] of {side} 1",
    ]
    assert [found.partition(": ")[2] for found in unsigned(copy)] == ["no date"]
