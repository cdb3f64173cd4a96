"""What an operation is: one annotated function, and what a decorator says about it.

The function takes what it works with (the `Context`, the storage or the entries) and then its arguments. The method of
`Memory`, `Entries` or `Checkpoints` calls it, and says for people what each argument means.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class OperationInfo:
    """What is said about an operation: its `name` in traces and in the history, and what it `changes`: the pages
    (`tree`), the entries, only how they are stored (`store`), or the pages and their history, which cannot be undone
    (`past`).

    A `recorded` operation has limits and leaves a trace; if that is the name of an argument, only when it is given. An
    operation that `recovers` waits until those that were interrupted are finished.
    """

    name: str
    changes: Literal["nothing", "tree", "entries", "store", "past"]
    recorded: bool | str
    recovers: bool

    def leaves_trace(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the operation is recorded when run with these arguments."""
        return self.recorded if isinstance(self.recorded, bool) else bool(arguments.get(self.recorded))


def operation(
    name: str,
    *,
    changes: Literal["nothing", "tree", "entries", "store", "past"] = "nothing",
    recorded: bool | str = False,
    recovers: bool = True,
) -> Callable[[F], F]:
    """Says what a function is as an operation. The function stays as it is."""

    def described(function: F) -> F:
        vars(function)["operation"] = OperationInfo(name, changes, recorded, recovers)
        return function

    return described


def info(function: Callable[..., Any]) -> OperationInfo:
    """What is said about an operation."""
    found: OperationInfo = vars(function)["operation"]
    return found


class Argument(NamedTuple):
    """An argument of a method as a face offers it: its type, a sentence about it, its default (that of `inspect` if it
    is required), and all its values, if there are only a few."""

    type: Any
    about: str
    default: Any
    choices: tuple[str, ...]


def argument(method: Callable[..., Any], name: str) -> Argument:
    """What the signature of a method says about an argument, whose annotation is an `Annotated`."""
    parameter = inspect.signature(method).parameters[name]
    only = SimpleNamespace(__annotations__={name: parameter.annotation})  # the others may be for type checkers only
    annotated = get_type_hints(only, vars(inspect.getmodule(method)), include_extras=True)[name]
    kind, about = get_args(annotated)
    literal = next((one for one in (kind, *get_args(kind)) if get_origin(one) is Literal), None)
    return Argument(kind, about, parameter.default, get_args(literal))
