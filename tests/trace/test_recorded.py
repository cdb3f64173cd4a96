"""A recording: the same conversation gets the same answers, and any other is noticed."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_v2.agent.loop import TRIES
from memory_v2.errors import InvalidSetting, InvalidText, ModelError, NotRecorded
from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Model, Reply, ToolCall, Usage
from memory_v2.models.scripted import Answer, ScriptedModel
from memory_v2.settings import DEFAULT_THRESHOLD, Limits
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.trace.recorded import RecordedModel
from memory_v2.trace.recording import Event
from tests.operations.scenes import SMALL, call, calls

FACT = "Silica uses pytest 8.3 since 2026-02-03."
LONG = "The garden is large. " * 40
TREE = {
    "memory": "# Memory\n\nWhat was there.\n\n## Links\n\n- [[garden]] - tomatoes\n",
    "garden": f"# Garden\n\nTomatoes are planted in May.\n\n{LONG}It has a gate.\n",
}
LOOK = calls(call("read_pages", paths=["garden"]))
PLACE = calls(call("place", blocks="n1", page="garden", after=2))
AT_ONCE, AT_THE_END = (calls(call("place", blocks="n1", page="memory", after=number)) for number in (1, 2))
BUSY = ModelError("the provider is busy", retryable=True)


def at() -> datetime:
    return datetime(2026, 3, 1, tzinfo=UTC)


def tree(model: Model, folder: Path | None = None, pages: dict[str, str] | None = None, **setting: Any) -> Memory:
    """A small memory, the same each time."""
    storage = VolatileStorage(at, folder)
    for path, text in (pages or TREE).items():
        storage.write(path, text.encode())
    return Memory(storage, model, now=at, **setting)


def stored(memory: Memory) -> dict[str, bytes]:
    return {path: memory.storage.read(path).data for path in memory.storage.list_files()}


def record(folder: Path, *script: Answer, **setting: Any) -> tuple[list[Event], dict[str, bytes]]:
    """The events of a write that a script decides, and the pages after it."""
    memory = tree(ScriptedModel(script), folder, **setting)
    memory.write(FACT)
    return memory.trace().events, stored(memory)


# the same


def test_the_same_conversation_gets_the_same_answers_and_makes_the_same_bytes(tmp_path: Path) -> None:
    _, before = record(tmp_path, LOOK, PLACE)
    model = RecordedModel.load(tmp_path / "traces")
    memory = tree(model)
    result = memory.write(FACT)
    assert (result.path, result.decided_by, result.degraded) == ("garden", "recorded:traces", "")
    assert stored(memory) == before
    assert FACT.encode() in before["garden"]
    assert model.left == 0


def test_an_answer_is_the_same_in_all_its_parts(tmp_path: Path) -> None:
    seen: list[Conversation] = []
    made = ToolCall("place", {"blocks": "n1", "page": "memory", "after": 2}, "call_1")
    broken = ToolCall("place", {}, "call_2", malformed='{"blocks": "日本 \ud800')
    answers = [
        Reply("first", (broken,), Usage(10, 5, 4, 3), "tool_use", None, {"id": "msg_1", "content": [{"x": 1.5}]}),
        Reply("日本 \ud800", (made,), Usage(1, 2, 3, 4), "other", 0.25),
    ]

    def answer(conversation: Conversation) -> Reply:
        seen.append(copy.copy(conversation))
        seen[-1].messages = list(conversation.messages)
        return answers[len(seen) - 1]

    tree(ScriptedModel(answer), tmp_path).write(FACT)
    model = RecordedModel.load(tmp_path / "traces")
    assert [model.respond(conversation) for conversation in seen] == answers


def test_each_answer_is_given_once_however_many_ask_at_once(tmp_path: Path) -> None:
    events: list[Event] = []
    for number in range(40):
        events += record(tmp_path / str(number), AT_ONCE)[0]
    seen: list[Conversation] = []

    def answer(conversation: Conversation) -> Reply:
        seen.append(conversation)
        return Reply(stop_reason="refusal")

    tree(ScriptedModel(answer)).write(FACT)
    asked = Conversation(seen[0].system, seen[0].tools, seen[0].brief, seen[0].messages[:1])
    model = RecordedModel(events)

    def ask(_: int) -> bool:
        try:
            return bool(model.respond(asked).tool_calls)
        except NotRecorded:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(ask, range(60))) == [False] * 20 + [True] * 40
    assert model.left == 0


# another


def _changed(event: Any, key: str, old: str, new: str) -> tuple[str, str]:
    """Makes it that something else was recorded; returns what was, and what is asked."""
    assert old in event[key]
    event[key] = event[key].replace(old, new, 1)
    return new, old


def _system(events: list[Event]) -> tuple[str, str]:
    return _changed(events[1], "system", "You keep", "You guard")


def _end_of_a_long_line(events: list[Event]) -> tuple[str, str]:
    longest = max(events[1]["system"].splitlines(), key=len)
    assert len(longest) > 300
    return _changed(events[1], "system", longest[-20:], "and be kind.")


def _description(events: list[Event]) -> tuple[str, str]:
    return _changed(events[1]["tools"][0], "description", events[1]["tools"][0]["description"][:20], "Be kind, and")


def _schema(events: list[Event]) -> tuple[str, str]:
    name = events[1]["tools"][0]["schema"]["required"][0]
    events[1]["tools"][0]["schema"]["required"] = ["kindness"]
    return '"kindness"', f'"{name}"'


def _tool(events: list[Event]) -> tuple[str, str]:
    return _changed(events[1]["tools"][0], "name", events[1]["tools"][0]["name"], "be_kind")


def _day(events: list[Event]) -> tuple[str, str]:
    return _changed(events[2], "text", "2026-03-01", "2026-02-28")


def _returned(events: list[Event]) -> tuple[str, str]:
    return _changed(events[4], "text", "planted in May", "eaten in June")


CHANGES: dict[str, tuple[Callable[[list[Event]], tuple[str, str]], str]] = {
    "the system's words": (_system, "the system's words or the tools"),
    "a word after many": (_end_of_a_long_line, "the system's words or the tools"),
    "a tool's description": (_description, "the system's words or the tools"),
    "a schema": (_schema, "the system's words or the tools"),
    "a tool's name": (_tool, "the system's words or the tools"),
    "the day": (_day, "message 1"),
    "a page that was read": (_returned, "message 3"),
}


@pytest.mark.parametrize(
    ("path", "was", "now", "where"),
    [
        ("memory", "What was there.", "What is there.", "message 1"),
        ("garden", "Tomatoes are", "Potatoes are", "message 3"),
        ("garden", "It has a gate.", "It has a yard.", "message 3"),
    ],
)
def test_a_tree_that_is_not_as_it_was_is_noticed_and_shown(
    tmp_path: Path, path: str, was: str, now: str, where: str
) -> None:
    events, _ = record(tmp_path, LOOK, PLACE)
    memory = tree(RecordedModel(events), pages={**TREE, path: TREE[path].replace(was, now)})
    with pytest.raises(NotRecorded, match=where) as raised:
        memory.write(FACT)
    assert was in str(raised.value)
    assert now in str(raised.value)


def test_what_is_asked_more_often_than_it_was_recorded_is_told_so(tmp_path: Path) -> None:
    events, _ = record(tmp_path, AT_ONCE)
    model = RecordedModel(events)
    tree(model).write(FACT)
    again = tree(model)
    before = stored(again)
    with pytest.raises(NotRecorded, match="this was asked more often than it was recorded"):
        again.write(FACT)
    assert stored(again) == before


def test_a_recording_that_ends_before_the_conversation_does_is_told_so(tmp_path: Path) -> None:
    events, _ = record(tmp_path, LOOK, PLACE)
    first_reply = next(number for number, event in enumerate(events) if event["event"] == "reply")
    with pytest.raises(NotRecorded, match="the recording ends before message 2"):
        tree(RecordedModel(events[: first_reply + 1])).write(FACT)


def test_what_the_planner_decided_is_no_recording(tmp_path: Path) -> None:
    planned = Memory(VolatileStorage(at, tmp_path), now=at)
    planned.write(FACT)
    with pytest.raises(NotRecorded, match="nothing is recorded here of a model that was asked in words"):
        tree(RecordedModel(planned.trace().events)).write(FACT)


# failures

FAILURES: dict[str, tuple[list[Any], str]] = {
    "of the provider": ([ModelError("overloaded")], "the model failed: overloaded"),
    "at every try": ([BUSY] * TRIES, "the model failed: the provider is busy"),
    "after it has looked": ([LOOK, ModelError("gone")], "the model failed: gone"),
    "of its program": ([ValueError("x")], "the model failed: it broke down"),
    "of its types": ([None], "the model failed: it answered with something that is no reply"),
    "a refusal": ([Reply("no", stop_reason="refusal")], "the model refused"),
    "words only": ([Reply("hm"), Reply("hm")], "the model answered without using a tool"),
    "a limit": ([LOOK] * 3, "the limit of 3 turns was reached"),
    "the guard": (
        [
            calls(call("insert", page="memory", after=1, text=own))
            for own in ("Silica uses pytest", "pytest is what Silica uses")
        ],
        "its decision did not pass",
    ),
}


@pytest.mark.parametrize(("script", "reason"), FAILURES.values(), ids=FAILURES.keys())
def test_a_failure_is_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: list[Any], reason: str
) -> None:
    monkeypatch.setattr("memory_v2.agent.loop.FIRST_WAIT", 0.0)
    events, before = record(tmp_path, *script, limits=Limits(turns=3))
    memory = tree(RecordedModel(events, "scripted"), limits=Limits(turns=3))
    result = memory.write(FACT)
    assert result.decided_by == "offline"
    assert result.degraded.startswith(f"scripted: {reason}")
    assert result.degraded == f"scripted: {next(e['reason'] for e in events if e['event'] == 'decided')}"
    assert stored(memory) == before


def test_a_limit_that_was_reached_is_reached_again_where_it_is_higher(tmp_path: Path) -> None:
    events, before = record(tmp_path, LOOK, limits=Limits(turns=1))
    memory = tree(RecordedModel(events))
    assert memory.write(FACT).decided_by == "offline"
    assert stored(memory) == before


def test_a_failure_that_has_passed_is_not_waited_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_v2.agent.loop.FIRST_WAIT", 0.0)
    events, before = record(tmp_path / "first", BUSY, LOOK, BUSY, BUSY, PLACE)
    assert sum(event["event"] == "failed" for event in events) == 3
    model = RecordedModel(events)
    memory = tree(model, tmp_path / "second")
    assert memory.write(FACT).degraded == ""
    assert model.left == 0
    assert stored(memory) == before
    assert memory.trace().of("failed") == []


# by its name


@pytest.fixture
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The traces of a write and of a search on a new memory in a folder, at a moment that has passed."""
    monkeypatch.setenv("SILICA_MEMORY_NOW", at().isoformat())
    place = calls(call("place", blocks="n1", page="memory"))
    found = calls(call("answer", results=[{"place": "p1", "score": 1}]))
    for name, script in (("first", [place, found]), ("other", [place])):
        memory = Memory.open(tmp_path / name, ScriptedModel(script))
        memory.write(FACT if name == "first" else "Another fact.")
        if name == "first":
            memory.search("pytest")
        shutil.copytree(tmp_path / name / ".metadata" / "traces", tmp_path / "recordings", dirs_exist_ok=True)
    return tmp_path / "recordings"


