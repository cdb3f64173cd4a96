"""The operations by which people keep entries in order: their rows of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory_v2.entries.rows import APPLY
from memory_v2.operations.row import Argument, Row

if TYPE_CHECKING:
    from memory_v2.entries.entry import Reference
    from memory_v2.entries.retracting import Retracted
    from memory_v2.plan import Plan

ID = Argument("id", "str", "The entry: hawk/obs-2026-02-15-001, or without the agent.")

DEDUPE: Row[Plan] = Row(
    "dedupe",
    "entries.dedup:dedupe",
    "Find the entries that say the same, and move all but one to the archive.",
    (APPLY,),
    works_on="entries",
    changes="entries",
)

RETRACT: Row[Retracted] = Row(
    "retract",
    "entries.retracting:retract",
    "Close an entry that turned out to be wrong or old.",
    (
        ID,
        Argument("why", "str", "Why, in one line."),
        Argument("superseded_by", "str | None", "The entry that holds instead.", None),
    ),
    works_on="entries",
    changes="entries",
)

REFERRED_TO_BY: Row[list[Reference]] = Row(
    "referred_to_by",
    "entries.reading:referred_to_by",
    "List the entries that refer to an entry.",
    (ID,),
    works_on="entries",
    listed_as="referred_to_by",
)

ROWS: tuple[Row[Any], ...] = (DEDUPE, RETRACT, REFERRED_TO_BY)
