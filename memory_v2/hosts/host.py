"""A host: a program that agents run in, where its files are on this machine, and what connecting it changes in them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from memory_v2.hosts import json_text, toml_text, yaml_text
from memory_v2.hosts.files import Unclear

CONTEXT_TOKENS = 2_000
"""Tokens of what a session begins with: Codex cuts what is over 10,000 characters, and the rest is a search away."""
SERVER = "MCP server"
"""What an edit is for that lists the memory: a host that has it is connected."""
SESSION_START = "session-start"
"""The form of a hook's output that most hosts read: a JSON object with `hookSpecificOutput`."""
HOOK_SECONDS = 10
"""Seconds after which a host stops waiting for the hook; it takes a fraction of one."""


@dataclass(frozen=True, slots=True)
class UserEnvironment:
    """A user's home folder, environment and platform. With `project`, the files in that worktree of a project are
    meant."""

    home: Path
    environment: Mapping[str, str]
    platform: str
    project: Path | None = None

    def path(self, template: str) -> Path:
        """The path that a template of the table stands for, such as `{home}/.cursor/mcp.json`."""
        return Path(template.format_map(self._folders()))

    def _folders(self) -> dict[str, Path]:
        """What the templates name: folders that hosts let their users move are where their variables say."""
        config = self._named("XDG_CONFIG_HOME", self.home / ".config")
        applications = {
            "darwin": self.home / "Library" / "Application Support",
            "win32": self._named("APPDATA", self.home / "AppData" / "Roaming"),
        }
        cline = self.home / ".cline" / "data" / "settings" / "cline_mcp_settings.json"
        return {
            "home": self.home,
            "project": self.project or self.home,
            "config": config,
            "applications": applications.get(self.platform, config),
            "claude": self._named("CLAUDE_CONFIG_DIR", self.home / ".claude"),
            "claude_json": self._named("CLAUDE_CONFIG_DIR", self.home),
            "codex": self._named("CODEX_HOME", self.home / ".codex"),
            "cline": self._named("CLINE_MCP_SETTINGS_PATH", cline),
        }

    def _named(self, variable: str, default: Path) -> Path:
        return Path(self.environment.get(variable) or default)


@dataclass(frozen=True, slots=True)
class Launch:
    """How a host starts the memory: the program, the options that choose the memory, the name under which the host
    lists it, and the options before and after the verb that only the server needs. `is_allowed` says
    whether its tools may be used without asking; `None` leaves that as it is."""

    program: tuple[str, ...]
    options: tuple[str, ...]
    name: str
    platform: str = sys.platform
    model: tuple[str, ...] = ()
    serving: tuple[str, ...] = ()
    is_allowed: bool | None = None

    @property
    def server(self) -> tuple[str, list[str]]:
        """The command of the MCP server and its arguments."""
        command, *more = self.program
        return command, [*more, "memory", *self.options, *self.model, "mcp", *self.serving]

    def is_server(self, server: Mapping[str, object]) -> bool:
        """Whether a listed server is one that we wrote, for whatever installation and memory; a person has added no
        other argument."""
        command, words = server.get("command"), server.get("args")
        if isinstance(command, list):
            command, *words = command or [""]
        if not isinstance(command, str) or not isinstance(words, list):
            return not server
        own = ("--path", "--project", "--persona", "--model", "--decide")
        rest = [word for word, above in zip(words, ["", *words], strict=False) if word not in own and above not in own]
        program = command.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
        if program.startswith("python"):
            return rest == ["-m", "memory_v2.cli", "memory", "mcp"]
        return program == "silica" and rest == ["memory", "mcp"]

    def hook(self, form: str) -> str:
        """The command line that prints what a session begins with, in the form that the host reads. It is silent, and
        no failure, where the program is no longer installed."""
        words = [*self.program, "memory", *self.options, "context", "--max-tokens", str(CONTEXT_TOKENS), "--hook", form]
        if self.platform == "win32":  # which shell runs it differs; all of them read slashes, some no backslashes
            return subprocess.list2cmdline([word.replace("\\", "/") for word in words])
        return f"{shlex.join(words)} 2>/dev/null || true"

    def is_hook(self, hook: object) -> bool:
        """Whether a hook, or the group that holds nothing but it, runs the command of this name, whatever installation
        or folder it was written for."""
        if isinstance(hook, Mapping) and isinstance(group := hook.get("hooks"), list):
            return len(group) == 1 and self.is_hook(group[0])
        command = (
            next((hook[key] for key in ("command", "bash") if key in hook), "") if isinstance(hook, Mapping) else ""
        )
        if not isinstance(command, str) or " --hook " not in command:
            return False
        kind = self.options[0] if self.options else "--path"
        named = {"--path": "(?:--path .+ )?", "--project": "--project .+ "}.get(kind, f"{' '.join(self.options)} ")
        program = r"""(?:^|[/\\'"])silica(?:\.exe)?|-m memory_v2\.cli"""
        return re.search(f"(?:{program})['\"]? memory {named}context ", command) is not None


def installed_program() -> tuple[str, ...]:
    """The program as any process can start it: the installed `silica`, else this Python with the module."""
    name = "silica.exe" if sys.platform == "win32" else "silica"
    script = Path(sysconfig.get_path("scripts")) / name
    return (str(script),) if script.is_file() else (sys.executable, "-m", "memory_v2.cli")


