"""Claude's memory tool for the tool runner of the `anthropic` package, on a memory of ours.

client.beta.messages.tool_runner(..., tools=[ClaudeMemoryTool(memory)])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import BetaCacheControlEphemeralParam
from anyio.to_thread import run_sync
from pydantic import BaseModel

from memory_v2.memory import Memory
from memory_v2.tools.memory_commands import answer_memory_command


class ClaudeMemoryTool(BetaAbstractMemoryTool):
    """Claude's memory tool, whose files are the pages of a memory."""

    def __init__(self, memory: Memory, *, cache_control: BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self.memory = memory

    def call(self, input: object) -> str:  # noqa: A002 - as the SDK calls it
        """Carries out a command as the model has sent it. Raises the SDK's `ToolError`, with what to do next."""
        return _answered(self.memory, input)

    def _carried_out(self, command: BaseModel) -> str:
        return _answered(self.memory, command.model_dump())

    view = create = str_replace = insert = delete = rename = _carried_out


class AsyncClaudeMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for asynchronous programs: each command runs in a thread."""

    def __init__(self, memory: Memory, *, cache_control: BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self.memory = memory

    async def call(self, input: object) -> str:  # noqa: A002 - as the SDK calls it
        """Carries out a command as the model has sent it. Raises the SDK's `ToolError`, with what to do next."""
        return await run_sync(_answered, self.memory, input)

    async def _carried_out(self, command: BaseModel) -> str:
        return await run_sync(_answered, self.memory, command.model_dump())

    view = create = str_replace = insert = delete = rename = _carried_out


def _answered(memory: Memory, given: Any) -> str:
    result = answer_memory_command(memory, given if isinstance(given, Mapping | str) else {})
    if result.is_error:
        raise ToolError(result.text)
    return result.text
