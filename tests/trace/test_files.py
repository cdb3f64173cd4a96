"""The records of what was done: one file for each operation, whatever came of it, and not too many of them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from memory_v2.agent.operation import Cost
from memory_v2.errors import InvalidText, NotAllowed, NotRecorded, StorageError
from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Reply, ToolCall
from memory_v2.models.scripted import ScriptedModel
from memory_v2.settings import Limits
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.trace.recorded import RecordedModel
from memory_v2.trace.recording import FORMAT, Trace, Traces, load_trace
from memory_v2.tree.block import encode
from tests.operations.scenes import call, calls
from tests.properties.whole import clock, stands

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FACT = "Silica uses pytest 8.3 since 2026-02-03."
PLACE = calls(call("place", blocks="n1", page="memory"))


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(VolatileStorage(clock, tmp_path), now=clock)


def files(folder: Path) -> list[Path]:
    return sorted((folder / "traces").iterdir())


def keep(traces: Traces, moment: datetime = NOW, operation: str = "write", **arguments: Any) -> str:
    setting = {"model": "offline", "threshold": 10_240, "limits": asdict(Limits())}
    trace = Trace()
    trace.began(operation, arguments, moment, **setting)
    trace.add("end", cost=asdict(Cost()), reads={})
    return traces.save(trace, operation, moment)


# one for each operation

OPERATIONS: dict[str, Callable[[Memory], Any]] = {
    "write": lambda memory: memory.write(FACT),
    "write of nothing new": lambda memory: memory.write("The garden grows."),
    "append": lambda memory: memory.write(FACT, "garden", "append"),
    "split": lambda memory: memory.split(),
    "search": lambda memory: memory.search("garden"),
    "search in vain": lambda memory: memory.search("xylophone"),
    "merge": lambda memory: memory.merge("garden"),
    "rename": lambda memory: memory.rename("garden", "plot"),
    "delete": lambda memory: memory.delete("garden"),
    "check": lambda memory: memory.checkup(apply=True).changes,
}


def test_an_operation_that_fails_leaves_one_that_says_why(memory: Memory) -> None:
    memory.storage.write("memory", b"# Memory\n")
    with pytest.raises(NotAllowed):
        memory.merge("memory")
    with pytest.raises(InvalidText):
        memory.write("")
    trace = memory.trace()
    assert trace.of("error") == [
        {"event": "error", "kind": "InvalidText", "message": "there is nothing to write: the text is empty"}
    ]
    assert [event["event"] for event in trace.events] == ["begin", "error", "end"]
    assert [name.split("-")[1] for name in memory.traces()] == ["merge", "write"]


def test_an_operation_that_is_interrupted_leaves_one_with_what_was_asked(tmp_path: Path) -> None:
    def interrupted(_: Conversation) -> Reply:
        raise KeyboardInterrupt

    memory = Memory(VolatileStorage(clock, tmp_path), ScriptedModel(interrupted), now=clock)
    with pytest.raises(KeyboardInterrupt):
        memory.write(FACT)
    trace = memory.trace()
    assert [event["event"] for event in trace.events] == ["begin", "ask", "message", "error", "end"]
    assert FACT in trace.of("message")[0]["text"]
    assert trace.of("error")[0]["kind"] == "KeyboardInterrupt"


def test_a_trace_tells_what_it_began_with_what_it_took_and_what_it_changed(tmp_path: Path) -> None:
    limits = Limits(turns=7, money=0.5)
    storage = VolatileStorage(clock, tmp_path)
    storage.write("memory", b"# Memory\n")
    memory = Memory(storage, ScriptedModel([PLACE]), threshold=4_096, limits=limits, now=lambda: NOW)
    result = memory.write(FACT)
    trace = memory.trace()
    first, last = trace.events[0], trace.events[-1]
    assert (first["model"], first["threshold"], first["started"]) == ("scripted", 4_096, NOW.isoformat())
    assert first["limits"] == {"turns": 7, "tokens": 200_000, "seconds": 120.0, "money": 0.5}
    assert (last["cost"]["calls"], last["cost"]["money"]) == (1, 0.0)
    assert last["reads"].keys() == trace.reads.keys() == {"memory"}
    (commit,) = trace.of("commit")
    assert commit["revision"] == result.revision
    assert commit["pages"] == [{"path": "memory", "before": "# Memory\n", "after": memory.read()}]


# the file


def test_a_trace_is_json_lines_that_only_its_owner_may_read(memory: Memory, tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        memory.write("日本語 is kept as it is")
    finally:
        os.umask(mask)
    (file,) = files(tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    events = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert events[0] == {"event": "format", "format": FORMAT}
    assert events[1:] == memory.trace().events
    assert "日本語".encode() in file.read_bytes()


def test_bytes_that_are_not_utf8_survive(memory: Memory) -> None:
    before = b"# Old\r\n\r\ncaf\xe9 \xff\xfe \xf0\x9f\xa7\xa0\xed\xa0\x80\n"
    memory.storage.write("memory", before)
    memory.write("More.", None, "append")
    ((change,),) = [commit["pages"] for commit in memory.trace().of("commit")]
    assert encode(change["before"]) == before
    assert encode(change["after"]) == memory.storage.read("memory").data
    assert memory.storage.read("memory").data.startswith(before)


def test_half_a_pair_that_nobody_can_store_is_on_record(memory: Memory) -> None:
    with pytest.raises(InvalidText):
        memory.write("a\ud800")
    assert memory.trace().of("begin")[0]["arguments"]["text"] == "a\ud800"


def circle() -> dict[str, Any]:
    found: dict[str, Any] = {}
    found["again"] = found
    return found


def depth() -> list[Any]:
    found: list[Any] = []
    for _ in range(100_000):
        found = [found]
    return found


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("it has no name")


UNWRITABLE: dict[str, Callable[[], Any]] = {
    "a circle": circle,
    "a depth without end": depth,
    "what cannot be named": Unspeakable,
    "what is no data": object,
    "keys that are no words": lambda: {(1, 2): 3, "text": {4}},
}


@pytest.mark.parametrize("thing", UNWRITABLE.values(), ids=UNWRITABLE.keys())
@pytest.mark.parametrize("where", ["raw", "arguments"])
def test_what_json_cannot_hold_keeps_no_operation_from_its_end(
    tmp_path: Path, where: str, thing: Callable[[], Any]
) -> None:
    arguments = {"blocks": "n1", "page": "memory", **({"after": thing()} if where == "arguments" else {})}
    raw = thing() if where == "raw" else None
    reply = Reply(tool_calls=(ToolCall("place", arguments),), stop_reason="tool_use", raw=raw)
    memory = Memory(VolatileStorage(clock, tmp_path), ScriptedModel([reply, PLACE]), now=clock)
    result = memory.write(FACT)
    assert (result.decided_by, result.degraded) == ("scripted", "")
    assert stands(memory, FACT)
    trace = memory.trace(result.trace)
    replies = [event for event in trace.events if "reply" in (event["event"], event.get("was"))]
    assert len(replies) == (1 if where == "raw" else 2)
    assert [change["path"] for change in trace.of("commit")[0]["pages"]] == ["memory"]


PLACED = {"blocks": "n1", "page": "memory"}
ODD: dict[str, Reply] = {
    "why it stopped": Reply(tool_calls=(ToolCall("place", PLACED),), stop_reason="tired"),  # type: ignore[arg-type]
    "no reason to stop": Reply(tool_calls=(ToolCall("place", PLACED),), stop_reason=None),  # type: ignore[arg-type]
    "an id": Reply(tool_calls=(ToolCall("place", PLACED, id=None),)),  # type: ignore[arg-type]
    "a number as id": Reply(tool_calls=(ToolCall("place", PLACED, id=7),)),  # type: ignore[arg-type]
    "a name": Reply(tool_calls=(ToolCall(None, PLACED),)),  # type: ignore[arg-type]
    "arguments": Reply(tool_calls=(ToolCall("place", ["n1"]),)),  # type: ignore[arg-type]
    "what was malformed": Reply(tool_calls=(ToolCall("place", {}, malformed=b"{"),)),  # type: ignore[arg-type]
    "a list of calls": Reply(tool_calls=[ToolCall("place", PLACED)]),  # type: ignore[arg-type]
    "money without cents": Reply(tool_calls=(ToolCall("place", PLACED),), money=3),
    "no money": Reply(tool_calls=(ToolCall("place", PLACED),), money=None),
    "halves of pairs": Reply("\ud800", (ToolCall("place", {**PLACED, "\udc80": "\ud800"}),)),
    "numbers": Reply(tool_calls=(ToolCall("place", {"blocks": float("nan"), "page": 10**400, "after": 1e999}),)),
}
"""What a model of somebody's own may answer against its types; some of it is no call that can be carried out."""


