"""The known hosts, a row each: where each lists servers, hooks and skills. Those of docs/agents.md were run."""

from __future__ import annotations

from typing import Any

from memory_v2.hosts.host import HOOK_SECONDS, Host, Launch, listed, ungrouped

AGENTS = ("{home}/.agents/skills", "{project}/.agents/skills")
"""The folder of skills that many hosts share."""
SERVER_SECONDS = 60
"""Seconds that Cline and opencode wait for an answer of the server. Untold, they wait 3 and 5, and on a busy machine it
takes that long to start."""


def _typed(launch: Launch) -> dict[str, Any]:
    return {"type": "stdio", **listed(launch)}


def _trusted(launch: Launch) -> dict[str, Any]:
    """Of Gemini CLI and Qwen Code: what is trusted may be used without asking."""
    return {**listed(launch), **({} if launch.is_allowed is None else {"trust": launch.is_allowed})}


def _of_opencode(launch: Launch) -> dict[str, Any]:
    command, arguments = launch.server
    return {"type": "local", "command": [command, *arguments], "enabled": True, "timeout": SERVER_SECONDS * 1_000}


def _in_milliseconds(launch: Launch) -> dict[str, Any]:
    return {"hooks": [{**ungrouped(launch), "timeout": HOOK_SECONDS * 1_000, "name": launch.name}]}


def _in_shells(launch: Launch) -> dict[str, Any]:
    command = launch.hook("copilot")
    return {"type": "command", "bash": command, "powershell": command, "timeoutSec": HOOK_SECONDS}


CLAUDE_CODE = Host(
    "claude-code",
    "Claude Code",
    here=("{claude}", "{claude_json}/.claude.json"),
    then="start a new session; /mcp lists the server",
    in_project="start a new session, and choose to approve the server (Enter alone refuses it); /mcp lists it",
    servers=("{claude_json}/.claude.json", "{project}/.mcp.json"),
    entry=_typed,
    hooks=("{claude}/settings.json", "{project}/.claude/settings.local.json"),  # the path is of this machine
    skills=("{claude}/skills", "{project}/.claude/skills"),
    allows=(("{claude}/settings.json", "{project}/.claude/settings.local.json"), ("permissions", "allow")),
)
CLAUDE_DESKTOP = Host(  # it knows no projects in folders and no hooks; skills are uploaded by hand
    "claude-desktop",
    "Claude Desktop",
    here=("{applications}/Claude",),
    then="quit Claude Desktop and open it again",
    servers=("{applications}/Claude/claude_desktop_config.json", ""),
)
CODEX = Host(
    "codex",
    "Codex",
    here=("{codex}",),
    then="start a new session, and trust the hook with /hooks",
    in_project="start a new session, trust the project, and the hook with /hooks",
    servers=("{codex}/config.toml", "{project}/.codex/config.toml"),
    keys=("mcp_servers",),
    hooks=("{codex}/hooks.json", "{project}/.codex/hooks.json"),
    skills=AGENTS,
)
CURSOR = Host(  # versions of early 2026 refuse the hook
    "cursor",
    "Cursor",
    here=("{home}/.cursor",),
    then="restart Cursor and switch the server on in its settings, under MCP",
    servers=("{home}/.cursor/mcp.json", "{project}/.cursor/mcp.json"),
    hooks=("{home}/.cursor/hooks.json", "{project}/.cursor/hooks.json"),
    event="sessionStart",
    hook=lambda launch: {"command": launch.hook("cursor"), "timeout": HOOK_SECONDS},
    top=(("version", 1),),
    skills=("{home}/.cursor/skills", "{project}/.cursor/skills"),
)
COPILOT_CLI = Host(
    "copilot-cli",
    "Copilot CLI",
    here=("{home}/.copilot/config.json", "{home}/.copilot/mcp-config.json"),
    then="start a new session, with --allow-tool=NAME if it need not ask; /mcp show lists the server",
    servers=("{home}/.copilot/mcp-config.json", ""),
    entry=lambda launch: {"type": "local", **listed(launch), "tools": ["*"]},
    hooks=("{home}/.copilot/hooks/NAME.json", ""),
    event="sessionStart",
    hook=_in_shells,
    top=(("version", 1),),
    skills=(AGENTS[0], ""),
)
VSCODE = Host(  # GitHub Copilot in VS Code, which runs the hooks of Claude Code and of Copilot CLI too
    "vscode",
    "VS Code",
    here=("{applications}/Code/User",),
    then="run 'MCP: List Servers' and start the server",
    servers=("{applications}/Code/User/mcp.json", "{project}/.vscode/mcp.json"),
    keys=("servers",),
    entry=_typed,
    hooks=("{home}/.copilot/hooks/NAME.json", ""),
    hook=ungrouped,
    hooked_by=(CLAUDE_CODE, COPILOT_CLI),
    skills=AGENTS,
)
GEMINI_CLI = Host(
    "gemini-cli",
    "Gemini CLI",
    here=("{home}/.gemini",),
    then="start a new session in a folder that you have trusted; /mcp lists the server",
    servers=("{home}/.gemini/settings.json", "{project}/.gemini/settings.json"),
    entry=_trusted,
    hooks=("{home}/.gemini/settings.json", "{project}/.gemini/settings.json"),
    hook=_in_milliseconds,
    skills=AGENTS,
)
QWEN_CODE = Host(
    "qwen-code",
    "Qwen Code",
    here=("{home}/.qwen",),
    then="start a new session; /mcp lists the server",
    in_project="approve the server with 'qwen mcp approve', and start a new session; /mcp lists it",
    servers=("{home}/.qwen/settings.json", "{project}/.qwen/settings.json"),
    entry=_trusted,
    hooks=("{home}/.qwen/settings.json", "{project}/.qwen/settings.json"),
    hook=_in_milliseconds,
    skills=("{home}/.qwen/skills", "{project}/.qwen/skills"),
)
OPENCODE = Host(  # it has no hooks
    "opencode",
    "opencode",
    here=("{config}/opencode",),
    then="start a new session; 'opencode mcp list' lists the server",
    servers=("{config}/opencode/opencode.json", "{project}/opencode.json"),
    keys=("mcp",),
    entry=_of_opencode,
    skills=AGENTS,
)
CLINE = Host(
    "cline",
    "Cline",
    here=("{home}/.cline",),
    then="start a new task",
    servers=("{cline}", ""),
    entry=lambda launch: {**listed(launch), "timeout": SERVER_SECONDS},
    skills=("{home}/.cline/skills", ""),
)
CONTINUE = Host(
    "continue",
    "Continue",
    here=("{home}/.continue/config.yaml",),
    then="start a new session",
    servers=("{home}/.continue/config.yaml", ""),
)

HOSTS = (
    *(CLAUDE_CODE, CLAUDE_DESKTOP, CODEX, CURSOR, VSCODE, GEMINI_CLI),
    *(COPILOT_CLI, QWEN_CODE, OPENCODE, CLINE, CONTINUE),
)
