"""Searching in a part of the memory, and for lines that match a pattern."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from memory_v2.errors import InvalidPath, InvalidPattern, InvalidSetting, PageNotFound
from memory_v2.memory import Memory
from memory_v2.operations import pattern
from memory_v2.storage.local.storage import LocalStorage
from tests.operations.scenes import call, calls, offline, scripted

DAYS = "# Log\n\n" + "".join(f"- 2026-02-{day:02}: The kiln was fired.\n" for day in range(1, 20))


@pytest.fixture
def memory() -> Memory:
    memory = offline()
    memory.storage.write("memory", b"# Memory\n\nThe kiln of the root.\n\n## Links\n\n- [[projects/kiln]]\n")
    memory.storage.write("projects/kiln", b"# Kiln\n\nThe kiln of a project, see [[tools/saw]].\n")
    memory.storage.write("tools/saw", b"# Saw\n\nNo kiln but a saw.\n")
    memory.storage.write("projectskiln", b"# Other\n\nThe kiln of others.\n")
    memory.storage.write("log", DAYS.encode())
    memory.write("The kiln came by post.", "letters", source="letters/anna.md")
    memory.write("The kiln was sold.", "letters", source="letters/Bruno.md")
    return memory


@pytest.mark.parametrize(
    ("part", "pages"),
    [
        ({"under": "projects"}, {"projects/kiln"}),
        ({"under": "projects/kiln"}, {"projects/kiln"}),
        ({"under": "tools/"}, {"tools/saw"}),
        ({"near": "tools/saw"}, {"tools/saw", "projects/kiln"}),
        ({"near": "tools/saw", "steps": 2}, {"tools/saw", "projects/kiln", "memory"}),
        ({"near": "tools/saw", "under": "projects"}, {"projects/kiln"}),
        ({"source": "bruno"}, {"letters"}),
        ({"since": "2026-02-18", "until": "2026-02-19"}, {"log"}),
    ],
)
@pytest.mark.parametrize("regex", [False, True])
def test_only_a_part_is_searched(memory: Memory, part: dict[str, Any], pages: set[str], regex: bool) -> None:
    assert {found.path for found in memory.search("kiln", 50, regex=regex, **part)} == pages


def test_a_narrowed_search_can_be_replayed(tmp_path: Path) -> None:
    with Memory(LocalStorage(tmp_path)) as memory:
        memory.write("- 2026-02-03: The kiln was fired.\n")
        for regex in (False, True):
            found = memory.search("kiln", max_tokens=200, since=date(2026, 2, 1), under="memory", regex=regex)
            assert found
            assert memory.replay(found.trace).differences == ()


def test_a_trace_has_what_was_asked_and_of_the_parts_only_those_that_are_given(tmp_path: Path) -> None:
    with Memory(LocalStorage(tmp_path)) as kept:
        kept.write("The kiln was fired.")
        always = {"query": "kiln", "max_results": 10, "steps": 1}
        kept.search("kiln")
        assert kept.trace().of("begin")[0]["arguments"] == always
        kept.search("kiln", since=date(2026, 2, 1), tags=(), cross=True)
        assert kept.trace().of("begin")[0]["arguments"] == always | {"since": "2026-02-01", "cross": True}


@pytest.mark.parametrize("regex", [False, True])
def test_days_are_those_on_which_it_was_said(memory: Memory, regex: bool) -> None:
    found = memory.search("kiln", 50, since=date(2026, 2, 5), until="2026-02-08", regex=regex)
    assert {f"{one.date}" for one in found} == {f"2026-02-{day:02}" for day in range(5, 9)}


def test_what_a_model_chooses_elsewhere_is_no_result(memory: Memory) -> None:
    answer = call("answer", results=[{"page": "tools/saw", "blocks": "2", "score": 1}, {"place": "p1", "score": 0.5}])
    asked, _ = scripted(memory, calls(call("open_pages", paths=["tools/saw"])), calls(answer))
    assert [found.path for found in asked.search("kiln", under="projects")] == ["projects/kiln"]


@pytest.mark.parametrize(
    ("part", "error"),
    [
        ({"under": "nowhere"}, PageNotFound),
        ({"under": "/a"}, InvalidPath),
        ({"near": "nowhere"}, PageNotFound),
        ({"near": "log", "steps": 0}, InvalidSetting),
        ({"since": "yesterday"}, InvalidSetting),
        ({"until": 3}, InvalidSetting),
        ({"since": "2026-02-03", "until": "2026-02-01"}, InvalidSetting),
        ({"source": " "}, InvalidSetting),
    ],
)
def test_a_part_that_cannot_be_meant_is_refused(memory: Memory, part: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        memory.search("kiln", **part)


def test_what_is_dated_after_today_is_found_from_a_day_to_come(memory: Memory) -> None:
    memory.entries.capture("The kiln is to be fired again.", date="2999-01-02")
    assert [one.path.rpartition("/")[2] for one in memory.search("kiln", since="2999-01-01")] == ["obs-2999-01-02-001"]
    assert memory.search("kiln", since="2999-01-01", only="pages") == []


def test_lines_that_match_come_in_the_order_of_pages(memory: Memory) -> None:
    found = memory.search(r"^- 2026-02-1[0-2]|root\b", 10, regex=True)
    assert [(one.path, one.lines) for one in found] == [
        ("memory", (3, 3)),
        ("log", (12, 12)),
        ("log", (13, 13)),
        ("log", (14, 14)),
    ]
    assert found[1].excerpt == "- 2026-02-10: The kiln was fired."
    assert (found[1].date, found[1].section) == (date(2026, 2, 10), ("Log",))
    assert (found.answered, found.decided_by) == (True, "program")
    assert len(memory.search("kiln", 3, regex=True)) == 3
    assert not memory.search("last_updated", regex=True).answered


def test_the_lines_of_any_text_are_counted_as_everywhere() -> None:
    memory = offline()
    memory.storage.write("odd", "\ufeff# Odd\r\n\r\nA\x0bB \u2028C\rThe kiln\xff\n".encode("latin-1", "ignore"))
    memory.storage.write("odd", b"\xef\xbb\xbf# Odd\r\n\r\nA\x0bB\rThe kiln \xff\n")
    (found,) = memory.search("^The", regex=True)
    assert (found.lines, found.excerpt) == ((4, 4), "The kiln \ufffd")


@pytest.mark.parametrize("wrong", ["(", "[", "a{9999999999999}", "(?P<a"])
def test_what_is_no_pattern_is_refused(memory: Memory, wrong: str) -> None:
    with pytest.raises(InvalidPattern, match="not a regular expression"):
        memory.search(wrong, regex=True)


def test_a_pattern_that_takes_for_ever_is_stopped(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern, "SECONDS", 0.5)
    memory.storage.write("long", f"# Long\n\n{'a' * 60}!\n".encode())
    with pytest.raises(InvalidPattern, match="longer than"):
        memory.search("(a+)+$", regex=True)
