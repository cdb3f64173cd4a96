"""Tool calls: a thread carries each out while the server goes on serving, and whoever has to decide is asked.

The core is synchronous, and a call may wait minutes for a decision. The thread of a call reports to the event loop how
far it is, what it has to ask, and last its result.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection, Hashable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import anyio
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from memory_v2.agent.operation import CancelScope, asked_by
from memory_v2.errors import ModelError, SilicaError, StorageError, ToolProblem
from memory_v2.mcp.agent_decides import DECIDE, DECIDED_BY_HOST, check_length, decided, kind_of, rules_of, shown
from memory_v2.mcp.clients import ANYBODY, Clients, Context, name_of, peer_of, request_of, shook_hands
from memory_v2.mcp.frame import framed
from memory_v2.mcp.options import Way
from memory_v2.memory import Memory
from memory_v2.models.delegated import HOST, DelegatedModel, DelegatedRequest
from memory_v2.progress import heard_by
from memory_v2.settings import DEFAULT_AGENT
from memory_v2.tools import TOOLS, ToolResult, dispatch
from memory_v2.tools.dispatch import refusal
from memory_v2.trace.recording import Event

logger = logging.getLogger(__name__)

MAX_AT_WORK = 32
"""How many calls are carried out at once; others wait. Each has a thread, and they share one disk."""
MOST_KEPT = 256
"""How many calls are kept whose result nobody has fetched, because the planner has decided meanwhile."""
MAX_QUESTIONS = 24
"""How many questions may wait at once: fewer than the requests to models that a process has at work, so that agents
that never decide keep no other model waiting."""
PROGRESS_SECONDS = 0.25
"""When a call first tells how far it is, and then how often at most, in seconds: a person reads no faster. Of a short
call there is nothing to say: some hosts take a message that comes with the result for one about an unknown call."""
HEARTBEAT_SECONDS = 10.0
"""How often a client hears of a call that reports nothing, in seconds: some hosts give up a call that is silent for a
minute."""
FAULT = "This is a bug in silica, and its log says more. The tree is whole; read the page before you try again."
GONE = "whoever was asked has gone"
_READING = {tool.name for tool in TOOLS if tool.is_read_only}
_CHANGING_PAGES = {tool.name for tool in TOOLS if tool.changes == "tree"}

_current: ContextVar[RunningCall | None] = ContextVar("call", default=None)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call is, in words."""

    message: str


Report: TypeAlias = Progress | DelegatedRequest | ToolResult


