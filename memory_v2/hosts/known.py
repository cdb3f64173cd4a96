"""The hosts that are known: where each lists servers, hooks and skills."""

from __future__ import annotations

from pathlib import Path

from memory_v2.hosts.host import (
    HOOK_SECONDS,
    SESSION_START,
    Edit,
    Host,
    Launch,
    Place,
    folders,
    hook_group,
    is_hook_group,
    is_plain_hook,
    json_hook,
    json_server,
    skill,
    stdio_server,
    toml_server,
)

MATCHER = "startup|clear|compact"
"""Not `resume`: a session that goes on has it already."""


def settings_folder(place: Place) -> Path:
    """The user's settings of Claude Code."""
    return place.named("CLAUDE_CONFIG_DIR", place.home / ".claude")


def _claude_code_servers(place: Place) -> Path:
    return place.named("CLAUDE_CONFIG_DIR", place.home) / ".claude.json"


def _claude_code_is_here(place: Place) -> bool:
    return folders(settings_folder(place), _claude_code_servers(place))


def _claude_code_edits(place: Place, launch: Launch) -> list[Edit]:
    server = {"type": "stdio", **stdio_server(launch)}
    servers = place.project / ".mcp.json" if place.project else _claude_code_servers(place)
    folder = place.project / ".claude" if place.project else settings_folder(place)
    settings = folder / ("settings.local.json" if place.project else "settings.json")  # the path is of this machine
    hook = {"matcher": MATCHER, **hook_group(launch)}
    return [
        json_server(servers, ("mcpServers", launch.name), server, launch),
        json_hook(settings, ("hooks", "SessionStart"), hook, is_hook_group(launch)),
        skill(folder / "skills", launch),
    ]


CLAUDE_CODE = Host(
    "claude-code",
    "Claude Code",
    _claude_code_is_here,
    _claude_code_edits,
    "start a new session; /mcp lists the server",
)
"""Servers in `.claude.json` or a project's `.mcp.json`, hooks in `settings.json`, skills.

Documented at code.claude.com: MCP scopes, hooks, skills.
"""


def _claude_desktop_folder(place: Place) -> Path:
    return place.applications / "Claude"


def _claude_desktop_edits(place: Place, launch: Launch) -> list[Edit]:
    if place.project:  # it knows no projects in folders
        return []
    file = _claude_desktop_folder(place) / "claude_desktop_config.json"
    return [json_server(file, ("mcpServers", launch.name), stdio_server(launch), launch)]


CLAUDE_DESKTOP = Host(
    "claude-desktop",
    "Claude Desktop",
    lambda place: _claude_desktop_folder(place).exists(),
    _claude_desktop_edits,
    "quit Claude Desktop and open it again",
)
"""Servers in `claude_desktop_config.json`. It has no hooks, and skills are uploaded by hand.

Documented at modelcontextprotocol.io for macOS and Windows; on Linux the same file is below the configuration folder.
"""


def _codex_folder(place: Place) -> Path:
    return place.named("CODEX_HOME", place.home / ".codex")


def _codex_edits(place: Place, launch: Launch) -> list[Edit]:
    folder = place.project / ".codex" if place.project else _codex_folder(place)
    hook = {"matcher": MATCHER, **hook_group(launch)}
    return [
        toml_server(folder / "config.toml", ("mcp_servers", launch.name), stdio_server(launch), launch),
        json_hook(folder / "hooks.json", ("hooks", "SessionStart"), hook, is_hook_group(launch)),
        skill((place.project or place.home) / ".agents" / "skills", launch),
    ]


CODEX = Host(
    "codex",
    "Codex",
    lambda place: _codex_folder(place).exists(),
    _codex_edits,
    "start a new session and trust the hook with /hooks",
)
"""Servers in `config.toml`, hooks in `hooks.json` beside it, skills in `.agents/skills`.

Documented at developers.openai.com/codex: MCP, hooks, skills. Codex runs a new hook only after the user has trusted it.
"""


def _cursor_edits(place: Place, launch: Launch) -> list[Edit]:
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
    _cursor_edits,
    "restart Cursor and switch the server on in its settings, under MCP",
)
"""Servers in `mcp.json`, hooks in `hooks.json`, skills, all in `.cursor`.

Documented at cursor.com/docs: MCP, hooks, skills. Versions of early 2026 refuse the hook `sessionStart`.
"""


def _vscode_profile(place: Place) -> Path:
    return place.applications / "Code" / "User"


def _vscode_edits(place: Place, launch: Launch) -> list[Edit]:
    file = (place.project / ".vscode" if place.project else _vscode_profile(place)) / "mcp.json"
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
    lambda place: _vscode_profile(place).exists(),
    _vscode_edits,
    "run 'MCP: List Servers' and start the server",
)
"""VS Code (GitHub Copilot): servers in `mcp.json` of the user's profile or in `.vscode`, hooks, skills.

Documented at code.visualstudio.com/docs: MCP configuration, hooks (a preview), skills. VS Code runs the hooks of Claude
Code too, so it gets one of its own only where Claude Code is not used.
"""


def _gemini_edits(place: Place, launch: Launch) -> list[Edit]:
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
    _gemini_edits,
    "start a new session in a folder that you have trusted; /mcp lists the server",
)
"""Servers and hooks in `settings.json`, skills in `.agents/skills`.

Documented in the repository google-gemini/gemini-cli, under docs: MCP servers, hooks, skills.
"""

HOSTS = (CLAUDE_CODE, CLAUDE_DESKTOP, CODEX, CURSOR, VSCODE, GEMINI_CLI)
