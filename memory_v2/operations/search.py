"""Searching: the index proposes places, a model chooses among them, and the program quotes them verbatim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain, islice

from memory_v2.agent.loop import Decision, decide
from memory_v2.errors import InvalidSetting
from memory_v2.index.base import EntryHit, EntrySearch, Hit
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.spelling import corrected
from memory_v2.models.briefs import SearchBrief, found_on, view_of
from memory_v2.operations.context import Context, refresh
from memory_v2.operations.draft import Draft
from memory_v2.operations.excerpts import SMALLEST, check_tokens, fitting, statements
from memory_v2.operations.results import EntryResult, Factors, SearchResult, SearchResults
from memory_v2.operations.search_request import (
    POOL,
    SearchFilter,
    SearchRequest,
    checked_filter,
    is_of,
    ranked_by_day,
    verdict,
    with_confidence,
)
from memory_v2.operations.search_task import Chosen, SearchTask
from memory_v2.settings import is_count
from memory_v2.text.dates import PartialDate, Span, question_dates
from memory_v2.text.days import asks_for_days_alone, relative_days
from memory_v2.tree.block import readable
from memory_v2.tree.edit import number_runs
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import source_at
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
        then = [span for one in days for span in (one.latest(today) if isinstance(one, PartialDate) else [one])]
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
