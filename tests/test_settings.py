"""What can be set by the environment, and what is refused before anything is done with it."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_v2.errors import InvalidSetting
from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Reply
from memory_v2.models.scripted import ScriptedModel
from memory_v2.settings import DEFAULT_CACHE_TTL, DEFAULT_TRACES, Limits, S3Settings, Settings
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.opened import open_storage
from tests.operations.scenes import call, calls

DEFAULTS = Limits()
LOOK = calls(call("read_pages", paths=["memory"]))


def limits(text: str) -> Limits:
    return Settings.from_environment({"SILICA_MEMORY_LIMITS": text}).limits


def traces(text: str) -> int:
    return Settings.from_environment({"SILICA_MEMORY_TRACES": text}).traces


def prices(text: str) -> Path | None:
    return Settings.from_environment({"SILICA_MEMORY_PRICES": text}).prices


# limits


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("turns=8", Limits(turns=8)),
        ("turns=8,money=0.05", Limits(turns=8, money=0.05)),
        ("turns=8,tokens=50000,seconds=60,money=0.05", Limits(8, 50_000, 60.0, 0.05)),
        (" seconds = 1.5 , turns = 3 ", Limits(turns=3, seconds=1.5)),
        ("money=1e-3", Limits(money=0.001)),
        ("turns=0,tokens=0,seconds=0,money=0", Limits(0, 0, 0.0, 0.0)),
        ("turns=8,", Limits(turns=8)),
        (",", DEFAULTS),
        ("", DEFAULTS),
    ],
)
def test_limits_that_are_not_named_stay_as_they_are(text: str, expected: Limits) -> None:
    assert limits(text) == expected


@pytest.mark.parametrize(("text", "part"), [("turns=8,money=dear", "'money=dear'"), ("turns=-1,money=1", "'turns=-1'")])
def test_the_part_that_means_nothing_is_named(text: str, part: str) -> None:
    with pytest.raises(InvalidSetting, match=part):
        limits(text)


def test_the_limits_of_the_environment_are_those_of_the_operations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SILICA_MEMORY_LIMITS", "turns=2,seconds=60")
    model = ScriptedModel([LOOK] * 9)
    result = Memory.open(tmp_path / "memory", model).write("A fact.")
    assert len(model.sent) == 2
    assert result.degraded == "scripted: the limit of 2 turns was reached"


# traces


@pytest.mark.parametrize(("text", "expected"), [("", DEFAULT_TRACES), ("0", 0), ("1", 1), (" 7 ", 7)])
def test_so_many_traces_are_kept(text: str, expected: int) -> None:
    assert traces(text) == expected


@pytest.mark.parametrize(("text", "kept"), [("2", 2), ("0", 0)])
def test_the_traces_of_the_environment_are_those_that_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, kept: int
) -> None:
    monkeypatch.setenv("SILICA_MEMORY_TRACES", text)
    memory = Memory.open(tmp_path / "memory")
    for number in range(4):
        memory.write(f"Fact number {number}.")
    assert len(memory.traces()) == kept


@pytest.mark.parametrize("number", [-1, 1.5, "3", None])
def test_a_number_of_traces_that_is_none_is_refused_as_an_argument_too(tmp_path: Path, number: int) -> None:
    with pytest.raises(InvalidSetting):
        Memory(LocalStorage(tmp_path), traces=number)


# prices


def test_prices_of_ones_own_are_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert prices("") is None
    assert prices("/etc/prices.json") == Path("/etc/prices.json")
    assert prices("~/prices.json") == tmp_path / "prices.json"


def test_whoever_asks_no_model_that_costs_needs_no_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICA_MEMORY_PRICES", str(tmp_path / "absent.json"))
    assert Memory.open(tmp_path / "memory").write("A fact.").cost.money == 0.0


# the moment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("2026-05-04T09:30:00Z", datetime(2026, 5, 4, 9, 30, tzinfo=UTC)),
        ("2026-05-04T09:30:00", datetime(2026, 5, 4, 9, 30, tzinfo=UTC)),
        ("2026-05-04T11:30:00+02:00", datetime(2026, 5, 4, 9, 30, tzinfo=UTC)),
        ("2026-05-04", datetime(2026, 5, 4, tzinfo=UTC)),
    ],
)
def test_a_moment_is_in_utc_unless_it_says_where(text: str, expected: datetime | None) -> None:
    assert Settings.from_environment({"SILICA_MEMORY_NOW": text}).now == expected


def test_time_stands_still_where_it_is_told_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICA_MEMORY_NOW", "2026-05-04T11:30:00+02:00")
    memory = Memory.open(tmp_path / "memory")
    for number in range(2):
        memory.write(f"Fact number {number}.")
        assert "last_updated: 2026-05-04T09:30:00Z" in memory.read()
        assert memory.replay().agrees
    assert [name.partition("-")[0] for name in memory.traces()] == ["20260504T093000000000", "20260504T093000000001"]


# all of them


REFUSED: dict[str, tuple[str, ...]] = {
    "LIMITS": (
        *("8", "turns", "turns=", "turns=many", "turns=1.5", "tokens=1e5", "patience=3", "Turns=3", "turns:3"),
        *("turns=3;money=1", "turns=-1", "seconds=-0.5", "seconds=nan", "seconds=inf", "money=1e400", "money=-inf"),
        *("money=0,05", "turns=8,tokens", "=8", "turns=8=9"),
    ),
    "TRACES": ("-1", "some", "1.5", "1e3", "nan", "9" * 5_000),
    "PRICES": ("~nobody-of-this-name/prices.json",),
    "SIZE_THRESHOLD": ("12",),
    "NOW": ("now", "2026", "2026-02-30", "09:30", "1777887000", " "),
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in REFUSED.items() for text in texts])
def test_what_means_nothing_is_refused_when_the_memory_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv(f"SILICA_MEMORY_{name}", text)
    with pytest.raises(InvalidSetting, match="the file of prices" if name == "PRICES" else f"SILICA_MEMORY_{name}"):
        Memory.open(tmp_path / "memory")
    assert not (tmp_path / "memory").exists()


def test_a_model_of_ones_own_goes_before_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICA_MEMORY_MODEL", "nobody")
    seen: list[Conversation] = []

    def answer(conversation: Conversation) -> Reply:
        seen.append(conversation)
        return calls(call("place", blocks="n1", page="memory"))

    assert Memory.open(tmp_path / "memory", ScriptedModel(answer)).write("A fact.").decided_by == "scripted"
    assert len(seen) == 1


# where it is

S3 = {"SILICA_MEMORY_BACKEND": "s3", "SILICA_MEMORY_S3_BUCKET": "boats", "XDG_CACHE_HOME": "/cache"}


def s3(**variables: str) -> S3Settings | None:
    given = {f"SILICA_MEMORY_S3_{name}": value for name, value in variables.items()}
    return Settings.from_environment({**S3, **given}).s3


def test_a_bucket_needs_no_more_than_its_name() -> None:
    assert s3() == S3Settings("boats", Path("/cache/silica"), "memory", None, None, DEFAULT_CACHE_TTL)
    assert s3(PREFIX="", REGION="", ENDPOINT="", CACHE_TTL="") == s3()


def test_what_is_said_of_a_bucket_is_taken() -> None:
    assert s3(PREFIX="/a/b/", REGION="eu-west-3", ENDPOINT="http://127.0.0.1:9000/", CACHE_TTL="0") == S3Settings(
        "boats", Path("/cache/silica"), "a/b", "eu-west-3", "http://127.0.0.1:9000", 0
    )
    assert (found := s3(PREFIX="/")) and found.prefix == ""


@pytest.mark.parametrize("backend", [{}, {"SILICA_MEMORY_BACKEND": ""}, {"SILICA_MEMORY_BACKEND": "local"}])
def test_a_bucket_that_was_not_chosen_is_not_used(backend: dict[str, str]) -> None:
    assert Settings.from_environment({"SILICA_MEMORY_S3_BUCKET": "boats", **backend}).s3 is None


def test_a_folder_that_is_given_is_used_whatever_the_environment_says(tmp_path: Path) -> None:
    settings = Settings.from_environment({"SILICA_MEMORY_BACKEND": "s3"}, tmp_path)
    assert settings.s3 is None
    assert open_storage(settings).where == str(tmp_path)


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("SILICA_MEMORY_BACKEND", "S3"),
        ("SILICA_MEMORY_BACKEND", "gcs"),
        ("SILICA_MEMORY_S3_BUCKET", ""),
        ("SILICA_MEMORY_S3_PREFIX", "a//b"),
        ("SILICA_MEMORY_S3_PREFIX", "//"),
        ("SILICA_MEMORY_S3_PREFIX", "a/../b"),
        ("SILICA_MEMORY_S3_PREFIX", "a\nb"),
        ("SILICA_MEMORY_S3_ENDPOINT", "127.0.0.1:9000"),
        ("SILICA_MEMORY_S3_ENDPOINT", "ftp://127.0.0.1"),
        ("SILICA_MEMORY_S3_ENDPOINT", "http://"),
        ("SILICA_MEMORY_S3_ENDPOINT", "http://a:port"),
        ("SILICA_MEMORY_S3_ENDPOINT", "http://[::1"),
        ("SILICA_MEMORY_S3_ENDPOINT", "http://a b"),
        ("SILICA_MEMORY_S3_CACHE_TTL", "-1"),
        ("SILICA_MEMORY_S3_CACHE_TTL", "soon"),
    ],
)
def test_a_place_that_means_nothing_is_refused(variable: str, text: str) -> None:
    with pytest.raises(InvalidSetting, match=variable):
        Settings.from_environment({**S3, variable: text})


def test_a_backend_whose_package_is_missing_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(InvalidSetting, match=r"pip install 'silica-memory\[s3\]'"):
        open_storage(Settings.from_environment(S3))
