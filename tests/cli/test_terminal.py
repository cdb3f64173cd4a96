"""What a person at a terminal sees, and that a pipe never sees it."""

from __future__ import annotations

import io
import os
import re
import sys
import time
from threading import Timer

import pytest
from filelock import FileLock

from memory_v2.cli.output import cut, pad, plain, time_left, width, working
from memory_v2.progress import tell_progress

from .program import Program

ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def seen(text: str) -> str:
    """What stays on the screen."""
    return ESCAPE.sub("", re.sub(r"[^\n]*\r\x1b\[K", "", text))


@pytest.fixture
def wide(program: Program) -> Program:
    """Names that take more columns than they have characters, and some that take fewer."""
    program.page(
        "memory",
        "# Memory\n\n## Links\n\n- [[日本語/メモ]] - 覚え書き\n- [[cafe\u0301s]]\n- [[a]] - " + "long " * 40 + "\n",
    )
    program.page("日本語/メモ", "# メモ\n\nこんにちは世界、メモです。\n")
    program.page("cafés", "# Cafés\n\nOne by the river.\n")
    program.page("a", "# A\n\nA letter.\n")
    return program


def test_the_list_is_a_coloured_table_that_lines_up(wide: Program) -> None:
    shown = wide.on_terminal("ls")
    assert shown.code == 0
    assert "\x1b[36m" in shown.text
    head, *rows = seen(shown.text).splitlines()
    assert head.split() == ["page", "bytes", "changed", "(UTC)", "links"]
    assert len(rows) == 4
    dates = {width(re.split(r"\d{4}-\d\d-\d\d \d\d:\d\d", row)[0]) for row in rows}
    assert len(dates) == 1
    assert {width(row) for row in rows} == {width(head)}


@pytest.mark.parametrize("columns", [120, 60, 40, 24])
def test_the_tree_is_cut_to_the_terminal_and_lines_up(wide: Program, columns: int) -> None:
    shown = wide.on_terminal("tree", columns=columns)
    lines = seen(shown.text).splitlines()
    assert all(width(line) <= columns for line in lines)
    ends = {width(line.split(" bytes")[0]) for line in lines if " bytes" in line}
    assert len(ends) == 1
    if columns == 120:
        assert lines[-1].endswith("…")
        assert "  覚え書き" in lines[1]


def test_a_pipe_gets_whole_lines_and_no_colours(wide: Program) -> None:
    assert "long " * 39 + "long" in wide.run("tree", env={"COLUMNS": "20"}).text
    for call in (["tree"], ["ls"], ["search", "メモ"], ["check"], ["delete", "a"]):
        assert b"\x1b" not in wide.run(*call, env={"COLUMNS": "20"}).out


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_colours_can_be_refused_and_the_table_stays(wide: Program, env: dict[str, str]) -> None:
    for call in (["ls"], ["tree"], ["search", "-n", "1", "river"]):
        shown = re.sub(r"[^\n]*\r\x1b\[K", "", wide.on_terminal(*call, env=env).text)
        assert "\x1b" not in shown
        assert "cafés" in shown


def test_a_finding_is_coloured_by_its_gravity(wide: Program) -> None:
    wide.page("lost", "# Lost\n\n[[nowhere]]\n")
    shown = wide.on_terminal("check").text
    assert "\x1b[31merror\x1b[0m unreachable lost:0" in shown
    assert "\x1b[33mnotice\x1b[0m dangling-link lost:3" in shown


def test_text_that_could_upset_a_terminal_is_shown_as_numbers_and_read_in_a_pipe_as_it_is(program: Program) -> None:
    evil = "\x1b]0;title\x07 \x1b[2J \x9b31m \u202e"
    program.page("memory", f"# Root {evil}\n\nneedle {evil}\r\n\n## Links\n\n- [[b]] - {evil}\n")
    program.page("b", f"# {evil}\n\nneedle\n")
    assert "needle \\x1b]0;title\\x07 \\x1b[2J \\x9b31m \\u202e" in program.quick("search", "needle").text
    assert evil.encode() in program.quick("read").out
    for form in ("mermaid", "dot"):
        assert b"\x1b" not in program.quick("graph", "--format", form).out


@pytest.mark.skipif(sys.platform == "darwin", reason="this disk takes no names that are not UTF-8")
def test_names_of_files_that_are_no_pages_are_shown_harmlessly(grown: Program) -> None:
    folder = os.fsencode(grown.folder)
    for name in (b"caf\xe9.md", b"a\x1b[31mb.md", b"two\nlines.md"):
        with open(os.path.join(folder, name), "wb"):
            pass
    found = grown.quick("check")
    assert found.code == 0
    assert found.text.count("\n") == 3
    for shown in ("caf\\xe9.md:0", "a\\x1b[31mb.md:0", "two\\x0alines.md:0"):
        assert shown in found.text
    paths = [finding["path"] for finding in grown.quick("check", "--json").json["findings"]]
    assert sorted(paths) == ["a\x1b[31mb.md", "caf\udce9.md", "two\nlines.md"]


