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

import yaml
from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool

from memory_v2.tools.claude_memory import ClaudeMemoryTool
from tests.operations.scenes import offline

PAGE = Path(__file__).parents[2] / "docs" / "claude-memory-tool.md"
BEGIN, END = "<!-- begin: python -m tests.tools.side_by_side -->", "<!-- end -->"


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


def scenes() -> dict[str, list[Step]]:
    """The commands of each scene."""
    given = yaml.safe_load((Path(__file__).parent / "commands.yaml").read_text("utf-8"))
    reasons = {"": "", **given["reasons"]}
    return {
        scene: [Step({key: step[key] for key in step if key != "why"}, reasons[step.get("why", "")]) for step in steps]
        for scene, steps in given["scenes"].items()
    }


def compared() -> Iterator[Compared]:
    """Each command of each scene with both answers; a scene begins with an empty memory."""
    for scene, steps in scenes().items():
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
