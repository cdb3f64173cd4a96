"""Consolidating: the entries of each home are worked into pages, as a plan first, then as one operation of the history.

The plan is made by rehearsing: nothing is stored, and the pages of the plan are those that carrying it out stores. So
it is carried out without asking a model again, and refused if a page or an entry has changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from memory_v2.agent.loop import Decision
from memory_v2.entries.consolidate_task import ConsolidateTask
from memory_v2.entries.consolidation import ConsolidationPlan, Filed, WorkedIn
from memory_v2.entries.desk import Decided, Desk, part_of
from memory_v2.entries.domains import INBOX, domain_named
from memory_v2.entries.entry import Entry
from memory_v2.entries.filing import Batch, file_entries, pages_of
from memory_v2.entries.header import changed_header
from memory_v2.entries.kept import AGAIN, KeptPlan
from memory_v2.entries.places import check_agent
from memory_v2.entries.planned import Stock, stock_of
from memory_v2.entries.references import Targets
from memory_v2.entries.upkeep import domains
from memory_v2.errors import InvalidPath, InvalidSetting, StorageConflict
from memory_v2.operations.commit import commit
from memory_v2.operations.draft import Draft
from memory_v2.operations.freshness import refresh
from memory_v2.operations.rehearse import rehearsal
from memory_v2.operations.results import Finding
from memory_v2.operations.texts import checked_day
from memory_v2.progress import tell_progress
from memory_v2.storage.base import stored_page, version_of
from memory_v2.storage.checkout import MAX_SUMMARY
from memory_v2.storage.history import Change, PageChange, Revision
from memory_v2.storage.rehearsal import RehearsalStorage
from memory_v2.text.amounts import counted_entries
from memory_v2.text.plain import shorten
from memory_v2.tree.block import decode, encode
from memory_v2.tree.page import Page, read_page
from memory_v2.tree.path import new_page_path

MAX_ENTRIES = 40
"""How many entries are worked in by one decision: a week of a busy agent, which a model still sees as a whole."""
MAX_BYTES = 12_000
"""The same in bytes of their texts: about a page. An entry that is longer is worked in alone."""


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
    first, last = checked_day("since", since), checked_day("until", until)
    space = None if agent is None else agent if agent == "shared" else check_agent(agent)
    asked = {"home": home, "agent": space, "since": str(first), "until": str(last), "model": desk.context.model.name}
    kept = KeptPlan(desk.area, asked)
    plan = kept.read() if apply else None
    if plan is None:
        stock = stock_of(desk.area)
        plan = _planned(desk, stock, list(_chosen(desk, stock, home, space, first, last)), home)
    if not plan.entries:
        return Decided(plan)
    if not apply:
        kept.write(plan)
        return Decided(plan, decided_by=plan.decided_by, degraded=plan.degraded)
    change = _carried_out(desk, plan)
    kept.remove()
    return Decided(plan, change.revision.id[:12], plan.decided_by, plan.degraded)


# which entries


def _chosen(
    desk: Desk, stock: Stock, home: str | None, space: str | None, first: date | None, last: date | None
) -> Iterator[Entry]:
    """The entries that are still to be worked in, oldest first. The shared copy of an entry is not worked in beside
    it."""
    day = desk.area.calendar.written
    for entry in sorted(stock.entries, key=lambda one: (day(one.observed_at) or "", _moment(one), one.id)):
        if entry.archived or entry.consolidated_into or not entry.text.strip() or not stock.is_editable(entry):
            continue
        said = day(entry.observed_at) or ""
        is_of_these_days = said >= str(first or said) and said <= str(last or said)
        if is_of_these_days and space in (None, entry.space) and entry.promoted_from not in stock.ids:
            yield entry


def _moment(entry: Entry) -> str:
    return entry.recorded_at.isoformat() if entry.recorded_at else ""


def _batches(desk: Desk, stock: Stock, entries: Iterable[Entry], home: str | None) -> Iterator[Batch | Finding]:
    """The entries by home, each home in as many batches as it takes; homes that can be none are findings."""
    known = domains(desk.area).domains
    targets = Targets(stock.entries, known, desk.context.storage.list_files())
    homes: dict[str, list[Entry]] = {}
    for entry in entries:
        homes.setdefault(_home_of(entry.home, targets), []).append(entry)
    if home is not None and (wanted := home if home == INBOX else _home_of(home, targets)) not in homes:
        there = ", ".join(sorted(homes)) or "none"
        raise InvalidSetting(
            f"no entry that is still to be worked in has the home {wanted!r}; these homes have: {there}"
        )
    names = [one.name for one in known]
    for name in sorted(homes, key=lambda one: (names.index(one) + 1 if one in names else 0, one)):  # pages first
        if name != (home if home == INBOX else _home_of(home, targets)) if home else name == INBOX:
            continue
        domain = domain_named(name, known)
        try:
            path = None if domain or name == INBOX else new_page_path(name)
        except InvalidPath as error:
            yield from (
                Finding("unknown-home", "error", one.id, 0, f"its home is no page: {error}") for one in homes[name]
            )
            continue
        for part in _parts(homes[name]):
            yield Batch(tuple(part), domain, path)


def _home_of(home: str | None, targets: Targets) -> str:
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


def _planned(desk: Desk, stock: Stock, entries: Sequence[Entry], home: str | None) -> ConsolidationPlan:
    inbox = sum(entry.home is None for entry in entries)
    parts = list(_batches(desk, stock, entries, home)) if entries else []
    batches = [one for one in parts if isinstance(one, Batch)]
    findings = tuple(one for one in parts if isinstance(one, Finding))
    if not batches:
        return ConsolidationPlan(inbox=inbox, findings=findings)
    filed: list[Filed] = []
    tasks: list[tuple[Batch, ConsolidateTask]] = []
    with rehearsal(desk.context) as rehearsed:
        for number, batch in enumerate(batches, 1):
            with part_of(rehearsed) as context:
                decision, problem = file_entries(context, batch)
            filed.append(_filed(batch, decision, problem))
            tasks.append((batch, decision.task))
            tell_progress("homes worked in", number)
        assert isinstance(rehearsed.storage, RehearsalStorage)
        changes = rehearsed.storage.changes
    return ConsolidationPlan(tuple(_worked_in(stock, tasks, changes)), tuple(filed), changes, inbox, findings)


def _filed(batch: Batch, decision: Decision[ConsolidateTask], problem: str) -> Filed:
    degraded = "; ".join(filter(None, (decision.degraded, problem)))
    return Filed(batch.home, decision.decided_by, degraded, tuple(decision.task.checked()))


def _worked_in(
    stock: Stock, tasks: Iterable[tuple[Batch, ConsolidateTask]], changes: Iterable[PageChange]
) -> Iterator[WorkedIn]:
    """Each entry with the pages that have it in the end."""
    now = {one.path: read_page(one.path, one.after) for one in changes if one.after is not None}
    gone = {one.path for one in changes if one.after is None}
    told = pages_of([entry.id for batch, _ in tasks for entry in batch.entries], list(now.values()))
    for batch, task in tasks:
        by_name = {one.source.name: entry.id for entry, one in zip(batch.entries, task.brief.observed, strict=True)}
        for entry, one in zip(batch.entries, task.brief.observed, strict=True):
            pages = [
                *told[entry.id],
                *(page for other in task.repeated_by(one) for page in told[by_name[other.source.name]]),
            ]
            for page, number in task.said_by(one):
                pages += _still_on(page, number, now, gone)
            pages = pages or [path for number in one.numbers if (path := task.placed.get(number))]
            version = version_of(stock.data(entry.id))
            yield WorkedIn(entry.id, batch.home, task.outcome(one), tuple(dict.fromkeys(pages)), version)


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
    path = desk.area.find(one.id).path
    stored = stored_page(desk.context.storage, path)
    if stored is None or version_of(stored.data) != one.version:
        raise StorageConflict(f"the entry {one.id} has changed since the plan was made; {AGAIN}")
    after = encode(changed_header(decode(stored.data), {"consolidated_into": one.pages}))
    return PageChange(path, stored.data, after)