def test_an_absent_page_is_not_asked_about(grown: Program) -> None:
    absent = grown.on_terminal("delete", "nowhere")
    assert (absent.code, "Delete" in absent.text) == (3, False)


def test_a_write_without_text_on_a_terminal_does_not_wait(program: Program) -> None:
    shown = program.on_terminal("write")
    assert shown.code == 2
    assert "no text" in shown.text


def test_a_text_can_be_typed_at_the_terminal(program: Program) -> None:
    assert program.on_terminal("write", "-", keys=(b"", b"typed by hand\n\x04")).code == 0
    assert "typed by hand" in program.done("read")


def test_work_that_takes_long_is_announced_on_a_terminal_and_wiped_away(grown: Program) -> None:
    grown.done("write", "makes the folder of the lock")
    lock = FileLock(grown.folder / ".metadata" / "lock", thread_local=False)
    with lock:
        release = Timer(2.0, lock.release)
        release.start()
        shown = grown.on_terminal("write", "waits for the lock")
    release.join()
    assert shown.code == 0
    assert "writing …\r\x1b[K" in shown.text
    assert "writing" not in seen(shown.text)


def test_long_work_is_counted_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", screen := io.StringIO())
    monkeypatch.setattr("memory_v2.cli.output.on_terminal", lambda _: True)
    monkeypatch.setattr("memory_v2.cli.output.DELAY_SECONDS", 0.0)
    monkeypatch.setattr("memory_v2.cli.output.STEP_SECONDS", 0.01)

    def until(words: str) -> None:
        ends = time.monotonic() + 30
        while words not in screen.getvalue() and time.monotonic() < ends:
            time.sleep(0.01)
        assert words in screen.getvalue()

    with working("searching"):
        tell_progress("pages indexed", 1_250, 5_000)
        until("searching … 1,250 of 5,000 pages indexed")
        tell_progress("pages indexed", 5_000, 5_000)
        until("indexed\rsearching …")
        tell_progress("requests sent", 3)
        until("searching … 3 requests sent")
    assert screen.getvalue().endswith("\r")  # captured without the codes of a terminal, such as "erase the line"
    tell_progress("pages indexed", 1, 2)  # nobody listens


def test_columns_are_counted_as_a_terminal_does() -> None:
    assert width("日本") == 4
    assert width("e\u0301") == 1
    assert width("a\u200db") == 2
    assert pad("日", 4) == "日  "
    assert pad("日", 4, right=True) == "  日"
    assert cut("日本語", 6) == "日本語"
    assert cut("日本語", 5) == "日本…"
    assert cut("日本語", 4) == "日…"
    assert cut("abc", 1) == "…"
    assert cut("abc", 0) == ""


def test_a_plain_line_is_one_line() -> None:
    assert plain("a\nb\x1b\x85\u2028\udcff\ud800\t日\u200d") == "a\\x0ab\\x1b\\x85\\u2028\\xff\\ud800\t日\u200d"


def test_the_words_that_were_found_are_set_off_and_the_headings_above_are_told(program: Program) -> None:
    program.page("projects/silica", "# Silica\n\n## Testing\n\nEach node.js part is tested in the café.\n")
    shown = program.on_terminal("search", "which tests for node.js in a cafe").text
    assert all(f"\x1b[1m{word}\x1b[0m" in shown for word in ("node", "js", "tested", "café"))
    assert "\x1b[1min\x1b[0m" not in shown
    assert "projects/silica › Testing" in seen(shown)
    piped = program.done("search", "which tests for node.js in a cafe")
    assert "\x1b" not in piped
    assert "Each node.js part is tested in the café." in piped


@pytest.mark.parametrize(
    ("elapsed", "done", "left", "told"),
    [
        (10.0, 100, 500, " · 50 s left"),
        (60.0, 100, 1_000, " · 10 min left"),
        (1.0, 1, 1_000, ""),  # nobody knows yet
        (30.0, 0, 1_000, ""),
        (30.0, 1_000, 1, ""),  # it is soon over
    ],
)
def test_the_time_left_is_told_when_it_is_known_and_long(elapsed: float, done: int, left: int, told: str) -> None:
    assert time_left(elapsed, done, left) == told
