"""A host: a program that agents run in, and that can be connected to a memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from memory_v2.hosts.edit import Edit, whole_file
from memory_v2.hosts.place import HOOK_SECONDS, Launch, Place

SESSION_START = "session-start"
"""The form of a hook's output that most hosts read: a JSON object with `hookSpecificOutput`."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host by its name and title. `is_here` says whether it is used in a place, `edits` what connects it there, and
    `then` what the user has to do afterwards."""

    name: str
    title: str
    is_here: Callable[[Place], bool]
    edits: Callable[[Place, Launch], list[Edit]]
    then: str


def stdio_server(launch: Launch) -> dict[str, Any]:
    """The server as most hosts list it."""
    command, arguments = launch.server
    return {"command": command, "args": arguments}


def skill(folder: Path, launch: Launch) -> Edit:
    """The instructions for agents, as a skill in a host's folder of skills."""
    name = launch.name.lower().replace("_", "-")  # all that the names of skills may have
    return whole_file(folder / name / "SKILL.md", "skill", skill_text().replace("silica-memory", name))


@cache
def skill_text() -> str:
    """The instructions that make an agent use the memory when it matters."""
    return files("memory_v2.hosts").joinpath("skill.md").read_text("utf-8")


def hook_group(launch: Launch, **more: Any) -> dict[str, Any]:
    """A hook in a group with a matcher, as Claude Code, Codex and Gemini CLI write it."""
    command = {"type": "command", "command": launch.hook(SESSION_START), "timeout": HOOK_SECONDS}
    return {"hooks": [command | more]}


def is_hook_group(launch: Launch) -> Callable[[Any], bool]:
    """Recognises the group that holds our hook and nothing else."""

    def is_ours(group: Any) -> bool:
        hooks = group.get("hooks") if isinstance(group, dict) else None
        return (
            isinstance(hooks, list)
            and len(hooks) == 1
            and isinstance(hooks[0], dict)
            and launch.is_hook(hooks[0].get("command"))
        )

    return is_ours


def is_plain_hook(launch: Launch) -> Callable[[Any], bool]:
    """Recognises our hook where hooks stand in no group."""
    return lambda hook: isinstance(hook, dict) and launch.is_hook(hook.get("command"))
