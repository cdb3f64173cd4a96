"""Routing with a model: the rules first; what they leave in the inbox is sorted by a loop."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from memory_v2.agent.loop import decide
from memory_v2.entries.desk import Decided, Desk, part_of
from memory_v2.entries.domains import DomainFile
from memory_v2.entries.entry import Entry
from memory_v2.entries.kept import keep_note, read_note
from memory_v2.entries.planned import Stock
from memory_v2.entries.references import references_of
from memory_v2.entries.route_task import RouteTask
from memory_v2.entries.routing import Routed, Routing, RoutingPlan
from memory_v2.entries.upkeep import domains, route_further
from memory_v2.models.briefs import Domain, RouteBrief, Unsorted
from memory_v2.operations.operation import operation
from memory_v2.storage.base import ROUTING
from memory_v2.text.calendar import iso_day
from memory_v2.tree.block import encode

MAX_ENTRIES = 30
"""How many entries are sorted by one decision: as many as a reader compares at a glance."""
MAX_TEXT = 2_000
"""How much of an entry is shown to be sorted, in characters: its beginning says what it is about."""
MOST_KEYWORDS = 12
"""How many keywords tell what a domain without a description is about."""

Decisions: TypeAlias = dict[str, tuple[str | None, str]]
"""The domain, or none, and why, by entry and text."""


@operation("route", changes="entries", recorded=True)
def route(desk: Desk, apply: bool = False) -> Decided[RoutingPlan]:
    """Finds the home of each entry in the inbox, by the rules and, for what they leave, by a model; with `apply`
    stores the homes. What the model has decided is kept, so that it is asked once about each text. Raises
    `InvalidSetting`, `StorageError`, `ModelError`."""
    known = domains(desk.area)
    sorting = _Sorting(desk, known, _read(desk, known))
    done = route_further(desk.area, apply, sorting.sort)
    _keep(desk, known, sorting.kept(done.plan.stay if apply else (*done.plan.routed, *done.plan.stay)))
    return Decided(done.plan, done.revision, ", ".join(sorting.by) or "program", "; ".join(sorting.degraded))


@dataclass(frozen=True)
class _Sorting:
    """What was `decided`: the domain, or none, and why, by entry and text; and what of that the planner did."""

    desk: Desk
    domains: DomainFile
    decided: Decisions
    by: dict[str, None] = field(default_factory=dict)
    degraded: dict[str, None] = field(default_factory=dict)
    by_planner: set[str] = field(default_factory=set)

    def kept(self, routed: Iterable[Routed]) -> Decisions:
        """What the model has decided about these entries. What it failed to decide, it is asked again."""
        ids = {one.id for one in routed}
        by_model = {key: told for key, told in self.decided.items() if key not in self.by_planner}
        return {key: told for key, told in by_model.items() if key.partition(" ")[0] in ids}

    def sort(self, stock: Stock, plan: RoutingPlan) -> RoutingPlan:
        """The plan after what the rules leave was sorted."""
        entries = [stock.entry(one.id) for one in plan.stay]
        left = [entry for entry in entries if _key(entry) not in self.decided]
        for start in range(0, len(left), MAX_ENTRIES):
            self._ask(left[start : start + MAX_ENTRIES])
        routed, stay = list(plan.routed), list[Routed]()
        for one, entry in zip(plan.stay, entries, strict=True):
            home, why = self.decided[_key(entry)]
            told = Routed(one.id, Routing(home, why, one.routing.candidates))
            (stay if home is None else routed).append(told)
        return RoutingPlan(tuple(sorted(routed, key=lambda one: one.id)), tuple(stay))

    def _ask(self, entries: Sequence[Entry]) -> None:
        calendar = self.desk.area.calendar
        brief = RouteBrief(
            tuple(
                Unsorted(
                    name=entry.id,
                    text=entry.text.strip()[:MAX_TEXT],
                    day=iso_day(calendar.written(entry.observed_at)),
                    tags=entry.tags,
                    refers_to=tuple(one.target for one in references_of(entry)),
                )
                for entry in entries
            ),
            shown_domains(self.domains),
        )
        with part_of(self.desk.context) as context:
            decision = decide(lambda: RouteTask(brief), context.models, context.operation)
        task, by = decision.task, decision.decided_by
        self.by[by] = None
        if decision.degraded:
            self.degraded[decision.degraded] = None
        for number, entry in enumerate(entries, 1):
            home = task.homes.get(number)
            self.decided[_key(entry)] = home, f"by {by}" if home else f"{task.left[number]} (by {by})"
            if by != self.desk.context.model.name:
                self.by_planner.add(_key(entry))


def shown_domains(domains: DomainFile) -> tuple[Domain, ...]:
    """The domains as a model is shown them; one without a description by its first keywords."""
    return tuple(
        Domain(one.name, one.title, one.description or ", ".join(one.keywords[:MOST_KEYWORDS]))
        for one in domains.domains
    )


def _key(entry: Entry) -> str:
    return f"{entry.id} {hashlib.sha256(encode(entry.text)).hexdigest()[:16]}"


def _asked(desk: Desk, known: DomainFile) -> list[str]:
    return [desk.context.model.name, hashlib.sha256(encode(known.text)).hexdigest()[:16]]


def _read(desk: Desk, known: DomainFile) -> Decisions:
    """What was decided when the plan was shown, by the same model for the same domains."""
    told = read_note(desk.area, ROUTING)
    return {key: (home, why) for key, home, why in told["decided"]} if told.get("asked") == _asked(desk, known) else {}


def _keep(desk: Desk, known: DomainFile, decided: Decisions) -> None:
    told = {"asked": _asked(desk, known), "decided": [[key, home, why] for key, (home, why) in decided.items()]}
    keep_note(desk.area, ROUTING, told)
