"""Searching as one types: by the offline planner, so that no keystroke costs anything or leaves a trace."""

from __future__ import annotations

from typing import Literal

from memory_v2.errors import SilicaError
from memory_v2.operations.results import EntryResult, SearchResults
from memory_v2.text.days import iso_day
from memory_v2.view.visit import Visit
from memory_v2.view.web import Response

MOST = 20
"""Answers that are shown."""
MOST_QUERY = 1_000
"""Characters of a query that are searched for."""


def search(visit: Visit) -> Response:
    """The best answers of pages and entries, each with its day and its way from the root."""
    query, problem = visit.asked("q")[:MOST_QUERY], ""
    since, until = iso_day(visit.asked("since")), iso_day(visit.asked("until"))
    under = visit.asked("under")
    results = SearchResults()
    if query:
        try:
            only: Literal["pages"] | None = None if visit.sees_entries else "pages"
            results = visit.subject.quick.search(query, MOST, since=since, until=until, under=under or None, only=only)
        except SilicaError as error:
            problem = str(error)
    entries = {result.entry for result in results if isinstance(result, EntryResult)}
    return visit.show(
        "search",
        query=query,
        marks=" ".join((query, *results.respelled.values())),
        results=results,
        entries=entries,
        since=since or "",
        until=until or "",
        under=under,
        problem=problem,
    )
