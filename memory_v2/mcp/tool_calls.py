"""What happens when a client calls a tool: a thread carries it out, and whoever has to decide is asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    CreateMessageResult,
    CreateMessageResultWithTools,
    InputRequiredResult,
    TextContent,
)
from pydantic import ValidationError

from memory_v2.errors import ModelError, SilicaError, StorageError, ToolProblem
from memory_v2.mcp.calls import Call, Progress, Told
from memory_v2.mcp.changes import Changes
from memory_v2.mcp.deciding import Client, Deciding
from memory_v2.mcp.frame import framed
from memory_v2.mcp.host import DECIDE, decided, rules_of, shown
from memory_v2.mcp.open_calls import OpenCalls
from memory_v2.mcp.peers import Context, client_of, peer_of, request_of, shook_hands
from memory_v2.mcp.sampling import as_reply, as_request
from memory_v2.memory import Memory
from memory_v2.models.asked import Question
from memory_v2.models.base import Reply
from memory_v2.tools import TOOLS, ToolResult, dispatch
from memory_v2.tools.dispatch import refusal

MAX_AT_WORK = 32
"""How many calls are carried out at once; others wait. Each has a thread, and they share one disk."""
HEARTBEAT_SECONDS = 10.0
"""How often a client hears of a call that has nothing to tell, in seconds: some hosts give up a call that is silent for
a minute."""
_READING = {tool.name for tool in TOOLS if tool.is_read_only}
_CHANGING_PAGES = {tool.name for tool in TOOLS if tool.changes == "tree"}
_ANSWER = "decision"
"""The name of the one thing that a newer client is asked for."""


class ToolCalls:
    """The calls of all clients."""

    def __init__(self, memory: Memory, deciding: Deciding, calls: OpenCalls, changes: Changes) -> None:
        self._memory = memory
        self._deciding = deciding
        self._calls = calls
        self._changes = changes
        self._places = asyncio.Semaphore(MAX_AT_WORK)

    async def call(self, ctx: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        """Carries out a call, or goes on with one that waited for a decision."""
        call: Call | str
        try:
            if params.request_state is not None:
                call = self._answered(params)
            elif params.name == DECIDE and self._deciding.way == "host":
                call = self._decided(params.arguments or {})
            else:
                call = self._begun(params.name, params.arguments, client_of(ctx))
        except ToolProblem as problem:
            return _told("", refusal(problem))
        if isinstance(call, str):
            return _answer(call, is_waiting=True)
        async with self._places:
            return await self._followed(ctx, params.name, call)

    def _begun(self, name: str, arguments: Mapping[str, Any] | None, client: Client) -> Call:
        def act() -> ToolResult:
            try:
                return self._carried_out(call, name, arguments, client)
            except SilicaError as error:  # before the tool was called, or after
                return refusal(error)

        call = Call(self._memory, act)
        return call

    def _carried_out(self, call: Call, name: str, arguments: Mapping[str, Any] | None, client: Client) -> ToolResult:
        """Runs in the thread of the call."""
        memory = self._deciding.memory_for(self._memory, name, call, client)
        if name not in _CHANGING_PAGES:
            return dispatch(memory, name, arguments)
        self._changes.before(memory.storage.list_files)
        result = dispatch(memory, name, arguments)
        if not result.is_error:
            with suppress(StorageError):  # what was done is done, whoever hears of it
                changed = result.document.get("changed_pages", ())
                call.in_loop(partial(self._changes.after, memory.storage.list_files(), changed))
        return result

    async def _followed(self, ctx: Context, name: str, call: Call) -> CallToolResult | InputRequiredResult:
        """Tells what the call tells, until it has a result or somebody else has to decide."""
        # the agent was told that its text is saved: who takes a decision back does not take back the text
        request = object() if name == DECIDE else request_of(ctx, ctx.request_id)
        self._calls.begin(request, call)
        call.start()
        try:
            return await self._answer_of(ctx, name, call)
        except asyncio.CancelledError:
            self._calls.leave(request)
            if name != DECIDE and not shook_hands(ctx) and ctx.request is not None:
                self._calls.cancel(request)  # newer clients cancel by closing the connection
            raise
        finally:
            self._calls.end(request)

    async def _answer_of(self, ctx: Context, name: str, call: Call) -> CallToolResult | InputRequiredResult:
        steps, began = 0, time.monotonic()
        while True:
            told = await _next(call, began)
            if isinstance(told, Progress):
                steps += 1
                await ctx.session.report_progress(steps, message=told.message)
            elif isinstance(told, ToolResult):
                self._calls.drop(call)
                return _told(name, told)
            elif told.is_open and (asked := await self._asked(ctx, call, told)) is not None:
                return asked

    async def _asked(self, ctx: Context, call: Call, question: Question) -> CallToolResult | InputRequiredResult | None:
        """Asks whoever decides. Returns what the client is told instead of a result, if it answers by another call."""
        if self._deciding.way == "host":
            self._calls.keep(call, peer_of(ctx))
            knows_rules = self._calls.knows(peer_of(ctx), rules_of(question))
            task = shown(question, call.operation, self._deciding.wait, knows_rules=knows_rules)
            return _answer(task, is_waiting=True, operation=call.operation)
        if ctx.session.can_send_request:
            question.answer(await self._sampled(ctx, question))
            return None
        self._calls.keep(call, peer_of(ctx))
        return InputRequiredResult(
            input_requests={_ANSWER: as_request(question.conversation)}, request_state=call.operation
        )

    async def _sampled(self, ctx: Context, question: Question) -> Reply | ModelError:
        try:
            result = await ctx.session.send_request(
                as_request(question.conversation),
                CreateMessageResultWithTools,
                self._deciding.wait,
                ServerMessageMetadata(related_request_id=ctx.request_id),
            )
        except MCPError as error:
            return ModelError(f"the client answered: {error}")
        except ValidationError:
            return ModelError("the client sent an unreadable answer")
        return as_reply(result, question.conversation)

    def _answered(self, params: CallToolRequestParams) -> Call:
        """The call whose question a newer client answers. Raises `ToolProblem`."""
        call = self._free(params.request_state)
        answer = (params.input_responses or {}).get(_ANSWER)
        if question := call.question:
            if isinstance(answer, CreateMessageResult | CreateMessageResultWithTools):
                question.answer(as_reply(answer, question.conversation))
            else:
                question.answer(ModelError("the client did not answer what it was asked"))
        return call

    def _decided(self, arguments: Mapping[str, Any]) -> Call | str:
        """The call about which the connected agent decides, or the task again, in words. Raises `ToolProblem`."""
        call = self._free(arguments.get("operation"))
        if question := call.question:
            reply = decided(question, arguments)
            if not reply.tool_calls:
                return shown(question, call.operation, self._deciding.wait, again=True)
            question.answer(reply)
        return call

    def _free(self, operation: object) -> Call:
        call = self._calls.find(operation)
        if call is None:
            waiting = ", ".join(self._calls.waiting()) or "none"
            raise ToolProblem(
                f"no operation {str(operation)[:40]!r} waits for a decision; those that wait: {waiting}. If it did, "
                "the program has decided: search_memory finds the text, so do not write it again"
            )
        if self._calls.is_followed(call):
            raise ToolProblem("your last decision about this operation is being carried out; wait for its answer")
        return call


async def _next(call: Call, began: float) -> Told:
    with anyio.move_on_after(HEARTBEAT_SECONDS):
        return await call.told.get()
    return Progress(f"at work for {time.monotonic() - began:.0f} seconds")


def _told(name: str, result: ToolResult) -> CallToolResult:
    """The result for the client. What comes from pages is shown as data."""
    if result.is_error:
        return CallToolResult(content=[TextContent(text=result.text)], is_error=True)
    text = framed(result.text) if name in _READING else result.text
    return _answer(text, **{key: value for key, value in result.document.items() if _is_short(key, value)})


def _answer(text: str, **facts: object) -> CallToolResult:
    """An answer in words, and beside it facts for programs. Some hosts show a model nothing but the structured content,
    and others nothing but the words: so both have the words, and neither says them twice."""
    return CallToolResult(content=[TextContent(text=text)], structured_content={"answer": text, **facts})


def _is_short(key: str, value: object) -> bool:
    """Whether a part of a document is a fact to go on with, and no repetition of the words."""
    if isinstance(value, list):
        return not any(isinstance(one, dict | list) for one in value)
    return not isinstance(value, dict) and key not in ("text", "changes")
