"""Claude's memory tool on the tree: beside the official helper, and what the tree adds to it."""

from __future__ import annotations

import asyncio
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_v2.memory import Memory
from memory_v2.tools.answer import LONGEST
from memory_v2.tools.claude_memory import AsyncClaudeMemoryTool, ClaudeMemoryTool
from memory_v2.tools.memory_commands import CLAUDE_MEMORY_TOOL, answer_memory_command
from tests.effort import effort
from tests.operations.scenes import SMALL, offline
from tests.properties.whole import faults, pages_of
from tests.tools.side_by_side import Step, answered, compared, scenes

TRICKS = (
    "/memories/..",
    "/memories/a\0b",
    "/memories/[[a]]",
    "/memories/CON.md",
    "/memories/" + "a/" * 50,
    "/memories/" + "./" * 5_000,
    "",
    "x",
)


@pytest.fixture
def memory() -> Memory:
    return offline()


def told(memory: Memory, command: str, **arguments: Any) -> str:
    result = answer_memory_command(memory, {"command": command, **arguments})
    assert not result.is_error, result.text
    return result.text


def refused(memory: Memory, command: Any, **arguments: Any) -> str:
    before = pages_of(memory.storage)
    result = answer_memory_command(memory, {"command": command, **arguments})
    assert result.is_error, result.text
    assert pages_of(memory.storage) == before
    assert len(result.text) < 3_000
    return result.text


# beside the official helper


def test_answers_are_the_same_except_where_they_differ_for_a_reason() -> None:
    rows = list(compared())
    assert (len(rows), sum(row.is_same for row in rows)) == (114, 96)  # as docs/claude-memory-tool.md says
    assert not [row for row in rows if row.is_same == bool(row.why)]


def test_the_asynchronous_tool_answers_as_the_other() -> None:
    async def answers(steps: list[Step]) -> list[str]:
        tool, told = AsyncClaudeMemoryTool(offline()), []
        for step in steps:
            try:
                told.append(str(await tool.call(step.command)))
            except ToolError as error:
                told.append(str(error))
        return told

    for steps in scenes().values():
        tool, expected = ClaudeMemoryTool(offline()), []
        for step in steps:
            try:
                expected.append(tool.call(step.command))
            except ToolError as error:
                expected.append(str(error))
        assert asyncio.run(answers(steps)) == expected


FILES = st.sampled_from([f"/memories/{name}" for name in ("a.md", "b.md", "d/a.md", "d/e/c.md", "d/e/plan.txt")])
FOLDERS = st.sampled_from([f"/memories/{name}" for name in ("d", "d/e", "x", "x/y")])
TEXTS = st.lists(st.sampled_from(["one", "two", "", "- x", "# T", "one two"]), max_size=4).map(
    lambda lines: "".join(f"{line}\n" for line in lines + ["end"] * (lines[-1:] == [""]))
)
WORDS = st.sampled_from(["one", "two", "x", "e\nt", "d"])


