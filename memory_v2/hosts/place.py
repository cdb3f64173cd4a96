"""Where a user's files are, and the command that starts the memory: all that hosts need to know of this machine."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CONTEXT_TOKENS = 2_000
"""Tokens of what a session begins with: Codex cuts what is over 10,000 characters, and the rest is a search away."""
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
