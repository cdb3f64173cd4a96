"""Routing with a model: it decides about the entries that the rules leave in the inbox, a domain for each or why it
stays."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

from memory_v2.agent.arguments import Argument
from memory_v2.agent.loop import decide
from memory_v2.agent.operation import operation
from memory_v2.agent.task import NumberList, Task, TaskTool
from memory_v2.entries.curation import carried_out, keep_planned, part_of, planned
from memory_v2.entries.domains import DomainFile, domains
from memory_v2.entries.entry import Entry
from memory_v2.entries.references import references_of
from memory_v2.entries.routing import Inboxed, Routing, plan_routing
from memory_v2.entries.store import entries_of
from memory_v2.errors import ToolProblem
from memory_v2.models.base import Prompt
from memory_v2.models.briefs import DomainView, RouteBrief, Unsorted
from memory_v2.operations.context import Context
from memory_v2.plan import Plan
from memory_v2.text.days import iso_day
from memory_v2.tree.block import encode
from memory_v2.tree.edit import parse_numbers, show_numbers

MAX_ENTRIES = 30
"""How many entries are sorted by one decision: as many as a reader compares at a glance."""
MAX_TEXT = 2_000
"""How much of an entry is shown to be sorted, in characters: its beginning says what it is about."""
MOST_KEYWORDS = 12
"""How many keywords tell what a domain without a description is about."""

Notes = Annotated[NumberList, Argument("notes, such as e1, e3-e5")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteNotes:
    """The arguments of the tool, as the model sees them."""

    notes: Notes
    domain: Annotated[str, Argument("its name")]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveNotes:
    """The arguments of the tool, as the model sees them."""

    notes: Notes
    why: Annotated[str, Argument("why, in one sentence", min_length=3, max_length=400)]


class RouteTask(Task):
    """Collects what a model decides: by the numbers of the notes their domain, or none and why they stay unsorted."""

    kind = "route"
    brief: RouteBrief

    def __init__(self, brief: RouteBrief) -> None:
        self.brief = brief
        self.decided: dict[int, tuple[str | None, str]] = {}
        self._domains = {domain.name for domain in brief.domains}

    @cached_property
    def tools(self) -> Sequence[TaskTool[Any]]:
        return TaskTool("route", RouteNotes, self.route), TaskTool("leave", LeaveNotes, self.leave)

    def route(self, call: RouteNotes) -> Prompt:
        """Sorts notes into a domain. Raises `ToolProblem`; then nothing is decided about them."""
        domain = call.domain.strip().casefold()
        if domain not in self._domains:
            raise ToolProblem(f"there is no domain {call.domain[:60]!r}; use one of {', '.join(sorted(self._domains))}")
        numbers = self._undecided(call.notes)
        self.decided |= dict.fromkeys(numbers, (domain, ""))
        return Prompt("done", {"what": f"{show_numbers(numbers, 'e')} belong to {domain}"})

    def leave(self, call: LeaveNotes) -> Prompt:
        """Leaves notes unsorted. Raises `ToolProblem`; then nothing is decided about them."""
        numbers = self._undecided(call.notes)
        self.decided |= dict.fromkeys(numbers, (None, " ".join(call.why.split())))
        return Prompt("done", {"what": f"{show_numbers(numbers, 'e')} stay unsorted"})

    def objections(self) -> list[str]:
        """The notes about which nothing is decided."""
        missing = [number for number in range(1, len(self.brief.texts) + 1) if number not in self.decided]
        return [f"{show_numbers(missing, 'e')}: nothing is decided yet; route or leave them"] if missing else []

    def checked(self) -> list[str]:
        """Where the notes went, by their names."""
        homes: dict[str, list[str]] = {}
        left: list[str] = []
        for number, (home, why) in sorted(self.decided.items()):
            name = self.brief.texts[number - 1].name
            if home:
                homes.setdefault(home, []).append(name)
            else:
                left.append(f"{name} stays, because: {why}")
        return [*(f"{home}: {', '.join(names)}" for home, names in homes.items()), *left]

    def _undecided(self, given: int | str | list[int | str]) -> list[int]:
        numbers = parse_numbers(given, len(self.brief.texts), "e")
        if decided := next(filter(self.decided.__contains__, numbers), None):
            where = self.decided[decided][0] or "left"
            raise ToolProblem(f"e{decided} is decided already ({where}); name each note once")
        return numbers


@operation("route", changes="entries", recorded=True)
def route(context: Context, apply: bool = False) -> Plan:
    """Finds the home of each entry in the inbox, by the rules and, for what they leave, by a model; with `apply`
    stores the homes. What the model has decided is kept, so that it is asked once about each text. Raises
    `InvalidSetting`, `StorageError`, `ModelError`."""
    store, state = entries_of(context), context.storage.state
    known = domains(store)
    asked = [context.model.name, _digest(known.text)]
    kept = planned(state, "route", asked).get("decided", ())
    sorting = _Sorting(context, known, {key: (home, why) for key, home, why in kept})
    plan = carried_out(store, apply, lambda stock: plan_routing(store, stock, sorting.sort))
    still_in = {step.name for step in (plan.skipped if apply else plan.steps)}
    decided = [
        [key, home, why]
        for key, (home, why) in sorting.decided.items()
        if key not in sorting.by_planner and key.partition(" ")[0] in still_in
    ]
    keep_planned(state, "route", asked, {"decided": decided})
    return replace(plan, decided_by=", ".join(sorting.by) or "program", degraded="; ".join(sorting.degraded))


@dataclass(frozen=True)
class _Sorting:
    """What was `decided`: the domain, or none, and why, by entry and text; and what of that the planner did, so that
    the model is asked again."""

    context: Context
    domains: DomainFile
    decided: dict[str, tuple[str | None, str]]
    by: dict[str, None] = field(default_factory=dict)
    degraded: dict[str, None] = field(default_factory=dict)
    by_planner: set[str] = field(default_factory=set)

    def sort(self, left: Sequence[Inboxed]) -> list[Inboxed]:
        """The entries that the rules leave, each with what is decided about it."""
        unsorted = [entry for entry, _ in left if _key(entry) not in self.decided]
        for start in range(0, len(unsorted), MAX_ENTRIES):
            self._ask(unsorted[start : start + MAX_ENTRIES])
        return [(entry, Routing(*self.decided[_key(entry)], routing.candidates)) for entry, routing in left]

    def _ask(self, entries: Sequence[Entry]) -> None:
        notes = tuple(
            Unsorted(
                name=entry.id,
                text=entry.text.strip()[:MAX_TEXT],
                day=iso_day(self.context.calendar.written(entry.observed_at)),
                tags=entry.tags,
                refers_to=tuple(one.target for one in references_of(entry)),
            )
            for entry in entries
        )
        shown = tuple(
            DomainView(one.name, one.title, one.description or ", ".join(one.keywords[:MOST_KEYWORDS]))
            for one in self.domains.domains
        )
        brief = RouteBrief(notes, shown)
        with part_of(self.context) as context:
            decision = decide(lambda: RouteTask(brief), context.models, context.operation)
        task, by = decision.task, decision.decided_by
        self.by[by] = None
        if decision.degraded:
            self.degraded[decision.degraded] = None
        for number, entry in enumerate(entries, 1):
            home, why = task.decided[number]
            self.decided[_key(entry)] = home, f"by {by}" if home else f"{why} (by {by})"
            if by != self.context.model.name:
                self.by_planner.add(_key(entry))


def _key(entry: Entry) -> str:
    return f"{entry.id} {_digest(entry.text)}"


def _digest(text: str) -> str:
    return hashlib.sha256(encode(text)).hexdigest()[:16]
