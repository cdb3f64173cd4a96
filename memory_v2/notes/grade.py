"""Extraction with a model: the rules first; of what only a keyword hints at, a loop says what it is.

What it has said of a line is kept, by what the line says and where it stands, so that it is asked once about each.
Nothing is written into the folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from memory_v2.agent.arguments import Argument
from memory_v2.agent.load import OFFLINE, load_model
from memory_v2.agent.loop import decide
from memory_v2.agent.operation import Cost, Operation
from memory_v2.agent.task import NumberList, Tool
from memory_v2.errors import ToolProblem, UsageError
from memory_v2.models.base import Model, Prompt
from memory_v2.models.briefs import GradeBrief, Unsure
from memory_v2.models.offline import OfflinePlanner
from memory_v2.notes.cache import NotesCache
from memory_v2.notes.classify import named_in
from memory_v2.notes.extract import Extracted, Wanted, collected, extraction
from memory_v2.notes.languages import CATEGORIES, Category
from memory_v2.notes.note import Item
from memory_v2.notes.people import Aliases
from memory_v2.progress import tell_progress
from memory_v2.settings import DEFAULT_TRACES, Limits
from memory_v2.trace.recording import Traces
from memory_v2.tree.numbers import parse_numbers, show_numbers

MAX_LINES = 40
"""About how many lines one decision is made: as many as a reader compares at a glance."""
KEY = "graded "
"""With which the keys begin under which answers are kept."""


@dataclass(frozen=True, slots=True)
class Graded:
    """What was extracted, and what a model had to do with it: how many items it was `asked` about now, and how many it
    had graded before. `degraded` says why it did not decide about all of them; those have their keyword's grade."""

    items: list[Extracted]
    decided_by: str
    asked: int = 0
    known: int = 0
    degraded: str = ""
    cost: Cost = field(default_factory=Cost)
    trace: str = ""


def graded(grader: Grader, extracted: Iterable[Extracted], aliases: Aliases, wanted: Wanted) -> Graded:
    """What is wanted of these, with the model's word for what the rules are unsure of. Only what could be shown is
    asked about."""
    asked_about = replace(wanted, min_grade="keyword")
    try:
        items = collected(grader.grade(filter(asked_about.holds, extracted), aliases), wanted)
    finally:
        cost, trace = grader.end()
    return Graded(items, grader.model.name, grader.asked, grader.known, "; ".join(grader.degraded), cost, trace)


def grading_model(name: str, prices: Path | None) -> Model:
    """The model of a name. Raises `UsageError` for the offline planner, `InvalidSetting`."""
    if name == OFFLINE:
        raise UsageError("the offline planner knows no more than the rules; name a model such as anthropic:<model>")
    return load_model(name, prices)


class Grader:
    """A model that says what items are. `limits` are for all that it is asked; `traces` is the folder in which that is
    recorded."""

    def __init__(
        self, model: Model, cache: NotesCache, limits: Limits, traces: Path | None, now: Callable[[], datetime]
    ) -> None:
        self.model = model
        self.degraded: dict[str, None] = {}
        self.asked = self.known = 0
        self._cache = cache
        self._traces = Traces(traces, DEFAULT_TRACES) if traces else None
        self._started = now().astimezone(UTC)
        self._operation = Operation(limits)
        self._rules = sha256(Prompt("grade/system").text.encode()).hexdigest()

    def grade(self, extracted: Iterable[Extracted], aliases: Aliases) -> Iterator[Extracted]:
        """These, with what the model says in place of what only a keyword hints at."""
        by_rules = list(extracted)
        guesses: dict[str, list[Extracted]] = {}
        for one in by_rules:
            if one.grade == "keyword":
                guesses.setdefault(one.item, []).append(one)
        names = {same[0].file for same in guesses.values()}
        items = {one.id: one for note in self._cache.notes(names) for one in note.items if one.id in guesses}
        answers = self._answers({name: _unsure(item, guesses[name]) for name, item in items.items()})
        surer = {(one.item, one.category) for one in by_rules if one.grade != "keyword"}
        yield from (one for one in by_rules if one.grade != "keyword" or one.item not in answers)
        for name, categories in answers.items():
            people = named_in(items[name], aliases)
            for category in categories:
                if (name, category) not in surer:
                    file = guesses[name][0].file
                    yield extraction(items[name], file, category, "model", self.model.name, people)

    def end(self) -> tuple[Cost, str]:
        """What it has cost, and the name of the trace, if the model was asked."""
        cost = self._operation.cost
        if not self.asked:
            return Cost(), ""
        self._operation.trace.add("end", cost=asdict(cost), reads=self._operation.trace.reads)
        if self._traces is None:
            return cost, ""
        return cost, self._traces.save(self._operation.trace, "grade", self._started, self._operation.id)

    def _answers(self, lines: Mapping[str, Unsure]) -> dict[str, Sequence[Category]]:
        """What the model says of lines by the ids of their items, or has said before; without those that it did not
        decide about."""
        keys = {name: self._key(line) for name, line in lines.items()}
        answers = {name: json.loads(known) for name, key in keys.items() if (known := self._cache.get(key))}
        self.known = len(answers)
        left = [name for name in lines if name not in answers]
        for start in range(0, len(left), MAX_LINES):
            if stopped := self._operation.abort_reason or (self._operation.reached if start else ""):
                self.degraded[f"{stopped}; {len(left) - start:,} lines are left for the next run"] = None
                break
            names = left[start : start + MAX_LINES]
            for name, categories in self._ask([lines[name] for name in names], names).items():
                answers[name] = categories
                self._cache.set(keys[name], json.dumps(categories))
            tell_progress("lines graded", min(start + MAX_LINES, len(left)), len(left))
        return answers

    def _ask(self, lines: Sequence[Unsure], names: Sequence[str]) -> dict[str, list[Category]]:
        """What the model says of these; nothing if it has failed, so that the rules' result stays."""
        if not self.asked:
            setting = {"model": self.model.name, "limits": asdict(self._operation.limits)}
            self._operation.trace.began("grade", {}, self._started, **setting)
        self.asked += len(lines)
        brief = GradeBrief(tuple(lines))
        decision = decide(lambda: GradeTask(brief), (self.model, OfflinePlanner()), self._operation)
        if decision.degraded:
            self.degraded[decision.degraded] = None
            return {}
        return {names[number - 1]: graded for number, graded in decision.task.graded.items()}

    def _key(self, line: Unsure) -> str:
        asked = [self.model.name, self._rules, line.text, line.file.rpartition("/")[2], line.headings, line.leads]
        return KEY + sha256(json.dumps(asked).encode()).hexdigest()


def _unsure(item: Item, guesses: Sequence[Extracted]) -> Unsure:
    text = item.text if item.is_done is None else f"[{'x' if item.is_done else ' '}] {item.text}"
    return Unsure(text, guesses[0].file, item.day, item.headings, item.leads, tuple(one.category for one in guesses))


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
        objection = f"{show_numbers(missing, 'i')}: nothing is said yet; say what they are, or that they are nothing"
        return [objection] if missing else []

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
