"""Codex: servers in `config.toml`, hooks in `hooks.json` beside it, skills in `.agents/skills`.

Documented at developers.openai.com/codex: MCP, hooks, skills. Codex runs a new hook only after the user has trusted it.
"""

from __future__ import annotations

from pathlib import Path

from memory_v2.hosts.claude_code import MATCHER
from memory_v2.hosts.edit import Edit, json_hook, toml_server
from memory_v2.hosts.host import Host, hook_group, is_hook_group, skill, stdio_server
from memory_v2.hosts.place import Launch, Place


def _folder(place: Place) -> Path:
    return place.named("CODEX_HOME", place.home / ".codex")


def _edits(place: Place, launch: Launch) -> list[Edit]:
    folder = place.project / ".codex" if place.project else _folder(place)
    hook = {"matcher": MATCHER, **hook_group(launch)}
    return [
        toml_server(folder / "config.toml", ("mcp_servers", launch.name), stdio_server(launch), launch),
        json_hook(folder / "hooks.json", ("hooks", "SessionStart"), hook, is_hook_group(launch)),
        skill((place.project or place.home) / ".agents" / "skills", launch),
    ]


CODEX = Host(
    "codex",
    "Codex",
    lambda place: _folder(place).exists(),
    _edits,
    "start a new session and trust the hook with /hooks",
)
