"""What takes back and what takes out: checkpoints, `forget`, recovery, and what the newest change was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.tools import dispatch

from .program import Program


def test_a_memory_is_saved_and_loaded_elsewhere(program: Program) -> None:
    program.done("write", "Silica uses pytest.")
    program.done("capture", "CTR dropped 12%.", "--agent", "hawk", "--date", "2026-02-15")
    made = program.quick("checkpoint", "create", "one", "--json").json
    assert program.done("checkpoint", "list").split("\t")[::2] == ["one", f"{made['revision']}\n"]
    program.done("capture", "CTR dropped 14% on Monday.", "--agent", "hawk", "--date", "2026-02-16")
    shown = program.quick("checkpoint", "show", "one", "--json").json
    assert (shown["pages"], shown["entries"], len(shown["changed"])) == (1, 1, 1)
    assert "1 page and 1 entry" in program.done("checkpoint", "show", "one")
    file = str(program.home / "one.jsonl")
    assert "1 page and 1 entry" in program.done("checkpoint", "export", "one", file)
    assert program.quick("checkpoint", "export", "one", file).code == 2
    other = Program(program.home, program.home / "other")
    assert "recorded as" in other.done("checkpoint", "load", file)
    assert other.done("entries", "ls") == "hawk/obs-2026-02-15-001\t2026-02-15\t\t\tCTR dropped 12%.\n"
    assert other.quick("checkpoint", "load", file, "--json").json["changed_pages"] == []


def test_a_memory_goes_back_and_undo_comes_back(program: Program) -> None:
    program.done("write", "Silica uses pytest.")
    program.done("checkpoint", "create", "one")
    before = program.done("read")
    program.done("write", "Releases are on Fridays.")
    after = program.done("read")
    assert "changed: memory" in program.done("checkpoint", "restore", "one")
    assert program.done("read") == before
    assert "already" in program.done("checkpoint", "restore", "one")
    program.done("undo", "--yes")
    assert program.done("read") == after


def test_without_a_checkpoint_it_says_how_to_make_one(program: Program) -> None:
    assert program.quick("checkpoint", "list").err.startswith("silica: there is no checkpoint")


SECRET = "KX-4711-zulu"


def test_it_is_shown_first_and_done_only_when_told(program: Program) -> None:
    program.quick("write", f"The gate code is {SECRET}.", "--to", "garden")
    before = program.quick("read", "garden").out
    refused = program.quick("forget", SECRET)
    assert refused.code == 2 and "--yes" in refused.err
    shown = program.quick("forget", "--dry-run", SECRET)
    assert shown.code == 0 and "garden" in shown.text and "remove traces: 1" in shown.text and SECRET not in shown.text
    assert program.quick("read", "garden").out == before
    done = program.quick("forget", "--yes", stdin=SECRET.encode() + b"\n")
    assert done.code == 0 and SECRET not in program.quick("read", "garden").text
    assert program.quick("history").text.splitlines()[0].split("\t")[2] == "forget"
    assert "nowhere" in program.quick("forget", "--yes", SECRET).err


def test_as_json_it_is_one_document(program: Program) -> None:
    program.quick("write", f"# Gate\n\nThe code is {SECRET}.\n\nIt is green.", "--to", "gate")
    told = program.quick("forget", "--page", "gate", "--lines", "3", "--dry-run", "--json").json
    assert told["revision"] is None and told["traces"]
    assert [step["name"] for step in told["steps"]][:2] == ["gate", "memory"]
    told = program.quick("forget", "--page", "gate", "--yes", "--json").json
    assert told["revision"] and told["warnings"] == [] and all(step["applied"] for step in told["steps"])
    assert program.quick("read", "gate").code == 3


def test_what_is_forgotten_leaves_no_trace_of_its_own(program: Program) -> None:
    program.quick("write", f"The gate code is {SECRET}.")
    program.quick("forget", "--yes", SECRET)
    with Memory.open(program.folder) as memory:
        assert memory.traces() == []


def leave(program: Program, text: str, mode: str = "update", path: str | None = None) -> None:
    """What a write has noted whose process was killed while its model was thinking."""
    noted = {"text": text, "path": path, "mode": mode, "since": "2026-03-01T09:30:00+00:00"}
    noted |= dict.fromkeys(("over", "head", "source", "date"), "")
    LocalStorage(program.folder).state.write("pending/1f3a", json.dumps(noted).encode())


def test_the_next_command_finishes_what_was_interrupted_and_says_so_before_all_else(program: Program) -> None:
    program.quick("write", "Lisbon is on the Tagus.")
    leave(program, "Porto is on the Douro.")
    ended = program.quick("read")
    assert ended.code == 0
    assert b"Porto is on the Douro." in ended.out
    assert ended.err == (
        "silica: a write of 2026-03-01 09:30 UTC was interrupted; it is done now: memory: Porto is on the Douro.\n"
    )
    assert program.quick("read").err == ""


def test_it_is_told_beside_a_json_document_and_in_the_history(program: Program) -> None:
    leave(program, "Porto is on the Douro.")
    ended = program.quick("history", "--json")
    assert "was interrupted" in ended.err
    assert "it was interrupted, and finished later" in json.dumps(ended.json)


def test_a_write_that_is_repeated_after_a_kill_is_known_to_be_there(program: Program) -> None:
    leave(program, "Porto is on the Douro.")
    ended = program.quick("write", "Porto is on the Douro.")
    assert ended.code == 0
    assert program.quick("read").out.count(b"Porto is on the Douro.") == 1


def test_a_note_that_cannot_be_read_is_told_by_every_command_and_found_by_check(program: Program) -> None:
    program.quick("write", "Lisbon is on the Tagus.")
    LocalStorage(program.folder).state.write("pending/1f3a", b"{")
    ended = program.quick("read")
    assert (ended.code, b"Lisbon" in ended.out) == (0, True)
    assert ended.err.startswith("silica: an interrupted operation could not be finished: ")
    assert b".metadata/pending/1f3a.json" in program.quick("check").out


HAND = "The heron is back.\n"
Do: TypeAlias = Callable[..., str]
VERBS = {
    "write": ("write", "The weir is old.", "--to", "weir"),
    "replace": ("write", "--mode", "replace", "--to", "heron", "The heron left."),
    "replace words": ("replace", "heron", "back", "gone"),
    "rename": ("rename", "heron", "birds/heron"),
    "delete": ("delete", "heron", "--yes"),
}
TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "write": ("write_memory", {"content": "The weir is old.", "path": "weir"}),
    "replace": ("write_memory", {"content": "The heron left.", "path": "heron", "mode": "replace"}),
    "replace words": ("replace_in_memory", {"path": "heron", "old": "back", "new": "gone"}),
    "delete": ("delete_memory", {"path": "heron"}),
}


def drop(folder: Path) -> None:
    (folder / "heron.md").write_text(HAND)


def kept(memory: Memory) -> list[str]:
    """The kinds of what was done, oldest first; what was dropped stands in the tree or in the history."""
    past = memory.history()[::-1]
    changes = [change for one in past for change in memory.show(one.id)[1].pages]
    texts = [data for change in changes for data in (change.before, change.after) if data]
    assert any(b"heron is back" in text for text in texts)
    return [one.first.kind for one in past]


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_on_a_page_that_was_just_dropped_has_a_revision(program: Program, verb: str) -> None:
    program.done("write", "The mill has two wheels.", "--to", "mill")
    drop(program.folder)
    program.done(*VERBS[verb])
    with Memory.open(program.folder, "offline") as memory:
        assert kept(memory) == ["write", "outside", {"replace": "replace_text"}.get(VERBS[verb][0], VERBS[verb][0])]


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_on_a_page_that_was_just_dropped_has_a_revision(tmp_path: Path, tool: str) -> None:
    with Memory.open(tmp_path, "offline") as memory:
        memory.write("The mill has two wheels.", "mill")
        memory.list_files()
        drop(tmp_path)
        name, arguments = TOOLS[tool]
        assert not dispatch(memory, name, arguments).is_error
        assert kept(memory)[:2] == ["write", "outside"]
        assert len(kept(memory)) == 3


def test_undo_takes_back_what_was_done_last_by_verbs_and_by_tools(program: Program) -> None:
    program.done("write", "The mill has two wheels.", "--to", "mill")
    program.done("capture", "The heron is back.")
    program.done("write", "The weir is old.", "--to", "weir")
    assert "weir is old" in program.done("undo", "--yes")
    assert "heron" in program.done("entries", "ls")
    program.done("write", "The weir is old.", "--to", "weir")
    program.done("capture", "The otter is back.")
    with Memory.open(program.folder, "offline") as memory:
        assert "capture" in dispatch(memory, "undo_memory", {}).text
        assert "weir is old" in dispatch(memory, "undo_memory", {}).text
    assert program.done("entries", "ls").count("\n") == 1
    assert not (program.folder / "weir.md").exists()


def test_the_root_is_replaced_by_name_only(program: Program) -> None:
    program.done("write", "The mill has two wheels.")
    refused = program.quick("write", "--mode", "replace", "Nothing else.")
    assert (refused.code, "--to memory" in refused.err) == (2, True)
    assert "two wheels" in program.done("read")
