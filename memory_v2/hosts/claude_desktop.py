"""Claude Desktop: servers in `claude_desktop_config.json`. It has no hooks, and skills are uploaded by hand.

Documented at modelcontextprotocol.io for macOS and Windows; on Linux the same file is below the configuration folder.
"""

from __future__ import annotations

from pathlib import Path

from memory_v2.hosts.edit import Edit, json_server
from memory_v2.hosts.host import Host, stdio_server
from memory_v2.hosts.place import Launch, Place


def _folder(place: Place) -> Path:
    return place.applications / "Claude"


def _edits(place: Place, launch: Launch) -> list[Edit]:
    if place.project:  # it knows no projects in folders
        return []
    file = _folder(place) / "claude_desktop_config.json"
    return [json_server(file, ("mcpServers", launch.name), stdio_server(launch), launch)]


CLAUDE_DESKTOP = Host(
    "claude-desktop",
    "Claude Desktop",
    lambda place: _folder(place).exists(),
    _edits,
    "quit Claude Desktop and open it again",
)