@pytest.mark.parametrize("reply", ODD.values(), ids=ODD.keys())
def test_whatever_was_answered_its_trace_can_be_read_and_played(tmp_path: Path, reply: Reply) -> None:
    limits = Limits(money=9.0)
    memory = Memory(VolatileStorage(clock, tmp_path), ScriptedModel([reply, PLACE]), limits=limits, now=clock)
    result = memory.write(FACT)
    assert result.degraded == ""
    assert memory.trace(result.trace).of("reply")[0]["calls"]
    assert memory.replay(result.trace).differences == ()


def test_a_trace_that_cannot_be_kept_whole_cannot_be_played_again(tmp_path: Path) -> None:
    reply = Reply(tool_calls=(ToolCall("place", circle()),), stop_reason="tool_use")
    memory = Memory(VolatileStorage(clock, tmp_path), ScriptedModel([reply, PLACE]), now=lambda: NOW)
    memory.write(FACT)
    assert not memory.replay().agrees
    again = Memory(VolatileStorage(clock), RecordedModel.load(tmp_path / "traces"), now=lambda: NOW)
    with pytest.raises(NotRecorded):
        again.write(FACT)
    assert again.storage.list_files() == []


# not too many


def test_so_many_are_kept_and_the_oldest_go_first(tmp_path: Path) -> None:
    memory = Memory(VolatileStorage(clock, tmp_path), traces=3, now=clock)
    names = [memory.write(f"Fact number {n}.").trace for n in range(5)]
    assert memory.traces() == names[2:]
    assert len(files(tmp_path)) == 3


