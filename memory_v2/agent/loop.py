"""The one loop in which a model decides: show, answer, carry out, check; within limits, and always to an end."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memory_v2.agent.limits import Cost, Limits
from memory_v2.agent.task import Task
from memory_v2.agent.trace import Attempt, Trace
from memory_v2.errors import ModelError, ToolProblem
from memory_v2.models.base import Answered, Conversation, Model, Prompt, Reply, Returned, Said, ToolCall, Usage

T = TypeVar("T", bound=Task)

logger = logging.getLogger(__name__)

MAX_CALLS_IN_A_REPLY = 100
MAX_EMPTY_REPLIES = 2
PLANNER_LIMITS = Limits(turns=4, tokens=sys.maxsize, seconds=math.inf, money=math.inf)
"""The planner finishes what a limit has cut short: it costs nothing, so no limit of the user's ends it."""


@dataclass(frozen=True, slots=True)
class Decision(Generic[T]):
    """A task that was decided and passed its guard; `degraded` says why the model that was asked first is not the one
    that decided (empty: it is)."""

    task: T
    decided_by: str
    degraded: str
    cost: Cost


class Undecided(ModelError):
    """No model came to a decision that passes the guard; `str` says why, `cost` what the tries took."""

    def __init__(self, message: str, cost: Cost) -> None:
        super().__init__(message)
        self.cost = cost


def decide(
    new_task: Callable[[], T],
    models: Sequence[Model],
    limits: Limits,
    trace: Trace,
    clock: Callable[[], float] = time.monotonic,
) -> Decision[T]:
    """Lets the models try in turn, each on a task of its own, until one decides. The last is the planner, and bound by
    turns only. Raises `Undecided` if none decides."""
    spent = Cost()
    reasons: list[str] = []
    for model in models:
        task = new_task()
        attempt = _Attempt(task, model, PLANNER_LIMITS if model is models[-1] else limits, clock)
        failed = attempt.run()
        spent += attempt.cost
        trace.attempts.append(Attempt(model.name, tuple(attempt.conversation.messages), failed))
        if not failed:
            return Decision(task, model.name, "; ".join(reasons), spent)
        reasons.append(f"{model.name}: {failed}")
    raise Undecided("; ".join(reasons), spent)


class _Attempt(Generic[T]):
    """One model's try at one task."""

    def __init__(self, task: T, model: Model, limits: Limits, clock: Callable[[], float]) -> None:
        self.task = task
        self.model = model
        self.limits = limits
        self.clock = clock
        self.cost = Cost()
        self.tools = {tool.name: tool for tool in task.tools}
        self.conversation = Conversation(task.system, tuple(task.tools), task.brief, [Said(task.opening)])
        self.started = clock()
        self.problem = ""
        self.decided = False

    def run(self) -> str:
        """Empty when the task is decided, else why this model could not."""
        sent_back = empty = 0
        while True:
            if reached := self.cost.over(self.limits):
                return f"{reached}, and its last call was no use: {self.problem}" if self.problem else reached
            try:
                reply: object = self.model.respond(self.conversation)
            except ModelError as error:
                return f"the model failed: {error}"
            except Exception:  # whatever a model of somebody else's does, the operation ends in a correct tree
                logger.exception("the model %s broke down", self.model.name)
                return "the model broke down"
            if not isinstance(reply, Reply) or not _is_well_formed(reply):
                return "the model answered with something that is no reply"
            self._pay(reply)
            self.conversation.messages.append(Answered(reply))
            if reply.stop_reason == "refusal":
                return "the model refused"
            if not reply.tool_calls:
                if self.decided and not self.problem and not self.task.objections():
                    return ""  # it has done all, and says so in words
                empty += 1
                if empty >= MAX_EMPTY_REPLIES:
                    return "the model answered without using a tool"
                self._say(Prompt("no_call", {"tools": list(self.tools), "cut_off": reply.stop_reason == "length"}))
                continue
            empty = 0
            if not self._carry_out(reply):
                continue
            objections = self.task.objections()
            if not objections:
                return ""
            sent_back += 1
            if sent_back > self.task.patience:
                return f"its decision did not pass the guard: {objections[0]}"
            self._say(Prompt("objections", {"objections": objections}))

    def _carry_out(self, reply: Reply) -> bool:
        """Runs the calls; whether one of them was a decision that could be staged, and none has to be mended."""
        decided, self.problem = False, ""
        for number, call in enumerate(reply.tool_calls):
            try:
                if number >= MAX_CALLS_IN_A_REPLY:
                    raise ToolProblem(f"an answer may hold {MAX_CALLS_IN_A_REPLY} calls; this one was not looked at")
                if (tool := self.tools.get(str(call.name))) is None:
                    raise ToolProblem(f"there is no tool {str(call.name)[:60]!r}; use one of {', '.join(self.tools)}")
                returned = Returned(call, tool.call(call.arguments))
                decided = decided or tool.decides
                self.decided = self.decided or tool.decides
            except ToolProblem as problem:
                returned = Returned(call, Prompt("problem", {"problem": str(problem)}), is_error=True)
                self.problem = self.problem or str(problem)
            self.conversation.messages.append(returned)
        return decided and not self.problem

    def _say(self, prompt: Prompt) -> None:
        self.conversation.messages.append(Said(prompt))

    def _pay(self, reply: Reply) -> None:
        self.cost = Cost(self.cost.calls + 1, self.cost.usage + reply.usage, self.clock() - self.started)


def _is_well_formed(reply: Reply) -> bool:
    """Whether a reply is made of what its types promise: models of other people's make may not keep to them."""
    usage: Any = reply.usage
    calls: Any = reply.tool_calls
    return (
        isinstance(usage, Usage)
        and all(isinstance(n, int) for n in (usage.input_tokens, usage.output_tokens, usage.cached_tokens))
        and isinstance(calls, tuple | list)
        and all(isinstance(call, ToolCall) for call in calls)
    )
