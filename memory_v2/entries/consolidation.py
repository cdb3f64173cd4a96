"""Consolidating: the entries of each home are worked into pages, as a plan first, then as one operation of the history.

The plan is made by a dry run: nothing is stored, and the pages of the plan are those that carrying it out stores. So
it is kept, carried out without asking a model again, and refused if a page or an entry has changed since.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from itertools import starmap
from typing import Any

from memory_v2.agent.operation import operation, who_asks
from memory_v2.entries.consolidate_task import Batch, ConsolidateTask, file_entries, pages_of
from memory_v2.entries.curation import Stock, keep_planned, part_of, planned, stock_of
from memory_v2.entries.domains import domains
from memory_v2.entries.entry import INBOX, SHARED, Entry, domain_named
from memory_v2.entries.entry_paths import check_agent
from memory_v2.entries.references import Targets
from memory_v2.entries.store import EntryStore, entries_of
from memory_v2.errors import InvalidPath, InvalidSetting, StorageConflict, StorageError
from memory_v2.models.briefs import Observed
from memory_v2.operations.commit import commit
from memory_v2.operations.context import Context, refresh
from memory_v2.operations.draft import Draft
from memory_v2.operations.dry_run import dry_run
from memory_v2.operations.guard import missing_from
from memory_v2.plan import Plan, Step
from memory_v2.progress import tell_progress
from memory_v2.storage.base import PLANS, stored_page
from memory_v2.storage.history import PageChange, Revision
from memory_v2.storage.overlay import OverlayStorage
from memory_v2.storage.versioned import MAX_SUMMARY
from memory_v2.text.amounts import counted, counted_entries
from memory_v2.text.words import normal, shorten
from memory_v2.tree.block import decode, encode, parse_blocks
from memory_v2.tree.finding import Finding
from memory_v2.tree.page import Page, read_page
from memory_v2.tree.path import new_page_path
from memory_v2.validate import checked_day

logger = logging.getLogger(__name__)

AGAIN = "nothing was changed; make a new plan with 'silica memory consolidate'"
"""What to do about a plan that does not fit any more."""
MAX_ENTRIES = 40
"""How many entries are worked in by one decision: a week of a busy agent, which a model still sees as a whole."""
MAX_BYTES = 12_000
"""The same in bytes of their texts: about a page. An entry that is longer is worked in alone."""
TAKEN_OUT = "a later decision took entries out that an earlier one had placed, so they were filed again"
WORK_IN = "work in"
"""The action of a step for an entry; those for pages create, change or remove them."""


@operation("consolidate", changes="tree", recorded=True)
def consolidate(
    context: Context,
    home: str | None = None,
    agent: str | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
    apply: bool = False,
) -> Plan:
    """Plans how entries are worked into pages, and with `apply` does it: those of each home, or of one `home` (a
    domain, a page or `inbox`), of one `agent`, observed `since` one day and `until` another.

    A plan is kept: with `apply`, it is carried out to the letter, and a model is only asked if there is none. Raises
    `InvalidSetting`, `StorageError`, `ModelError`, and `StorageConflict` if a page or an entry of the plan has changed
    since; then nothing was changed."""
    store = entries_of(context)
    space = agent if agent in (None, SHARED) else check_agent(agent)
    days = [str(day) if day else None for day in (checked_day("since", since), checked_day("until", until))]
    asked = [home, space, *days, context.model.name]
    plan = _kept(store, asked) if apply else None
    if plan is None:
        plan = _made(context, store, home, space, *days)
    if not plan.steps:
        return plan
    if not apply:
        _keep(store, asked, plan)
        return plan
    done = plan.applied(_commit(context, store, plan))
    try:
        store.storage.state.remove(f"{PLANS}/consolidate")
    except StorageError as error:
        logger.info("the plan that was carried out could not be removed: %s", error)
    return done


# which entries


def _chosen(store: EntryStore, stock: Stock, space: str | None, since: str | None, until: str | None) -> list[Entry]:
    """The entries of any home that are still to be worked in, oldest first. What is archived or closed stays as it is;
    the shared copy of an entry is not worked in beside it."""
    left = [
        (store.calendar.written(entry.observed_at) or "", entry.recorded_at and entry.recorded_at.isoformat(), entry)
        for entry, _ in stock.editable
        if not entry.archived and entry.status == "open" and entry.text.strip() and not entry.consolidated_into
        if space in (None, entry.space) and entry.promoted_from not in stock.ids
    ]
    left.sort(key=lambda one: (one[0], one[1] or "", one[2].id))
    return [entry for day, _, entry in left if (since or day) <= day <= (until or day)]


def _batches(store: EntryStore, stock: Stock, entries: Iterable[Entry], home: str | None) -> Iterator[Batch | Finding]:
    """These entries in batches: those of one `home`, or of each but the inbox, pages first. A home that can be no page
    is a finding for each of its entries. Raises `InvalidSetting` if there is no such home."""
    known = domains(store).domains
    targets = Targets(stock.entries, known, store.storage.list_files())
    homes: dict[str, list[Entry]] = {}
    for entry in entries:
        homes.setdefault(_home(entry.home, targets), []).append(entry)
    wanted = homes.keys() - {INBOX}
    if home is not None:
        named = _home(home, targets)
        there = {INBOX, *(_home(entry.home, targets) for entry in stock.entries)}
        if named not in there and targets.lead(home).kind not in ("domain", "page"):
            raise InvalidSetting(f"there is no home {home!r}; entries have these: {', '.join(sorted(there))}")
        wanted = homes.keys() & {named}
    names = [one.name for one in known]
    for name in sorted(wanted, key=lambda one: (names.index(one) + 1 if one in names else 0, one)):
        domain = domain_named(name, known)
        try:
            path = None if domain or name == INBOX else new_page_path(name)
        except InvalidPath as error:
            message = f"its home is no page, so it was left: {error}"
            yield from (Finding("unknown-home", "error", one.id, 0, message) for one in homes[name])
            continue
        yield from (Batch(tuple(part), domain, path) for part in _parts(homes[name]))


def _home(home: str | None, targets: Targets) -> str:
    """A home as the domain or the page is spelled."""
    lead = targets.lead(home) if home else None
    return lead.targets[0] if lead and lead.kind in ("domain", "page") else home or INBOX


def _parts(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    part: list[Entry] = []
    size = 0
    for entry in entries:
        more = len(encode(entry.text))
        if part and (len(part) == MAX_ENTRIES or size + more > MAX_BYTES):
            yield part
            part, size = [], 0
        part.append(entry)
        size += more
    if part:
        yield part


# the plan


def _made(
    context: Context, store: EntryStore, home: str | None, space: str | None, since: str | None, until: str | None
) -> Plan:
    stock = stock_of(store.files())
    entries = _chosen(store, stock, space, since, until)
    parts = list(_batches(store, stock, entries, home))
    batches = [part for part in parts if isinstance(part, Batch)]
    done: list[_Done] = []
    changes: tuple[PageChange, ...] = ()
    if batches:
        with dry_run(context) as trial:
            assert isinstance(trial.storage, OverlayStorage)
            for batch in batches:
                done.append(_decided(trial, batch))
                tell_progress("homes worked in", len(done))
            by_planner = replace(trial, model=trial.planner)
            done += [_decided(by_planner, lost, TAKEN_OUT) for one in done.copy() if (lost := _lost(trial, one))]
            changes = trial.storage.changes
    worked_in = {step.name: step for step in _worked_in(stock, done, changes)}  # the later of two counts
    title = f"{counted_entries(len(worked_in))} worked in, {counted(len(changes), 'page')} changed"
    title = title if worked_in else "no entry is left to be worked in"
    inbox = sum(entry.home is None for entry in entries)
    if home is None and inbox:
        title += f"; {inbox:,} in the inbox: 'silica memory route' finds their homes"
    return Plan(
        "consolidate",
        title,
        (*worked_in.values(), *map(_page_step, changes)),
        tuple(part for part in parts if isinstance(part, Finding)),
        {"decisions": [one.decision for one in done], "inbox": inbox},
        ", ".join(dict.fromkeys(one.decision["decided_by"] for one in done)) or "program",
        "; ".join(dict.fromkeys(one.decision["degraded"] for one in done if one.decision["degraded"])),
    )


def _page_step(change: PageChange) -> Step:
    action = "create" if change.before is None else "remove" if change.after is None else "change"
    return Step(action, change.path, changes=(change,))


@dataclass(frozen=True, slots=True)
class _Done:
    """A decision about a batch, and what is told of it: who made it, why not the configured model, and what became of
    the entries."""

    batch: Batch
    task: ConsolidateTask
    decision: Mapping[str, Any]

    @property
    def observed(self) -> list[tuple[Entry, Observed]]:
        """Each entry, and how it was shown."""
        return list(zip(self.batch.entries, self.task.brief.observed, strict=True))


def _decided(trial: Context, batch: Batch, why: str = "") -> _Done:
    with part_of(trial) as context:
        decision, problem = file_entries(context, batch)
    degraded = "; ".join(filter(None, (why, decision.degraded, problem)))
    facts = {"home": batch.home, "decided_by": decision.decided_by, "degraded": degraded}
    return _Done(batch, decision.task, {**facts, "why": decision.task.checked()})


def _lost(trial: Context, done: _Done) -> Batch | None:
    """The entries of a batch that a later decision has taken out of the tree; `None` if there are none."""
    assert isinstance(trial.storage, OverlayStorage)
    paths = {change.path for change in trial.storage.changes} | done.task.said_on
    stored = (stored_page(trial.storage, path) for path in sorted(paths))
    now = "\n".join([*paths, *(decode(one.data) for one in stored if one)])
    there, task = {normal(block.content) for block in parse_blocks(now)}, done.task
    is_retold = all(own in there for _, own in task.own_blocks)  # in words that the guard has accepted

    def is_kept(number: int) -> bool:
        block = task.brief.blocks[number - 1]
        is_told = is_retold and number not in task.placed
        return block.content in now or is_told or not missing_from(block, now)

    lost = [entry for entry, one in done.observed if not all(map(is_kept, one.numbers))]
    return replace(done.batch, entries=tuple(lost)) if lost else None


def _worked_in(stock: Stock, all_done: Sequence[_Done], changes: Iterable[PageChange]) -> Iterator[Step]:
    """The step of each entry, with the pages that have it in the end."""
    now = {change.path: read_page(change.path, change.after) for change in changes if change.after is not None}
    gone = {change.path for change in changes if change.after is None}
    named = pages_of([entry.id for done in all_done for entry in done.batch.entries], list(now.values()))
    for done in all_done:
        names = {one.source.name: entry.id for entry, one in done.observed}
        for entry, one in done.observed:
            ids = [entry.id, *(names[other.source.name] for other in done.task.repeated_by(one))]
            found = [page for entry_id in ids for page in named[entry_id]]
            for page, number in done.task.said_by(one):
                found += _still_on(page, number, now, gone)
            found = found or [path for number in one.numbers if (path := done.task.placed.get(number))]
            pages, home = list(dict.fromkeys(found)), done.batch.home
            header = stock.files[entry.id].with_header(consolidated_into=pages)
            facts = {"home": home, "pages": pages}
            yield Step(WORK_IN, entry.id, ", ".join(pages), done.task.outcome(one), facts=facts, changes=(header,))


def _still_on(page: Page, number: int, now: dict[str, Page], gone: set[str]) -> list[str]:
    """The pages that have a block now that stood on this page when the decision was made."""
    content = page.blocks[number - 1].content
    if page.path not in gone and content in (now.get(page.path) or page).body:
        return [page.path]
    return [path for path, other in now.items() if content in other.body][:1] or [page.path]


# carrying it out


def _commit(context: Context, store: EntryStore, plan: Plan) -> str:
    """Stores the pages and the headers of a plan in one change. Raises `StorageConflict` if one of them is not as it
    was when the plan was made."""
    refresh(context)
    draft = Draft(context)
    store.make_ready()
    store.pick_up()
    decisions = plan.facts["decisions"]
    homes = ", ".join(dict.fromkeys(decision["home"] for decision in decisions))
    revision = Revision(
        kind="consolidate",
        summary=shorten(f"{counted_entries(len(plan.of(WORK_IN)))} of {homes}", MAX_SUMMARY),
        operation=context.operation.id,
        agent=who_asks(),
        decided_by=plan.decided_by,
        degraded=plan.degraded,
        why=tuple(f"{decision['home']}: {why}" for decision in decisions for why in decision["why"]),
        when=context.now(),
    )
    try:
        for change in plan.changes:
            draft.take(change)
        return commit(draft, exact=True, may_be_large=True, revision=revision).revision.id[:12]
    except StorageConflict as error:
        raise StorageConflict(f"the memory has changed since the plan was made ({error}); {AGAIN}") from error


# keeping it between showing it and carrying it out


def _keep(store: EntryStore, asked: object, plan: Plan) -> None:
    steps = [
        {**vars(step), "changes": [[one.path, *map(_text, (one.before, one.after))] for one in step.changes]}
        for step in plan.steps
    ]
    kept = {name: getattr(plan, name) for name in ("title", "facts", "decided_by", "degraded")}
    warnings = [asdict(warning) for warning in plan.warnings]
    keep_planned(store.storage.state, "consolidate", asked, {**kept, "warnings": warnings, "steps": steps})


def _text(data: bytes | None) -> str | None:
    return None if data is None else decode(data)


def _kept(store: EntryStore, asked: object) -> Plan | None:
    """The plan that was made last, or `None` if it was for other entries or another model, or was carried out."""
    kept = planned(store.storage.state, "consolidate", asked)
    try:
        steps = tuple(Step(**one | {"changes": tuple(starmap(_change, one["changes"]))}) for one in kept.pop("steps"))
        warnings = tuple(Finding(**one) for one in kept.pop("warnings"))
        plan = Plan("consolidate", steps=steps, warnings=warnings, **kept)
    except (KeyError, TypeError, ValueError):  # there is none, or it is damaged
        return None
    return None if all(store.data(change.path) == change.after for change in plan.changes) else plan


def _change(path: str, *texts: str | None) -> PageChange:
    return PageChange(path, *(None if text is None else encode(text) for text in texts))
