"""The recordings that are kept: each is of a scenario, says where it comes from, and tells no secret."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.replay.cassette import FOLDER, Readable, cassette_file, digest, dump, load
from tests.replay.leaks import keys, machines, name
from tests.replay.scenarios import SCENARIOS
from tests.replay.small import recorded

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
        f"anthropic/{SCENARIOS[0].name}.partial",
        f"{SCENARIOS[0].name}.yaml",
        f"{TRACES[0]}/1.yaml",
        f"{TRACES[0]}/more/1.jsonl",
        f"anthropic/{README}",
    ],
)
def test_an_orphan_is_noticed(stray: str, complete: Path) -> None:
    (complete / stray).parent.mkdir(exist_ok=True)
    (complete / stray).touch()
    assert orphans(complete) == [stray]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cassette that has nothing wrong with it."""
    file = recorded(tmp_path_factory.mktemp("sound"))
    assert [*unsigned(file), *keys(file), *machines(file)] == []
    return file


@pytest.fixture
def planted(sound: Path, tmp_path: Path) -> Callable[[Callable[[Any], object]], Path]:
    """Makes a copy of it with something changed in it."""

    def plant(how: Callable[[Any], object]) -> Path:
        cassette = load(sound)
        how(cassette)
        copy = cassette_file("copy", "anthropic", tmp_path)
        copy.parent.mkdir()
        copy.write_text(dump(cassette), "utf-8")
        return copy

    return plant


Planted = Callable[[Callable[[Any], object]], Path]

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
def test_a_key_in_a_request_is_noticed(kind: str, secret: str, planted: Planted) -> None:
    def plant(cassette: Any) -> None:
        cassette["interactions"][0]["request"]["body"]["json"]["messages"][0]["content"][0]["text"] += f"see {secret}\n"

    place = "interactions[0].request.body.json.messages[0].content[0].text"
    assert keys(planted(plant)) == [f"anthropic/copy.yaml: {kind} at {place}"]


@pytest.mark.parametrize(("kind", "secret"), SECRETS.items(), ids=SECRETS)
def test_a_key_in_an_answer_is_noticed(kind: str, secret: str, planted: Planted) -> None:
    def plant(cassette: Any) -> None:
        cassette["interactions"][1]["response"]["body"] = {"text": f"<html>{secret}"}

    assert keys(planted(plant)) == [f"anthropic/copy.yaml: {kind} at interactions[1].response.body.text"]


@pytest.mark.parametrize(("kind", "secret"), SECRETS.items(), ids=SECRETS)
def test_a_key_in_a_trace_is_noticed(kind: str, secret: str, tmp_path: Path) -> None:
    trace = tmp_path / "1.jsonl"
    trace.write_text(json.dumps({"event": "begin"}) + "\n" + json.dumps({"text": ["one", secret]}) + "\n", "utf-8")
    assert keys(trace) == [f"{tmp_path.name}/1.jsonl: {kind} at [1].text[1]"]


@pytest.mark.parametrize("header", ["x-api-key", "authorization", "Authorization", "set-cookie", "openai-organization"])
@pytest.mark.parametrize("side", ["request", "response"])
def test_a_header_that_carries_a_key_is_noticed(header: str, side: str, planted: Planted) -> None:
    def plant(cassette: Any) -> None:
        cassette["interactions"][1][side]["headers"][header] = ["none"]

    copy = planted(plant)
    assert keys(copy) == [f"anthropic/copy.yaml: a header that carries a key at interactions[1].{side}.headers"]
    assert machines(copy) == [f"anthropic/copy.yaml: the headers ['{header}'] of {side} 2"]


@pytest.mark.parametrize(
    "words",
    ["/home/ada/notes.md", "see /Users/ada", "/root/.config", "/tmp/x", r"C:\Users\Ada", "localhost:8765", "127.0.0.1"],
)
def test_what_tells_of_a_machine_is_noticed(words: str, planted: Planted) -> None:
    def plant(cassette: Any) -> None:
        cassette["recorded"]["how"] = f"By hand, from {words}."

    (found,) = machines(planted(plant))
    assert found.startswith("anthropic/copy.yaml: ") and found.endswith(" of a machine at recorded.how")


def test_a_host_in_an_address_is_noticed(planted: Planted) -> None:
    def plant(cassette: Any) -> None:
        cassette["interactions"][1]["request"]["uri"] = "https://api.example.com/v1/messages"

    assert machines(planted(plant)) == ["anthropic/copy.yaml: the host in the address of request 2"]


@pytest.mark.parametrize(
    ("part", "value", "noticed"),
    [
        ("model", "", "model"),
        ("how", None, "how"),
        ("at", "yesterday", "no date"),
        ("wire", "openai", "another wire"),
    ],
)
def test_a_cassette_that_does_not_say_where_it_comes_from_is_noticed(
    part: str, value: str | None, noticed: str, planted: Planted
) -> None:
    copy = planted(lambda cassette: cassette["recorded"].update({part: value}))
    assert list(unsigned(copy)) == [f"anthropic/copy.yaml: {noticed}"]


# how it is written down


TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.text("a \n\t-#:|>é–\x85\u2028\ufeff\x00\r", max_size=30)
BODIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(BODIES, BODIES)
def test_whatever_a_body_says_is_read_again(asked: Any, answered: Any) -> None:
    one = {
        "request": {"method": "POST", "uri": "/", "headers": {}, "body": json.dumps({"messages": [asked, asked]})},
        "response": {"status": {}, "headers": {}, "body": {"string": json.dumps(answered)}},
    }
    again = Readable.deserialize(Readable.serialize({"version": 1, "interactions": [one, one]}))["interactions"]
    assert len(again) == 2
    for read in again:
        assert json.loads(read["request"]["body"]) == {"messages": [asked, asked]}
        assert json.loads(read["response"]["body"]["string"]) == answered


@pytest.mark.parametrize("body", ["<html>\n", "", '"\\ud800"'])
def test_a_body_that_is_no_tree_is_kept_as_it_is(body: str) -> None:
    one = {
        "request": {"method": "POST", "uri": "/", "headers": {}, "body": body},
        "response": {"status": {}, "headers": {}, "body": {"string": body}},
    }
    (again,) = Readable.deserialize(Readable.serialize({"version": 1, "interactions": [one]}))["interactions"]
    assert (again["request"]["body"], again["response"]["body"]["string"]) == (body, body)


def test_a_request_is_known_by_what_its_body_says() -> None:
    assert digest(b'{"a": 1, "b": [1, 2]}') == digest(b'{"b":[1,2],"a":1}')
    assert digest(b'{"a": 1, "b": [1, 2]}') != digest(b'{"a": 1, "b": [2, 1]}')
    assert digest(b"no JSON") != digest(b"no  JSON")
