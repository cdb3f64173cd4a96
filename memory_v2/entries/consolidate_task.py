"""The decision behind consolidating: a write of many observations at once, each with a day and an origin of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Annotated, Any, Literal

from memory_v2.agent.arguments import Argument
from memory_v2.agent.loop import Decision, decide
from memory_v2.agent.task import NumberList, TaskTool
from memory_v2.entries.entry import INBOX, Domain, Entry
from memory_v2.errors import NotAllowed, ToolProblem
from memory_v2.models.base import Prompt
from memory_v2.models.briefs import ConsolidateBrief, Observed
from memory_v2.operations.commit import commit
from memory_v2.operations.context import Context, refresh
from memory_v2.operations.draft import Draft, name_sources
from memory_v2.operations.guard import denied_by, missing_from
from memory_v2.operations.overgrown import split_overgrown
from memory_v2.operations.write import ensure_page, write_brief
from memory_v2.operations.write_changes import NewBlocks, Replace, redescribed, taken_out
from memory_v2.operations.write_task import NOTHING_ELSE, WriteTask
from memory_v2.text.days import Calendar, iso_day
from memory_v2.text.words import content_words, normal, words
from memory_v2.tree.block import Block, line_end, new_blocks, to_blank_line
from memory_v2.tree.edit import parse_numbers, show_numbers
from memory_v2.tree.page import Page, new_page, page_source
from memory_v2.tree.path import ENTRIES, ROOT, link_key
from memory_v2.tree.source import NO_TEXT, Source, told_sources

Outcome = Literal["to the letter", "in other words", "said already"]
SEPARATOR = ", "
"""The text between the names of several entries in one source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAs:
    """The arguments of the tool, as the model sees them."""

    blocks: NewBlocks
    said_in: Annotated[NumberList, Argument("the new blocks that say the same, such as n1")]


