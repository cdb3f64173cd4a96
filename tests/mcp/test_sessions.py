"""Many agents on one memory over HTTP: half of them speak the newest protocol, half the one before."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from memory_v2 import Memory
from tests.mcp.test_http import HOST

pytestmark = pytest.mark.allow_hosts([HOST])

SESSIONS, CALLS = 3, 12
READS = ("search_memory", "read_memory", "list_memory_files", "get_memory_graph", "memory_history", "split_memory")
PAGES = ("people", "projects", "projects/atlas")


@dataclass
class Log:
    """What the sessions have done: the texts that were acknowledged and not undone, and what went wrong."""

    calls: int = 0
    written: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)


async def act(client: Client, name: str, chance: random.Random, log: Log) -> None:
    """One call by chance: a write, an undo of its own, a resource, or a tool that reads."""
    log.calls += 1
    kind = chance.choice(("write", "write", "undo", "resource", "read"))
    text = f"Agent {name} saw heron {log.calls} by the weir."
    mine = [revision for written, revision in log.written.items() if f"Agent {name} " in written]
    if kind == "write":
        given: dict[str, Any] = {"content": text, **chance.choice(({}, {"path": chance.choice(PAGES)}))}
        result = await client.call_tool("write_memory", given)
        log.written[text] = (result.structured_content or {}).get("revision", "")
    elif kind == "undo" and mine:
        result = await client.call_tool("undo_memory", {"revision": mine[-1]})
        if not result.is_error:  # it is refused if later changes depend on it
            log.written = {text: revision for text, revision in log.written.items() if revision != mine[-1]}
        return
    elif kind == "resource":
        await client.read_resource("memory://memory")
        return
    else:
        tool = chance.choice(READS)
        result = await client.call_tool(tool, {"query": "heron by the weir"} if tool == "search_memory" else {})
    if result.is_error:
        log.failed.append(str(result.content))


async def play(address: str) -> Log:
    log = Log()

    async def agent(number: int) -> None:
        chance = random.Random(number)
        async with Client(address, mode="auto" if number % 2 else "legacy", read_timeout_seconds=300) as client:
            for _ in range(CALLS):
                await act(client, str(number), chance, log)

    async with anyio.create_task_group() as tasks:
        for number in range(SESSIONS):
            tasks.start_soon(agent, number)
    return log


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a server for the memory in a folder."""
    command = [
        sys.executable,
        "-m",
        "memory_v2.cli",
        "memory",
        "--path",
        str(folder),
        "mcp",
        "--structured",
        "--http",
        "--port",
        "0",
    ]
    own = {key: value for key, value in os.environ.items() if not key.startswith("SILICA_")}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=own)
    assert process.stderr is not None
    try:
        yield process.stderr.readline().split("serving ")[1].split()[0]
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_sessions_lose_nothing(tmp_path: Path) -> None:
    Memory.open(tmp_path).write("This memory is shared.")
    with serving(tmp_path) as address:
        log = anyio.run(play, address)
    with Memory.open(tmp_path, "offline") as memory:
        lines = [line for page in memory.list_files() for line in memory.read(page.path).splitlines()]
        tree = "\n".join(line for line in lines if not line.startswith("- [["))  # where a text may describe a page
        assert {text: tree.count(text) for text in log.written} == dict.fromkeys(log.written, 1)
        assert [found for found in memory.check() if found.severity == "error"] == []
    assert (log.failed, log.calls) == ([], SESSIONS * CALLS)
    assert len(log.written) > SESSIONS
