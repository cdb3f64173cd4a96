"""What the shell and the tools of agents tell to be done has a revision, also right after a page was dropped by hand;
and undo takes back what was done last."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from memory_v2 import Memory
from memory_v2.tools import dispatch

from .program import Program

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