def command(name: str, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.fixed_dictionaries({"command": st.just(name), **arguments}).map(Step)


STEPS = st.one_of(
    command("view", path=FILES | FOLDERS | st.just("/memories")),
    command("create", path=FILES, file_text=TEXTS),
    command("str_replace", path=FILES, old_str=WORDS, new_str=WORDS),
    command("insert", path=FILES, insert_line=st.integers(-1, 5), insert_text=TEXTS),
    command("delete", path=FILES | FOLDERS),
    command("rename", old_path=FILES, new_path=FILES),
    command("rename", old_path=FOLDERS, new_path=st.sampled_from(["/memories/x", "/memories/z/y"])),
)


def remove_empty_folders(root: Path) -> None:
    for folder in sorted((path for path in root.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


@settings(max_examples=effort(20, 2_000))
@given(st.lists(STEPS, min_size=1, max_size=25))
def test_any_sequence_of_commands_has_the_answers_of_the_helper(steps: list[Step]) -> None:
    memory = offline()
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = BetaLocalFilesystemMemoryTool(folder), ClaudeMemoryTool(memory)
        for step in steps:
            expected = answered(theirs, step.command)
            remove_empty_folders(Path(folder, "memories"))
            if not expected.startswith("exception"):
                assert answered(ours, step.command) == expected
    assert not faults(pages_of(memory.storage), memory.threshold)


# what the tree adds


def test_a_file_is_a_page_that_the_other_faces_see(memory: Memory) -> None:
    told(memory, "create", path="/memories/projects/silica.md", file_text="# Silica\n\n- Silica uses pytest.\n")
    assert memory.search("What tests Silica?")[0].path == "projects/silica"
    memory.write("The kiln is at 1,240 degrees.", "kiln", "append")
    assert "1,240" in told(memory, "view", path="/memories/kiln.md")


def test_every_change_can_be_undone(memory: Memory) -> None:
    told(memory, "create", path="/memories/a/b.md", file_text="one\n")
    told(memory, "create", path="/memories/a/c.md", file_text="two\n")
    before = pages_of(memory.storage)
    told(memory, "delete", path="/memories/a")
    memory.undo()
    told(memory, "str_replace", path="/memories/a/b.md", old_str="one", new_str="1")
    memory.undo()
    assert pages_of(memory.storage) == before
    assert [one.first.kind for one in memory.history()[:2]] == ["undo", "replace_text"]


def test_a_renamed_file_keeps_its_links(memory: Memory) -> None:
    told(memory, "create", path="/memories/a.md", file_text="see [[b]]\n")
    told(memory, "create", path="/memories/b.md", file_text="text\n")
    told(memory, "rename", old_path="/memories/b.md", new_path="/memories/z/c.md")
    assert "[[z/c]]" in told(memory, "view", path="/memories/a.md")


def test_a_file_that_grows_too_large_is_divided_and_says_where_its_text_is() -> None:
    memory = offline(threshold=SMALL)
    facts = [f"- Fact {number} of the harbour is paid by Ines in Porto." for number in range(60)]
    told(memory, "create", path="/memories/harbour.md", file_text="# Harbour\n\n" + "\n".join(facts) + "\n")
    shown = told(memory, "view", path="/memories/harbour.md")
    below = [line.split(" - ")[0] for line in shown.splitlines() if line.startswith("/memories/")]
    assert below
    everything = shown + "".join(told(memory, "view", path=path) for path in below)
    assert all(fact in everything for fact in facts)
    moved = next(fact for fact in facts if fact not in shown)
    error = refused(memory, "str_replace", path="/memories/harbour.md", old_str=moved, new_str="x")
    (path,) = (path for path in below if f"It is in {path} now." in error)
    told(memory, "str_replace", path=path, old_str=moved, new_str="- Nobody pays.")
    assert not faults(pages_of(memory.storage), SMALL)


@pytest.mark.parametrize("name", ["plan.txt", "plan.md"])
def test_a_file_with_an_ending_stays_a_file_when_it_is_divided(name: str) -> None:
    memory = offline(threshold=SMALL)
    facts = "".join(f"- Fact {number} of the harbour is paid by Ines in Porto.\n" for number in range(60))
    told(memory, "create", path=f"/memories/{name}", file_text=f"# Harbour\n\n{facts}")
    assert told(memory, "view", path=f"/memories/{name}").startswith("Here's the content of")
    told(memory, "insert", path=f"/memories/{name}", insert_line=1, insert_text="Ines lives in Porto.")
    folder = name.removesuffix(".md") + "/"
    assert told(memory, "view", path=f"/memories/{folder}").startswith("Here're the files")
    refused(memory, "create", path=f"/memories/{name}", file_text="x")
    told(memory, "rename", old_path=f"/memories/{name}", new_path="/memories/harbour.txt")
    assert not faults(pages_of(memory.storage), SMALL)


def test_eight_at_once_lose_no_insert(tmp_path: Path) -> None:
    each = effort(4, 50)
    with Memory.open(tmp_path) as memory:
        told(memory, "create", path="/memories/log.md", file_text="begin\n")

        def insert(writer: int) -> None:
            with Memory.open(tmp_path) as own:
                for number in range(each):
                    told(own, "insert", path="/memories/log.md", insert_line=0, insert_text=f"{writer}.{number}.")

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(insert, range(8)))
        shown = told(memory, "view", path="/memories/log.md")
    assert all(f"{writer}.{number}." in shown for writer in range(8) for number in range(each))


def test_a_long_file_and_a_long_list_are_cut_and_say_how_to_go_on(tmp_path: Path) -> None:
    lines = [f"- Fact {number} of the harbour is paid by Ines in Porto." for number in range(1_000)]
    (tmp_path / "long.md").write_text("\n".join(lines) + "\n")
    for number in range(600):
        (tmp_path / f"a-name-that-says-something-{number:03}.md").write_text("x\n")
    memory = Memory.open(tmp_path)
    seen, start = "", 1
    for _ in range(10):
        shown = told(memory, "view", path="/memories/long.md", view_range=[start, -1])
        assert len(shown) < LONGEST + 500
        seen += shown
        if "view_range [" not in shown:
            break
        start = int(shown.rpartition("view_range [")[2].partition(",")[0])
    assert all(line in seen for line in lines)
    listing = told(memory, "view", path="/memories")
    assert "more; view a folder" in listing
    assert len(listing) < LONGEST + 500


# bad input


@pytest.mark.parametrize("command", ["view", "create", "str_replace", "insert", "delete", "rename"])
def test_a_path_that_leaves_the_memory_is_refused(command: str, memory: Memory) -> None:
    told(memory, "create", path="/memories/a.md", file_text="one\n")
    others = {"file_text": "x", "old_str": "one", "insert_line": 0, "insert_text": "x"}
    for trick in TRICKS:
        if command != "rename":
            refused(memory, command, path=trick, **others)
        else:
            refused(memory, command, old_path=trick, new_path="/memories/b.md")
            refused(memory, command, old_path="/memories/a.md", new_path=trick)


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "create", "path": "/memories/a.md", "file_text": "x" * 1_000_000},
        {"command": "create", "path": "/memories/a.md", "file_text": "\ud800"},
        {"command": "create", "path": "/memories/a.md", "file_text": ["x"]},
        {"command": "create", "path": ["/memories/a.md"], "file_text": "x"},
        {"command": "view", "path": "/memories", "view_range": "1-2"},
        {"command": "str_replace", "path": "/memories/b.md", "old_str": "y" * 100_000, "new_str": "x"},
        {"command": "str_replace", "path": "/memories/b.md", "old_str": "", "new_str": "x"},
        {"command": "insert", "path": "/memories/b.md", "insert_line": 10**40, "insert_text": "x"},
        {"command": "delete", "path": "/memories/memory.md"},
        {"command": "rename", "old_path": "/memories/memory.md", "new_path": "/memories/x.md"},
        {"command": ["view"], "path": "/memories"},
        {"command": None},
        {},
    ],
)
def test_wrong_commands_are_refused_and_change_nothing(arguments: dict[str, Any], memory: Memory) -> None:
    memory.create("b", "one\n" * 2_000)
    before = pages_of(memory.storage)
    result = answer_memory_command(memory, arguments)
    assert result.is_error
    assert len(result.text) < 3_000
    assert pages_of(memory.storage) == before


