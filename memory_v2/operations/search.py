"""Searching: the index proposes places, a model chooses among them by the tools of its task, and the program quotes
them verbatim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import chain, islice
from typing import Annotated, Any

from memory_v2.agent.arguments import Argument, ToldAs
from memory_v2.agent.loop import Decision, decide
from memory_v2.agent.task import NumberList, Task, TaskTool
from memory_v2.errors import InvalidSetting, ToolProblem
from memory_v2.index.base import EntryHit, EntrySearch, Hit
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.spelling import corrected
from memory_v2.models.base import Prompt
from memory_v2.models.briefs import PageView, SearchBrief, found_on, view_of
from memory_v2.operations.context import Context, refresh
from memory_v2.operations.draft import Draft, known_page
from memory_v2.operations.excerpts import SMALLEST, check_tokens, fitting, statements
from memory_v2.operations.results import EntryResult, Factors, SearchResult, SearchResults
from memory_v2.operations.search_request import (
    POOL,
    SearchFilter,
    SearchRequest,
    checked_filter,
    is_of,
    ranked_by_day,
    spans_meant,
    verdict,
    with_confidence,
)
from memory_v2.settings import is_count
from memory_v2.text.dates import Span, question_dates
from memory_v2.text.days import asks_for_days_alone, relative_days
from memory_v2.tree.block import readable
from memory_v2.tree.edit import number_runs, parse_numbers
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page, source_at
from memory_v2.tree.path import ROOT
from memory_v2.validate import check_question

MIN_PLACES = 12
"""How many places a model is shown at least, however few results are asked for, so that it has a choice."""
MAX_RESULTS = 1_000
"""How many results a search returns at most, so that a huge number asked for costs no more memory."""


def search(context: Context, asked: SearchRequest, entries: EntrySearch | None = None) -> SearchResults:
    """The best answers to a question, best first, each verbatim with its page and lines; empty only if the memory has
    none. If the memory does not answer, and has words most like some that it does not have, those are searched for in
    their place. With `max_tokens`, as many as fit instead of `max_results`; the best is there, cut if it must be. With
    `regex`, the lines that match. The `entries` are found too. Raises `InvalidText` for an empty
    question, `InvalidSetting` for fewer than one result, `InvalidPattern`, `PageNotFound`, `InvalidPath`, and
    `StorageError`."""
    _check(asked)
    limit = min(max(asked.max_results, (asked.max_tokens or 0) // SMALLEST), MAX_RESULTS)
    refresh(context)
    where = checked_filter(asked, context.index.graph())
    if entries and entries.alone:
        where = replace(where, pages=frozenset())
    draft = Draft(context)
    if asked.regex:
        from memory_v2.operations.pattern import matching_results  # start-up that no other search should pay

        chosen = matching_results(context, asked.query, limit, where)
        shown = chosen if asked.max_tokens is None else fitting(chosen, draft.find, asked.max_tokens)
        results = SearchResults(shown)
        results.verdict, results.decided_by = "answered" if chosen else "no", "program"
    else:
        results, chosen = _decided(draft, asked, limit, where, entries)
        if not results.answered and context.model is context.planner:  # any other model asks in other words itself
            typed = context.index.respelled(asked.query, entries is not None)
            meant = replace(asked, query=corrected(asked.query, typed))
            if typed and (again := _decided(draft, meant, limit, where, entries))[0].answered:
                results, chosen = again
                results.respelled = typed
    for path in dict.fromkeys(result.path for result in results):
        draft.note_read(path)
    context.operation.trace.add("found", places=[f"{r.path}:{r.lines[0]}-{r.lines[1]}" for r in chosen])
    return results


def _check(asked: SearchRequest) -> None:
    check_question(asked.query)
    check_tokens(asked.max_tokens)
    if not is_count(asked.max_results, 1):
        raise InvalidSetting(f"at least one result has to be asked for, not {asked.max_results!r}")
    if not isinstance(asked.regex, bool):
        raise InvalidSetting(f"regex must be True or False, not {asked.regex!r}")


def _decided(
    draft: Draft, asked: SearchRequest, limit: int, where: SearchFilter, entries: EntrySearch | None
) -> tuple[SearchResults, list[SearchResult]]:
    """The results that a model has decided on, as statements or as many as fit, and as they were chosen."""
    context, graph, query = draft.context, draft.graph(), asked.query
    root = draft.find(ROOT) if ROOT not in context.index.unreadable else None
    fit = asked.max_tokens
    # Of the planner's places, those that touch become one, so it may need more of them.
    most = 2 * limit if context.model is context.planner and fit is None else limit
    places = _places(draft, query, max(most, MIN_PLACES), where, entries)
    brief = SearchBrief(
        query=query,
        limit=most,
        root=view_of(root, graph, found_on(places, ROOT), query) if root else None,
        places=places,
        today=context.calendar.today,
        block_count=draft.block_count,
    )
    decision: Decision[SearchTask] = decide(
        lambda: SearchTask(brief, draft, entries), context.models, context.operation
    )
    cited = (
        one if isinstance(one, EntryResult) else replace(one, source=_source(draft, one.path, one.lines[0]))
        for one in _cited(decision.task, graph, context.index)
    )
    admitted = (one for one in cited if isinstance(one, EntryResult) or where.has(one.path, one.date, one.source))
    chosen, further = list(islice(admitted, limit)), islice(admitted, most - limit)
    shown = statements(chain(chosen, further), draft.find, limit) if fit is None else fitting(chosen, draft.find, fit)
    has_entries = entries is not None
    results = SearchResults(with_confidence(shown, query, context.index, has_entries))
    if results and decision.decided_by != context.planner.name:
        results.verdict = "answered"
    elif results:
        results.verdict = verdict(results, places[: max(limit, MIN_PLACES)], query, context.index, has_entries)
    results.decided_by = decision.decided_by
    results.degraded = "; ".join(filter(None, (decision.degraded, context.index.not_by_meaning)))
    return results, chosen


def _places(draft: Draft, query: str, count: int, where: SearchFilter, entries: EntrySearch | None) -> list[Hit]:
    """The best places in a part of the memory, and of the entries. What was said on days that are named relative to
    today is among them, whatever its words, and so is what was said on the days of a part that has none of the
    words. A question that asks for days alone is answered by what is of these days, if anything is."""
    index, today = draft.context.index, draft.context.calendar.today
    then = relative_days(query, today)
    days = [*question_dates(query), *then]
    is_for_days = bool(days) and asks_for_days_alone(query)
    # Days and sources are not in the full-text table: what is found is looked through.
    many = MAX_RESULTS if not where.is_of_whole_pages else max(count, POOL) if days else count
    found = _admitted(draft, where, index.recall(query, many, within=where.pages, entries=entries))
    if (where.since or where.until) and not found:
        then = [Span(where.since or date.min, where.until or today)]
    if is_for_days:
        then = spans_meant(days, today)
    if then:
        known = {(hit.path, hit.first_line) for hit in found}
        said = _admitted(draft, where, index.said_then(then, many, where.pages))
        found += [hit for hit in said if (hit.path, hit.first_line) not in known]
    places = ranked_by_day(found, query, days, today) if days else found
    return (of_days if is_for_days and (of_days := [hit for hit in places if is_of(days, hit)]) else places)[:count]


def _admitted(draft: Draft, where: SearchFilter, found: list[Hit]) -> list[Hit]:
    if where.is_of_whole_pages:
        return found
    return [
        hit for hit in found if hit.entry or where.has(hit.path, hit.date, _source(draft, hit.path, hit.first_line))
    ]


def _source(draft: Draft, path: str, line: int) -> str:
    """The name of the source of a line; empty if the page is gone meanwhile, or cannot be read."""
    page = draft.find_readable(path)
    return readable(source_at(page, line).name) if page else ""


def _cited(task: SearchTask, graph: Graph, index: FullTextIndex) -> list[SearchResult]:
    """The results for the chosen places, best first, without repetitions."""
    results: dict[tuple[str, tuple[int, int]], SearchResult] = {}
    for chosen in sorted(task.chosen, key=lambda one: -one.score):
        if chosen.place is not None:
            found = [_from_place(task.places[chosen.place], chosen, graph)]
        else:
            found = list(_from_blocks(chosen, graph, index))
        for one in found:
            results.setdefault((one.path, one.lines), one)
    return list(results.values())


def _from_place(hit: Hit, chosen: Chosen, graph: Graph) -> SearchResult:
    words = [chosen.context, hit.found_by and f"found by {hit.found_by}"]
    if hit.entry:
        return _from_entry(hit, hit.entry, chosen.score, words)
    return SearchResult(
        path=hit.path,
        excerpt=hit.text,
        relevance_score=round(chosen.score, 4),
        context=_context(graph, hit.path, hit.section, words),
        lines=(hit.first_line, hit.last_line),
        date=hit.date,
        section=hit.section,
        speaks_of=hit.speaks_of,
        breadcrumb=graph.breadcrumb(hit.path),
        signs=hit.signs,
        earlier=hit.earlier,
    )


def _from_entry(hit: Hit, entry: EntryHit, score: float, words: Sequence[str]) -> EntryResult:
    return EntryResult(
        path=hit.path,
        excerpt=hit.text,
        relevance_score=round(score, 4),
        context="; ".join([f"entry {entry.id}", *filter(None, words)]),
        lines=(hit.first_line, hit.last_line),
        date=hit.date,
        breadcrumb=(),
        speaks_of=hit.speaks_of,
        source=entry.source,
        signs=hit.signs,
        entry=entry.id,
        agent=entry.agent,
        home=entry.home,
        tags=entry.tags,
        consolidated_into=entry.consolidated_into,
        archived=entry.archived,
        factors=Factors(entry.answers, entry.confidence, entry.weight, entry.decay),
    )


def _from_blocks(chosen: Chosen, graph: Graph, index: FullTextIndex) -> Iterator[SearchResult]:
    """One result for each run of consecutive blocks."""
    page = chosen.page
    assert page is not None
    starts = [start for start, _ in page.placed_blocks()]
    for run in number_runs(sorted(chosen.blocks)):
        text = "".join(page.blocks[n - 1].text for n in run)
        body = text.rstrip(" \t\r\n")
        first = page.line_of(starts[run[0] - 1] + len(text) - len(text.lstrip("\r\n")))
        last = page.line_of(starts[run[0] - 1] + max(len(body) - 1, 0))
        section = page.section_of(run[0])
        said, speaks_of = index.said(page.path, run)
        yield SearchResult(
            path=page.path,
            excerpt=readable(body.lstrip("\r\n")),
            relevance_score=round(chosen.score, 4),
            context=_context(graph, page.path, section, [chosen.context]),
            lines=(first, last),
            date=said,
            section=section,
            speaks_of=speaks_of,
            breadcrumb=graph.breadcrumb(page.path),
        )


def _context(graph: Graph, path: str, section: tuple[str, ...], words: list[str]) -> str:
    way = " › ".join([*graph.breadcrumb(path), *(s for s in section[-2:] if s)])
    return "; ".join([way, *filter(None, words)])


LOOKED_UP = 8
"""How many places a model is shown for the words that it looks up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPages:
    paths: Annotated[list[str], Argument("paths of pages, as shown", min_length=1, max_length=5)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUp:
    words: Annotated[str, Argument("a few words", min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    place: Annotated[str | int | None, ToldAs("string"), Argument("a place that was shown, such as p3")] = None
    page: Annotated[str | None, Argument("or else a page that is open, with its blocks")] = None
    blocks: Annotated[NumberList | None, Argument("such as 4, 6-8")] = None
    score: Annotated[float, Argument("how well it answers, from 0 to 1", ge=0, le=1)]
    context: Annotated[str, Argument("in a few words, what it says to the question", max_length=300)] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerQuestion:
    results: Annotated[list[Found], Argument("best first", min_length=1, max_length=100)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    reason: Annotated[str, Argument(min_length=3, max_length=400)]


@dataclass(frozen=True, slots=True)
class Chosen:
    """One chosen answer: the index of a proposed place (from 0), or blocks of a page."""

    score: float
    context: str
    place: int | None = None
    page: Page | None = None
    blocks: tuple[int, ...] = ()


class SearchTask(Task):
    """Collects what a model finds."""

    kind = "search"
    brief: SearchBrief

    def __init__(self, brief: SearchBrief, draft: Draft, entries: EntrySearch | None = None) -> None:
        self.brief = brief
        self.draft = draft
        self.entries = entries
        self.opened: dict[str, Page] = {}
        self.in_part: dict[str, PageView] = {}
        if brief.root:
            self._open(brief.root)
        self.places: list[Hit] = list(brief.places)
        self.chosen: list[Chosen] = []
        self.no_answer_because = ""

    @cached_property
    def tools(self) -> Sequence[TaskTool[Any]]:
        return (
            TaskTool("open_pages", OpenPages, self.open_pages, decides=False),
            TaskTool("look_up", LookUp, self.look_up, decides=False),
            TaskTool("answer", AnswerQuestion, self.answer),
            TaskTool("no_answer", NoAnswer, self.no_answer),
        )

    def open_pages(self, call: OpenPages) -> Prompt:
        graph = self.draft.graph()
        views, again, missing = [], [], []
        for asked in dict.fromkeys(call.paths):
            try:
                page = known_page(self.draft, asked)
            except ToolProblem as problem:
                missing.append((asked, problem))
                continue
            if page.path in self.opened:
                again.append(page.path)
                continue
            views.append(PageView(page, graph.breadcrumb(page.path)))
            self._open(views[-1])
        if again and not views:
            raise ToolProblem(f"you have read {', '.join(again)} already; answer, or open other pages")
        if not views:
            raise missing[0][1]
        return Prompt("pages", {"views": views, "missing": [asked[:80] for asked, _ in missing]})

    def look_up(self, call: LookUp) -> Prompt:
        known = {(hit.path, hit.block) for hit in self.places}
        found = self.draft.context.index.recall(call.words, LOOKED_UP + len(known), entries=self.entries)
        hits = [hit for hit in found if (hit.path, hit.block) not in known and hit.path not in self.opened][:LOOKED_UP]
        there = [hit for hit in found[:LOOKED_UP] if hit.block and hit.path in self.opened]
        first = len(self.places) + 1
        self.places += hits
        return Prompt("places", {"hits": hits, "open": there, "first": first, "block_count": self.brief.block_count})

    def answer(self, call: AnswerQuestion) -> Prompt:
        self.chosen = [self._chosen(found) for found in call.results]
        self.no_answer_because = ""
        return Prompt("done", {"what": "these places are taken as the answer"})

    def no_answer(self, call: NoAnswer) -> Prompt:
        self.no_answer_because, self.chosen = call.reason, []
        return Prompt("done", {"what": "the memory holds no answer"})

    def objections(self) -> list[str]:
        """None: each answer was checked when it was given."""
        return []

    def checked(self) -> list[str]:
        """That the answers are on pages, or why there is none."""
        if self.no_answer_because:
            return [f"no answer, because: {self.no_answer_because}"]
        return [f"places that exist: {len(self.chosen)}; each is quoted to the letter"]

    def _open(self, view: PageView) -> None:
        """Notes what is shown of a page. One that is shown in part can be opened still."""
        self.in_part.pop(view.page.path, None)
        if view.is_part:
            self.in_part[view.page.path] = view
        else:
            self.opened[view.page.path] = view.page

    def _chosen(self, found: Found) -> Chosen:
        if found.place is not None:
            number = parse_numbers(found.place, len(self.places), "p")[0]
            return Chosen(found.score, found.context, place=number - 1)
        if found.page is None or found.blocks is None:
            raise ToolProblem("each result names a place, or a page with its blocks")
        part = self.in_part.get(found.page)
        if (page := part.page if part else self.opened.get(found.page)) is None:
            raise ToolProblem(f"the page {found.page[:80]!r} has not been opened; open it first, or name a place")
        numbers = parse_numbers(found.blocks, len(page.blocks))
        if unseen := [n for n in numbers if part and part.blocks is not None and n not in part.blocks]:
            raise ToolProblem(f"block {unseen[0]} of {page.path} was not shown; open_pages shows the whole page")
        return Chosen(found.score, found.context, page=page, blocks=tuple(numbers))
