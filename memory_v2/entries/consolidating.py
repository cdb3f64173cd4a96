"""Consolidating: the entries of each home are worked into pages, as a plan first, then as one operation of the history.

The plan is made by a dry run: nothing is stored, and the pages of the plan are those that carrying it out stores. So
it is carried out without asking a model again, and refused if a page or an entry has changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date

from memory_v2.entries.choosing import Choice, batches_of, checked_choice, chosen
from memory_v2.entries.consolidate_task import ConsolidateTask
from memory_v2.entries.consolidation import ConsolidationPlan, Filed, WorkedIn
from memory_v2.entries.desk import Decided, Desk, part_of
from memory_v2.entries.entry import Entry
from memory_v2.entries.filing import Batch, file_entries, pages_of
from memory_v2.entries.header import changed_header
from memory_v2.entries.kept import AGAIN, KeptPlan
from memory_v2.entries.planned import Stock, stock_of
from memory_v2.errors import EntryNotFound, StorageConflict
from memory_v2.models.briefs import Observed
from memory_v2.operations.commit import commit
from memory_v2.operations.context import Context
from memory_v2.operations.draft import Draft
from memory_v2.operations.dry_run import dry_run
from memory_v2.operations.freshness import refresh
from memory_v2.operations.guard import missing_from
from memory_v2.operations.operation import operation
from memory_v2.operations.results import Finding
from memory_v2.progress import tell_progress
from memory_v2.storage.base import stored_page, version_of
from memory_v2.storage.history import Change, PageChange, Revision
from memory_v2.storage.overlay import OverlayStorage
from memory_v2.storage.versioned import MAX_SUMMARY
from memory_v2.text.amounts import counted_entries
from memory_v2.text.plain import shorten
from memory_v2.text.words import normal
from memory_v2.tree.block import decode, encode, parse_blocks
from memory_v2.tree.page import Page, read_page

TAKEN_OUT = "a later decision took entries out that an earlier one had placed, so they were filed again"


@operation("consolidate", changes="tree", recorded=True)
def consolidate(
    desk: Desk,
    home: str | None = None,
    agent: str | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
    apply: bool = False,
) -> Decided[ConsolidationPlan]:
    """Plans how entries are worked into pages, and with `apply` does it: those of each home, or of one `home` (a
    domain, a page or `inbox`), of one `agent`, observed `since` one day and `until` another.

    A plan is kept: with `apply`, it is carried out to the letter, and a model is only asked if there is none. Raises
    `InvalidSetting`, `StorageError`, `ModelError`, and `StorageConflict` if a page or an entry of the plan has changed
    since; then nothing was changed."""
    choice = checked_choice(home, agent, since, until)
    kept = KeptPlan(desk.area, {**asdict(choice), "model": desk.context.model.name})
    plan = kept.read() if apply else None
    if plan is None:
        plan = _planned(desk, choice)
    if not plan.entries:
        return Decided(plan)
    if not apply:
        kept.write(plan)
        return Decided(plan, decided_by=plan.decided_by, degraded=plan.degraded)
    change = _carried_out(desk, plan)
    kept.remove()
    return Decided(plan, change.revision.id[:12], plan.decided_by, plan.degraded)


# the plan


def _planned(desk: Desk, choice: Choice) -> ConsolidationPlan:
    stock = stock_of(desk.area)
    entries = list(chosen(stock, choice))
    inbox = sum(entry.home is None for entry in entries)
    parts = list(batches_of(stock, entries, choice.home))
    batches = [one for one in parts if isinstance(one, Batch)]
    findings = tuple(one for one in parts if isinstance(one, Finding))
    if not batches:
        return ConsolidationPlan(inbox=inbox, findings=findings)
    with dry_run(desk.context) as trial:
        assert isinstance(trial.storage, OverlayStorage)
        done: list[_Done] = []
        for batch in batches:
            done.append(_decided(trial, batch))
            tell_progress("homes worked in", len(done))
        by_planner = replace(trial, model=trial.planner)
        done += [_decided(by_planner, lost, TAKEN_OUT) for one in done.copy() if (lost := _lost(trial, one))]
        changes = trial.storage.changes
    worked_in = {one.id: one for one in _worked_in(stock, done, changes)}  # the later of two counts
    return ConsolidationPlan(tuple(worked_in.values()), tuple(one.filed for one in done), changes, inbox, findings)


@dataclass(frozen=True, slots=True)
class _Done:
    """A decision about a batch, and what is told of it."""

    batch: Batch
    task: ConsolidateTask
    filed: Filed

    @property
    def observed(self) -> list[tuple[Entry, Observed]]:
        """Each entry, and how it was shown."""
        return list(zip(self.batch.entries, self.task.brief.observed, strict=True))


def _decided(trial: Context, batch: Batch, why: str = "") -> _Done:
    with part_of(trial) as context:
        decision, problem = file_entries(context, batch)
    degraded = "; ".join(filter(None, (why, decision.degraded, problem)))
    filed = Filed(batch.home, decision.decided_by, degraded, tuple(decision.task.checked()))
    return _Done(batch, decision.task, filed)


def _lost(trial: Context, done: _Done) -> Batch | None:
    """The entries of a batch that a later decision has taken out of the tree; `None` if there are none."""
    assert isinstance(trial.storage, OverlayStorage)
    paths = {one.path for one in trial.storage.changes} | done.task.said_on
    stored = (stored_page(trial.storage, path) for path in sorted(paths))
    now = "\n".join([*paths, *(decode(one.data) for one in stored if one)])
    standing, task = {normal(block.content) for block in parse_blocks(now)}, done.task
    is_retold = all(own in standing for _, own in task.own_blocks)  # in words that the guard has accepted

    def is_kept(number: int) -> bool:
        block = task.brief.blocks[number - 1]
        is_told = is_retold and number not in task.placed
        return block.content in now or is_told or not missing_from(block, now)

    lost = [entry for entry, one in done.observed if not all(map(is_kept, one.numbers))]
    return replace(done.batch, entries=tuple(lost)) if lost else None


def _worked_in(stock: Stock, all_done: Sequence[_Done], changes: Iterable[PageChange]) -> Iterator[WorkedIn]:
    """Each entry with the pages that have it in the end."""
    now = {one.path: read_page(one.path, one.after) for one in changes if one.after is not None}
    gone = {one.path for one in changes if one.after is None}
    told = pages_of([entry.id for done in all_done for entry in done.batch.entries], list(now.values()))
    for done in all_done:
        names = {one.source.name: entry.id for entry, one in done.observed}
        for entry, one in done.observed:
            ids = [entry.id, *(names[other.source.name] for other in done.task.repeated_by(one))]
            pages = [page for entry_id in ids for page in told[entry_id]]
            for page, number in done.task.said_by(one):
                pages += _still_on(page, number, now, gone)
            pages = pages or [path for number in one.numbers if (path := done.task.placed.get(number))]
            version = version_of(stock.data(entry.id))
            yield WorkedIn(entry.id, done.batch.home, done.task.outcome(one), tuple(dict.fromkeys(pages)), version)


def _still_on(page: Page, number: int, now: dict[str, Page], gone: set[str]) -> list[str]:
    """The pages that have a block now that stood on this page when the decision was made."""
    content = page.blocks[number - 1].content
    if page.path not in gone and content in (now.get(page.path) or page).body:
        return [page.path]
    return [path for path, other in now.items() if content in other.body][:1] or [page.path]


# carrying it out


def _carried_out(desk: Desk, plan: ConsolidationPlan) -> Change:
    """Stores the pages and the headers of a plan in one change. Raises `StorageConflict` if one of them is not as it
    was when the plan was made."""
    context = desk.context
    refresh(context)
    draft = Draft(context)
    for change in plan.changes:
        draft.before(change.path)
        now = draft.read[change.path]
        if (now.data if now else None) != change.before:
            raise StorageConflict(f"the page {change.path!r} has changed since the plan was made; {AGAIN}")
        draft.staged[change.path] = None if change.after is None else read_page(change.path, change.after)
    draft.beside += (_with_header(desk, one) for one in plan.entries)
    desk.area.make_ready()
    desk.area.pick_up()
    homes = ", ".join(dict.fromkeys(one.home for one in plan.filed))
    told = f"{counted_entries(len(plan.entries))} of {homes}"
    revision = Revision(
        kind="consolidate",
        summary=shorten(told, MAX_SUMMARY),
        operation=context.operation.id,
        decided_by=plan.decided_by,
        degraded=plan.degraded,
        why=plan.why,
        when=context.now(),
    )
    try:
        return commit(draft, exact=True, may_be_large=True, revision=revision)
    except StorageConflict as error:
        raise StorageConflict(f"the memory has changed since the plan was made ({error}); {AGAIN}") from error


def _with_header(desk: Desk, one: WorkedIn) -> PageChange:
    """The change by which an entry says where it went."""
    try:
        path = desk.area.find(one.id).path
        stored = stored_page(desk.context.storage, path)
    except EntryNotFound:
        stored = None
    if stored is None or version_of(stored.data) != one.version:
        raise StorageConflict(f"the entry {one.id} has changed since the plan was made; {AGAIN}")
    after = encode(changed_header(decode(stored.data), {"consolidated_into": one.pages}))
    return PageChange(path, stored.data, after)
