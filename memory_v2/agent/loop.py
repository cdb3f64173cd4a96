"""The loop in which a model decides: show the task, run the tool calls, check the decision, until it passes or a limit
is reached. A request is sent again if that can help, within the operation's time limit."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from memory_v2.agent.operation import Operation
from memory_v2.agent.task import Task, TaskTool
from memory_v2.errors import ModelError, ToolProblem, UsageError
from memory_v2.models.base import (
    AssistantMessage,
    Conversation,
    Model,
    Prompt,
    Reply,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from memory_v2.progress import tell_progress

T = TypeVar("T", bound=Task)

MAX_CALLS_IN_A_REPLY = 100
"""How many tool calls of one reply are run; the others are refused, so that an endless reply ends."""
MAX_EMPTY_REPLIES = 2
"""How many replies in a row without a tool call end an attempt."""
PLANNER_TURNS = 4
"""The planner's only limit. It costs nothing, so it may finish a task after the user's limits are reached."""


@dataclass(frozen=True, slots=True)
class Decision(Generic[T]):
    """A task that was decided and passed its guard. `degraded` says why the first model did not decide; it is empty if
    it did."""

    task: T
    decided_by: str
    degraded: str


class Undecided(ModelError):
    """No model made a decision that passes the guard. The message says why."""


def decide(new_task: Callable[[], T], models: Sequence[Model], operation: Operation) -> Decision[T]:
    """Lets the models try in order, each with a new task, until one decides. The last one is the planner, which is only
    limited in turns. Raises `Undecided` if none decides, `Cancelled`, and `UsageError` if a model is set up wrongly."""
    reasons: list[str] = []
    for model in models:
        task = new_task()
        attempt = _Attempt(task, model, operation, is_planner=model is models[-1])
        failed = attempt.run()
        attempt.note(failed)
        if not failed:
            return Decision(task, model.name, "; ".join(reasons))
        reasons.append(operation.trace.without_keys(f"{model.name}: {failed}"))
    raise Undecided("; ".join(reasons))


class _Attempt(Generic[T]):
    """One model's attempt at one task."""

    def __init__(self, task: T, model: Model, operation: Operation, is_planner: bool) -> None:
        self.task = task
        self.model = model
        self.operation = operation
        self.is_planner = is_planner
        self.tools = {tool.name: tool for tool in task.tools}
        system, first = Prompt(f"{task.kind}/system"), Prompt(f"{task.kind}/task", {"brief": task.brief})
        self.conversation = Conversation(system, tuple(task.tools), task.brief, [UserMessage(first)])
        self.noted = 0
        self.turns = 0
        self.problem = ""
        self.decided = False
        self.looked = False
        self.reminded = is_planner

    def run(self) -> str:
        """Returns why the model did not decide; empty if it did."""
        sent_back = empty = 0
        while True:
            self.operation.cancellation.check()
            if self.operation.abort_reason and not self.is_planner:
                return self.operation.abort_reason
            if reached := self._reached():
                problem = f"{reached}, and its last call was no use: {self.problem}" if self.problem else reached
                return "" if self._passes_guard else problem
            try:
                reply = self._ask()
            except ModelError as error:
                failed = f"the model failed: {error}"
                self.operation.abort_reason = self.operation.abort_reason or failed
                return "" if self._passes_guard else failed
            if reply.stop_reason == "refusal":
                return "the model refused"
            if not reply.tool_calls:
                empty += 1
                cut_off = reply.stop_reason == "length"
                if self._passes_guard and (not cut_off or empty >= MAX_EMPTY_REPLIES):
                    return ""  # it has decided everything and says so in words
                if empty >= MAX_EMPTY_REPLIES:
                    return "the model answered without using a tool"
                if self.decided and not cut_off and (objections := self.task.objections()):
                    self._say(Prompt("objections", {"objections": objections}))
                else:
                    self._say(Prompt("no_call", {"tools": list(self.tools), "cut_off": cut_off}))
                continue
            empty = 0
            if not self._carry_out(reply):
                continue
            objections, reminders = self.task.objections(), [] if self.reminded else self.task.reminders()
            if not objections and not reminders:
                if self.looked and self.task.reads_on and not self.is_planner:
                    continue  # what it asked to read may call for more
                return ""
            self.reminded = self.reminded or bool(reminders)
            sent_back += bool(objections) and not self.looked
            if sent_back > self.task.max_corrections:
                return f"its decision did not pass the guard: {objections[0]}"
            self._say(Prompt("objections", {"objections": [*objections, *reminders]}))

    def note(self, failed: str) -> None:
        """Records the outcome in the trace."""
        self._note_messages()
        self.operation.trace.add("decided", reason=failed, checked=[] if failed else self.task.checked())

    @property
    def _passes_guard(self) -> bool:
        """Whether the calls that were accepted are a decision that passes the guard, whatever was refused beside
        them."""
        return self.decided and not self.task.objections()

    def _reached(self) -> str | None:
        if self.is_planner:
            return f"the limit of {PLANNER_TURNS} turns was reached" if self.turns >= PLANNER_TURNS else None
        return self.operation.reached

    def _ask(self) -> Reply:
        """Returns the model's reply, and records it and its cost. Raises `ModelError`, `UsageError`."""
        operation = self.operation
        self._note_messages()
        began = operation.clock()
        reply = self._answer_of_the_planner() if self.is_planner else ask(self.model, self.conversation, operation)
        self.turns += 1
        operation.pay(reply)
        operation.trace.answered(reply, operation.clock() - began)
        self.conversation.messages.append(AssistantMessage(reply))
        return reply

    def _answer_of_the_planner(self) -> Reply:
        try:
            answer: object = self.model.respond(self.conversation)
        except Exception as error:  # noqa: BLE001 - whatever the last model does, the tree stays correct
            answer = error
        return checked(answer)

    def _note_messages(self) -> None:
        trace, messages = self.operation.trace, self.conversation.messages
        in_words = not self.is_planner  # the planner reads the brief, so rendering prompts for it would waste time
        if not self.noted:
            trace.asked(self.task.kind, self.model.name, self.conversation, in_words)
        for message in messages[self.noted :]:
            trace.said(message, in_words)
        self.noted = len(messages)

    def _carry_out(self, reply: Reply) -> bool:
        """Runs the calls; returns whether at least one decided something and none had a problem. Those that decide are
        run first: what the same answer asks to read, the model has not seen yet."""
        decided, self.looked, self.problem = False, False, ""
        results: dict[int, ToolMessage] = {}
        for number, call in sorted(enumerate(reply.tool_calls), key=lambda numbered: self._only_looks(numbered[1])):
            try:
                tool = self._tool(reply, number)
                run = tool.take if self.is_planner else tool.call
                results[number] = ToolMessage(call, run(call.arguments))
                decided = decided or tool.decides
                self.decided = self.decided or tool.decides
                self.looked = self.looked or not tool.decides
            except ToolProblem as problem:
                prompt = Prompt("problem", {"problem": str(problem), "others": len(reply.tool_calls) > 1})
                results[number] = ToolMessage(call, prompt, is_error=True)
                self.problem = self.problem or str(problem)
        self.conversation.messages += (results[number] for number in sorted(results))
        return decided and not self.problem

    def _only_looks(self, call: ToolCall) -> bool:
        tool = self.tools.get(str(call.name))
        return tool is not None and not tool.decides

    def _tool(self, reply: Reply, number: int) -> TaskTool[Any]:
        """The tool of a call, by the number of the call in the reply. Raises `ToolProblem` if it cannot be run."""
        call = reply.tool_calls[number]
        if number >= MAX_CALLS_IN_A_REPLY:
            raise ToolProblem(f"an answer may hold {MAX_CALLS_IN_A_REPLY} calls; this one was not looked at")
        if reply.stop_reason == "length" and number + 1 == len(reply.tool_calls):
            raise ToolProblem("your answer was cut off in this call; make it again, and shorter")
        if (tool := self.tools.get(str(call.name))) is None:
            raise ToolProblem(f"there is no tool {str(call.name)[:60]!r}; use one of {', '.join(self.tools)}")
        if call.malformed:
            raise ToolProblem(f"the arguments of {tool.name} are no JSON object; make the call again")
        return tool

    def _say(self, prompt: Prompt) -> None:
        self.conversation.messages.append(UserMessage(prompt))


