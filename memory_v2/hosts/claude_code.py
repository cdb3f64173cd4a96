"""Claude Code: servers in `.claude.json` or a project's `.mcp.json`, hooks in `settings.json`, skills.

Documented at code.claude.com: MCP scopes, hooks, skills.
"""

from __future__ import annotations

from pathlib import Path

from memory_v2.hosts.edit import Edit, json_hook, json_server
from memory_v2.hosts.host import Host, hook_group, is_hook_group, skill, stdio_server
from memory_v2.hosts.place import Launch, Place, folders

MATCHER = "startup|clear|compact"
"""Not `resume`: a session that goes on has it already."""


def settings_folder(place: Place) -> Path:
    """The user's settings of Claude Code."""
    return place.named("CLAUDE_CONFIG_DIR", place.home / ".claude")


def _servers(place: Place) -> Path:
    return place.named("CLAUDE_CONFIG_DIR", place.home) / ".claude.json"


def _is_here(place: Place) -> bool:
    return folders(settings_folder(place), _servers(place))


def _edits(place: Place, launch: Launch) -> list[Edit]:
    server = {"type": "stdio", **stdio_server(launch)}
    servers = place.project / ".mcp.json" if place.project else _servers(place)
    folder = place.project / ".claude" if place.project else settings_folder(place)
    settings = folder / ("settings.local.json" if place.project else "settings.json")  # the path is of this machine
    hook = {"matcher": MATCHER, **hook_group(launch)}
    return [
        json_server(servers, ("mcpServers", launch.name), server, launch),
        json_hook(settings, ("hooks", "SessionStart"), hook, is_hook_group(launch)),
        skill(folder / "skills", launch),
    ]


CLAUDE_CODE = Host("claude-code", "Claude Code", _is_here, _edits, "start a new session; /mcp lists the server")
