"""A memory that is served, and the SDK's own client, connected to it in this process."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
from mcp import Client
from mcp_types import CallToolResult, Implementation, TextContent

from memory_v2.mcp.calls import note_operation
from memory_v2.mcp.options import Way
from memory_v2.mcp.server import MemoryServer
from memory_v2.memory import Memory
from memory_v2.models.base import Model
from memory_v2.settings import DEFAULT_THRESHOLD
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.volatile import VolatileStorage
from tests.properties.whole import clock

Mode = Literal["auto", "legacy"]
AGES: tuple[Mode, ...] = ("auto", "legacy")
"""The newest protocol, without sessions, and the older ones, which shake hands."""
WAIT = 60.0
"""Seconds that nobody waits for, if all is well."""
HANGS = 90.0
"""Seconds after which a scene has failed, also on a machine with much else to do."""


def served(
    storage: MemoryStorage | None = None, model: str | Model = "offline", threshold: int = DEFAULT_THRESHOLD
) -> Memory:
    """A memory that tells the server what it does."""
    kept = storage or VolatileStorage(clock)
    return Memory(kept, model, threshold=threshold, now=clock, on_event=note_operation)


@asynccontextmanager
async def connected(
    memory: Memory, way: Way = "model", mode: Mode = "auto", wait: float = WAIT, **options: Any
) -> AsyncIterator[Client]:
    """A client of the server for this memory. What hangs fails."""
    server = MemoryServer(memory, way, wait, is_structured=True).server()
    known = Implementation(name="an-agent", version="1")
    with anyio.fail_after(HANGS):
        async with Client(server, mode=mode, client_info=known, **options) as client:
            yield client


def words(result: CallToolResult) -> str:
    """What a model reads of a result."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    if result.structured_content is not None:
        assert result.structured_content["answer"] == content.text
    return content.text


def refused(result: CallToolResult) -> str:
    """The words of a result that is an error."""
    assert result.is_error
    return words(result)


def operation_of(task: str) -> str:
    """The operation that a task names."""
    found = re.search(r'decide_memory\(operation="(\w+)"', task)
    assert found
    return found[1]


def pages(memory: Memory) -> dict[str, str]:
    """All pages, as they are stored."""
    return {page.path: memory.read(page.path) for page in memory.list_files()}


def make(name: str, **arguments: Any) -> dict[str, Any]:
    """One call of a decision."""
    return {"name": name, "arguments": arguments}
