"""Many agents on one memory over HTTP: half of them speak the newest protocol, half the one before."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from memory_v2 import Memory
from tests.mcp.test_http import HOST, Running, client_of, serving

pytestmark = [pytest.mark.anyio, pytest.mark.allow_hosts([HOST])]

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


async def agent(running: Running, number: int, log: Log) -> None:
    chance = random.Random(number)
    async with client_of(running, "auto" if number % 2 else "legacy") as client:
        for _ in range(CALLS):
            await act(client, str(number), chance, log)


async def test_sessions_lose_nothing(tmp_path: Path) -> None:
    Memory.open(tmp_path).write("This memory is shared.")
    log = Log()
    with serving(tmp_path, "--structured") as running:
        async with anyio.create_task_group() as tasks:
            for number in range(SESSIONS):
                tasks.start_soon(agent, running, number, log)
    with Memory.open(tmp_path, "offline") as memory:
        lines = [line for page in memory.list_files() for line in memory.read(page.path).splitlines()]
        tree = "\n".join(line for line in lines if not line.startswith("- [["))  # where a text may describe a page
        assert {text: tree.count(text) for text in log.written} == dict.fromkeys(log.written, 1)
        assert [found for found in memory.check() if found.severity == "error"] == []
    assert (log.failed, log.calls) == ([], SESSIONS * CALLS)
    assert len(log.written) > SESSIONS
