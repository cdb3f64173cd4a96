"""A new user's path: one command connects every host, what all their files start is a server that works, and so does a
server over HTTP on the same memory."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from memory_v2.hosts.json_text import value_at
from tests.forks import run_module
from tests.hosts.test_connect import FILES, found, lay
from tests.mcp.scenes import words
from tests.mcp.test_http import HOST, client_of, serving

PROJECT = Path(__file__).parents[2]
pytestmark = [pytest.mark.anyio, pytest.mark.allow_hosts([HOST])]
SERVERS = {
    ".claude.json": "mcpServers",
    ".config/Claude/claude_desktop_config.json": "mcpServers",
    ".cursor/mcp.json": "mcpServers",
    ".config/Code/User/mcp.json": "servers",
    ".gemini/settings.json": "mcpServers",
}


def servers(home: Path) -> Iterator[dict[str, Any]]:
    """The server as each host finds it in its file."""
    for name, key in SERVERS.items():
        yield value_at((home / name).read_text("utf-8"), [key, "silica-memory"])
    yield tomllib.loads((home / ".codex/config.toml").read_text("utf-8"))["mcp_servers"]["silica-memory"]


async def use(client: Client, number: int) -> None:
    """Writes, finds, reads and splits; what all but the first have written, they undo."""
    await client.call_tool("write_memory", {"content": f"Host {number} keeps boats in harbour {number}."})
    assert "harbour 0" in words(await client.call_tool("search_memory", {"query": "boats of host 0"}))
    assert f"harbour {number}" in words(await client.call_tool("read_memory", {}))
    assert not (await client.call_tool("split_memory", {})).is_error
    if number:
        assert not (await client.call_tool("undo_memory", {})).is_error


async def test_one_command_connects_every_host_to_one_memory(tmp_path: Path) -> None:
    lay(tmp_path)
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT)}
    before = found(tmp_path)
    assert run_module("memory_v2.cli", "memory", "init", "--apply", cwd=tmp_path, env=environment).code == 0
    [(command, *arguments)] = {(server["command"], *server["args"]) for server in servers(tmp_path)}
    started = StdioServerParameters(command=command, args=arguments, env=environment)
    for number in range(2):
        async with Client(stdio_client(started), mode="auto") as client:
            await use(client, number)
    with serving(tmp_path / ".silica/memory_v2") as running:
        async with client_of(running) as client:
            await use(client, 2)
    settings = json.loads((tmp_path / ".claude/settings.json").read_text("utf-8"))
    hook = settings["hooks"]["SessionStart"][-1]["hooks"][0]["command"]
    began = subprocess.run(hook, input=b"{}", capture_output=True, env=environment, check=True, shell=True)
    context = json.loads(began.stdout)["hookSpecificOutput"]["additionalContext"]
    assert "harbour 0" in context
    assert "harbour 1" not in context  # undone
    assert run_module("memory_v2.cli", "memory", "init", "--undo", cwd=tmp_path, env=environment).code == 0
    left = found(tmp_path)
    assert {name: left[name] for name in before} == before
    assert set(before) == set(FILES)
