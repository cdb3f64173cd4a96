"""Starting the server. This module can be imported without the extra `mcp`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Literal, TypeAlias, get_args

from memory_v2.errors import InvalidSetting
from memory_v2.memory import Memory

Way: TypeAlias = Literal["model", "planner", "host", "sampling"]
"""Who decides where texts go: the configured model, the offline planner, the connected agent, the client's model."""
WAYS: tuple[Way, ...] = get_args(Way)
DEFAULT_WAIT = 300.0
"""Seconds that an operation waits for the agent or the client before the planner finishes it: an agent answers within
one, a person who is asked to approve within five minutes."""
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8787
TOKEN = "SILICA_MEMORY_MCP_TOKEN"
"""The environment variable with the token: on a command line, other users of the machine could read it."""
INSTALL = "pip install 'silica-memory[mcp]'"


def open_served(path: str | None, model: str | None, way: Way) -> Memory:
    """The memory to serve. Raises `InvalidSetting`, also if the extra is missing."""
    missing = [package for package in ("mcp", "mcp_types", "uvicorn") if find_spec(package) is None]
    if missing:
        raise InvalidSetting(f"the MCP server needs the package {missing[0]}, which is not installed: {INSTALL}")
    from memory_v2.mcp.calls import note_operation

    return Memory.open(path, "offline" if way == "planner" else model, on_event=note_operation)


def serve_stdio(memory: Memory, way: Way, wait: float) -> None:
    """Serves the process that has started this one, until it closes standard input."""
    import anyio
    from mcp.server.stdio import stdio_server

    from memory_v2.mcp.server import MemoryServer
    from memory_v2.mcp.unreadable import Incoming, answer_unreadable

    async def run() -> None:
        served = MemoryServer(memory, way, wait)
        server = served.server()
        onward, readable = anyio.create_memory_object_stream[Incoming]()
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
            if sys.platform != "win32":
                tasks.start_soon(_die_by_signal, served.close)
            tasks.start_soon(answer_unreadable, incoming, onward, outgoing.send)
            await server.run(readable, outgoing, server.create_initialization_options())
            await outgoing.aclose()  # what was answered last is still written
            tasks.cancel_scope.cancel()

    try:
        anyio.run(run)
    except* BrokenPipeError:
        pass  # the host has gone without closing standard input first


async def _die_by_signal(close: Callable[[], None]) -> None:
    """Finishes what is open when the host or a person stops the process. Reading standard input cannot be interrupted,
    so the process then has the end that the signal gives it."""
    import anyio

    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            await anyio.to_thread.run_sync(close)
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)


def serve_http(
    memory: Memory,
    way: Way,
    wait: float,
    *,
    host: str,
    port: int,
    token: str,
    origins: Sequence[str],
    told: Callable[[str], object],
) -> None:
    """Serves over HTTP until the process is told to stop. `told` gets the address as soon as clients can connect.
    Raises `InvalidSetting` for an address that others can reach without a token."""
    from memory_v2.mcp.http import PATH, check_access, listen, serve
    from memory_v2.mcp.server import MemoryServer

    check_access(host, token)
    with listen(host, port) as listening:
        at = listening.getsockname()[1]
        told(f"http://{f'[{host}]' if ':' in host else host}:{at}{PATH}")
        serve(MemoryServer(memory, way, wait).server(), listening, host, token, origins)
