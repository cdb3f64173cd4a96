"""Carrying out a plan: batch by batch, each one operation of the history, so that it can be stopped at any moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

from memory_v2.agent.operation import Cost
from memory_v2.errors import ModelError, NotAllowed, SilicaError
from memory_v2.files.listing import without_suffix
from memory_v2.memory import Memory
from memory_v2.migrate.ledger import Action, Imported, Ledger, totals_of
from memory_v2.migrate.model_share import asks
from memory_v2.migrate.planning import INDEXES, last_revisions
from memory_v2.migrate.source import Scan, SourceDocument
from memory_v2.models.offline.documents import title_of_file
from memory_v2.operations.imports import Batch, Incoming, Way
from memory_v2.plan import Plan, Step
from memory_v2.progress import tell_progress
from memory_v2.text.plain import capitalized, plain
from memory_v2.text.slug import slug
from memory_v2.tree.block import readable
from memory_v2.tree.edit import new_blocks
from memory_v2.tree.page import own_title
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
OPENING = 2_000
"""How much of a document is read for its title, in characters."""


@dataclass(frozen=True)
class Run:
    """What a run did: its plan with the steps that were applied, each with its operation and the page that got the
    document; those that could not be say why. `error` is why it has stopped before the end; the next run goes on."""

    plan: Plan
    error: SilicaError | None = None


def run(memory: Memory, scan: Scan, plan: Plan, max_cost: float | None = None) -> Run:
    """Carries out a plan for what was scanned. `max_cost` limits what a model costs, in dollars: no request is begun
    after it. Raises `StorageError` if another import from the same source is running."""
    ledger = Ledger(memory.storage, plan.facts["source"])
    with ledger.claimed():
        return _Runner(memory, scan, plan, ledger, max_cost).run()


class _Runner:
    def __init__(self, memory: Memory, scan: Scan, plan: Plan, ledger: Ledger, max_cost: float | None) -> None:
        self._memory = memory
        self._documents = {document.name: document for document in scan.documents}
        self._plan = plan
        self._ledger = ledger
        self._max_cost = max_cost
        self._cost = Cost()
        self._operations: list[str] = []
        self._degraded: dict[str, None] = {}
        self._known = ledger.read()
        self._left = last_revisions(memory) if plan.of("follow") else {}
        self._steps = {step.name: self._with_operation(step) for step in plan.steps if step.name in self._documents}
        self._reserved = frozenset(step.target for step in plan.of("create"))
        self._titles: dict[str, str] = {}
        self._folders = _folders(plan.of("create"), self._documents, self._title_of)

    def _with_operation(self, step: Step) -> Step:
        """The step; if an earlier run brought the document in, with the operation that did."""
        known = self._known.get(step.name)
        return replace(step, facts={**step.facts, "operation": known.operation}) if known else step

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
        incoming = [self._incoming(step) for step in steps]
        made: list[str] = []

        def note(operation: str, brought: Mapping[str, str]) -> None:
            made[:] = [operation]
            self._ledger.note(
                operation, {step.name: _noted(step, operation, brought) for step in steps if step.name in brought}
            )

        reserved = self._reserved - {document.path for document in incoming}
        origin = readable(self._plan.facts["source"].rpartition("/")[2])
        result = self._memory.import_batch(Batch(incoming, origin, note, self._folders, reserved))
        operation = made[0] if made else ""
        self._operations.append(operation)
        self._cost += result.cost
        for step in steps:
            if (page := result.brought.get(step.name)) is not None:
                facts = {**step.facts, "operation": operation}
                self._steps[step.name] = replace(step, target=page, reason="", facts=facts, applied=True)
            else:
                self._steps[step.name] = replace(step, reason=result.refused.get(step.name, ""))
        if result.degraded:
            self._degraded[result.degraded] = None
        if result.provider_failed:
            raise ModelError(f"{result.provider_failed}; run it again for the rest", retryable=True)

    def _incoming(self, step: Step) -> Incoming:
        document = self._documents[step.name]
        today = self._memory.today
        related = [(page, self._title_of(name)) for name in document.links if (page := self._page_of(name))]
        return Incoming(
            name=document.name,
            text=document.text,
            path=step.target,
            way=cast(Way, step.action),
            title=self._title_of(document.name),
            description=plain(document.description),
            source=Source(
                source_name(document.source or document.name),
                document.day if document.day and document.day <= today else None,
            ),
            tags=document.tags,
            related=tuple(dict.fromkeys((page, title) for page, title in related if page != step.target)),
            left=self._left.get(self._known[step.name].operation, "") if step.action == "follow" else "",
        )

    def _title_of(self, name: str) -> str:
        if name not in self._titles:
            self._titles[name] = _title(self._documents[name])
        return self._titles[name]

    def _page_of(self, name: str) -> str:
        return self._steps[name].target if name in self._steps else ""


def _noted(step: Step, operation: str, brought: Mapping[str, str]) -> Imported:
    return Imported(step.facts["digest"], brought[step.name], operation, cast(Action, step.action))


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


def _folders(
    steps: Sequence[Step], documents: Mapping[str, SourceDocument], title_of: Callable[[str], str]
) -> dict[str, tuple[str, Sequence[str]]]:
    """The title of each folder, as the source spells it, and the titles of what is directly below it, the folders
    first."""
    titles: dict[str, str] = {}
    below: dict[str, dict[str, str]] = {}
    for step in steps:
        if step.name not in documents:
            continue
        document = documents[step.name]
        spelled = _spelled(document)
        for part in document.place.split("/")[:-1]:
            titles.setdefault(slug(part), title_of_file(spelled.get(part, part)))
        titles_of = {step.target: title_of(step.name)}
        for folder, one in pairwise(prefixes(step.target)):
            title = titles_of.get(one) or titles.get(one.rpartition("/")[2], capitalized(one.rpartition("/")[2]))
            below.setdefault(folder, {}).setdefault(one, title)
    return {
        folder: (titles.get(name := folder.rpartition("/")[2], capitalized(name)), tuple(listed.values()))
        for folder, listed in below.items()
    }


def _title(document: SourceDocument) -> str:
    """What a document is called: by its own heading, as its format says, or else as its file or folder."""
    if own := own_title(new_blocks(document.text[:OPENING])) or document.title:
        return plain(readable(own))
    folder, _, name = document.place.rpartition("/")
    name = folder.rpartition("/")[2] if folder and name.casefold() in INDEXES else name
    return title_of_file(_spelled(document).get(name, name))


def _spelled(document: SourceDocument) -> dict[str, str]:
    """The names of the document's file and folders as the source spells them, by their parts of a path."""
    *above, file = document.name.split("/")
    return {slug(part): part for part in (*above, without_suffix(file))}


def source_name(name: str) -> str:
    """The name of a document as it is in the metadata of its page: on one line, the end of a long one."""
    shown = " ".join(readable(name).split())
    return shown if len(shown) <= MAX_NAME else f"…{shown[1 - MAX_NAME :]}"
