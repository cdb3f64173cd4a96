"""Recording again: what is good takes the old one's place, what is not is left aside and told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_v2.operations.results import WriteResult
from tests.replay import record
from tests.replay.cassette import cassette_file, load
from tests.replay.play import WIRES
from tests.replay.scenario import Scenario
from tests.replay.small import decide, provider, recorded, tea
from tests.replay.stage import Stage
from tests.wire.dialects import Says
from tests.wire.server import Fails, Provider, Request

KEY = "a-key-of-nobody"


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One scenario, no keys, and a temporary folder for what is left aside."""
    monkeypatch.setattr(record, "SCENARIOS", (tea(),))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for vendor in record.VENDORS.values():
        monkeypatch.delenv(vendor.key, raising=False)


@pytest.fixture
def one() -> Iterator[Provider]:
    with provider() as one:
        yield one


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cassettes"


def names(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_all_is_recorded_from_a_local_endpoint_without_a_key(one: Provider, folder: Path) -> None:
    assert record.main(["--endpoint", f"{one.url}/v1/"], folder) == 0
    assert names(folder) == sorted(f"{wire}/tea.yaml" for wire in WIRES)
    assert len(one.requests) == 2 * len(WIRES)


def test_a_recording_says_when_from_which_model_and_how_it_was_made(one: Provider, folder: Path) -> None:
    asked = ["--endpoint", one.url, "--model", "m-1", "--how", "On a Sunday.", "--only", "tea", "--wire", "openai"]
    assert record.main(asked, folder) == 0
    assert names(folder) == ["openai/tea.yaml"]
    signed = load(folder / "openai" / "tea.yaml")["recorded"]
    assert signed | {"at": ""} == {
        "at": "",
        "model": "m-1",
        "wire": "openai",
        "endpoint": "a local endpoint",
        "how": "On a Sunday.",
    }


def test_neither_a_key_nor_the_address_gets_into_a_recording(
    one: Provider, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "is_local", lambda endpoint: False)
    for vendor in record.VENDORS.values():
        monkeypatch.setenv(vendor.key, KEY)
    monkeypatch.setattr(record, "machines", lambda file: [])  # the endpoint's name is this machine's here
    assert record.main(["--endpoint", one.url], folder) == 0
    assert {request.key for request in one.requests} == {KEY}, "the key was sent"
    for wire in WIRES:
        kept = cassette_file("tea", wire, folder).read_text("utf-8")
        assert KEY not in kept
        assert one.url.rpartition(":")[2] not in kept


def test_a_key_is_sent_to_nobody_on_this_machine(one: Provider, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for vendor in record.VENDORS.values():
        monkeypatch.setenv(vendor.key, KEY)
    assert record.main(["--endpoint", one.url], folder) == 0
    assert {request.key for request in one.requests} == {"none"}


def refusing(stage: Stage, result: WriteResult) -> None:
    raise AssertionError("there is no coffee")


def failing(_: Request) -> Fails:
    return Fails(529, "too many guests")


@pytest.mark.parametrize(
    ("scenario", "script", "told", "requests"),
    [
        pytest.param(Scenario("tea", "", tea().act, refusing), decide, "there is no coffee", 2, id="judge"),
        pytest.param(tea(), failing, "request 1 failed", 1, id="provider"),
        pytest.param(tea(), lambda _: Says(stop="refusal"), "DEGRADED", 1, id="planner"),
        pytest.param(tea("Tea is at four, in /home/ada/kitchen.\n"), decide, "a path of a machine", 2, id="machine"),
        pytest.param(tea("Tea is at four, sk-" + "a1" * 12), decide, "a provider's key", 2, id="key"),
        pytest.param(Scenario("tea", "", lambda stage: None, refusing), decide, "was not asked", 0, id="nothing"),
        pytest.param(Scenario("tea", "", lambda stage: 1 // 0, refusing), decide, "ZeroDivision", 0, id="error"),
    ],
)
def test_what_is_not_good_is_left_aside_and_the_old_one_stays(
    scenario: Scenario,
    script: object,
    told: str,
    requests: int,
    tmp_path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    old = recorded(folder).read_bytes()
    monkeypatch.setattr(record, "SCENARIOS", (scenario,))
    capsys.readouterr()
    with provider(script) as one:  # type: ignore[arg-type]  # pytest's parameters have no types
        assert record.main(["--endpoint", one.url, "--wire", "anthropic"], folder) == 1
        assert len(one.requests) == requests
    said = capsys.readouterr().out
    assert told in said
    assert "tea (anthropic): FAILED" in said
    assert "0 of 1 recorded" in said
    assert cassette_file("tea", "anthropic", folder).read_bytes() == old
    (aside,) = tmp_path.glob("recorded-*/anthropic/tea.yaml")
    assert str(aside) in said
