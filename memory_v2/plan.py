"""A plan: what would be done, step by step and why; and afterwards the same steps as what was done.

Whatever shows first what it would do makes one: routing, ageing, sharing, consolidating, importing. A plan for a memory
is carried out as a change of its history, which finishes it after a crash and takes it back, so a plan needs no journal
of its own. To add one: a function that returns a `Plan`, handed to `carry_out` with what stores its changes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from memory_v2.agent.operation import Cost
from memory_v2.errors import StorageConflict
from memory_v2.storage.history import PageChange
from memory_v2.tree.finding import Finding
from memory_v2.tree.path import ENTRIES

SKIP = "skip"
"""The action of a step that leaves something as it is, for a reason."""
MAX_PLANS = 4
"""How often a plan is made again because others changed something meanwhile. A plan takes as long as reading all
entries; whoever loses that often shares the memory with somebody who changes entries all the time."""


@dataclass(frozen=True)
class Step:
    """One step: `action` is done to `name`, which goes from `source` to `target`, for a `reason`. A step that skips
    leaves it as it is.

    `facts` are what a kind of plan says beside that. `changes` are the pages and entries that the step changes: each as
    it must be before, `None` for absent, and as it is afterwards. `applied` tells that the step was carried out.
    """

    action: str
    name: str
    target: str = ""
    reason: str = ""
    source: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    changes: tuple[PageChange, ...] = field(default=(), repr=False)
    applied: bool = field(default=False, compare=False)

    @property
    def is_due(self) -> bool:
        """Whether there is something left to do."""
        return self.action != SKIP and not self.applied

    @property
    def diff(self) -> str:
        """What changes on pages, as a unified diff; entries, of which a header changes, have none. A step that changes
        another file says it in its facts."""
        return str(self.facts.get("diff", "")) or "".join(
            change.diff for change in self.changes if not change.path.startswith(f"{ENTRIES}/")
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the facts among the other keys, and a diff instead of the changes."""
        document = {"action": self.action, "name": self.name, "source": self.source, "target": self.target}
        diff = {"diff": self.diff} if self.diff else {}
        return {**document, "reason": self.reason, **self.facts, **diff, "applied": self.applied}


@dataclass(frozen=True)
class Plan:
    """What would be done, or was done: the steps, in their order. `title` says in a line what they come to, `warnings`
    what a person should look at, and `facts` what a kind of plan says beside that.

    `revision` is the id of the operation that carried it out; `None` if that was not asked for, or there is nothing to
    do. `decided_by` names who decided, and `degraded` says why it was not the configured model. Two plans are equal if
    they would do the same.
    """

    kind: str
    title: str = ""
    steps: tuple[Step, ...] = ()
    warnings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    decided_by: str = field(default="program", compare=False)
    degraded: str = field(default="", compare=False)
    revision: str | None = field(default=None, compare=False)
    cost: Cost = field(default_factory=Cost, compare=False)
    trace: str = field(default="", compare=False)

    @property
    def due(self) -> tuple[Step, ...]:
        """The steps that are left to do."""
        return tuple(step for step in self.steps if step.is_due)

    @property
    def planned(self) -> tuple[Step, ...]:
        """The steps that would be done, or were done: all but those that skip."""
        return tuple(step for step in self.steps if step.action != SKIP)

    @property
    def skipped(self) -> tuple[Step, ...]:
        """The steps that leave something as it is."""
        return self.of(SKIP)

    def of(self, action: str) -> tuple[Step, ...]:
        """The steps with this action."""
        return tuple(step for step in self.steps if step.action == action)

    @property
    def changes(self) -> tuple[PageChange, ...]:
        """The changes of all steps that are left to do."""
        return tuple(change for step in self.due for change in step.changes)

    def applied(self, revision: str | None, names: Collection[str] | None = None) -> Self:
        """The plan after its steps, or those with these names, were carried out by an operation."""
        steps = (
            replace(step, applied=True) if step.is_due and (names is None or step.name in names) else step
            for step in self.steps
        )
        return replace(self, steps=tuple(steps), revision=revision)

    def with_cost(self, cost: Cost, trace: str) -> Self:
        """The plan with the cost of the whole operation and the name of its trace."""
        return replace(self, cost=cost, trace=trace)

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the facts among the other keys."""
        document = {name: getattr(self, name) for name in ("kind", "title", "steps", "warnings")}
        names = ("revision", "decided_by", "degraded", "cost", "trace")
        return {**document, **self.facts, **{name: getattr(self, name) for name in names}}


def carry_out(make: Callable[[], Plan], commit: Callable[[Plan], str] | None) -> Plan:
    """Makes a plan and, with `commit`, carries it out as one change: `commit` stores its changes, each page as it has
    to be before, and returns the id of the operation. If others have changed something meanwhile, the plan is made
    again. Raises `StorageConflict` when that happens time and again."""
    for attempt in range(1, MAX_PLANS + 1):
        try:
            plan = make()
            return plan.applied(commit(plan)) if commit and plan.due else plan
        except StorageConflict:
            if attempt == MAX_PLANS:
                raise
    raise AssertionError("the last attempt returns or raises")
