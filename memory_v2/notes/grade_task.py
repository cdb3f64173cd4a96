"""The decision about lines that the rules are unsure of: what each is, or that it is nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from memory_v2.agent.tools import Argument, NumberList, Tool
from memory_v2.errors import ToolProblem
from memory_v2.models.base import Prompt
from memory_v2.models.briefs import GradeBrief
from memory_v2.notes.packs import CATEGORIES, Category
from memory_v2.tree.numbers import parse_numbers, show_numbers

Lines = Annotated[NumberList, Argument("lines, such as i1, i3-i5")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """The arguments of the tool, as the model sees them."""

    lines: Lines
    category: Annotated[Category, Argument("what they are")]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeNothing:
    """The arguments of the tool, as the model sees them."""

    lines: Lines


class GradeTask:
    """Collects what a model decides. `graded` has for each line by its number the categories; none if it is
    nothing."""

    kind = "grade"
    max_corrections = 1
    reads_on = False

    def __init__(self, brief: GradeBrief) -> None:
        self.brief = brief
        self.graded: dict[int, list[Category]] = {}

    @property
    def system(self) -> Prompt:
        return Prompt("grade/system")

    @cached_property
    def first_message(self) -> Prompt:
        return Prompt("grade/task", {"brief": self.brief})

    @cached_property
    def tools(self) -> Sequence[Tool[Any]]:
        return Tool("grade", Grade, self.grade), Tool("grade_nothing", GradeNothing, self.grade_nothing)

    def grade(self, call: Grade) -> Prompt:
        """Says what lines are. Raises `ToolProblem`; then nothing is decided about them."""
        numbers = parse_numbers(call.lines, len(self.brief.lines), "i")
        if nothing := [number for number in numbers if self.graded.get(number) == []]:
            raise ToolProblem(f"{show_numbers(nothing, 'i')}: you have said that they are nothing; leave them out")
        if call.category == "metrics":
            without = [number for number in numbers if not re.search(r"\d", self.brief.lines[number - 1].text)]
            if without:
                raise ToolProblem(f"{show_numbers(without, 'i')}: there is no number in it, so it is no metric")
        for number in numbers:
            graded = self.graded.setdefault(number, [])
            if call.category not in graded:
                graded.append(call.category)
        return Prompt("done", {"what": f"{show_numbers(numbers, 'i')} are {call.category}"})

    def grade_nothing(self, call: GradeNothing) -> Prompt:
        """Says that lines are nothing. Raises `ToolProblem`; then nothing is decided about them."""
        numbers = parse_numbers(call.lines, len(self.brief.lines), "i")
        if graded := [number for number in numbers if self.graded.get(number)]:
            raise ToolProblem(f"{show_numbers(graded, 'i')}: you have said what they are; leave them out")
        self.graded |= {number: [] for number in numbers}
        return Prompt("done", {"what": f"{show_numbers(numbers, 'i')} are nothing"})

    def objections(self) -> list[str]:
        """The lines about which nothing is decided."""
        missing = [number for number in range(1, len(self.brief.lines) + 1) if number not in self.graded]
        told = f"{show_numbers(missing, 'i')}: nothing is said yet; say what they are, or that they are nothing"
        return [told] if missing else []

    def reminders(self) -> list[str]:
        """There is nothing else to think of."""
        return []

    def checked(self) -> list[str]:
        """What the lines are, by number."""
        found = [(category, [n for n, graded in self.graded.items() if category in graded]) for category in CATEGORIES]
        nothing = [number for number, graded in self.graded.items() if not graded]
        return [
            f"{name}: {show_numbers(sorted(numbers), 'i')}"
            for name, numbers in [*found, ("nothing", nothing)]
            if numbers
        ]
