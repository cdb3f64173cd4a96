"""The row of the search over pages and entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_v2.operations.row import Argument, Row

if TYPE_CHECKING:
    from memory_v2.operations.results import SearchResults

SEARCH: Row[SearchResults] = Row(
    "search",
    "entries.searching:search",
    "Search the memory for an answer.",
    (
        Argument("query", "str", "The question."),
        Argument("max_results", "int", "The maximum number of answers.", 10),
        Argument(
            "max_tokens", "int | None", "As many answers as fit into this many tokens, instead, for a prompt.", None
        ),
        Argument("under", "str | None", "Only this page and those below it.", None),
        Argument("since", "date | str | None", "Only what was said on this day or later, such as 2026-02-03.", None),
        Argument("until", "date | str | None", "Only what was said on this day or before.", None),
        Argument("source", "str | None", "Only what came from a source with this in its name.", None),
        Argument("near", "str | None", "Only this page and those that links join to it.", None),
        Argument("steps", "int", "How many links away from the page that is near.", 1),
        Argument(
            "regex",
            "bool",
            "The query is a regular expression: find the lines that match, in the order of pages.",
            False,
        ),
        Argument("only", "str | None", "Only pages, or only entries.", None, ("pages", "entries")),
        Argument("agent", "str | None", "Only entries of this agent, or shared ones.", None),
        Argument("domain", "str | None", "Only entries whose home is this domain or page; or inbox.", None),
        Argument("tags", "Iterable[str]", "Only entries with this tag, in any case; may be repeated.", ()),
        Argument("min_confidence", "float | None", "Only entries with at least this confidence, from 0 to 1.", None),
        Argument("cross", "bool", "Entries that references join to what is found, too, one step either way.", False),
        Argument("archived", "bool", "Entries in the archive, too.", False),
    ),
    is_recorded=True,
    is_replayable=True,
    listed_as="results",
    repeats=("query",),
)

ALWAYS_TOLD = ("query", "max_results", "steps", "regex")
"""The arguments that the trace of a search has, whatever they are; it has the others only if they are given."""