@pytest.mark.parametrize(("first", "then"), [("write", "search"), ("search", "write"), ("merge", "search")])
def test_many_of_one_kind_do_not_push_out_those_of_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, then: str
) -> None:
    monkeypatch.setattr("memory_v2.trace.recording.MAX_BYTES", 1_000_000)
    for traces, long in ((Traces(tmp_path / "count", 6), 0), (Traces(tmp_path / "size", 100), 150_000)):
        names = [keep(traces, NOW, first, text="a" * long) for _ in range(4)]
        names += [keep(traces, NOW, then, text="a" * long) for _ in range(9)]
        assert traces.names() == [*names[1:4], *names[-3:]]


@pytest.mark.parametrize(("room_for", "kept"), [(9.0, 6), (3.5, 3), (3.0, 3), (2.99, 2), (0.1, 1)])
def test_however_many_may_be_kept_they_take_no_more_room_than_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room_for: float, kept: int
) -> None:
    traces = Traces(tmp_path, 100)
    names = [keep(traces)]
    size = next(tmp_path.iterdir()).stat().st_size
    monkeypatch.setattr("memory_v2.trace.recording.MAX_BYTES", int(room_for * size))
    names += [keep(traces, NOW + timedelta(seconds=n)) for n in range(1, 6)]
    assert {file.stat().st_size for file in tmp_path.iterdir()} == {size}
    assert traces.names() == names[-kept:]


