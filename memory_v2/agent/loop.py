"""The loop in which a model decides: show the task, run the tool calls, check the decision, until it passes or a limit
is reached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memory_v2.agent.ask import ask, checked
from memory_v2.agent.operation import Operation
from memory_v2.agent.task import Task
from memory_v2.agent.tools import Tool
from memory_v2.errors import ModelError, ToolProblem
from memory_v2.models.base import (
    AssistantMessage,
    Conversation,
    Model,
    Prompt,
    Reply,
    ToolCall,
    ToolResult,
    UserMessage,
)

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
        self.conversation = Conversation(task.system, tuple(task.tools), task.brief, [UserMessage(task.first_message)])
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
                told = f"{reached}, and its last call was no use: {self.problem}" if self.problem else reached
                return "" if self._stands else told
            try:
                reply = self._ask()
            except ModelError as error:
                failed = f"the model failed: {error}"
                self.operation.abort_reason = self.operation.abort_reason or failed
                return "" if self._stands else failed
            if reply.stop_reason == "refusal":
                return "the model refused"
            if not reply.tool_calls:
                empty += 1
                cut_off = reply.stop_reason == "length"
                if self._stands and (not cut_off or empty >= MAX_EMPTY_REPLIES):
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
    def _stands(self) -> bool:
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
        results: dict[int, ToolResult] = {}
        for number, call in sorted(enumerate(reply.tool_calls), key=lambda numbered: self._only_looks(numbered[1])):
            try:
                tool = self._tool(reply, number)
                run = tool.take if self.is_planner else tool.call
                results[number] = ToolResult(call, run(call.arguments))
                decided = decided or tool.decides
                self.decided = self.decided or tool.decides
                self.looked = self.looked or not tool.decides
            except ToolProblem as problem:
                prompt = Prompt("problem", {"problem": str(problem), "others": len(reply.tool_calls) > 1})
                results[number] = ToolResult(call, prompt, is_error=True)
                self.problem = self.problem or str(problem)
        self.conversation.messages += (results[number] for number in sorted(results))
        return decided and not self.problem

    def _only_looks(self, call: ToolCall) -> bool:
        tool = self.tools.get(str(call.name))
        return tool is not None and not tool.decides

    def _tool(self, reply: Reply, number: int) -> Tool[Any]:
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
