"""Cursor: servers in `mcp.json`, hooks in `hooks.json`, skills, all in `.cursor`.

Documented at cursor.com/docs: MCP, hooks, skills. Versions of early 2026 refuse the hook `sessionStart`.
"""

from __future__ import annotations

from memory_v2.hosts.edit import Edit, json_hook, json_server
from memory_v2.hosts.host import Host, is_plain_hook, skill, stdio_server
from memory_v2.hosts.place import HOOK_SECONDS, Launch, Place


def _edits(place: Place, launch: Launch) -> list[Edit]:
    folder = (place.project or place.home) / ".cursor"
    hook = {"command": launch.hook("cursor"), "timeout": HOOK_SECONDS}
    return [
        json_server(folder / "mcp.json", ("mcpServers", launch.name), stdio_server(launch), launch),
        json_hook(folder / "hooks.json", ("hooks", "sessionStart"), hook, is_plain_hook(launch), version=1),
        skill(folder / "skills", launch),
    ]


CURSOR = Host(
    "cursor",
    "Cursor",
    lambda place: (place.home / ".cursor").exists(),
    _edits,
    "restart Cursor and switch the server on in its settings, under MCP",
)