@cache
def skill_text() -> str:
    """The instructions that make an agent use the memory when it matters."""
    return files("memory_v2.hosts").joinpath("skill.md").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a file. `about` says what for; `put` and `take_out` turn its text into another, and raise `Unclear`
    where that is not safe. A file that does not exist is an empty text. What `is_revoked` is taken out in any case."""

    file: Path
    about: str
    put: Callable[[str], str]
    take_out: Callable[[str], str]
    is_revoked: bool = False


Files = tuple[str, str]
"""Templates of a file of the user's, and of a project's; empty where there is none."""
Entry = Callable[[Launch], dict[str, Any]]


def listed(launch: Launch) -> dict[str, Any]:
    """The server as most hosts list it."""
    command, arguments = launch.server
    return {"command": command, "args": arguments}


def ungrouped(launch: Launch) -> dict[str, Any]:
    """The hook as most hosts write it."""
    return {"type": "command", "command": launch.hook(SESSION_START), "timeout": HOOK_SECONDS}


def grouped(launch: Launch) -> dict[str, Any]:
    """A hook in a group, as Claude Code and Codex write it. A session that is resumed has it already."""
    return {"matcher": "startup|clear|compact", "hooks": [ungrouped(launch)]}


@dataclass(frozen=True, slots=True)
class Host:
    """A host, as a row of the table: by its name and title, the files of which one is there if it is used, and what the
    user has to do afterwards; where it lists servers, below which keys, and as what; where it has hooks and skills.

    `top` is what the file of its hooks needs beside them. No hook is written where a host of `hooked_by` is used, whose
    hooks it runs too. `allows` is the file and the keys of a list of tools that may be used without asking. NAME is
    what the host calls the server.
    """

    name: str
    title: str
    here: tuple[str, ...]
    then: str
    servers: Files
    keys: tuple[str, ...] = ("mcpServers",)
    entry: Entry = listed
    hooks: Files = ("", "")
    event: str = "SessionStart"
    hook: Entry = grouped
    top: tuple[tuple[str, Any], ...] = ()
    hooked_by: tuple[Host, ...] = ()
    skills: Files = ("", "")
    allows: tuple[Files, tuple[str, ...]] | None = None
    in_project: str = ""
    """What the user has to do in a project, if that is something else."""

    def is_here(self, user: UserEnvironment) -> bool:
        """Whether the user has it."""
        return any(user.path(template).exists() for template in self.here)

    def edits(self, user: UserEnvironment, launch: Launch) -> Iterator[Edit]:
        """What connects it for the user."""
        if file := _file(user, self.servers):
            yield _server(file, (*self.keys, launch.name), self.entry(launch), launch)
        has_hook = user.project or not any(host.is_here(user) for host in self.hooked_by)
        if (file := _file(user, self.hooks, launch)) and has_hook:
            yield _hook(file, ("hooks", self.event), self.hook(launch), launch, dict(self.top))
        if self.allows and launch.is_allowed is not None and (file := _file(user, self.allows[0])):
            yield allowed(file, self.allows[1], f"mcp__{launch.name}", is_revoked=not launch.is_allowed)
        if folder := _file(user, self.skills):
            name = launch.name.lower().replace("_", "-")  # all that the names of skills may have
            text = skill_text().replace("silica-memory", name)
            yield whole_file(folder / name / "SKILL.md", "skill", text)


def _file(user: UserEnvironment, templates: Files, launch: Launch | None = None) -> Path | None:
    template = templates[1] if user.project else templates[0]
    return user.path(template.replace("NAME", launch.name if launch else "")) if template else None


def _server(file: Path, keys: tuple[str, ...], entry: Mapping[str, Any], launch: Launch) -> Edit:
    """The server under these keys of a file. One that a person has written, or added arguments to, stays."""
    text: Any = {".toml": toml_text, ".yaml": yaml_text}.get(file.suffix, json_text)

    def put(before: str) -> str:
        server = text.value_at(before, keys)
        if isinstance(server, Mapping) and not launch.is_server(server):
            name = f"a server {launch.name!r} of your own"
            raise Unclear(f"it lists {name}, with another command than ours; rename or remove that, and run this again")
        return str(text.with_object(before, keys, dict(entry)))

    def take_out(before: str) -> str:
        server = text.value_at(before, keys)
        is_ours = isinstance(server, Mapping) and launch.is_server(server)
        return str(text.without(before, keys)) if is_ours else before

    return Edit(file, SERVER, put, take_out)


def _hook(file: Path, keys: tuple[str, ...], hook: Mapping[str, Any], launch: Launch, top: Mapping[str, Any]) -> Edit:
    """A hook in the list under these keys of a JSON file, which also needs the values of `top`."""

    def put(text: str) -> str:
        for key, value in top.items():
            if json_text.value_at(text, [key]) is None:
                text = json_text.with_value(text, [key], value)
        return json_text.with_item(text, keys, dict(hook), launch.is_hook)

    def take_out(text: str) -> str:
        left = json_text.without_item(text, keys, launch.is_hook)
        return "" if left != text and json_text.value_at(left, ()) == top else left

    return Edit(file, "hook at a session's start", put, take_out)


def allowed(file: Path, keys: tuple[str, ...], tools: str, *, is_revoked: bool) -> Edit:
    """The tools in a list of what may be used without asking."""

    def is_ours(item: object) -> bool:
        return item == tools

    return Edit(
        file,
        "permission to use it",
        lambda text: json_text.with_item(text, keys, tools, is_ours),
        lambda text: json_text.without_item(text, keys, is_ours),
        is_revoked,
    )


def whole_file(file: Path, about: str, content: str, may_stay: bool = False) -> Edit:
    """A file of our own. A person's changes to it stay; so does the file, if it `may_stay` beside others."""

    def take_out(text: str) -> str:
        if may_stay and any(path != file for path in file.parent.iterdir()):
            return text
        if text not in (content, ""):
            raise Unclear("it was changed since; delete it yourself")
        return ""

    return Edit(file, about, lambda text: content if text == "" else text, take_out)
