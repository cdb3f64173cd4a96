"""The MCP server: what it offers, and what it does when a client asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from memory_v2 import __version__
from memory_v2.errors import SilicaError, UsageError
from memory_v2.mcp import prompts, resources
from memory_v2.mcp.agent_decides import DECIDE, DECIDE_SCHEMA
from memory_v2.mcp.calls import ToolCalls
from memory_v2.mcp.clients import Context
from memory_v2.mcp.options import Way
from memory_v2.memory import Memory
from memory_v2.models.base import Prompt
from memory_v2.tools import TOOLS

T = TypeVar("T")
CLOSING_SECONDS = 10.0
"""How long a server that ends waits for what is being written, in seconds. What takes longer is noted, and written when
the memory is next used."""
_HINTS = {
    "search_memory": "memory: recall, look up what is known about the user, a project, a preference, a decision",
    "write_memory": "memory: remember, save a preference, a fact, a decision, a correction for later sessions",
}
"""By what a host that hides its tools behind a search finds the two that every session needs. Claude Code loads them at
once if it is told so, which costs some 900 tokens and saves a search before the first use."""

_OUTPUT = {
    "type": "object",
    "properties": {"answer": {"type": "string", "description": "the answer in words"}},
    "required": ["answer"],
}
"""What every tool returns as structured content, if that is asked for, besides the facts of its own."""


class _Server(Server[None]):
    """Announces that the list of pages changes, to clients of every age."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **extra: Any
    ) -> InitializationOptions:
        chosen = notification_options or NotificationOptions(resources_changed=True)
        return super().create_initialization_options(chosen, *args, **extra)


class MemoryServer:
    """A memory, served. `way` says who decides, and `wait` how many seconds an operation waits for the agent; `name`
    tells the memory from others that the agent may have, such as `the memory of the project silica`."""

    def __init__(self, memory: Memory, way: Way, wait: float, name: str = "", *, is_structured: bool = False) -> None:
        self._memory = memory
        self._way = way
        self._name = name
        self._is_structured = is_structured
        self._calls = ToolCalls(memory, way, wait, is_structured)

    def server(self) -> Server[None]:
        """The server of the SDK."""
        memory = self._memory
        server = _Server(
            "silica-memory",
            version=__version__,
            title="Silica Memory",
            description="A memory that starts as one Markdown file and grows into a tree by itself.",
            instructions=self._named(Prompt("mcp/instructions", {"host": self._way == "host"}).text),
            lifespan=self._lifespan,
            get_tool_input_schema=lambda name: None,
            on_list_tools=_in_thread(lambda _: types.ListToolsResult(tools=list(self._tools()))),
            on_call_tool=self._calls.call,
            on_list_resources=_in_thread(lambda of: resources.list_pages(memory, of.cursor if of else None)),
            on_list_resource_templates=_in_thread(lambda _: resources.list_templates()),
            on_read_resource=_in_thread(lambda of: resources.read_page(memory, of.uri)),
            on_subscriptions_listen=ListenHandler(self._calls.clients.bus),
            on_list_prompts=_in_thread(lambda _: prompts.list_prompts()),
            on_get_prompt=_in_thread(lambda of: prompts.get_prompt(memory, of.name, of.arguments or {})),
            on_completion=_in_thread(lambda of: resources.complete_path(memory, of.argument.value)),
        )
        server.middleware.append(self._calls.clients)
        return server

    def close(self) -> None:
        """Has the planner decide what is open, and waits until it is written."""
        self._calls.close(CLOSING_SECONDS)

    @asynccontextmanager
    async def _lifespan(self, _: Server[None]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self.close)

    def _tools(self) -> Iterator[types.Tool]:
        """The tools; if the connected agent decides, also the one with which it does."""
        for tool in TOOLS:
            yield self._tool(tool.name, tool.about(self._memory), tool.schema, is_read_only=tool.is_read_only)
        if self._way == "host":
            yield self._tool(DECIDE, Prompt("mcp/decide_memory").text, DECIDE_SCHEMA, is_read_only=False)

    def _tool(self, name: str, about: str, schema: Mapping[str, Any], *, is_read_only: bool) -> types.Tool:
        """A tool. None is destructive: whatever one changes, `undo_memory` takes back."""
        hint = _HINTS.get(name)
        hints = types.ToolAnnotations(read_only_hint=is_read_only, destructive_hint=False, open_world_hint=False)
        return types.Tool(
            name=name,
            description=self._named(about),
            input_schema=dict(schema),
            output_schema=_OUTPUT if self._is_structured else None,
            annotations=hints,
            _meta={"anthropic/searchHint": hint, "anthropic/alwaysLoad": True} if hint else None,
        )

    def _named(self, about: str) -> str:
        """What is said about the memory or a tool, with the memory's name in front."""
        return f"[{self._name}] {about}" if self._name else about


def _in_thread(read: Callable[[Any], T]) -> Callable[[Context, Any], Awaitable[T]]:
    """Answers requests in a thread, by what reads the memory for their parameters; its errors become those of the
    protocol."""

    async def respond(_: Context, params: Any) -> T:
        try:
            return await anyio.to_thread.run_sync(read, params, abandon_on_cancel=True)
        except SilicaError as error:
            code = INVALID_PARAMS if isinstance(error, UsageError) else INTERNAL_ERROR
            raise MCPError(code, str(error)) from error

    return respond