@pytest.mark.parametrize(
    "operation", [lambda memory: memory.write("A third fact."), lambda memory: memory.search("a third question")]
)
def test_what_a_named_recording_does_not_hold_is_an_error_and_nothing_is_written(
    recordings: Path, tmp_path: Path, operation: Callable[[Memory], Any]
) -> None:
    memory = Memory.open(tmp_path / "second", f"recorded:{recordings}")
    with pytest.raises(NotRecorded, match="message 1"):
        operation(memory)
    assert memory.storage.list_files() == []
    assert not (tmp_path / "second" / "memory.md").exists()


def test_what_it_does_not_hold_of_the_splits_after_a_write_is_an_error_too(tmp_path: Path) -> None:
    sections = "".join(f"## {name}\n\n{(name + ' has facts. ') * 60}\n\n" for name in ("Alice", "Boats", "Carmen"))
    place = calls(call("place", blocks="n1-n6", page="memory"))
    recorded = tree(ScriptedModel([place]), tmp_path, threshold=SMALL)
    recorded.write(sections)
    events = recorded.trace().events
    second = [number for number, event in enumerate(events) if event["event"] == "ask"][1]
    assert events[second]["task"] == "split"
    with pytest.raises(NotRecorded):
        tree(RecordedModel(events[:second]), threshold=SMALL).write(sections)
    assert DEFAULT_THRESHOLD > len(sections) > SMALL


