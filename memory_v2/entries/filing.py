"""Filing the entries of one home: they are shown as one text, and worked into the tree by one decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from memory_v2.agent.loop import Decision, decide
from memory_v2.entries.consolidate_task import SEPARATOR, ConsolidateTask
from memory_v2.entries.domains import INBOX, Domain
from memory_v2.entries.entry import Entry
from memory_v2.errors import NotAllowed
from memory_v2.models.briefs import ConsolidateBrief, Observed
from memory_v2.operations.commit import commit
from memory_v2.operations.context import Context
from memory_v2.operations.draft import Draft
from memory_v2.operations.freshness import refresh
from memory_v2.operations.overgrown import split_overgrown
from memory_v2.operations.sources import name_sources
from memory_v2.operations.write import ensure_page, write_brief
from memory_v2.text.calendar import Calendar, iso_day
from memory_v2.tree.block import Block, line_end, to_blank_line
from memory_v2.tree.edit import new_blocks
from memory_v2.tree.link import link_key
from memory_v2.tree.page import Page, new_page
from memory_v2.tree.path import ENTRIES, ROOT
from memory_v2.tree.source import Source, page_source, told_sources


@dataclass(frozen=True, slots=True)
class Batch:
    """Some entries of one home, oldest first: a `domain`, a page with this `path`, or neither for the inbox."""

    entries: tuple[Entry, ...]
    domain: Domain | None = None
    path: str | None = None

    @property
    def home(self) -> str:
        """The name of the home."""
        return self.path or (self.domain.name if self.domain else INBOX)


def source_name(entry_id: str) -> str:
    """By what name the lines of an entry tell their source."""
    return f"{ENTRIES}/{entry_id}"


def observed_blocks(entries: Sequence[Entry], calendar: Calendar) -> tuple[tuple[Block, ...], tuple[Observed, ...]]:
    """The blocks of these entries as one text, and which blocks each entry is. A day that is still to come is not
    told."""
    blocks: list[Block] = []
    observed: list[Observed] = []
    for entry in entries:
        *before, last = new_blocks(entry.text)
        gap = to_blank_line(last.text, line_end(entry.text))
        first = len(blocks) + 1
        blocks += (*before, replace(last, text=last.text + gap))
        day = iso_day(calendar.written(entry.observed_at))
        source = Source(source_name(entry.id), day if day and day <= calendar.today else None)
        observed.append(Observed(source, entry.space, first, len(blocks), entry.tags))
    return tuple(blocks), tuple(observed)


def file_entries(context: Context, batch: Batch) -> tuple[Decision[ConsolidateTask], str]:
    """Works the entries of a batch into the tree by one decision, and splits what grows too large. Returns the decision
    and why a page could not be split. Raises `Undecided`, `StorageError`."""
    refresh(context)
    draft = Draft(context)
    blocks, observed = observed_blocks(batch.entries, context.calendar)
    path = _ensure_page(draft, batch.path, blocks)
    home = _ensure_home(draft, batch.domain) if batch.domain else ""
    written = write_brief(draft, blocks, path, [home] if home else ())
    brief = ConsolidateBrief(
        **{one.name: getattr(written, one.name) for one in fields(written)},
        observed=observed,
        home=home,
        title=batch.domain.title if batch.domain else "",
        about=batch.domain.description if batch.domain else "",
    )
    decision = decide(lambda: ConsolidateTask(brief, draft), context.models, context.operation)
    decision.task.apply()
    _leave_out_empty(draft, home)
    name_sources(draft, decision.task.source_of())
    commit(draft)
    splits, problem = split_overgrown(context)
    return decision, "; ".join(dict.fromkeys(filter(None, [*(split.degraded for split in splits), problem])))


def _ensure_page(draft: Draft, path: str | None, blocks: Sequence[Block]) -> str | None:
    """Stages the page of a home if there is none. One that takes no text, because it holds a part of a large block, is
    no home: its entries go where they belong."""
    try:
        ensure_page(draft, path, blocks)
        return path
    except NotAllowed:
        ensure_page(draft, None, blocks)
        return None


def _ensure_home(draft: Draft, domain: Domain) -> str:
    """Stages the page of a domain if there is none, so that the decision can work on it; returns its path."""
    if (path := draft.spelled(domain.name)) is not None:
        return path
    draft.put(new_page(domain.name, domain.title).stamped(draft.context.now(), split_from=ROOT))
    draft.put(draft.page(ROOT).with_child(domain.name, domain.description or domain.title))
    return domain.name


def _leave_out_empty(draft: Draft, home: str) -> None:
    """Takes back the page that was staged for a domain if nothing was put on it."""
    if home in draft.staged and not draft.before(home) and len(draft.page(home).blocks) == draft.page(home).top:
        del draft.staged[home]
        draft.put(draft.page(ROOT).without_children(lambda child: link_key(child.target) == link_key(home)))


def pages_of(entry_ids: Sequence[str], pages: Sequence[Page]) -> Mapping[str, list[str]]:
    """For each of these entries the pages with text that names it as its source."""
    wanted = {source_name(one): one for one in entry_ids}
    found: dict[str, list[str]] = {one: [] for one in entry_ids}
    for page in pages:
        for name in dict.fromkeys(_named_on(page)):
            if name in wanted:
                found[wanted[name]].append(page.path)
    return found


def _named_on(page: Page) -> Iterator[str]:
    for source in (page_source(page), *told_sources(page.blocks).values()):
        yield from source.name.split(SEPARATOR)
