"""The operations on entries: their rows of the table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memory_v2.operations import rows
from memory_v2.operations.row import Argument, Row

if TYPE_CHECKING:
    from memory_v2.entries.capture import Captured, CapturedBatch
    from memory_v2.entries.entry import Entry
    from memory_v2.operations.check import Checkup

AGENT = Argument("agent", "str | None", "Whose entries: an agent's name.", None)

CAPTURE: Row[Captured] = Row(
    "capture",
    "entries.capture:capture",
    "Put down an observation at once; no model is asked.",
    (
        Argument("text", "str", "What was observed, in Markdown."),
        Argument("agent", "str | None", "Whose entry it is. Default: the agent of the settings, else 'default'.", None),
        Argument("tags", "Iterable[str]", "A tag; may be repeated.", ()),
        Argument("confidence", "float | None", "How sure it is, from 0 to 1.", None),
        Argument("importance", "float | None", "How much it matters, from 0 to 1.", None),
        Argument(
            "decay",
            "Decay | str | None",
            "How its weight falls with its age: linear-30d, exponential-30d, ttl-30d; none by default.",
            None,
        ),
        Argument("kind", "str", "What it is, such as observation, decision or lesson.", "observation"),
        Argument("home", "str | None", "The domain or the page where it belongs. Default: the inbox.", None),
        Argument("source", "str | None", "Who says so.", None),
        Argument("channel", "str | None", "By which channel it came.", None),
        Argument("session", "str | None", "In which session.", None),
        Argument("location", "str | None", "Where it stands: a file and a line, or an address.", None),
        Argument(
            "references",
            "Iterable[str]",
            "What it refers to: an entry, a page or a domain, after the relation if there is one; may be repeated.",
            (),
        ),
        Argument(
            "date",
            "date | str | None",
            "The day it was observed, such as 2026-02-03, or a moment with its time zone. Default: today.",
            None,
        ),
        Argument("scope", "Scope", "Whether it is about the agent's work or its user.", "agent", ("agent", "user")),
    ),
    works_on="entries",
    changes="entries",
)

CAPTURE_BATCH: Row[CapturedBatch] = Row(
    "capture_batch",
    "entries.capture:capture_batch",
    "Put down many observations.",
    (
        Argument(
            "lines", "Iterable[str | Mapping[str, Any]]", "A JSON object for each, with the arguments of a capture."
        ),
    ),
    works_on="entries",
    changes="entries",
)

LIST_ENTRIES: Row[list[Entry]] = Row(
    "list_entries",
    "entries.reading:list_entries",
    "List entries, oldest first.",
    (
        AGENT,
        Argument("tag", "str | None", "Only entries with this tag, in any case.", None),
        Argument("archived", "bool", "Those in the archive too.", False),
    ),
    works_on="entries",
    listed_as="entries",
)

READ_ENTRY: Row[Entry] = Row(
    "read_entry",
    "entries.reading:read_entry",
    "Read an entry.",
    (Argument("id", "str", "The entry: hawk/obs-2026-02-15-001, or without the agent."),),
    works_on="entries",
)

CHECK: Row[Checkup] = replace(
    rows.CHECK, function="entries.checking:check", about="Check the tree and the entries for problems, and repair them."
)
"""Checking as a whole: the tree, as the operation below does, and the entries."""

ROWS: tuple[Row[Any], ...] = (CAPTURE, CAPTURE_BATCH, LIST_ENTRIES, READ_ENTRY, CHECK)
