"""Carrying out a plan: batch by batch, each one operation of the history, so that it can be stopped at any moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

from memory_v2.agent.operation import Cost
from memory_v2.errors import ModelError, NotAllowed, SilicaError
from memory_v2.memory import Memory
from memory_v2.migrate.ledger import claimed, imported_from, record_of, totals_of
from memory_v2.migrate.planning import asks, last_revisions
from memory_v2.migrate.scan import Scan, SourceDocument
from memory_v2.models.offline.documents import title_of_file
from memory_v2.operations.imports import ImportBatch, Incoming, Way
from memory_v2.plan import Plan, Step
from memory_v2.progress import tell_progress
from memory_v2.text.slug import slug
from memory_v2.text.words import capitalized, plain
from memory_v2.tree.block import readable
from memory_v2.tree.path import prefixes
from memory_v2.tree.source import Source

MAX_DOCUMENTS = 500
"""How many documents a batch has at most: so many are undone at once, and done again after a kill."""
MAX_BYTES = 4_000_000
"""How many bytes a batch has at most, unless one document is larger."""
MAX_APPENDED = 80_000
"""How many bytes are put at the end of the root at once: it is divided after each batch, and how long that takes grows
faster than the page."""
MAX_NAME = 200
"""Limits the name of a source in the metadata of a page, in characters."""


@dataclass(frozen=True)
class Run:
    """What a run did: its plan with the steps that were applied, each with its operation and the page that got the
    document; those that could not be say why. `error` is why it has stopped before the end; the next run goes on."""

    plan: Plan
    error: SilicaError | None = None


def run(memory: Memory, scan: Scan, plan: Plan, max_cost: float | None = None) -> Run:
    """Carries out a plan for what was scanned. `max_cost` limits what a model costs, in dollars: no request is begun
    after it. Raises `StorageError` if another import from the same source is running."""
    with claimed(memory.storage, plan.facts["source"]):
        return _Runner(memory, scan, plan, max_cost).run()


class _Runner:
    def __init__(self, memory: Memory, scan: Scan, plan: Plan, max_cost: float | None) -> None:
        self._memory = memory
        self._documents = {document.name: document for document in scan.documents}
        self._plan = plan
        self._max_cost = max_cost
        self._cost = Cost()
        self._operations: list[str] = []
        self._degraded: dict[str, None] = {}
        self._left = last_revisions(memory) if plan.of("follow") else {}
        known = imported_from(memory.storage, plan.facts["source"])
        self._steps = {
            step.name: _with_operation(step, known[step.name].operation) if step.name in known else step
            for step in plan.steps
            if step.name in self._documents
        }
        made = [step for step in plan.of("create") if step.name in self._documents]
        self._reserved = frozenset(step.target for step in made)
        self._folders = _folders(made, self._documents)

    def run(self) -> Run:
        due = [step for step in self._steps.values() if step.is_due]
        error: SilicaError | None = None
        done = 0
        try:
            for batch in _batches(due, self._asks):
                self._check_cost(batch)
                self._carry_out(batch)
                done += len(batch)
                tell_progress("documents imported", done, len(due))
        except SilicaError as stopped:
            error = stopped
            for step in due[done:]:
                if self._steps[step.name] is step:
                    self._steps[step.name] = replace(step, reason=f"not brought in yet: {error}")
        steps = tuple(self._steps[name] for name in self._documents if name in self._steps)
        totals = totals_of(steps)
        plan = replace(
            self._plan,
            title=", ".join(f"{count:,} {status}" for status, count in totals.items() if count),
            steps=steps,
            facts={**self._plan.facts, "totals": totals, "operations": tuple(self._operations)},
            degraded="; ".join(self._degraded),
            revision=self._operations[-1][:12] if self._operations else None,
            cost=self._cost,
        )
        return Run(plan, error)

    def _asks(self, step: Step) -> bool:
        """Whether a model is asked about a document."""
        return not self._memory.is_offline and asks(step, self._memory.threshold)

    def _check_cost(self, batch: Sequence[Step]) -> None:
        if self._max_cost is None or not any(map(self._asks, batch)):
            return
        if self._cost.money is None:
            raise NotAllowed("the price of the model is not known, so that its cost cannot be limited")
        if self._cost.money >= self._max_cost:
            message = f"the limit of {self._max_cost:g} dollars was reached"
            raise NotAllowed(f"{message}; run it again with a higher --max-cost for the rest")

    def _carry_out(self, steps: Sequence[Step]) -> None:
        source = self._plan.facts["source"]
        reserved = self._reserved.difference(step.target for step in steps)
        incoming = [self._incoming(step) for step in steps]
        result = self._memory.import_batch(
            ImportBatch(
                incoming,
                readable(source.rpartition("/")[2]),
                lambda pages: record_of(source, steps, pages),
                self._folders,
                reserved,
            )
        )
        self._operations.append(result.operation)
        self._cost += result.cost
        for step in steps:
            if (page := result.brought.get(step.name)) is not None:
                done = replace(step, target=page, reason="", applied=True)
                self._steps[step.name] = _with_operation(done, result.operation)
            else:
                self._steps[step.name] = replace(step, reason=result.refused.get(step.name, ""))
        if result.degraded:
            self._degraded[result.degraded] = None
        if result.provider_failed:
            raise ModelError(f"{result.provider_failed}; run it again for the rest", retryable=True)

    def _incoming(self, step: Step) -> Incoming:
        document = self._documents[step.name]
        is_past = document.day is not None and document.day <= self._memory.today
        related = [
            (self._steps[name].target, self._documents[name].title) for name in document.links if name in self._steps
        ]
        return Incoming(
            name=document.name,
            text=document.text,
            path=step.target,
            way=cast(Way, step.action),
            title=document.title,
            description=plain(document.description),
            source=Source(source_name(document.source or document.name), document.day if is_past else None),
            tags=document.tags,
            related=tuple(dict.fromkeys(one for one in related if one[0] not in ("", step.target))),
            left=self._left.get(step.facts["operation"], "") if step.action == "follow" else "",
        )


def _with_operation(step: Step, operation: str) -> Step:
    """The step with the operation that has brought its document in."""
    return replace(step, facts={**step.facts, "operation": operation})


def _batches(steps: Sequence[Step], is_alone: Callable[[Step], bool]) -> Iterator[list[Step]]:
    """The steps in order, as many together as one operation may have. One for which a model is asked is alone, since
    the limits are those of an operation."""
    batch: list[Step] = []
    size = 0
    for step in steps:
        limit = MAX_APPENDED if step.action == "append" else MAX_BYTES
        is_full = len(batch) == MAX_DOCUMENTS or size + step.facts["size"] > limit
        if batch and (is_full or is_alone(step) or is_alone(batch[-1])):
            yield batch
            batch, size = [], 0
        batch.append(step)
        size += step.facts["size"]
    if batch:
        yield batch


def _folders(steps: Sequence[Step], documents: Mapping[str, SourceDocument]) -> dict[str, tuple[str, Sequence[str]]]:
    """The title of each folder, as the source spells it, and the titles of what is directly below it, the folders
    first."""
    titles: dict[str, str] = {}
    below: dict[str, dict[str, str]] = {}
    for step in steps:
        for part in step.name.split("/")[:-1]:
            titles.setdefault(slug(part), title_of_file(part))
        for folder, page in pairwise(prefixes(step.target)):
            last = page.rpartition("/")[2]
            title = documents[step.name].title if page == step.target else titles.get(last, capitalized(last))
            below.setdefault(folder, {}).setdefault(page, title)
    return {
        folder: (titles.get(name := folder.rpartition("/")[2], capitalized(name)), tuple(listed.values()))
        for folder, listed in below.items()
    }


def source_name(name: str) -> str:
    """The name of a document as it is in the metadata of its page: on one line, the end of a long one."""
    shown = " ".join(readable(name).split())
    return shown if len(shown) <= MAX_NAME else f"…{shown[1 - MAX_NAME :]}"
