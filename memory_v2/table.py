"""The table of operations: every face, the replay and the story of a trace read from it what can be done.

A room that brings operations exports their rows; they are joined here. Importing the table imports no operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_v2.checkpoints import rows as checkpoint_rows
from memory_v2.entries import curation_rows, deciding_rows
from memory_v2.entries import rows as entry_rows
from memory_v2.operations import rows
from memory_v2.operations.row import Row

TABLE: Mapping[str, Row[Any]] = {
    row.name: row
    for row in (*rows.ROWS, *entry_rows.ROWS, *curation_rows.ROWS, *deciding_rows.ROWS, *checkpoint_rows.ROWS)
}
"""Every operation by its name."""
