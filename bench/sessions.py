"""Many agents on one memory over MCP: `python -m bench.sessions --sessions 16 --calls 200`.

A server is started as a user starts it, `silica memory mcp --http`, in a process of its own. Each session is the SDK's
client, half of them with the newest protocol and half with the one before, and makes mixed calls, one after the other.
At the end every acknowledged text is looked for in the tree; it may be gone only if its session has undone it.

Prints for each kind of call how many were made and how long they took. Exits with status 1 if a call failed for a
reason other than a refusal that the mix provokes, if a text is lost or stands twice, or if `check` finds an error.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp_types import CallToolResult, TextContent

from memory_v2 import Memory

MIX = {
    "write_memory": 6,
    "write to a page": 4,
    "append": 2,
    "search_memory": 6,
    "read_memory": 4,
    "list_memory_files": 1,
    "get_memory_graph": 1,
    "memory_history": 1,
    "split_memory": 1,
    "undo_memory": 1,
    "read a resource": 2,
    "list resources": 1,
}
"""How often each session does what, of 30 calls."""
PAGES = ("people", "projects", "projects/atlas", "places", "travel", "prices", "letters")
MAX_SHOWN = 10
"""Limits how many problems are printed."""

_SUBJECTS = "the harbour|the night train|Ines|the third release|our auditor|the old index|Fjordbank|the kitchen"
_VERBS = "waits for|was moved by|depends on|is paid by|replaces|asked about|knows|closes before"
_OBJECTS = "the spring sale|a signed contract|staging|two engineers|Porto|the blue key|the May review|nobody"


@dataclass
class Log:
    """What the sessions have done: seconds by kind of call, acknowledged texts, those undone, and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    written: list[str] = field(default_factory=list)
    undone: set[str] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)


class Session:
    """One agent, with its own sequence of calls."""

    def __init__(self, number: int, client: Client, log: Log) -> None:
        self._number = number
        self._client = client
        self._log = log
        self._random = random.Random(number)
        self._revisions: list[tuple[str, str]] = []

    async def run(self, calls: int) -> None:
        """Makes so many calls."""
        for _ in range(calls):
            (kind,) = self._random.choices(list(MIX), list(MIX.values()))
            began = time.perf_counter()
            await self._call(kind)
            self._log.seconds[kind].append(time.perf_counter() - began)

    async def _call(self, kind: str) -> None:
        if kind in ("write_memory", "write to a page", "append"):
            await self._write(kind)
        elif kind == "undo_memory":
            await self._undo()
        elif kind == "read a resource":
            await self._client.read_resource("memory://memory")
        elif kind == "list resources":
            await self._client.list_resources()
        else:
            self._check(kind, await self._client.call_tool(kind, self._arguments(kind)))

    def _arguments(self, kind: str) -> dict[str, Any]:
        return {"search_memory": {"query": self._sentence()}, "split_memory": {}}.get(kind, {})

    async def _write(self, kind: str) -> None:
        text = f"{self._sentence()} ({self._number}-{len(self._log.written)}-{self._random.randrange(10**9)})."
        page = {} if kind == "write_memory" else {"path": self._random.choice(PAGES)}
        mode = {"mode": "append"} if kind == "append" else {}
        result = await self._client.call_tool("write_memory", {"content": text, **page, **mode})
        if self._check(kind, result):
            self._log.written.append(text)
            self._revisions.append((text, (result.structured_content or {})["revision"]))

    async def _undo(self) -> None:
        if not self._revisions:
            return
        text, revision = self._revisions.pop()
        result = await self._client.call_tool("undo_memory", {"revision": revision})
        if result.is_error:  # later changes depend on it
            self._log.refused["undo_memory"] += 1
        else:
            self._log.undone.add(text)

    def _check(self, kind: str, result: CallToolResult) -> bool:
        if result.is_error:
            (content,) = result.content
            self._log.failed.append(f"{kind}: {content.text if isinstance(content, TextContent) else content}")
        return not result.is_error

    def _sentence(self) -> str:
        return " ".join(self._random.choice(words.split("|")) for words in (_SUBJECTS, _VERBS, _OBJECTS)).capitalize()


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a server for the memory in a folder."""
    command = [sys.executable, "-m", "memory_v2.cli", "memory", "--path", str(folder), "mcp", "--http", "--port", "0"]
    own = {key: value for key, value in os.environ.items() if not key.startswith("SILICA_")}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=own)
    assert process.stderr is not None
    try:
        yield process.stderr.readline().split("serving ")[1].split()[0]
    finally:
        process.terminate()
        process.communicate(timeout=60)


async def play(address: str, sessions: int, calls: int) -> Log:
    """Lets so many sessions make so many calls each."""
    log = Log()

    async def agent(number: int) -> None:
        async with Client(address, mode="auto" if number % 2 else "legacy", read_timeout_seconds=300) as client:
            await Session(number, client, log).run(calls)

    async with anyio.create_task_group() as tasks:
        for number in range(sessions):
            tasks.start_soon(agent, number)
    return log


def problems(log: Log, folder: Path) -> list[str]:
    """What is wrong with the tree, and with what the calls returned."""
    with Memory.open(folder, "offline") as memory:
        lines = [line for page in memory.list_files() for line in memory.read(page.path).splitlines()]
        tree = "\n".join(
            line for line in lines if not line.startswith("- [[")
        )  # where a page may be described by a text
        kept = [text for text in log.written if text not in log.undone]
        found = [f"lost: {text}" for text in kept if text not in tree]
        found += [f"stands {tree.count(text)} times: {text}" for text in kept if tree.count(text) > 1]
        found += [f"check: {one.path}: {one.message}" for one in memory.check() if one.severity == "error"]
    return [*(f"failed: {one}" for one in log.failed), *found]


def table(log: Log) -> str:
    """How long the calls took, in milliseconds."""
    rows = [("call", "made", "refused", "p50 ms", "p95 ms", "max ms")]
    everything = [one for seconds in log.seconds.values() for one in seconds]
    for kind, seconds in [*sorted(log.seconds.items()), ("all", everything)]:
        times = [
            f"{1000 * value:,.0f}" for value in (statistics.median(seconds), percentile(seconds, 95), max(seconds))
        ]
        rows.append((kind, str(len(seconds)), str(log.refused[kind]), times[0], times[1], times[2]))
    return "\n".join(f"{row[0]:<18}" + "".join(f"{cell:>9}" for cell in row[1:]) for row in rows)


def percentile(values: Sequence[float], share: int) -> float:
    """The value that so many percent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(-(-len(ordered) * share // 100) - 1, 0)]


def main() -> int:
    """Runs the sessions and prints the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=16)
    parser.add_argument("--calls", type=int, default=200)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with Memory.open(folder, "offline") as memory:
            memory.write("This memory is shared by many agents.")
        began = time.perf_counter()
        with serving(Path(folder)) as address:
            log = anyio.run(play, address, chosen.sessions, chosen.calls)
        took = time.perf_counter() - began
        busy = sum(os.times()[2:4])  # of the server, which has ended
        wrong = problems(log, Path(folder))
    print(table(log))
    kept = len(log.written) - len(log.undone)
    made = sum(map(len, log.seconds.values()))
    print(f"\n{chosen.sessions} sessions, {took:.0f} s; the server used {1000 * busy / made:.0f} ms of CPU a call")
    print(f"{kept} texts written and kept, {len(log.undone)} undone")
    print("\n".join(wrong[:MAX_SHOWN]) or "no error, and nothing lost")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
