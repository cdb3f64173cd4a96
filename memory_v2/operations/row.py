"""What every face has to know of an operation: one row of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")

REQUIRED = object()
"""The default of an argument that has to be given."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its name and type as in Python, its default, and in a sentence what it says. `choices` are all the
    values that it may have, where they are few."""

    name: str
    type: Literal["str", "str | None", "int", "bool"]
    about: str
    default: Any = REQUIRED
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row(Generic[T]):
    """One operation; `T` is the type of its result.

    `function` is `module:name` below `memory_v2`, imported when the operation is first run: naming an operation must
    not load what running it needs. The function takes what it `works_on`, then the arguments.
    `changes` says what may be different afterwards: the pages (`tree`), or only how they are kept (`store`).
    A recorded operation has limits and leaves a trace; if there is an argument `recorded_with`, it is recorded only
    with that, and else only reads. A replayable one can be run again from its trace alone.
    `listed_as` is the key under which the document of a list holds it, and `repeats` names the arguments that the
    document of a result repeats.
    """

    name: str
    function: str
    about: str
    arguments: tuple[Argument, ...] = ()
    works_on: Literal["context", "storage"] = "context"
    changes: Literal["nothing", "tree", "store"] = "nothing"
    is_recorded: bool = False
    recorded_with: str = ""
    is_replayable: bool = False
    listed_as: str = ""
    repeats: tuple[str, ...] = ()

    def load(self) -> Callable[..., T]:
        """The function that carries the operation out."""
        module, _, name = self.function.partition(":")
        function: Callable[..., T] = getattr(import_module(f"memory_v2.{module}"), name)
        return function

    def leaves_trace(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the operation is recorded when it is run with these arguments."""
        return self.is_recorded and (not self.recorded_with or bool(arguments.get(self.recorded_with)))

    def argument(self, name: str) -> Argument:
        """The argument of this name."""
        return next(argument for argument in self.arguments if argument.name == name)