logger = logging.getLogger(__name__)

TRIES = 4
"""How often a request is sent before its failure counts."""
FIRST_WAIT = 0.5
"""The pause before the first retry, in seconds; it doubles with each retry."""
MAX_WAIT = 8.0
"""The longest such pause, in seconds."""
LOAD_SECONDS = 60.0
"""How long loading a model's SDK may take, in seconds, before the request is sent all the same. Slow disks take ten."""
MAX_RETRY_AFTER = 60.0
"""The longest `retry-after` of a provider that is respected, in seconds. With a longer one the request fails."""


def ask(model: Model, conversation: Conversation, operation: Operation) -> Reply:
    """Returns the model's reply. Retryable failures are retried with growing pauses, within the operation's time limit.
    Raises `ModelError`, also if the time is over, `Cancelled`, and `UsageError` if the model is set up wrongly. The
    time that it takes to load the model's SDK does not count."""
    _prepare(model, operation)
    for number in range(TRIES):
        tell_progress("requests sent", operation.cost.calls + 1)
        try:
            return _answer(model, conversation, operation)
        except ModelError as error:
            operation.trace.add("failed", error=str(error), retryable=error.retryable)
            wait = _wait(error, number, operation)
            if not error.retryable or number + 1 == TRIES or wait is None:
                raise
            operation.pause(wait)
    raise AssertionError("the last try returns or raises")


