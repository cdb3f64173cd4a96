"""One row of the table of operations: what every face needs to know about an operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")

REQUIRED = object()
"""The default of an argument that is required."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its name and type as in Python, its default, and a sentence about it. `choices` are all its values,
    if there are only a few."""

    name: str
    type: Literal[
        "str",
        "str | None",
        "str | Path",
        "date | str | None",
        "int",
        "int | None",
        "float",
        "float | None",
        "Mapping[str, bytes]",
        "bool",
        "Batch",
        "Decay | str | None",
        "Iterable[str]",
        "Iterable[str | Mapping[str, Any]]",
        "Scope",
    ]
    about: str
    default: Any = REQUIRED
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row(Generic[T]):
    """One operation; `T` is the type of its result.

    `function` is `module:name` below `memory_v2`, imported when the operation first runs, so that the table stays quick
    to import. The function takes what the operation `works_on`, then the arguments.
    `changes` says what the operation may change: the pages (`tree`), the entries, only how they are stored (`store`),
    or the pages and their history, which cannot be undone (`past`); the arguments of that are kept nowhere.
    A recorded operation has limits and leaves a trace. If `recorded_with` names an argument, it is recorded only when
    that is given, and only reads otherwise. A replayable operation can be run again from its trace.
    `listed_as` is the key of a list result in its JSON document, and `repeats` names the arguments that the document
    repeats.
    """

    name: str
    function: str
    about: str
    arguments: tuple[Argument, ...] = ()
    works_on: Literal["context", "storage", "entries"] = "context"
    changes: Literal["nothing", "tree", "entries", "store", "past"] = "nothing"
    is_recorded: bool = False
    recorded_with: str = ""
    is_replayable: bool = False
    listed_as: str = ""
    repeats: tuple[str, ...] = ()

    def load(self) -> Callable[..., T]:
        """Imports and returns the operation's function."""
        module, _, name = self.function.partition(":")
        function: Callable[..., T] = getattr(import_module(f"memory_v2.{module}"), name)
        return function

    def leaves_trace(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the operation is recorded when run with these arguments."""
        return self.is_recorded and (not self.recorded_with or bool(arguments.get(self.recorded_with)))

    def argument(self, name: str) -> Argument:
        """The argument of this name."""
        return next(argument for argument in self.arguments if argument.name == name)
