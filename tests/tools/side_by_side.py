"""Claude's memory tool side by side: the same commands to Anthropic's own local helper and to ours."""

from __future__ import annotations

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