def _prepare(model: Model, operation: Operation) -> None:
    if (prepare := getattr(model, "prepare", None)) is None:
        return
    with operation.uncounted():
        loaded = _outcome(prepare, f"loading {model.name}", operation, LOAD_SECONDS)
    if loaded and isinstance(loaded[0], BaseException):
        checked(loaded[0])


def _wait(error: ModelError, number: int, operation: Operation) -> float | None:
    """The seconds until the next try; `None` if there is no time for one."""
    wait: float = min(MAX_WAIT, FIRST_WAIT * 2**number) * (0.75 + operation.chance() / 2)
    if error.retry_after is not None:
        if error.retry_after > MAX_RETRY_AFTER:
            return None
        wait = max(wait, error.retry_after)
    return wait if wait < operation.seconds_left else None


def _answer(model: Model, conversation: Conversation, operation: Operation) -> Reply:
    """What the model answers. The request is abandoned when the time is over or the operation is cancelled; the time
    that it waits for others' requests counts."""
    answer = _outcome(partial(model.respond, conversation), f"asking {model.name}", operation, operation.seconds_left)
    if not answer:
        raise ModelError(f"there was no answer within the limit of {operation.limits.seconds:g} seconds")
    return checked(answer[0])


def checked(answer: object) -> Reply:
    """Returns the reply if it is well formed, since custom models may return anything. Raises the model's error."""
    if isinstance(answer, ModelError | UsageError):
        raise answer
    if isinstance(answer, Exception):
        logger.error("the model broke down", exc_info=answer)
        raise ModelError("it broke down") from answer
    if isinstance(answer, BaseException):
        raise answer
    if not isinstance(answer, Reply) or not answer.is_well_formed:
        raise ModelError("it answered with something that is no reply")
    return answer


def _outcome(act: Callable[[], object], name: str, operation: Operation, seconds: float) -> list[object]:
    """What a model returns or raises; empty if it does neither in this time. Raises `Cancelled`."""
    request = ModelRequest(act, name)
    try:
        operation.cancellation.wait(request.done, seconds)
    finally:
        request.abandon()
    return request.answer


MAX_REQUESTS = 32
"""Requests at work at once. Providers answer a few dozen of one key's requests at a time and refuse the others, which
costs a retry; here they wait for a place instead."""
_places = threading.BoundedSemaphore(MAX_REQUESTS)


class ModelRequest:
    """One request, in a thread of its own, as soon as there is a place for it. `answer` is empty until `done`, then
    holds what the model returned or raised.

    A model may hang for ever, and nothing can stop its thread. So whoever waits can abandon a request: its thread is
    left behind, and its place is free again. The threads are daemons: none of them keeps the program from ending, which
    is why `concurrent.futures` does not fit, as it joins its threads at exit.
    """

    def __init__(self, respond: Callable[[], object], name: str) -> None:
        self.answer: list[object] = []
        self.done = threading.Event()
        self._respond = respond
        self._changing = threading.Lock()
        self._has_place = self._is_abandoned = False
        threading.Thread(target=self._carry_out, name=name, daemon=True).start()

    def abandon(self) -> None:
        """Frees the place of the request, whether it waits, is at work or is done."""
        with self._changing:
            self._is_abandoned = True
            if self._has_place:
                self._has_place = False
                _places.release()

    def _carry_out(self) -> None:
        _places.acquire()
        with self._changing:
            if self._is_abandoned:
                _places.release()
                return
            self._has_place = True
        try:
            self.answer.append(self._respond())
        except BaseException as error:  # noqa: BLE001 - handed over to the thread that waits
            self.answer.append(error)
        self.done.set()
        self.abandon()


def _begin_anew() -> None:
    """A child has the places of its parent, but none of its threads."""
    global _places
    _places = threading.BoundedSemaphore(MAX_REQUESTS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