def test_what_is_wrong_with_a_line_or_an_empty_text_is_said(memory: Memory) -> None:
    memory.create("b", "one\ntwo\n")
    for no_number in (True, False):
        told_back = refused(memory, "insert", path="/memories/b.md", insert_line=no_number, insert_text="x")
        assert f"insert_line: Input should be a number, not {str(no_number).lower()}" in told_back
    assert "should be a number, not true" in refused(memory, "view", path="/memories/b.md", view_range=[True, 2])
    assert "old_str is empty" in refused(memory, "str_replace", path="/memories/b.md", old_str="", new_str="x")


@pytest.mark.parametrize("given", [None, 7, [], "", "{", b"\xff", '"view"'])
def test_an_input_that_is_no_command_is_refused(given: Any, memory: Memory) -> None:
    assert answer_memory_command(memory, given).is_error
    with pytest.raises(ToolError):
        ClaudeMemoryTool(memory).call(given)


def test_arguments_of_a_later_version_are_let_pass(memory: Memory) -> None:
    told(memory, "create", path="/memories/a.md", file_text="one\n", priority="high")


def test_the_definition_is_that_of_the_sdk(memory: Memory) -> None:
    assert ClaudeMemoryTool(memory).to_dict() == CLAUDE_MEMORY_TOOL
    assert AsyncClaudeMemoryTool(memory).to_dict() == CLAUDE_MEMORY_TOOL
    cached = ClaudeMemoryTool(memory, cache_control={"type": "ephemeral"}).to_dict()
    assert cached == {**CLAUDE_MEMORY_TOOL, "cache_control": {"type": "ephemeral"}}


def test_the_sdk_may_call_the_methods_of_the_commands(memory: Memory) -> None:
    from anthropic.types.beta import BetaMemoryTool20250818CreateCommand as CreateCommand

    tool = ClaudeMemoryTool(memory)
    command = CreateCommand(command="create", path="/memories/a.md", file_text="one\n")
    assert tool.create(command) == tool.call({"command": "view", "path": "/memories/a.md"}).replace(
        "Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\t",
        "File created successfully at: /memories/a.md",
    )
