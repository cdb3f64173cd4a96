"""The operations on entries that a model takes part in: their rows of the table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memory_v2.entries import rows
from memory_v2.entries.rows import AGENT, APPLY
from memory_v2.operations.row import Argument, Row

if TYPE_CHECKING:
    from memory_v2.plan import Plan

ROUTE: Row[Plan] = replace(rows.ROUTE, function="entries.route_task:route", is_recorded=True)
"""Routing with a model, which sorts what the rules leave."""

CONSOLIDATE: Row[Plan] = Row(
    "consolidate",
    "entries.consolidation:consolidate",
    "Work entries into the pages that they belong to.",
    (
        Argument("home", "str | None", "Only entries with this home: a domain, a page, or inbox.", None),
        AGENT,
        Argument("since", "date | str | None", "Only entries of this day or later, such as 2026-02-03.", None),
        Argument("until", "date | str | None", "Only entries of this day or before.", None),
        APPLY,
    ),
    works_on="entries",
    changes="tree",
    is_recorded=True,
)

ROWS: tuple[Row[Any], ...] = (CONSOLIDATE,)
