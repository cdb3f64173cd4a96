"""A hostile model on the wire: whatever it answers, what was to be remembered is stored, and the user is told why
somebody else decided."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from memory_v2.memory import Memory
from memory_v2.models.base import Model
from memory_v2.models.provider import UNREADABLE
from memory_v2.settings import DEFAULT_THRESHOLD, MIN_THRESHOLD, Limits
from memory_v2.storage.local.storage import LocalStorage

from .adapters import ADAPTERS, KEY, Adapter, conversation
from .dialects import Call, Says
from .server import HOST, Answer, Fails, Hangs, Provider, Resets, Sends

pytestmark = pytest.mark.allow_hosts([HOST])

MARK = "zqxprovider"
"""Stands in all that the provider says of its own."""
THEIRS = f"{MARK} regrets {KEY}"
TOLD = f"{MARK} regrets …"
TEXT = "The Kestrel sails from Lübeck on 12 May 2026.\n\n- cargo: “tar”, rope \\ and **oak** 🪵\n- master: Ada\n"
ONCE = Limits(turns=3)
LONG = "\n\n".join(f"Day {n}: the Kestrel met the ship number {n * 7_919} off Rügen." for n in range(1, 60)) + "\n"


@dataclass(frozen=True)
class Fault:
    """What the provider answers every time, what the user is told, and how often it is asked."""

    answer: Answer
    told: str
    asked: int
    limits: Limits = ONCE


def refused(status: int, words: str, asked: int, **headers: str) -> Fault:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault(Fails(status, THEIRS, named), f"the model failed: it {words} (HTTP {status}: {TOLD})", asked)


def garbage(body: bytes | Callable[[bytes], bytes], content_type: str = "application/json") -> Fault:
    return Fault(Sends(body, content_type), "the model failed: it sent an unreadable answer", 4)


def no_use(problem: str, *calls: Call, **how: Any) -> Fault:
    told = f"the limit of 3 turns was reached, and its last call was no use: {problem}"
    return Fault(Says(MARK, calls, **how), told, 3)


PLACE = Call("place", {"blocks": "n1-n3", "page": "memory"})
INSERT = Call("insert", {"page": "memory", "after": 1, "text": f"{MARK} says so"})
FAULTS = {
    "a body cut off": garbage(lambda body: body[: len(body) // 2]),
    "HTML": garbage(f"<html><body>{THEIRS}</body></html>".encode(), "text/html"),
    "an empty body": garbage(b""),
    "a huge answer": Fault(Says(f"{MARK} " * 300_000), "the model answered without using a tool", 2),
    "words": Fault(Says(MARK), "the model answered without using a tool", 2),
    "no words": Fault(Says(""), "the model answered without using a tool", 2),
    "a refusal": Fault(Says(MARK, stop="refusal"), "the model refused", 1),
    "cut off without a call": Fault(Says(MARK, stop="length"), "the model answered without using a tool", 2),
    "cut off in a call": no_use(
        "your answer was cut off in this call; make it again, and shorter", PLACE, stop="length"
    ),
    "an unknown tool": no_use("there is no tool 'store_text'", Call("store_text", {"text": MARK})),
    "arguments that are no JSON": no_use("the arguments of place are no JSON object", Call("place", '{"blocks": "n')),
    "a text of its own": no_use("the text", INSERT),
    "401": refused(401, "rejected the key", 1),
    "429, try again soon": refused(429, "is rate-limiting requests", 4, retry_after="0.01"),
    "429, try again tomorrow": refused(429, "is rate-limiting requests", 1, retry_after="86400"),
    "429, do not try again": refused(429, "is rate-limiting requests", 1, x_should_retry="false"),
    "529": refused(529, "is overloaded", 4),
    "a connection that is reset": Fault(
        Resets(), "the model failed: it cannot be reached (Connection reset by peer)", 4
    ),
    "an answer that never comes": Fault(
        Hangs(),
        "the model failed: there was no answer within the limit of 1 seconds",
        1,
        Limits(seconds=1.0),
    ),
}
PASSING: dict[str, tuple[Answer, ...]] = {
    "429, try again soon": (Fails(429, THEIRS, {"retry-after": "0.01"}),),
    "529, 529": (Fails(529, THEIRS), Fails(529, THEIRS)),
    "500, a reset, HTML": (Fails(500, THEIRS), Resets(), Sends(b"<html>", "text/html")),
    "a body cut off": (Sends(lambda body: body[:-1]),),
    "words": (Says(MARK),),
    "cut off in a call": (Says(MARK, [PLACE], stop="length"),),
    "arguments that are no JSON": (Says("", [Call("place", '{"blocks": "n')]),),
    "a text of its own": (Says("", [INSERT]),),
}
"""What comes before a good answer: failures that pass, and answers that the model can mend."""
SPLITTING = ("401", "a refusal", "a body cut off", "an answer that never comes")


def in_turn(table: Mapping[str, Any]) -> Any:
    """Each entry, with the adapters in turn: what every adapter makes of every answer is in
    `tests/conformance/model_suite.py`, and what is done about it in `tests/agent`."""
    pairs = zip(table.items(), cycle(ADAPTERS.items()), strict=False)
    return [pytest.param(adapter, entry, id=f"{name}-{wire}") for (name, entry), (wire, adapter) in pairs]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The waits between two tries take no time; what a provider asks for is waited for."""
    monkeypatch.setattr("memory_v2.agent.loop.FIRST_WAIT", 0.0)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory that holds something already, written without a model."""
    folder = tmp_path_factory.mktemp("begun") / "memory"
    with opened(folder, "offline") as memory:
        memory.write("Ada keeps the books of the Kestrel.\n")
        memory.write("The oak comes from Danzig.\n", "timber")
    return folder


@pytest.fixture
def folder(begun: Path, tmp_path: Path) -> Path:
    """The same for each test."""
    return shutil.copytree(begun, tmp_path / "memory")


def opened(folder: Path, model: str | Model, limits: Limits = ONCE, threshold: int = DEFAULT_THRESHOLD) -> Memory:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    return Memory(LocalStorage(folder), model, limits=limits, threshold=threshold, now=lambda: now)


def awake(adapter: Adapter, provider: Provider) -> Model:
    """The model after its first answer: what it takes to import its package counts against no limit here."""
    model = adapter(provider.url)
    provider.script = lambda _: Says("Here.")
    model.respond(conversation())
    provider.requests.clear()
    return model


def pages(folder: Path) -> str:
    """Every page, one after the other."""
    return "\n".join(file.read_text("utf-8") for file in sorted(folder.rglob("*.md")))


def assert_nothing_leaked(folder: Path) -> None:
    assert MARK not in pages(folder), "what the provider says of its own is no memory"
    for file in folder.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), f"{file.name} holds the key"


@pytest.mark.parametrize(("adapter", "fault"), in_turn(FAULTS))
def test_what_was_to_be_remembered_is_whatever_the_provider_does(
    adapter: Adapter, fault: Fault, provider: Provider, folder: Path
) -> None:
    model = awake(adapter, provider)
    provider.script = lambda _: fault.answer
    with opened(folder, model, fault.limits) as memory:
        result = memory.write(TEXT)
        assert TEXT in memory.read(result.path)
        assert memory.check() == []
        assert result.decided_by == "offline"
        assert result.degraded.startswith(f"{model.name}: {fault.told}")
        assert len(provider.requests) == fault.asked
        failed = memory.trace().of("failed")
    assert len(failed) == (fault.asked if fault.told.startswith("the model failed") else 0)
    assert all(event["retryable"] == (fault.asked > 1) for event in failed[1:])
    if not isinstance(fault.answer, Says):  # those carry their words, and the loop goes on after the last
        assert result.degraded == f"{model.name}: {fault.told}"
    assert_nothing_leaked(folder)


@pytest.mark.parametrize(("adapter", "placeholder"), in_turn({word: word for word in ("ollama", "x", "none", "key")}))
def test_a_placeholder_for_a_key_changes_nothing_that_a_model_says(
    adapter: Adapter, placeholder: str, provider: Provider, folder: Path
) -> None:
    fact = f"The box of Ada runs {placeholder} on port 8080."
    provider.script = [Says(MARK, [Call("insert", {"page": "memory", "after": 1, "text": fact})])]
    with opened(folder, adapter(provider.url, key=placeholder)) as memory:
        result = memory.write(f"{fact}\n")
        assert result.degraded == ""
        assert fact in memory.read()
        assert memory.trace().of("reply")[0]["calls"][0]["arguments"]["text"] == fact


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS.keys())
def test_a_key_that_a_model_repeats_is_in_no_record_and_no_message(
    adapter: Adapter, provider: Provider, folder: Path
) -> None:
    provider.script = lambda _: Says(THEIRS, [Call("place", {"blocks": "n1-n3", "page": KEY})])
    with opened(folder, adapter(provider.url)) as memory:
        result = memory.write(TEXT)
        assert KEY not in str(result)
        assert "there is no page '…'" in result.degraded
        assert len(memory.trace().of("reply")) == 4
    assert_nothing_leaked(folder)


@pytest.mark.parametrize(("adapter", "before"), in_turn(PASSING))
def test_what_passes_or_is_mended_leaves_the_decision_to_the_model(
    adapter: Adapter, before: tuple[Answer, ...], provider: Provider, folder: Path
) -> None:
    provider.script = [*before, Says("", [PLACE])]
    model = adapter(provider.url)
    with opened(folder, model) as memory:
        result = memory.write(TEXT)
        assert TEXT in memory.read("memory")
        assert memory.check() == []
        failed = memory.trace().of("failed")
    answered = sum(isinstance(answer, Says) for answer in before)
    assert (result.path, result.decided_by, result.degraded) == ("memory", model.name, "")
    assert len(provider.requests) == len(before) + 1
    assert [event["retryable"] for event in failed] == [True] * (len(before) - answered)
    assert len({request.data for request in provider.requests}) == 1 + answered, "after a failure, the same again"
    assert (result.cost.calls, result.cost.usage.input_tokens) == (1 + answered, 10 * (1 + answered))
    assert_nothing_leaked(folder)


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS.keys())
def test_half_of_a_pair_in_an_answer_brings_nothing_down(adapter: Adapter, provider: Provider, folder: Path) -> None:
    half = Call("insert", {"page": "memory", "after": 1, "text": "Ada \ud800 \udc80"})
    provider.script = [Says("\udfff", [half]), Says("", [PLACE])]
    model = adapter(provider.url)
    with opened(folder, model) as memory:
        result = memory.write(TEXT)
        assert TEXT in memory.read(result.path)
        assert memory.check() == []
    told = [f"{model.name}: the model failed: it {words}" for words in ("could not be called", UNREADABLE)]
    assert (result.decided_by, result.degraded) in [(model.name, ""), *(("offline", one) for one in told)]


@pytest.mark.parametrize(("adapter", "fault"), in_turn({name: FAULTS[name] for name in SPLITTING}))
def test_a_page_that_grows_too_large_is_divided_whatever_the_provider_does(
    adapter: Adapter, fault: Fault, provider: Provider, folder: Path
) -> None:
    model = awake(adapter, provider)
    provider.script = lambda _: fault.answer
    with opened(folder, model, fault.limits, threshold=MIN_THRESHOLD) as memory:
        result = memory.write(LONG)
        assert result.split_triggered
        assert memory.check() == []
        assert max(page.size_bytes for page in memory.list_files()) <= MIN_THRESHOLD
    everything = pages(folder)
    assert [everything.count(line) for line in LONG.split("\n\n")] == [1] * 59
    assert result.degraded.startswith(f"{model.name}: ")
    assert_nothing_leaked(folder)


def test_a_write_that_the_model_decided_stands_when_its_split_fails(provider: Provider, folder: Path) -> None:
    place = Call("place", {"blocks": "n1-n59", "page": "memory"})
    provider.script = lambda _: Says("", [place]) if len(provider.requests) == 1 else Fails(403, THEIRS)
    model = ADAPTERS["openai"](provider.url)
    with opened(folder, model, threshold=MIN_THRESHOLD) as memory:
        result = memory.write(LONG)
        assert memory.check() == []
    assert result.split_triggered
    assert result.decided_by == model.name
    assert result.degraded == f"{model.name}: the model failed: it does not permit this with the key (HTTP 403: {TOLD})"
    assert [pages(folder).count(line) for line in LONG.split("\n\n")] == [1] * 59
    assert_nothing_leaked(folder)


def test_a_search_finds_without_the_provider_and_says_so(provider: Provider, folder: Path) -> None:
    provider.script = lambda _: Fails(529, THEIRS)
    model = ADAPTERS["anthropic"](provider.url)
    with opened(folder, model) as memory:
        results = memory.search("Where does the oak come from?")
    assert "Danzig" in results[0].excerpt
    assert results.decided_by == "offline"
    assert results.degraded == f"{model.name}: the model failed: it is overloaded (HTTP 529: {TOLD})"
    assert len(provider.requests) == 4
    assert_nothing_leaked(folder)


def test_limits_hold_where_the_provider_counts_no_tokens(provider: Provider, folder: Path) -> None:
    provider.script = lambda _: Says(MARK, usage=None)
    with Memory(LocalStorage(folder), ADAPTERS["openai"](provider.url, "gpt-5.6"), limits=Limits(tokens=100)) as memory:
        result = memory.write(TEXT)
    assert (len(provider.requests), result.decided_by) == (1, "offline")
    assert "the limit of 100 tokens" in result.degraded
    assert result.cost.is_estimate
    assert result.cost.to_dict()["is_estimate"]
    assert result.cost.usage.input_tokens > 500 > result.cost.usage.output_tokens > 0
    assert result.cost.money
    with Memory(LocalStorage(folder)) as memory:
        assert memory.trace().of("end")[0]["cost"]["is_estimate"]
