"""Gemini CLI: servers and hooks in `settings.json`, skills in `.agents/skills`.

Documented in the repository google-gemini/gemini-cli, under docs: MCP servers, hooks, skills.
"""

from __future__ import annotations

from memory_v2.hosts.edit import Edit, json_hook, json_server
from memory_v2.hosts.host import Host, hook_group, is_hook_group, skill, stdio_server
from memory_v2.hosts.place import HOOK_SECONDS, Launch, Place


def _edits(place: Place, launch: Launch) -> list[Edit]:
    root = place.project or place.home
    settings = root / ".gemini" / "settings.json"
    hook = hook_group(launch, name=launch.name, timeout=HOOK_SECONDS * 1_000)  # milliseconds, unlike the others
    return [
        json_server(settings, ("mcpServers", launch.name), stdio_server(launch), launch),
        json_hook(settings, ("hooks", "SessionStart"), hook, is_hook_group(launch)),
        skill(root / ".agents" / "skills", launch),
    ]


GEMINI_CLI = Host(
    "gemini-cli",
    "Gemini CLI",
    lambda place: (place.home / ".gemini").exists(),
    _edits,
    "start a new session in a folder that you have trusted; /mcp lists the server",
)
