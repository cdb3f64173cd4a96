"""VS Code (GitHub Copilot): servers in `mcp.json` of the user's profile or in `.vscode`, hooks, skills.

Documented at code.visualstudio.com/docs: MCP configuration, hooks (a preview), skills. VS Code runs the hooks of Claude
Code too, so it gets one of its own only where Claude Code is not used.
"""

from __future__ import annotations

from pathlib import Path

from memory_v2.hosts.claude_code import CLAUDE_CODE
from memory_v2.hosts.edit import Edit, json_hook, json_server
from memory_v2.hosts.host import SESSION_START, Host, is_plain_hook, skill, stdio_server
from memory_v2.hosts.place import HOOK_SECONDS, Launch, Place


def _profile(place: Place) -> Path:
    return place.applications / "Code" / "User"


def _edits(place: Place, launch: Launch) -> list[Edit]:
    file = (place.project / ".vscode" if place.project else _profile(place)) / "mcp.json"
    edits = [
        json_server(file, ("servers", launch.name), {"type": "stdio", **stdio_server(launch)}, launch),
        skill((place.project or place.home) / ".agents" / "skills", launch),
    ]
    if not place.project and not CLAUDE_CODE.is_here(place):
        hook = {"type": "command", "command": launch.hook(SESSION_START), "timeout": HOOK_SECONDS}
        hooks = place.home / ".copilot" / "hooks" / f"{launch.name}.json"
        edits.append(json_hook(hooks, ("hooks", "SessionStart"), hook, is_plain_hook(launch)))
    return edits


VSCODE = Host(
    "vscode",
    "VS Code",
    lambda place: _profile(place).exists(),
    _edits,
    "run 'MCP: List Servers' and start the server",
)