def test_none_are_kept_where_none_are_wanted(tmp_path: Path) -> None:
    memory = Memory(VolatileStorage(clock, tmp_path), traces=0, now=clock)
    assert memory.write(FACT).trace == memory.search("pytest").trace == ""
    assert not (tmp_path / "traces").exists()
    assert memory.traces() == []


# where it cannot be written


def test_a_folder_that_cannot_be_written_does_not_fail_the_operation(tmp_path: Path) -> None:
    (tmp_path / "traces").write_text("a file where the folder should be")
    memory = Memory(VolatileStorage(clock, tmp_path), now=clock)
    assert memory.write(FACT).trace == ""
    assert stands(memory, FACT)
    with pytest.raises(StorageError, match="cannot list the traces"):
        memory.traces()


def test_a_trace_that_cannot_be_written_to_its_end_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    traces = Traces(tmp_path, 100)
    name = keep(traces)
    monkeypatch.setattr(Path, "replace", full)
    assert keep(traces) == ""
    assert [file.name for file in tmp_path.iterdir()] == [f"{name}.jsonl"]


def test_somebody_who_clears_up_at_the_same_time_is_in_nobodys_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traces = Traces(tmp_path, 2)
    names = [keep(traces, NOW + timedelta(seconds=n)) for n in range(2)]
    listed = Traces.names

    def raced(self: Traces) -> list[str]:
        found = listed(self)
        (tmp_path / f"{names[0]}.jsonl").unlink(missing_ok=True)
        return found

    monkeypatch.setattr(Traces, "names", raced)
    assert keep(traces, NOW + timedelta(seconds=2)) != ""
    assert len(list(tmp_path.iterdir())) == 2


# finding one


def test_a_trace_is_found_by_its_name_by_a_part_of_it_and_as_the_last(tmp_path: Path) -> None:
    traces = Traces(tmp_path, 100)
    names = [keep(traces, NOW + timedelta(seconds=n), kind) for n, kind in enumerate(["write", "search", "write"])]
    assert [traces.find(given) for given in (names[0], "search", names[2][-6:], "last")] == [*names, names[2]]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("write", "there are 2 traces with 'write'"),
        ("rename", "no trace with 'rename'"),
        ("../x", "no trace with '../x'"),
    ],
)
def test_what_names_no_trace_or_several_is_refused(tmp_path: Path, given: str, told: str) -> None:
    traces = Traces(tmp_path, 100)
    keep(traces)
    keep(traces)
    with pytest.raises(NotAllowed, match=re.escape(told)):
        traces.find(given)


def test_where_nothing_was_done_there_is_no_last(tmp_path: Path) -> None:
    with pytest.raises(NotAllowed, match="no trace with 'last'"):
        Memory(VolatileStorage(clock, tmp_path)).trace()


def test_names_sort_by_the_moment_wherever_the_clock_stands(tmp_path: Path) -> None:
    traces = Traces(tmp_path, 100)
    east = timezone(timedelta(hours=14))
    earlier = keep(traces, datetime(2026, 3, 2, 2, 0, tzinfo=east))
    later = keep(traces, datetime(2026, 3, 1, 12, 1, tzinfo=UTC))
    assert traces.names() == [earlier, later]
    assert earlier.startswith("20260301T120000")


def test_those_of_one_moment_stand_in_the_order_in_which_they_were_kept(tmp_path: Path) -> None:
    traces = Traces(tmp_path, 20)
    names = [keep(traces, operation=kind) for kind in ("write", "search", "merge", "check") * 5]
    assert traces.names() == names
    assert traces.find("last") == names[-1]


# files that are no traces