class RunningCall:
    """One call of a tool. `reports` is filled in order: progress, questions, and last the result."""

    def __init__(self, act: Callable[[RunningCall], ToolResult]) -> None:
        self.reports: asyncio.Queue[Report] = asyncio.Queue()
        self.operation = ""
        """The id of its operation in the history; empty until that begins."""
        self._act = act
        self._result: ToolResult | None = None
        self._loop = asyncio.get_running_loop()
        self._question: DelegatedRequest | None = None
        self._scope = CancelScope()
        self._next_progress = time.monotonic() + PROGRESS_SECONDS
        self._thread = threading.Thread(target=self._carry_out, name="a tool call", daemon=True)

    def start(self) -> None:
        """Begins to carry the call out, unless it has begun."""
        if self._thread.ident is None:
            self._thread.start()

    def join(self, seconds: float) -> None:
        """Waits until the call has ended, so many seconds at most."""
        if self._thread.ident is not None:
            self._thread.join(max(seconds, 0.0))

    @property
    def has_ended(self) -> bool:
        """Whether its thread has ended."""
        return self._thread.ident is not None and not self._thread.is_alive()

    @property
    def question(self) -> DelegatedRequest | None:
        """The question that waits for an answer, if there is one."""
        return self._question if self._question is not None and self._question.is_open else None

    def ask(self, question: DelegatedRequest) -> None:
        """Reports a question, from any thread."""
        self._question = question
        self._report(question)

    def give_up(self) -> None:
        """Whoever was asked does not answer: the planner decides."""
        if self._question is not None:
            self._question.answer(ModelError(GONE))

    def cancel(self, take_back: Callable[[ToolResult], None]) -> None:
        """Cancels what it does, without waiting for it. If it was too late, `take_back` gets the result."""
        threading.Thread(target=self._cancel, args=[take_back], name="cancelling a tool call", daemon=True).start()

    def _cancel(self, take_back: Callable[[ToolResult], None]) -> None:
        self._scope.cancel()
        self._thread.join()
        if self._result is not None and not self._result.is_error:
            take_back(self._result)

    def in_loop(self, run: Callable[[], object]) -> None:
        """Has something run in the event loop, from any thread."""
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(run)

    def _carry_out(self) -> None:
        _current.set(self)
        try:
            with heard_by(self._hear), self._scope.entered():
                result = self._act(self)
        except SilicaError as error:  # before the tool was called, or after
            result = refusal(error)
        except Exception:  # the edge of this face: the server goes on
            logger.exception("a tool call broke down")
            result = ToolResult(FAULT, {}, is_error=True)
        self._result = result
        self._report(result)

    def _hear(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next_progress:
            self._next_progress = now + PROGRESS_SECONDS
            self._report(Progress(f"{what}: {done} of {total}" if total else f"{what}: {done}"))

    def _report(self, report: Report) -> None:
        self.in_loop(partial(self.reports.put_nowait, report))


def note_operation(operation: str, event: Event) -> None:
    """Notes which operation the call of this thread carries out: the listener of a memory that is served."""
    if event["event"] == "begin" and (call := _current.get()) is not None:
        call.operation = operation


class ToolCalls:
    """The calls of all clients. `way` says who decides, `wait` how many seconds an operation waits for the agent, and
    `is_structured` whether answers have structured content. Used in the event loop, except where it says otherwise."""

    def __init__(self, memory: Memory, way: Way, wait: float, is_structured: bool) -> None:
        self.clients = Clients(self._cancel, self._give_up)
        self._is_structured = is_structured
        self._memory = memory
        self._way = way
        self._wait = wait
        self._places = asyncio.Semaphore(MAX_AT_WORK)
        self._of_request: dict[Hashable, RunningCall] = {}
        self._kept: dict[str, tuple[RunningCall, Hashable]] = {}
        """Those that wait, or waited, for a decision of a peer, by operation."""
        self._taught: dict[Hashable, set[Hashable]] = {}
        """The rules that each peer was shown."""
        self._is_closed = False

    async def call(self, ctx: Context, params: CallToolRequestParams) -> CallToolResult:
        """Carries out a call, or goes on with one that waited for a decision."""
        call: RunningCall | str
        try:
            if params.name == DECIDE and self._way == "host":
                call = self._decided(params.arguments or {})
            else:
                call = RunningCall(partial(self._carry_out, params.name, params.arguments, name_of(ctx)))
        except ToolProblem as problem:
            return self._result("", refusal(problem))
        if isinstance(call, str):
            return self._answer(call, is_waiting=True)
        async with self._places:
            return await self._followed(ctx, params.name, call)

    def close(self, seconds: float) -> None:
        """The server ends: the planner decides what is open, and so many seconds are left to finish it. From any
        thread; it waits."""
        self._is_closed = True
        calls = self._all()
        for call in calls:
            call.give_up()
        until = time.monotonic() + seconds
        for call in calls:
            call.join(until - time.monotonic())

    def _cancel(self, request: Hashable) -> None:
        if (call := self._of_request.get(request)) is not None:
            call.cancel(partial(self._take_back, call))

    def _give_up(self, peer: Hashable) -> None:
        """A peer has gone: the planner decides what it was asked."""
        self._taught.pop(peer, None)
        for call, asked in self._kept.values():
            if asked == peer:
                call.give_up()

    def _carry_out(self, name: str, arguments: Mapping[str, Any] | None, client: str, call: RunningCall) -> ToolResult:
        """Runs in the thread of the call."""
        memory, own = self._memory, self._memory.entries.store.agent
        asks = client if own == DEFAULT_AGENT else own
        if self._way == "host" and name in DECIDED_BY_HOST:
            model = DelegatedModel(f"{HOST}:{client}" if client else HOST, partial(self._ask, call), self._wait)
            memory = memory.with_model(model, self._wait)
            asks = ""  # who decides is named already
        with asked_by(asks):
            if name not in _CHANGING_PAGES:
                return dispatch(memory, name, arguments)
            self.clients.before_change(memory.storage.list_files)
            result = dispatch(memory, name, arguments)
        if not result.is_error:
            self._notify(call, result.document.get("changed_pages", ()))
        return result

    def _take_back(self, call: RunningCall, result: ToolResult) -> None:
        """Undoes what a cancelled call has stored, unless others have built upon it. Runs in a thread of its own."""
        store = self._memory.entries.store
        try:
            if revision := result.document.get("revision"):
                self._notify(call, self._memory.undo(revision).changed_pages)
            elif result.document.get("was_known") is False:
                store.storage.delete(store.find(result.document["id"]).path)
        except SilicaError as error:
            logger.info("a call that was cancelled too late stays: %s", error)

    def _notify(self, call: RunningCall, changed: Collection[str]) -> None:
        with suppress(StorageError):  # what was done is done, whoever hears of it
            call.in_loop(partial(self.clients.after_change, self._memory.storage.list_files(), changed))

    def _ask(self, call: RunningCall, question: DelegatedRequest) -> None:
        """Raises `ModelError` if nobody can be asked. From any thread."""
        check_length(question)
        if self._is_closed:
            raise ModelError(GONE)
        if sum(one.question is not None for one in self._all()) >= MAX_QUESTIONS:
            raise ModelError(f"{MAX_QUESTIONS} operations wait for a decision already")
        call.ask(question)

    def _all(self) -> set[RunningCall]:
        return {*(call for call, _ in list(self._kept.values())), *list(self._of_request.values())}

    async def _followed(self, ctx: Context, name: str, call: RunningCall) -> CallToolResult:
        """Tells what the call reports, until it has a result or the agent has to decide."""
        # the agent was told that its text is saved: who takes a decision back does not take back the text
        request = object() if name == DECIDE else request_of(ctx, ctx.request_id)
        self._of_request = {each: one for each, one in self._of_request.items() if not one.has_ended}
        self._of_request[request] = call
        call.start()
        try:
            result = await self._answer_of(ctx, name, call)
        except asyncio.CancelledError:
            if name == DECIDE:
                self._of_request.pop(request, None)
            elif not shook_hands(ctx) and ctx.request is not None:
                self._cancel(request)  # newer clients cancel by closing the connection
            raise  # that an older one has cancelled, it tells a moment later
        if self._of_request.get(request) is call:
            del self._of_request[request]
        return result

    async def _answer_of(self, ctx: Context, name: str, call: RunningCall) -> CallToolResult:
        steps, began = 0, time.monotonic()
        while True:
            report = await _next(call, began)
            if isinstance(report, Progress):
                steps += 1
                await ctx.session.report_progress(steps, message=report.message)
            elif isinstance(report, ToolResult):
                self._kept.pop(call.operation, None)
                return self._result(name, report)
            elif report.is_open:
                self._keep(call, peer_of(ctx))
                knows_rules = self._knows(peer_of(ctx), rules_of(report))
                task = shown(report, call.operation, self._wait, knows_rules=knows_rules)
                return self._answer(task, is_waiting=True, operation=call.operation)

    def _result(self, name: str, result: ToolResult) -> CallToolResult:
        """The result for the client. What comes from pages is shown as data."""
        if result.is_error:
            return CallToolResult(content=[TextContent(text=result.text)], is_error=True)
        text = framed(result.text) if name in _READING or result.quotes else result.text
        return self._answer(text, **{key: value for key, value in result.document.items() if _is_short(key, value)})

    def _answer(self, text: str, **facts: object) -> CallToolResult:
        """An answer in words, and for programs that asked for it the same with facts as structured content: many hosts
        show a model the structured content, escaped, instead of the words."""
        structured = {"answer": text, **facts} if self._is_structured else None
        return CallToolResult(content=[TextContent(text=text)], structured_content=structured)

    def _keep(self, call: RunningCall, peer: Hashable) -> None:
        self._kept[call.operation] = call, peer
        ended = [operation for operation, (one, _) in self._kept.items() if one.has_ended]
        for operation in ended[:-MOST_KEPT]:
            del self._kept[operation]

    def _knows(self, peer: Hashable, rules: Hashable) -> bool:
        """Whether a peer was shown these rules before; from now on, it was. `ANYBODY` never was."""
        known = self._taught.setdefault(peer, set()) if peer != ANYBODY else set()
        was_shown = rules in known
        known.add(rules)
        return was_shown

    def _decided(self, arguments: Mapping[str, Any]) -> RunningCall | str:
        """The call about which the connected agent decides, or the task again, in words. Raises `ToolProblem`."""
        operation = arguments.get("operation")
        if not isinstance(operation, str) or operation not in self._kept:
            open_calls = [
                f"the {kind_of(one.question.conversation)} {name}"
                for name, (one, _) in self._kept.items()
                if one.question is not None
            ]
            raise ToolProblem(
                f"no operation {str(operation)[:40]!r} waits for a decision; those that wait: "
                f"{', '.join(open_calls) or 'none'}. If it did, the program has decided: search_memory finds the text, "
                "so do not write it again"
            )
        call, _ = self._kept[operation]
        if call in self._of_request.values():
            raise ToolProblem("your last decision about this operation is being carried out; wait for its answer")
        if question := call.question:
            reply = decided(question, arguments)
            if not reply.tool_calls:
                return shown(question, call.operation, self._wait, again=True)
            question.answer(reply)
        return call


async def _next(call: RunningCall, began: float) -> Report:
    with anyio.move_on_after(HEARTBEAT_SECONDS):
        return await call.reports.get()
    return Progress(f"at work for {time.monotonic() - began:.0f} seconds")


def _is_short(key: str, value: object) -> bool:
    """Whether a part of a document is a fact to go on with, and no repetition of the words."""
    if isinstance(value, list):
        return not any(isinstance(one, dict | list) for one in value)
    return not isinstance(value, dict) and key not in ("text", "changes")