def test_a_recording_of_another_day_is_told_so(
    recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SILICA_MEMORY_NOW")
    with pytest.raises(NotRecorded, match=r"message 1 .*2026-03-01"):
        Memory.open(tmp_path / "second", f"recorded:{recordings}").write(FACT)


@pytest.mark.parametrize("which", ["absent.jsonl", "absent", "empty"])
def test_where_nothing_is_recorded_is_told_before_anything_is_written(tmp_path: Path, which: str) -> None:
    (tmp_path / "empty").mkdir()
    memory = Memory.open(tmp_path / "memory", f"recorded:{tmp_path / which}")
    with pytest.raises(InvalidSetting, match=f"there is no recording at .*{which}"):
        memory.write(FACT)
    assert not (tmp_path / "memory").exists()


@pytest.mark.parametrize("which", ["recorded:", "recorded: ", "recorded", "recorded:~nobody-of-this-name/x"])
def test_a_name_that_names_no_recording_is_wrong_use(tmp_path: Path, which: str) -> None:
    memory = Memory.open(tmp_path / "memory", which)
    with pytest.raises(InvalidSetting):
        memory.write(FACT)
    assert not (tmp_path / "memory").exists()


def test_a_file_that_is_no_recording_is_refused_and_named(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text('{"event": "ask"}\n')
    with pytest.raises(InvalidText, match=r"broken\.jsonl is no trace"):
        RecordedModel.load(tmp_path)
