"""Searching: the index proposes places, a model chooses among them, and the program quotes them verbatim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from memory_v2.agent.loop import Decision, decide
from memory_v2.errors import InvalidSetting, Unreadable
from memory_v2.index.base import Hit, PageIndex
from memory_v2.index.told import FLOOR
from memory_v2.models.briefs import SearchBrief
from memory_v2.operations.context import Context
from memory_v2.operations.draft import Draft
from memory_v2.operations.excerpts import statements
from memory_v2.operations.freshness import refresh
from memory_v2.operations.quoted import SMALLEST, check_tokens, fitting
from memory_v2.operations.results import SearchResult, SearchResults
from memory_v2.operations.search_task import Chosen, SearchTask
from memory_v2.operations.texts import check_question
from memory_v2.operations.views import found_on, view_of
from memory_v2.settings import is_count
from memory_v2.tree.block import readable
from memory_v2.tree.graph import Graph
from memory_v2.tree.numbers import number_runs
from memory_v2.tree.page import Page
from memory_v2.tree.path import ROOT
from memory_v2.tree.source import source_at

MIN_PLACES = 12
"""How many places a model is shown at least, however few results are asked for, so that it has a choice."""
MAX_RESULTS = 1_000
"""How many results a search returns at most, so that a huge number asked for costs no more memory."""


def search(context: Context, query: str, max_results: int = 10, max_tokens: int | None = None) -> SearchResults:
    """The best answers to a question, best first, each verbatim with its page and lines; empty only if the memory has
    none. With `max_tokens`, as many as fit instead of `max_results`; the best is there, cut if it must be. Raises
    `InvalidText` for an empty question, `InvalidSetting` for fewer than one result, and `StorageError`."""
    check_question(query)
    check_tokens(max_tokens)
    if not is_count(max_results, 1):
        raise InvalidSetting(f"at least one result has to be asked for, not {max_results!r}")
    max_results = min(max(max_results, (max_tokens or 0) // SMALLEST), MAX_RESULTS)
    refresh(context)
    draft = Draft(context)
    graph = draft.graph()
    root = draft.find(ROOT) if ROOT not in context.index.unreadable else None
    places = context.index.search(query, max(max_results, MIN_PLACES))
    brief = SearchBrief(
        query=query,
        limit=max_results,
        root=view_of(root, graph, found_on(places, ROOT), query) if root else None,
        places=places,
        today=context.calendar.today,
        block_count=draft.block_count,
    )
    decision: Decision[SearchTask] = decide(lambda: SearchTask(brief, draft), context.models, context.operation)
    cited = _cited(decision.task, graph, context.index)[:max_results]
    sourced = [replace(one, source=_source(draft, one)) for one in cited]
    found = _with_confidence(statements(sourced, draft.find), query, context.index)
    results = SearchResults(found if max_tokens is None else fitting(found, next(iter(sourced), None), max_tokens))
    results.answered = bool(found) and (
        decision.decided_by != context.planner.name or _is_answered(found, places, query, context.index)
    )
    results.decided_by, results.degraded = decision.decided_by, decision.degraded
    for path in dict.fromkeys(result.path for result in results):
        draft.note_read(path)
    context.operation.trace.add("found", places=[f"{r.path}:{r.lines[0]}-{r.lines[1]}" for r in cited])
    return results


def _with_confidence(found: Sequence[SearchResult], query: str, index: PageIndex) -> list[SearchResult]:
    shares = index.told(query, [(_told(one.path, one.section, one.excerpt), one.date) for one in found])
    return [replace(one, confidence=round(share, 2)) for one, share in zip(found, shares, strict=True)]


def _is_answered(found: Sequence[SearchResult], places: Sequence[Hit], query: str, index: PageIndex) -> bool:
    """Whether a result tells enough to be an answer, or a place that was found, if few results were asked for."""
    return any(one.confidence >= FLOOR for one in found) or any(
        share >= FLOOR for share in index.told(query, [(_told(p.path, p.section, p.text), p.date) for p in places])
    )


def _told(path: str, section: Iterable[str], text: str) -> str:
    return "\n".join((path.replace("/", " ").replace("-", " "), *section, text))


def _source(draft: Draft, found: SearchResult) -> str:
    """The name of the source of a result; empty if the page is gone meanwhile, or cannot be read."""
    try:
        page = draft.find(found.path)
    except Unreadable:
        return ""
    return readable(source_at(page, found.lines[0]).name) if page else ""


def _cited(task: SearchTask, graph: Graph, index: PageIndex) -> list[SearchResult]:
    """The results for the chosen places, best first, without repetitions."""
    results: list[SearchResult] = []
    for chosen in sorted(task.chosen, key=lambda one: -one.score):
        if chosen.place is not None:
            found = [_from_place(task.places[chosen.place], chosen, graph)]
        else:
            found = list(_from_blocks(chosen, graph, index))
        results += [one for one in found if not any(one.path == r.path and one.lines == r.lines for r in results)]
    return results


def _from_place(hit: Hit, chosen: Chosen, graph: Graph) -> SearchResult:
    words = [chosen.context, hit.found_by and f"found by {hit.found_by}"]
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
    )


def _from_blocks(chosen: Chosen, graph: Graph, index: PageIndex) -> Iterator[SearchResult]:
    """One result for each run of consecutive blocks."""
    page = chosen.page
    assert page is not None
    starts = [start for start, _ in page.placed_blocks()]
    for run in number_runs(sorted(chosen.blocks)):
        text = "".join(page.blocks[n - 1].text for n in run)
        body = text.rstrip(" \t\r\n")
        first = page.line_of(starts[run[0] - 1] + len(text) - len(text.lstrip("\r\n")))
        last = page.line_of(starts[run[0] - 1] + max(len(body) - 1, 0))
        section = _section(page, run[0])
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


def _section(page: Page, number: int) -> tuple[str, ...]:
    above: list[tuple[int, str]] = []
    for block in page.blocks[: number - 1]:
        if block.kind == "heading":
            above = [one for one in above if one[0] < block.level] + [(block.level, readable(block.words))]
    return tuple(words for _, words in above)


def _context(graph: Graph, path: str, section: tuple[str, ...], words: list[str]) -> str:
    way = " › ".join([*graph.breadcrumb(path), *(s for s in section[-2:] if s)])
    return "; ".join([way, *filter(None, words)])