BEGUN: dict[str, Any] = {
    "event": "begin",
    "operation": "write",
    "arguments": {"text": FACT, "path": None, "mode": "update"},
    "started": NOW.isoformat(),
    "model": "some:model",
    "threshold": 10_240,
    "limits": {"turns": 1, "tokens": 1, "seconds": 1.0, "money": 1.0},
}
HEAD: list[Any] = [{"event": "format", "format": FORMAT}, BEGUN]
ASKED: dict[str, Any] = {"event": "ask", "task": "write", "model": "some:model", "system": "", "tools": []}
BROKEN: dict[str, list[Any]] = {
    "nothing": [],
    "no format": [BEGUN],
    "another format": [{"event": "format", "format": FORMAT + 1}, BEGUN],
    "no beginning": HEAD[:1],
    "half a line": [*HEAD, b'{"event": "end", "co'],
    "no JSON": [*HEAD, b"\xff\xfe"],
    "no event": [*HEAD, ["end"]],
    "no kind of event": [*HEAD, {"reads": {}}],
    "a depth without end": [*HEAD, b"[" * 100_000],
    "a beginning of nothing": [HEAD[0], {"event": "begin"}],
    "a moment that is none": [HEAD[0], {**BEGUN, "started": "yesterday"}],
    "an end of nothing": [*HEAD, {"event": "end"}],
    "reads that are none": [*HEAD, {"event": "end", "reads": ["memory"]}],
    "a commit of nothing": [*HEAD, {"event": "commit"}],
    "limits that are none": [HEAD[0], {**BEGUN, "limits": {"patience": 1}}],
    "a reply of nothing": [*HEAD, ASKED, {"event": "reply"}],
    "a call of nothing": [*HEAD, ASKED, {"event": "reply", "text": "", "calls": [{}]}],
}


@pytest.mark.parametrize("lines", BROKEN.values(), ids=BROKEN.keys())
def test_a_file_that_is_no_trace_is_refused_and_named(memory: Memory, tmp_path: Path, lines: list[Any]) -> None:
    """When it is read, or at the latest when it is done again; never by an error that is not ours."""
    memory.write("What was there.")
    file = tmp_path / "traces" / "broken.jsonl"
    file.write_bytes(b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in lines))
    with pytest.raises(InvalidText, match=r"broken"):
        memory.replay(load_trace(file).name)
    assert stands(memory, "What was there.")


def test_a_trace_with_an_event_of_a_later_version_is_read(tmp_path: Path) -> None:
    traces = Traces(tmp_path, 100)
    name = keep(traces)
    with (tmp_path / f"{name}.jsonl").open("ab") as stream:
        stream.write(b'{"event": "weather", "sun": true}\n')
    assert traces.load(name).events[-1] == {"event": "weather", "sun": True}


@pytest.mark.parametrize("place", ["absent.jsonl", "folder.jsonl"])
def test_a_file_that_cannot_be_read_is_a_failure_of_the_storage(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(StorageError, match=place):
        load_trace(tmp_path / place)


def test_a_trace_that_is_not_kept_has_no_name() -> None:
    assert Trace().name == ""


def test_a_trace_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    traces = Traces(tmp_path, 100)
    name = keep(traces)
    file = tmp_path / f"{name}.jsonl"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:2]))
    with pytest.raises(InvalidText, match="its beginning or its end is missing"):
        traces.load(name)


def test_what_a_process_left_that_was_killed_over_its_trace_is_removed_in_time(memory: Memory, tmp_path: Path) -> None:
    memory.write("The garden grows.")
    kept = memory._engine.kept_traces
    assert kept is not None
    old, new = (kept.folder / name for name in ("1f3a.tmp", "2b4c.tmp"))
    for torn in (old, new):
        torn.write_bytes(b'{"event": "form')
    os.utime(old, (0, 0))
    memory.write("The garden is in Porto.")
    assert (old.exists(), new.exists()) == (False, True)
    assert len(memory.traces()) == 2


@pytest.mark.parametrize("name", ["a\0b", "\ud800"], ids=["NUL", "half a character"])
def test_a_name_that_no_file_can_have_is_told(name: str) -> None:
    with pytest.raises(StorageError, match="cannot read the trace"):
        load_trace(Path(name))
