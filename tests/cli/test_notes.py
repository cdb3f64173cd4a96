"""`silica notes`: a folder of Markdown, read from the shell; nothing in it is changed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.house.test_import import HEAVY, running
from tests.migrate.folder import write_files
from tests.notes.folder import hashes, settled

from .program import PROGRAM, Ended, Program

FILES = {
    "MEMORY.md": "# Garden\n\n## Lessons learned\n\n- Water in the evening\n",
    "memory/2026-02-17.md": "- Decision: NOT using peat\n- [ ] buy a filter\n\n## Stats\n\n- 4 members\n",
    "memory/2026-02-18.md": "- **Problem**: \x1b[31mthe pump\x1b[0m leaks\n- Members rose to 6 (from 4)\n",
}
NOW = {"SILICA_MEMORY_NOW": "2026-02-18T12:00:00Z"}
VERBS = ["index", "status", "extract", "digest", "audit", "graph"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return settled(write_files(tmp_path / "notes", FILES))


def run(program: Program, verb: str, *args: str, now: str = "2026-02-18T12:00:00Z", **more: str) -> Ended:
    cache = {"XDG_CACHE_HOME": str(program.home / "cache"), "SILICA_MEMORY_NOW": now}
    return program.silica("notes", verb, *args, env={**cache, **more})


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_prints_one_document_and_changes_nothing(program: Program, folder: Path, verb: str) -> None:
    before = hashes(folder)
    ended = run(program, verb, str(folder), "--json")
    assert (ended.code, ended.text.count("\n")) == (0, 1)
    assert isinstance(ended.json, dict)
    assert hashes(folder) == before


@pytest.mark.parametrize("verb", [*VERBS, "archive", "undo", "watch"])
def test_a_folder_that_is_not_there_is_an_error(program: Program, folder: Path, verb: str) -> None:
    for place in ("nowhere", str(folder / "MEMORY.md")):
        ended = run(program, verb, place, "--json")
        assert (ended.code, ended.json["error"]["kind"]) == (2, "UsageError")


@pytest.mark.parametrize("verb", VERBS)
def test_an_empty_folder_is_no_error(program: Program, tmp_path: Path, verb: str) -> None:
    (tmp_path / "empty").mkdir()
    assert run(program, verb, str(tmp_path / "empty")).code == 0


def test_the_index_is_written_into_the_cache_or_where_out_says(program: Program, folder: Path, tmp_path: Path) -> None:
    assert run(program, "status", str(folder)).text.startswith("3 new: ")
    told = run(program, "index", str(folder), "--json").json
    assert Path(told["out"]).is_relative_to(program.home / "cache")
    assert run(program, "index", str(folder), "--out", str(tmp_path / "out"), "--json").json["is_new"]
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["index.json", "tags.json"]
    (folder / "empty.md").write_text("")
    assert run(program, "status", str(folder)).text == "the index is current: 3 files\n"


def test_several_runs_at_once_give_the_same_index(program: Program, folder: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        ended = list(
            pool.map(lambda n: run(program, "index", str(folder), "--out", str(tmp_path / f"out{n}")), range(4))
        )
    assert [one.code for one in ended] == [0] * 4, ended
    assert len({(tmp_path / f"out{n}" / "index.json").read_bytes() for n in range(4)}) == 1


def test_without_a_folder_it_is_the_present_one(program: Program, folder: Path) -> None:
    write_files(program.home, {"2026-02-18.md": "- Decision: dig\n"})
    told = {one["file"] for one in run(program, "extract", "--json").json["items"]}
    assert {"2026-02-18.md", "notes/memory/2026-02-17.md"} <= told


def test_extract_tells_yesterday_and_today_unless_asked_for_more(program: Program, folder: Path) -> None:
    lines = run(program, "extract", str(folder)).text.splitlines()
    assert [line.split(":")[0] for line in lines] == ["DECISION", "METRIC", "METRIC", "ISSUE", "PENDING"]
    assert lines[0].startswith("DECISION: Decision: NOT using peat [2026-02-17]  memory/2026-02-17.md:1 · marker")
    assert run(program, "extract", str(folder), "--all", "--category", "lessons").text.startswith("LESSON: Water")
    assert len(run(program, "extract", str(folder), "--today", "--json").json["items"]) == 2
    assert len(run(program, "extract", str(folder), "--since", "2026-02-18", "--json").json["items"]) == 2


def test_nothing_found_says_what_the_newest_day_is(program: Program, folder: Path) -> None:
    ended = run(program, "extract", str(folder), now="2026-05-01T12:00:00Z")
    assert (ended.code, ended.text) == (0, "")
    assert "2026-02-18" in ended.err


def test_nothing_of_a_category_is_put_down_to_the_category_and_not_to_the_days(
    program: Program, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/2026-02-18.md").write_text("## Decisions\n\n- We decided to use SQLite.\n")
    ended = run(program, "extract", str(tmp_path / "notes"), "--since", "2026-02-01", "--category", "metrics")
    assert ended.err.startswith(
        "silica: nothing was found from 2026-02-01 to today of the category metrics, but 1 item"
    )


def test_nothing_so_sure_is_put_down_to_the_grade_and_not_to_the_days(program: Program, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/2026-02-18.md").write_text("- Karma 24, 14 posts\n")
    ended = run(program, "extract", str(tmp_path / "notes"), "--since", "2026-02-01", "--category", "metrics")
    assert "nothing so sure was found" in ended.err and "--min-grade keyword shows 1 item more" in ended.err


def test_what_is_quoted_cannot_upset_a_terminal(program: Program, folder: Path) -> None:
    for verb in ("extract", "digest"):
        assert b"\x1b[31m" not in run(program, verb, str(folder)).out


def test_a_digest_sums_up_the_days_that_are_asked_for(program: Program, folder: Path) -> None:
    text = run(program, "digest", str(folder)).text
    assert "members 4→6 (+50%) [memory/2026-02-18.md:2]" in text
    assert run(program, "digest", str(folder), "--days", "1", "--json").json["since"] == "2026-02-18"
    assert run(program, "digest", str(folder), SILICA_MEMORY_TIMEZONE="Asia/Tokyo").text == text
    assert "nothing from these days" in run(program, "digest", str(folder), "--until", "2026-02-10").text


@pytest.mark.parametrize("days", ["3000000", "99999999999999999999"])
def test_more_days_than_there_have_been_are_all_days(program: Program, folder: Path, days: str) -> None:
    assert run(program, "digest", str(folder), "--days", days, "--json").json["since"] == "0001-01-01"
    assert run(program, "digest", str(folder), "--until", "0001-01-01").code == 0
    assert "no daily log is from before" in run(program, "archive", str(folder), "--older-than", days).err
    (folder / "MEMORY.md").write_text("- As of 2020-01-01 the pump has 3 members\n", "utf-8")
    assert "stale" not in run(program, "audit", str(folder), "--stale-days", days).text


@pytest.mark.parametrize(
    "args",
    [
        ("extract", "--all", "--today"),
        ("extract", "--today", "--since", "2026-02-01"),
        ("extract", "--model", "offline"),
        ("extract", "--model", "clever"),
        ("extract", "--model", "anthropic:any", "--min-grade", "heading"),
        ("digest", "--days", "3", "--since", "2026-02-01"),
        ("index", "--only", "nowhere.md"),
        ("graph", "--json", "--format", "dot"),
    ],
)
def test_what_cannot_be_combined_or_found_is_a_usage_error(
    program: Program, folder: Path, args: tuple[str, ...]
) -> None:
    verb, *more = args
    assert run(program, verb, str(folder), *more).code == 2


@pytest.mark.parametrize("verb", ["search", "extract", "digest", "audit"])
def test_a_day_that_is_none_is_refused_with_how_days_are_written(program: Program, folder: Path, verb: str) -> None:
    query = ("kale",) if verb == "search" else ()
    for wrong in ("2026-02-30", "20260203", "Monday"):
        ended = run(program, verb, *query, str(folder), "--since", wrong)
        told = f"silica: --since must be a day of the calendar, such as 2026-02-03, not '{wrong}'\n"
        assert (ended.code, ended.err) == (2, told)


def test_a_graph_is_json_mermaid_or_graphviz_and_tells_what_is_left_out(program: Program, folder: Path) -> None:
    (folder / "more.md").write_text("# More\n\n- See [the garden](MEMORY.md)\n")
    assert run(program, "graph", str(folder)).json["edges"][0]["target"] == "file:MEMORY.md"
    assert run(program, "graph", str(folder), "--format", "mermaid").text.startswith("graph LR\n")
    ended = run(program, "graph", str(folder), "--format", "dot", "--most", "2")
    assert ended.text.startswith("digraph notes {\n") and "2 nodes and 0 edges are left out" in ended.err


def test_a_file_that_is_left_out_is_told(program: Program, folder: Path) -> None:
    (folder / "picture.md").write_bytes(b"\0\1\2")
    assert "picture.md is left out" in run(program, "index", str(folder)).err


@pytest.mark.parametrize("verb", VERBS)
def test_reading_notes_loads_no_memory_and_no_model(folder: Path, tmp_path: Path, verb: str) -> None:
    from tests.house.test_import import modules_loaded_by

    loaded = modules_loaded_by(running("notes", verb, str(folder), "--cache", str(tmp_path / "cache")))
    assert not {name.split(".")[0] for name in loaded}.intersection((*HEAVY, "pydantic", "jinja2"))
    assert "memory_v2.operations.write" not in loaded


def test_a_search_tells_where_each_place_stands_and_why(program: Program, folder: Path) -> None:
    ended = run(program, "search", "peat", str(folder), "--explain", "--context", "1")
    first, *others = ended.text.splitlines()
    assert first.startswith("memory/2026-02-17.md:1  2026-02-17  0.")
    assert first.endswith("decisions: marker")
    assert others[:2] == ["    - Decision: NOT using peat", "    - [ ] buy a filter"]
    assert "    +0.50  decisions by marker" in others


def test_a_search_without_an_answer_says_so(program: Program, folder: Path, tmp_path: Path) -> None:
    nothing = run(program, "search", "zeppelin", str(folder))
    assert (nothing.code, nothing.text, nothing.err) == (0, "", "silica: nothing found\n")
    (tmp_path / "empty").mkdir()
    assert "there are no notes in" in run(program, "search", "peat", str(tmp_path / "empty")).err
    wrong = run(program, "search", "garden", "beds", "--json")
    assert (wrong.code, wrong.json["error"]["kind"]) == (2, "UsageError")
    assert "in quotes" in wrong.err


def test_what_is_over_is_left_out_told_and_shown_if_asked_for(program: Program, tmp_path: Path) -> None:
    folder = settled(write_files(tmp_path / "done", {"log.md": "- [x] mend the pump\n"}))
    ended = run(program, "search", "pump", str(folder))
    assert (ended.text, "1 place left out" in ended.err) == ("", True)
    assert run(program, "search", "pump", str(folder), "--all").text.splitlines()[1] == "    - [x] mend the pump"


def test_old_logs_are_archived_only_if_that_is_said_and_it_is_taken_back(program: Program, folder: Path) -> None:
    before = hashes(folder)
    late = {"now": "2026-04-01T12:00:00Z"}
    plan = run(program, "archive", str(folder), "--force", "--older-than", "30", **late)
    assert plan.text.startswith("move memory/2026-02-17.md → memory/archive/2026-02-17.md: 3 items extracted\n")
    assert "nothing is moved yet" in plan.err
    assert "skip memory/2026-02-17.md: 1 item still pending\n" in run(program, "archive", str(folder), **late).text
    assert hashes(folder) == before
    done = run(program, "archive", str(folder), "--force", "--apply", "--json", **late).json
    assert [step["applied"] for step in done["steps"]] == [True, True]
    assert run(program, "status", str(folder)).text.startswith("2 new: memory/archive/2026-02-17.md")
    assert "no daily log" in run(program, "archive", str(folder), "--apply", **late).err
    assert len(run(program, "undo", str(folder), "--json").json["moved"]) == 2
    assert hashes(folder) == before
    assert "nothing is archived" in run(program, "undo", str(folder)).err


def test_what_is_extracted_is_captured_once_and_counts_as_kept(program: Program, folder: Path, tmp_path: Path) -> None:
    memory = str(tmp_path / "store")
    first = run(program, "extract", str(folder), "--all", "--capture", memory, "--json").json
    assert first["captured"] == len({one["id"].rpartition("-")[0] for one in first["items"]}) > 0
    later = run(program, "extract", str(folder), "--all", "--capture", memory, now="2026-04-02T12:00:00Z")
    assert "0 entries stored" in later.err
    listed = program.silica("memory", "--path", memory, "entries", "ls", "--json").json["entries"]
    decision = next(one for one in listed if "peat" in one["text"])
    assert (decision["observed_at"], decision["kind"], decision["confidence"]) == ("2026-02-17", "decisions", 0.9)
    assert decision["source"]["location"].startswith("memory/2026-02-17.md#")
    assert {one["observed_at"] for one in listed} == {"2026-02-17", "2026-02-18"}
    plan = run(program, "archive", str(folder), "--json", now="2026-04-02T12:00:00Z").json
    assert [step["action"] for step in plan["steps"]] == ["move", "move"]


@pytest.fixture(params=["told by the system", "looked at"])
def watching(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The environment of a watch, with and without the extra."""
    if request.param == "told by the system":
        pytest.importorskip("watchfiles")
        return {}
    hidden = write_files(tmp_path / "hidden", {"watchfiles.py": "raise ImportError\n"})
    return {"PYTHONPATH": f"{hidden}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}


def test_a_watch_tells_what_changes_and_what_is_new_until_it_is_stopped(
    program: Program, folder: Path, watching: dict[str, str]
) -> None:
    run(program, "index", str(folder))
    with watch(program, folder, watching) as process:
        assert "watching 3 files" in line_of(process.stderr)
        if watching:
            assert "pip install 'silica-memory[watch]'" in line_of(process.stderr)
        (folder / "new.md").write_text("# New\n\n- Decision: NOT using peat\n- Decision: dig\n")
        assert line_of(process.stdout) == "1 new: new.md\n"
        assert line_of(process.stdout) == "  DECISION: Decision: dig  new.md:4 · marker\n"
        (folder / "new.md").unlink()
        assert line_of(process.stdout) == "1 removed: new.md\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (0, "", "silica: stopped\n")


def test_a_watch_tells_each_change_as_a_line_of_json(program: Program, folder: Path, watching: dict[str, str]) -> None:
    run(program, "index", str(folder))
    with watch(program, folder, watching, "--json") as process:
        line_of(process.stderr)
        with (folder / "MEMORY.md").open("a") as memory:
            memory.write("- Prune in March\n")
        told = json.loads(line_of(process.stdout))
        assert told["found"]["changed"] == ["MEMORY.md"]
        assert [(one["category"], one["text"]) for one in told["told"]] == [("lessons", "Prune in March")]


def test_a_watch_goes_on_when_a_name_is_no_text_and_when_the_folder_is_replaced(
    program: Program, folder: Path, watching: dict[str, str], tmp_path: Path
) -> None:
    run(program, "index", str(folder))
    other = write_files(tmp_path / "other", {"other.md": "- Decision: dig\n"})
    with watch(program, folder, watching) as process:
        line_of(process.stderr)
        folder.rename(tmp_path / "old")
        other.rename(folder)
        while "1 new: other.md" not in line_of(process.stdout):
            assert process.poll() is None
        with open(os.fsencode(folder) + b"/\xff.md", "w") as file:
            file.write("- Decision: prune\n")
        while "1 new: \\xff.md" not in line_of(process.stdout):
            assert process.poll() is None
        assert line_of(process.stdout) == "  DECISION: Decision: prune  \\xff.md:1 · marker\n"


@contextmanager
def watch(program: Program, folder: Path, environment: dict[str, str], *args: str) -> Iterator[subprocess.Popen[str]]:
    command = [*PROGRAM, "notes", "watch", str(folder), "--interval", "0.1", *args]
    env = program.environment({"XDG_CACHE_HOME": str(program.home / "cache"), **environment})
    process = subprocess.Popen[str](command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line_of(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline()
