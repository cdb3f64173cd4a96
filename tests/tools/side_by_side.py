"""Claude's memory tool side by side: the same commands to Anthropic's own local helper and to ours.

`python -m tests.tools.side_by_side` writes the tables of docs/claude-memory-tool.md anew.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool

from memory_v2.tools.claude_memory import ClaudeMemoryTool
from tests.operations.scenes import offline

PAGE = Path(__file__).parents[2] / "docs" / "claude-memory-tool.md"
BEGIN, END = "<!-- begin: python -m tests.tools.side_by_side -->", "<!-- end -->"

LINE_END = "A page ends in a line end, so that what is inserted later begins a line of its own."
MD = "A page has one name: `plan` and `plan.md` are the same file. Names with another ending keep it."
SLASH = "No path is shown with two slashes."
BELOW = "A page may have pages below it: the tree grows that way."
NAMES = "A path must work in links and on every file system; hidden files are the program's own."
PREFIX = "The helper compares only the beginning, and makes `X/b.md`."
CLEAR = "An error says what to do next; the helper raises an exception that the runner sends as its `repr`."
BLANK = "An insert changes nothing else; the helper drops a blank last line."
FURTHER = "A page names the pages below it, where a split has moved what it held."
EMPTY = "A folder is there as long as there is a page in it."


@dataclass(frozen=True, slots=True)
class Step:
    """One command; `why` the answers differ, if they do on purpose."""

    command: dict[str, Any]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """The answers to one command."""

    scene: str
    command: dict[str, Any]
    theirs: str
    ours: str
    why: str

    @property
    def is_same(self) -> bool:
        """Whether both say the same."""
        return self.theirs == self.ours


def view(path: str, view_range: list[int] | None = None, why: str = "") -> Step:
    """A command that shows a file or a folder."""
    ranged = {} if view_range is None else {"view_range": view_range}
    return Step({"command": "view", "path": path, **ranged}, why)


def create(path: str, text: str, why: str = "") -> Step:
    """A command that creates a file."""
    return Step({"command": "create", "path": path, "file_text": text}, why)


def replace(path: str, old: str, new: str, why: str = "") -> Step:
    """A command that replaces a part of a file."""
    return Step({"command": "str_replace", "path": path, "old_str": old, "new_str": new}, why)


def insert(path: str, line: int, text: str, why: str = "") -> Step:
    """A command that inserts into a file."""
    return Step({"command": "insert", "path": path, "insert_line": line, "insert_text": text}, why)


def delete(path: str, why: str = "") -> Step:
    """A command that deletes a file or a folder."""
    return Step({"command": "delete", "path": path}, why)


def rename(old: str, new: str, why: str = "") -> Step:
    """A command that renames a file or a folder."""
    return Step({"command": "rename", "old_path": old, "new_path": new}, why)


EIGHT = "".join(f"line {number}\n" for number in range(1, 9))
SCENES: dict[str, list[Step]] = {
    "viewing": [
        view("/memories"),
        create("/memories/notes.md", EIGHT),
        create("/memories/projects/silica.md", "# Silica\n\n- uses pytest\n"),
        create("/memories/projects/deep/down/there.md", "deep\n"),
        create("/memories/plan.txt", "a plan\n"),
        create("/memories/data.json", '{"a": 1}\n'),
        create("/memories/empty.md", ""),
        view("/memories"),
        view("/memories/projects"),
        view("/memories/projects/deep"),
        view("/memories/", why=SLASH),
        view("/memories/notes.md"),
        view("/memories/notes.md", [2, 3]),
        view("/memories/notes.md", [7, -1]),
        view("/memories/notes.md", [0, 2]),
        view("/memories/notes.md", [50, 60]),
        view("/memories/notes.md", [5, 2]),
        view("/memories/notes.md", [3]),
        view("/memories/plan.txt"),
        view("/memories/empty.md"),
        view("/memories/missing.md"),
        view("/memories/notes.md/below"),
    ],
    "creating": [
        create("/memories/notes.md", "first\n"),
        create("/memories/notes.md", "again\n"),
        view("/memories/notes.md"),
        create("/memories", "x"),
        create("/memories/a/b/c.md", "deep\n"),
        create("/memories/a", "x"),
        create("/memories/blank.md", "one\n\n\n"),
        view("/memories/blank.md"),
        create("/memories/sections.md", "# T\n\n## Links\n\n- [[x]] - y\n\n## Metadata\n\nkey: value\n"),
        view("/memories/sections.md"),
        create("/memories/matter.md", "---\ntitle: T\n---\n\ntext\n"),
        view("/memories/matter.md"),
        create("/memories/crlf.md", "one\r\ntwo\r\n"),
        view("/memories/crlf.md"),
        create("/memories/open.md", "no end"),
        view("/memories/open.md", why=LINE_END),
        create("/memories/plan", "a plan\n"),
        view("/memories/plan"),
        create("/memories/plan.md", "another\n", why=MD),
        view("/memories", why=MD),
    ],
    "replacing": [
        create("/memories/notes.md", EIGHT),
        replace("/memories/notes.md", "line 5", "LINE 5"),
        view("/memories/notes.md"),
        replace("/memories/notes.md", "line 1", "LINE 1"),
        replace("/memories/notes.md", "line 8\n", "line 8\nline 9\n"),
        replace("/memories/notes.md", "line 2\nline 3\n", ""),
        replace("/memories/notes.md", "line", "x"),
        replace("/memories/notes.md", "nowhere", "x"),
        replace("/memories/missing.md", "a", "b"),
        create("/memories/a/b.md", "text\n"),
        replace("/memories/a", "text", "b"),
        replace("/memories", "text", "b"),
        view("/memories/notes.md"),
    ],
    "inserting": [
        create("/memories/notes.md", "one\ntwo\n"),
        insert("/memories/notes.md", 0, "zero"),
        insert("/memories/notes.md", 2, "one and a half\nand more\n"),
        insert("/memories/notes.md", 5, "three\n\n"),
        view("/memories/notes.md"),
        insert("/memories/notes.md", 99, "x"),
        insert("/memories/notes.md", -1, "x"),
        insert("/memories/missing.md", 0, "x"),
        create("/memories/a/b.md", "text\n"),
        insert("/memories/a", 0, "x"),
        create("/memories/empty.md", ""),
        insert("/memories/empty.md", 0, "first"),
        view("/memories/empty.md"),
        create("/memories/blank.md", "one\n\n"),
        insert("/memories/blank.md", 0, "zero"),
        view("/memories/blank.md", why=BLANK),
    ],
    "deleting": [
        create("/memories/notes.md", "one\n"),
        create("/memories/a/b.md", "b\n"),
        create("/memories/a/c/d.md", "d\n"),
        delete("/memories/notes.md"),
        view("/memories/notes.md"),
        delete("/memories/notes.md"),
        delete("/memories/a"),
        view("/memories"),
        delete("/memories"),
        create("/memories/e/f.md", "f\n"),
        delete("/memories/e/f.md"),
        view("/memories/e", why=EMPTY),
    ],
    "renaming": [
        create("/memories/notes.md", "one\n"),
        create("/memories/a/b.md", "b\n"),
        create("/memories/a/c/d.md", "d\n"),
        rename("/memories/notes.md", "/memories/log/notes.md"),
        view("/memories/log/notes.md"),
        view("/memories/notes.md"),
        rename("/memories/a", "/memories/z"),
        view("/memories"),
        rename("/memories/z/b.md", "/memories/log/notes.md"),
        rename("/memories/log", "/memories/z"),
        rename("/memories/missing.md", "/memories/x.md"),
        rename("/memories", "/memories/x"),
        rename("/memories/z", "/memories/z/in", why=CLEAR),
    ],
    "paths": [
        view("/etc/passwd"),
        view("/memories/../etc/passwd"),
        create("/memories/a/../b.md", "b\n"),
        view("/memories/b.md"),
        view("memories/b.md"),
        create("/memoriesX/b.md", "b\n", why=PREFIX),
        create("/memories/.hidden", "x\n", why=NAMES),
        create("/memories/what?.md", "x\n", why=NAMES),
        create("/memories/b.md/below.md", "x\n", why=BELOW + " But its own name has no `.md` there."),
        create("/memories/b/below.md", "x\n"),
        view("/memories/b.md", why=FURTHER),
        view("/memories/b"),
    ],
    "wrong commands": [
        Step({"command": "format", "path": "/memories"}, CLEAR),
        Step({"command": "create", "path": "/memories/a.md"}, CLEAR),
        Step({"command": "view"}, CLEAR),
        Step({"command": "view", "path": 7}, CLEAR),
        insert("/memories/a.md", "top", "x", why=CLEAR),  # type: ignore[arg-type]  # as a model may send it
        Step({}, CLEAR),
    ],
}


def compared() -> Iterator[Compared]:
    """Each command of each scene with both answers; a scene begins with an empty memory."""
    for scene, steps in SCENES.items():
        with tempfile.TemporaryDirectory() as folder:
            theirs, ours = BetaLocalFilesystemMemoryTool(folder), ClaudeMemoryTool(offline())
            for step in steps:
                answers = [answered(tool, step.command) for tool in (theirs, ours)]
                yield Compared(scene, step.command, answers[0], answers[1], step.why)


def answered(tool: BetaAbstractMemoryTool, command: dict[str, Any]) -> str:
    """The answer of a tool, with `error:` or `exception:` before one, and without the sizes of folders."""
    try:
        return _without_folder_sizes(str(tool.call(command)))
    except ToolError as error:
        return f"error: {error.content}"
    except Exception as error:  # noqa: BLE001 - what the helper raises is what is compared
        return f"exception: {type(error).__name__}"  # its words differ from one version of Python to the next


def _without_folder_sizes(text: str) -> str:
    """The answer with `·` for the size of a folder, which differs from disk to disk."""
    if not text.startswith("Here're the files"):
        return text
    header, top, *lines = text.split("\n")
    sized = [re.sub(r"^\S+\t(.*/)$", "·\t\\1", line) for line in lines]
    return "\n".join([header, re.sub(r"^\S+\t", "·\t", top), *sized])


def tables() -> str:
    """The tables of the page."""
    rows = list(compared())
    different = [row for row in rows if not row.is_same]
    lines = [
        f"{len(rows)} commands were compared: {len(rows) - len(different)} answers are the same, these are not:",
        "",
    ]
    lines += ["| why Silica answers otherwise | commands |", "|---|---|"]
    for why in dict.fromkeys(row.why for row in different):
        lines.append(f"| {why} | {'<br>'.join(_command(row) for row in different if row.why == why)} |")
    return "\n".join(lines)


def _command(row: Compared) -> str:
    given = {name: value for name, value in row.command.items() if name != "command"}
    return _cell(" ".join([str(row.command.get("command", "")), json.dumps(given, ensure_ascii=False)]).strip())


def _cell(text: str) -> str:
    """The first line of an answer, and whether more follow."""
    header, _, rest = text.partition("\n")
    text = f"{header[:60]}…" if rest or len(header) > 60 else header
    shown = text.replace("|", "\\|").replace("\r", "␍").replace("\t", " → ")
    return "<br>".join(f"`` {line} ``" if line.strip() else "` `" for line in shown.split("\n"))


def page_with_tables() -> str:
    """The page with the tables as they are now."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page_with_tables(), encoding="utf-8")
