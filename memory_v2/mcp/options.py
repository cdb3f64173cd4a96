"""How a memory may be served. This module can be imported without the extra `mcp`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, TypeAlias, get_args

from memory_v2.errors import InvalidSetting

Way: TypeAlias = Literal["model", "planner", "host"]
"""Who decides where texts go: the configured model, the offline planner, or the connected agent."""
WAYS: tuple[Way, ...] = get_args(Way)
DEFAULT_WAIT = 300.0
"""Seconds that an operation waits for the agent before the planner finishes it: an agent answers within one, a person
who is asked to approve within five minutes."""
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8787
TOKEN = "SILICA_MEMORY_MCP_TOKEN"
"""The environment variable with the token: on a command line, other users of the machine could read it."""
INSTALL = "pip install 'silica-memory[mcp]'"


def check_installed() -> None:
    """Raises `InvalidSetting` if the extra is missing."""
    missing = [package for package in ("mcp", "mcp_types", "uvicorn") if find_spec(package) is None]
    if missing:
        raise InvalidSetting(f"the MCP server needs the package {missing[0]}, which is not installed: {INSTALL}")
