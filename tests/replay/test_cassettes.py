"""The recordings that are kept: each is of a scenario, says where it comes from, and holds no secret."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

from tests.replay.cassette import FOLDER, cassette_file, dump, load
from tests.replay.leaks import keys, machines
from tests.replay.scenarios import SCENARIOS

TRACES = ("session", "scenario")
"""Folders of traces, which are no cassettes: of the demo, and of the half year of notes."""

CASSETTES = sorted(FOLDER.rglob("*.yaml"))
FILES = {file for file in FOLDER.rglob("*") if file.is_file()}


def unsigned(file: Path) -> Iterator[str]:
    """What a cassette does not say of itself, or says wrongly."""
    signed = load(file)["recorded"]
    for part in ("at", "model", "wire", "endpoint", "how"):
        if not isinstance(signed.get(part), str) or not signed[part].strip():
            yield f"{file}: {part}"
    if signed.get("wire") != file.parent.name:
        yield f"{file}: another wire"
    date.fromisoformat(signed["at"])


def test_every_scenario_is_recorded_by_each_of_its_wires_and_nothing_else_is_there() -> None:
    wanted = {cassette_file(scenario.name, wire) for scenario in SCENARIOS for wire in scenario.wires}
    traces = {file for name in TRACES for file in (FOLDER / name).glob("*.jsonl")}
    assert wanted | traces | {FOLDER / "README.md"} == FILES


def test_each_cassette_says_when_from_which_model_and_how_it_was_recorded() -> None:
    assert [found for file in CASSETTES for found in unsigned(file)] == []


def test_no_recording_holds_a_key() -> None:
    assert [found for file in FILES for found in keys(file)] == []


def test_no_cassette_tells_of_the_machine_on_which_it_was_recorded() -> None:
    assert [found for file in CASSETTES for found in machines(file)] == []


def test_a_key_a_header_and_what_tells_of_a_machine_are_noticed(tmp_path: Path) -> None:
    cassette = load(CASSETTES[0])
    cassette["interactions"][0]["response"]["headers"]["x-api-key"] = ["none"]
    cassette["interactions"][0]["request"]["uri"] = "https://api.example.com/v1/messages"
    cassette["recorded"] |= {"how": "By hand, see /Users/ada.", "model": "sk-" + "ant-api03-aB1_" * 3}
    copy = tmp_path / "copy.yaml"
    copy.write_text(dump(cassette), "utf-8")
    assert keys(copy) == ["copy.yaml: Anthropic API key at recorded.model"]
    assert machines(copy) == [
        "copy.yaml: a path of a machine at recorded.how",
        "copy.yaml: the host in the address of request 1",
        "copy.yaml: the headers ['x-api-key'] of response 1",
    ]
