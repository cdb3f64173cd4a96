"""The row of the search over pages and entries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memory_v2.operations import rows
from memory_v2.operations.row import Argument, Row

if TYPE_CHECKING:
    from memory_v2.operations.results import SearchResults

SEARCH: Row[SearchResults] = replace(
    rows.SEARCH,
    function="entries.searching:search",
    arguments=(
        *rows.SEARCH.arguments,
        Argument("only", "str | None", "Only pages, or only entries.", None, ("pages", "entries")),
        Argument("agent", "str | None", "Only entries of this agent, or shared ones.", None),
        Argument("domain", "str | None", "Only entries whose home is this domain or page; or inbox.", None),
        Argument("tags", "Iterable[str]", "Only entries with this tag, in any case; may be repeated.", ()),
        Argument("min_confidence", "float | None", "Only entries with at least this confidence, from 0 to 1.", None),
        Argument("cross", "bool", "Entries that references join to what is found, too, one step either way.", False),
        Argument("archived", "bool", "Entries in the archive, too.", False),
    ),
)
"""Searching as a whole: the tree, as the operation below does, and the entries."""