class ConsolidateTask(WriteTask):
    """Collects what a model decides about observations. Beside what a write may do, it may name one that only repeats
    another new one."""

    kind = "consolidate"
    brief: ConsolidateBrief

    def __init__(self, brief: ConsolidateBrief, draft: Draft) -> None:
        super().__init__(brief, draft)
        self.same: dict[int, list[int]] = {}

    @cached_property
    def tools(self) -> Sequence[TaskTool[Any]]:
        return (*super().tools, TaskTool("same_as", SameAs, self._same_as))

    def _same_as(self, call: SameAs) -> Prompt:
        numbers = self._new(call.blocks)
        by = parse_numbers(call.said_in, len(self.brief.blocks), "n")
        if repeated := next((n for n in by if n in self.same or n in numbers), None):
            raise ToolProblem(f"n{repeated} is left out itself; name a block that stands in the tree in the end")
        text = "\n".join(self.brief.blocks[n - 1].text for n in by)
        for number in numbers:
            if any(number in others for others in self.same.values()):
                raise ToolProblem(f"n{number} says what others repeat, so it has to be placed")
            block = self.brief.blocks[number - 1]
            if missing := missing_from(block, text) or denied_by(block, text):
                raise ToolProblem(f"n{number} says what those blocks do not ({', '.join(missing[:5])}); place it")
        self.same |= dict.fromkeys(numbers, by)
        self.placed |= dict.fromkeys(numbers, "")
        return Prompt("done", {"what": f"{show_numbers(numbers, 'n')} only repeat {show_numbers(by, 'n')}"})

    def _amend(self, before: Replace, call: Replace) -> Prompt:
        same = self.same
        done = super()._amend(before, call)
        self.same, self.placed = same, dict.fromkeys(same, "") | self.placed
        return done

    def _around(self) -> list[str]:
        return [*super()._around(), self.brief.title, self.brief.about]

    def checked(self) -> list[str]:
        """What became of the observations, by their names, and what was removed."""
        outcomes: dict[Outcome, list[str]] = {}
        for one in self.brief.observed:
            outcomes.setdefault(self.outcome(one), []).append(one.source.name)
        return [
            *(f"{outcome}: {', '.join(names)}" for outcome, names in outcomes.items()),
            *(why for path, each in self.changes.items() for why in taken_out(self.seen.pages[path], each.removed)),
            *(redescribed(path, each.before, each.description) for path, each in self.described.items()),
            NOTHING_ELSE,
        ]

    # what became of each observation

    def outcome(self, one: Observed) -> Outcome:
        """How an observation is in the tree: the least exact of its blocks counts."""
        if any(number not in self.placed and number not in self.left_out for number in one.numbers):
            return "in other words"
        texts = [number for number in one.numbers if self._is_text(number)] or list(one.numbers)
        return "to the letter" if any(self.placed.get(number) for number in texts) else "said already"

    def said_by(self, one: Observed) -> list[tuple[Page, int]]:
        """The blocks of the tree that say an observation already."""
        return [named for said in self.said if set(said.numbers).intersection(one.numbers) for named in said.by]

    def repeated_by(self, one: Observed) -> list[Observed]:
        """The other observations that one only repeats."""
        by = {n for number in one.numbers for n in self.same.get(number, ())}
        return [other for other in self.brief.observed if by.intersection(other.numbers)]

    def source_of(self) -> Callable[[Block], Source]:
        """Tells the source of each block that is new on a page: the observations whose words or facts it has. Of
        several blocks with the same words, each has its own, in order; each block is asked about once."""
        sources = {number: one.source for one in self.brief.observed for number in one.numbers}
        placed = [(self._normals[number - 1], [number]) for number, path in self.placed.items() if path]
        own = [(text, list[int]()) for _, text in self.own_blocks]
        for number in range(1, len(self.brief.blocks) + 1):
            if own and number not in self.placed and number not in self.left_out and self._is_text(number):
                _, numbers = max(own, key=lambda one, number=number: self._shared(number, one[0]))  # type: ignore[misc]
                numbers.append(number)
        for number, by in self.same.items():
            for _, numbers in (*placed, *own):
                if by[0] in numbers:
                    numbers.append(number)
        standing: dict[str, list[list[int]]] = {}
        for text, numbers in (*placed, *own):
            standing.setdefault(text, []).append(numbers)

        def source(block: Block) -> Source:
            found = standing.get(normal(block.content), [[]])
            numbers = found.pop(0) if len(found) > 1 else found[0]
            distinct = list(dict.fromkeys(sources[number] for number in sorted(numbers)))
            names = SEPARATOR.join(dict.fromkeys(one.name for one in distinct))
            return Source(names, max((one.day for one in distinct if one.day), default=None))

        return source

    def _shared(self, number: int, own: str) -> int:
        block = self._normals[number - 1]
        return len({*content_words(block), *words(block)} & {*content_words(own), *words(own)})

    def _is_text(self, number: int) -> bool:
        return self.brief.blocks[number - 1].kind not in NO_TEXT


# a batch of entries, shown as one text and worked into the tree by one decision


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
    path = batch.path
    try:
        ensure_page(draft, path, blocks)
    except NotAllowed:  # it holds a part of a large block, so it is no home: its entries go where they belong
        path = None
        ensure_page(draft, None, blocks)
    home = _ensure_home(draft, batch.domain) if batch.domain else ""
    written = write_brief(draft, blocks, path, [home] if home else ())
    brief = ConsolidateBrief(
        **{field.name: getattr(written, field.name) for field in fields(written)},
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
    wanted = {source_name(id_): id_ for id_ in entry_ids}
    found: dict[str, list[str]] = {id_: [] for id_ in entry_ids}
    for page in pages:
        sources = (page_source(page), *told_sources(page.blocks).values())
        for name in dict.fromkeys(name for source in sources for name in source.name.split(SEPARATOR)):
            if name in wanted:
                found[wanted[name]].append(page.path)
    return found
