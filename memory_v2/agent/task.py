"""A task: one decision that a model is asked for, and the tools that it calls. Each tool stages a part of the decision,
and returns the next message for the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache
from typing import Annotated, Any, Generic, Protocol, TypeVar, get_args, get_type_hints

from memory_v2.agent.arguments import Argument, ToldAs, checked, schema_of
from memory_v2.errors import InvalidPath, ToolProblem
from memory_v2.models.base import Prompt
from memory_v2.models.briefs import Brief
from memory_v2.tree.edit import Numbers

A = TypeVar("A")


NumberList = Annotated[Numbers, ToldAs("string")]
"""Numbers of blocks in any form; the schema only mentions the simplest, a string."""

Description = Annotated[
    str,
    Argument(
        "one line, at most 160 characters, by which a reader chooses",
        told={"maxLength": 160},  # what the model is asked for; slightly longer ones are accepted
    ),
]
"""The description of a page in its parent's list of children."""


@dataclass(frozen=True, slots=True)
class TaskTool(Generic[A]):
    """A tool, described in `prompts/tools/<name>.md.j2`, with the arguments `arguments`: a dataclass whose types say
    what is told and checked, by an `Argument`. Its lists may be of such dataclasses, whose names are told too.

    `run` returns the answer for the model, and raises `ToolProblem` for a mistake that the model can correct. A tool
    that only looks (`decides` is false) does not end the loop.
    """

    name: str
    arguments: type[A]
    run: Callable[[A], Prompt]
    decides: bool = True

    @property
    def description(self) -> str:
        """What the tool does and how to use it: the text of its template."""
        return Prompt(f"tools/{self.name}").text

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of the arguments."""
        return schema_of(self.arguments)

    def call(self, arguments: Mapping[str, Any]) -> Prompt:
        """Checks the arguments and runs the tool; raises `ToolProblem`."""
        return self.take(checked(self.name, self.arguments, arguments))

    def take(self, arguments: Mapping[str, Any]) -> Prompt:
        """Runs the tool with arguments that fit: those of the planner, or checked ones. Raises `ToolProblem`."""
        try:
            return self.run(_made(self.arguments, arguments))
        except InvalidPath as error:
            raise ToolProblem(f"{error}; choose another path") from error


def _made(kind: Callable[..., A], given: Mapping[str, Any]) -> A:
    """A dataclass of this kind, and those in its lists, from plain data."""
    arguments = dict(given)
    for name, of in _lists(kind).items():
        if name in arguments:
            arguments[name] = [_made(of, argument) for argument in arguments[name]]
    return kind(**arguments)


@cache
def _lists(kind: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The arguments that are lists of dataclasses, and of which."""
    hints = get_type_hints(kind)
    return {
        name: of for name, hint in hints.items() for of in get_args(hint) if isinstance(of, type) and is_dataclass(of)
    }


class Task(Protocol):
    """One decision to be made. A task collects what the tools stage. If a model fails, its task is discarded and the
    next model starts with a new one."""

    kind: str
    """The kind of decision: `write`, `split` or `search`. In `prompts/<kind>` are `system`, with its rules, and `task`,
    the first message: what to decide this time."""
    brief: Brief
    """The task as data."""
    reads_on: bool = False
    """Whether a model that asks to read beside its last decision is shown that before the task ends."""
    max_corrections: int = 1
    """How often a decision that fails the guard is sent back before another model takes over."""

    @property
    def tools(self) -> Sequence[TaskTool[Any]]:
        """The tools that the model can call."""

    def objections(self) -> list[str]:
        """The guard: the problems of the decision so far, each with what to do about it; empty if it can be carried
        out."""

    def reminders(self) -> list[str]:
        """What may have been forgotten, each with what to do about it. It is told once; then the decision stands."""
        return []

    def checked(self) -> list[str]:
        """What the guard has verified of a decision that passed, one sentence each, for the trace."""
