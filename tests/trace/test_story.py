"""The events of a trace, and the story that is told of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.errors import ModelError
from memory_v2.memory import Memory
from memory_v2.models.scripted import Answer, ScriptedModel
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.trace.event_kinds import KINDS, checked_event
from memory_v2.trace.recording import Event
from memory_v2.trace.story import MAX_LINES, Line, story
from tests.operations.scenes import call, calls
from tests.properties.whole import clock

PLACE = calls(call("place", blocks="n1", page="memory"))


def text(line: Line) -> str:
    return "".join(part.text for part in line)


def told(events: list[Event], full: bool = False) -> list[str]:
    return [text(line) for line in story(events, full)]


def written(folder: Path, *script: Answer, new: str = "Grace writes compilers.") -> list[Event]:
    """The events of a write that a script decides."""
    memory = Memory(VolatileStorage(clock, folder), ScriptedModel(script, "some:model"), now=clock)
    memory.write(new)
    return memory.trace().events


def reply(**parts: Any) -> Event:
    usage = dict.fromkeys(("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens"), 0)
    whole = {"seconds": 0.0, "text": "", "calls": [], "stop": "tool_use", "usage": usage, "money": 0.0, "raw": None}
    return {"event": "reply", **whole, **parts}


def test_what_was_decided_refused_and_stored_is_told_in_this_order(tmp_path: Path) -> None:
    wrong = calls(call("place", blocks="n1", page="nowhere"))
    events = written(tmp_path, ModelError("busy", retryable=True), wrong, PLACE)
    lines = told(events)
    places = [
        next(number for number, line in enumerate(lines) if words in line)
        for words in ("write text=", "some:model is asked", "busy", "page=nowhere", "refused", "page=memory", "decided")
    ]
    assert places == sorted(places)
    assert any("memory" in line and "new, " in line for line in lines[places[-1] :])


@pytest.mark.parametrize(("arguments", "shown"), [(["n1"], '["n1"]'), ("n1", "n1"), (7, "7"), (None, "null")], ids=repr)
def test_a_call_whose_arguments_are_no_object_is_told_as_it_was(arguments: object, shown: str) -> None:
    given_call = {"id": "", "name": "place", "arguments": arguments}
    assert f"    place {shown}" in told([reply(calls=[given_call])])


@given(st.text(alphabet=st.characters(codec=None), min_size=1))
def test_a_text_is_told_as_it_stands_in_the_trace(words: str) -> None:
    lines = told([reply(text=words)], full=True)
    if wanted := words.strip():
        assert all(line.rstrip() in "\n".join(lines) for line in wanted.replace("\r\n", "\n").split("\n"))


def test_what_is_left_out_is_counted_and_in_full_nothing_is(tmp_path: Path) -> None:
    events = written(tmp_path, PLACE, new="\n\n".join(f"Fact {number}." for number in range(40)))
    shown = next(event["text"] for event in events if event["event"] == "message").rstrip().splitlines()
    lines = told(events)
    short = lines[lines.index("  it is shown:") + 1 : lines.index("  it answers")]
    assert len(short) == MAX_LINES + 1
    assert short[-1].endswith(f"… {len(shown) - MAX_LINES} more lines")
    full = told(events, full=True)
    assert [line for line in shown if f"    │ {line}".rstrip() not in full] == []
    assert not any("more lines" in line for line in full)


def test_kinds_of_a_later_version_are_passed_over() -> None:
    assert told([{"event": "weather", "sun": True}, {"event": "format", "format": 1}]) == []


def test_page_names_line_up_by_the_columns_that_they_take() -> None:
    pages = [{"path": path, "before": None, "after": "x"} for path in ("日本", "ab")]
    commit = {"event": "commit", "revision": "r", "pages": pages}
    first, second = [text(line) for line in story([commit], width=lambda words: len(words.encode("utf-16-le")))][2:]
    assert (first, second) == ("  日本  new, 1 byte", "  ab  new, 1 byte")


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_of_nothing_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="required"):
        checked_event({"event": kind})


def test_an_event_comes_back_as_it_was_given_with_what_a_later_version_added() -> None:
    event = {"event": "conflict", "error": "changed", "who": {"agent": 7}}
    assert checked_event(event) is event
