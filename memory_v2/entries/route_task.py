"""The decision about entries that the rules leave in the inbox: a domain for each, or why it stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from memory_v2.agent.tools import Argument, NumberList, Tool
from memory_v2.errors import ToolProblem
from memory_v2.models.base import Prompt
from memory_v2.models.briefs import RouteBrief
from memory_v2.tree.numbers import parse_numbers, show_numbers

Notes = Annotated[NumberList, Argument("notes, such as e1, e3-e5")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The arguments of the tool, as the model sees them."""

    notes: Notes
    domain: Annotated[str, Argument("its name")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """The arguments of the tool, as the model sees them."""

    notes: Notes
    why: Annotated[str, Argument("why, in one sentence", min_length=3, max_length=400)]


class RouteTask:
    """Collects what a model decides. `homes` and `left` are by the numbers of the notes: their domain, or why they stay
    unsorted."""

    kind = "route"
    max_corrections = 1
    reads_on = False

    def __init__(self, brief: RouteBrief) -> None:
        self.brief = brief
        self.homes: dict[int, str] = {}
        self.left: dict[int, str] = {}
        self._domains = {one.name for one in brief.domains}

    @property
    def system(self) -> Prompt:
        return Prompt("route/system")

    @cached_property
    def first_message(self) -> Prompt:
        return Prompt("route/task", {"brief": self.brief})

    @cached_property
    def tools(self) -> Sequence[Tool[Any]]:
        return Tool("route", Route, self.route), Tool("leave", Leave, self.leave)

    def route(self, call: Route) -> Prompt:
        """Sorts notes into a domain. Raises `ToolProblem`; then nothing is decided about them."""
        domain = call.domain.strip().casefold()
        if domain not in self._domains:
            raise ToolProblem(f"there is no domain {call.domain[:60]!r}; use one of {', '.join(sorted(self._domains))}")
        numbers = self._undecided(call.notes)
        self.homes |= dict.fromkeys(numbers, domain)
        return Prompt("done", {"what": f"{show_numbers(numbers, 'e')} belong to {domain}"})

    def leave(self, call: Leave) -> Prompt:
        """Leaves notes unsorted. Raises `ToolProblem`; then nothing is decided about them."""
        numbers = self._undecided(call.notes)
        self.left |= dict.fromkeys(numbers, " ".join(call.why.split()))
        return Prompt("done", {"what": f"{show_numbers(numbers, 'e')} stay unsorted"})

    def objections(self) -> list[str]:
        """The notes about which nothing is decided."""
        missing = [number for number in range(1, len(self.brief.texts) + 1) if not self._is_decided(number)]
        return [f"{show_numbers(missing, 'e')}: nothing is decided yet; route or leave them"] if missing else []

    def reminders(self) -> list[str]:
        """There is nothing else to think of."""
        return []

    def checked(self) -> list[str]:
        """Where the notes went, by their names."""
        texts = self.brief.texts
        homes: dict[str, list[str]] = {}
        for number, home in sorted(self.homes.items()):
            homes.setdefault(home, []).append(texts[number - 1].name)
        left = [f"{texts[number - 1].name} stays, because: {why}" for number, why in sorted(self.left.items())]
        return [*(f"{home}: {', '.join(names)}" for home, names in homes.items()), *left]

    def _undecided(self, given: int | str | list[int | str]) -> list[int]:
        numbers = parse_numbers(given, len(self.brief.texts), "e")
        if decided := next(filter(self._is_decided, numbers), None):
            where = self.homes.get(decided, "left")
            raise ToolProblem(f"e{decided} is decided already ({where}); name each note once")
        return numbers

    def _is_decided(self, number: int) -> bool:
        return number in self.homes or number in self.left
