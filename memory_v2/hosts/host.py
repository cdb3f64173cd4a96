"""A host: a program that agents run in, where its files are on this machine, and what connecting it changes in them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from memory_v2.hosts import json_text, toml_text
from memory_v2.hosts.files import Unclear

CONTEXT_TOKENS = 2_000
"""Tokens of what a session begins with: Codex cuts what is over 10,000 characters, and the rest is a search away."""
SESSION_START = "session-start"
"""The form of a hook's output that most hosts read: a JSON object with `hookSpecificOutput`."""
HOOK_SECONDS = 10
"""Seconds after which a host stops waiting for the hook; it takes a fraction of one."""


@dataclass(frozen=True, slots=True)
class Place:
    """A user's home folder, environment and platform. With `project`, the files in that worktree of a project are
    meant."""

    home: Path
    environment: Mapping[str, str]
    platform: str
    project: Path | None = None

    @property
    def applications(self) -> Path:
        """The folder in which desktop programs keep their configuration."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.named("APPDATA", self.home / "AppData" / "Roaming")
        return self.named("XDG_CONFIG_HOME", self.home / ".config")

    def named(self, variable: str, default: Path) -> Path:
        """The folder that a variable names, else the default."""
        return Path(self.environment.get(variable) or default)


@dataclass(frozen=True, slots=True)
class Launch:
    """How a host starts the memory: the program, the options that choose the memory, the name under which the host
    lists it, and the options before and after the verb that only the server needs."""

    program: tuple[str, ...]
    options: tuple[str, ...]
    name: str
    platform: str = sys.platform
    model: tuple[str, ...] = ()
    serving: tuple[str, ...] = ()

    @property
    def server(self) -> tuple[str, list[str]]:
        """The command of the MCP server and its arguments."""
        command, *more = self.program
        return command, [*more, "memory", *self.options, *self.model, "mcp", *self.serving]

    def is_server(self, server: Mapping[str, object]) -> bool:
        """Whether a listed server is one that we wrote, for whatever program and memory; a person has added no other
        argument."""
        words = server.get("args")
        if not isinstance(words, list):
            return not server
        own = ("--path", "--project", "--persona", "--model", "--decide")
        rest = [word for word, above in zip(words, ["", *words], strict=False) if word not in own and above not in own]
        return rest in (["memory", "mcp"], ["-m", "memory_v2.cli", "memory", "mcp"])

    def hook(self, form: str) -> str:
        """The command line that prints what a session begins with, in the form that the host reads."""
        words = [*self.program, "memory", *self.options, "context", "--max-tokens", str(CONTEXT_TOKENS), "--hook", form]
        if self.platform == "win32":  # which shell runs it differs; all of them read slashes, some no backslashes
            return subprocess.list2cmdline([word.replace("\\", "/") for word in words])
        return shlex.join(words)

    def is_hook(self, command: object) -> bool:
        """Whether a hook's command is the one of this name, whatever program or folder it was written for."""
        if not isinstance(command, str) or " --hook " not in command:
            return False
        kind = self.options[0] if self.options else "--path"
        named = {"--path": "(?:--path .+ )?", "--project": "--project .+ "}.get(kind, f"{' '.join(self.options)} ")
        return re.search(f" memory {named}context ", command) is not None


def installed_program() -> tuple[str, ...]:
    """The program as any process can start it: the installed `silica`, else this Python with the module."""
    name = "silica.exe" if sys.platform == "win32" else "silica"
    script = Path(sysconfig.get_path("scripts")) / name
    return (str(script),) if script.is_file() else (sys.executable, "-m", "memory_v2.cli")


def folders(*candidates: Path) -> bool:
    """Whether one of them exists: the host was used here."""
    return any(path.exists() for path in candidates)


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a file. `about` says what for; `put` and `take_out` turn its text into another, and raise `Unclear`
    where that is not safe. A file that does not exist is an empty text."""

    file: Path
    about: str
    put: Callable[[str], str]
    take_out: Callable[[str], str]


def _checked(server: Any, launch: Launch) -> None:
    if isinstance(server, dict) and not launch.is_server(server):
        name = f"a server {launch.name!r} of your own"
        raise Unclear(f"it lists {name}, with other arguments than ours; rename or remove that, and run this again")


def json_server(file: Path, keys: tuple[str, ...], server: Mapping[str, Any], launch: Launch) -> Edit:
    """The server under these keys of a JSON file. One that a person has written, or added arguments to, stays."""

    def put(text: str) -> str:
        _checked(json_text.value_at(text, keys), launch)
        return json_text.with_object(text, keys, dict(server))

    return Edit(file, "MCP server", put, lambda text: json_text.without(text, keys))


def json_hook(
    file: Path, keys: tuple[str, ...], hook: Mapping[str, Any], is_ours: Callable[[Any], bool], **top: Any
) -> Edit:
    """A hook in the list under these keys of a JSON file, which also needs the values of `top`."""

    def put(text: str) -> str:
        for key, value in top.items():
            if json_text.value_at(text, [key]) is None:
                text = json_text.with_value(text, [key], value)
        return json_text.with_item(text, keys, dict(hook), is_ours)

    return Edit(file, "hook at a session's start", put, lambda text: json_text.without_item(text, keys, is_ours))


def toml_server(file: Path, keys: tuple[str, ...], server: Mapping[str, toml_text.Value], launch: Launch) -> Edit:
    """The server under these keys of a TOML file, likewise."""

    def put(text: str) -> str:
        _checked(toml_text.table_at(text, keys), launch)
        return toml_text.with_table(text, keys, server)

    return Edit(file, "MCP server", put, lambda text: toml_text.without_table(text, keys))


def whole_file(file: Path, about: str, content: str) -> Edit:
    """A file of our own. A person's changes to it stay."""

    def take_out(text: str) -> str:
        if text not in (content, ""):
            raise Unclear("it was changed since; delete it yourself")
        return ""

    return Edit(file, about, lambda text: content if text == "" else text, take_out)


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
