"""The operations on entries: their rows of the table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memory_v2.entries.search_row import SEARCH
from memory_v2.operations import rows
from memory_v2.operations.row import Argument, Row

if TYPE_CHECKING:
    from memory_v2.entries.capture import Captured, CapturedBatch
    from memory_v2.entries.domains import DomainFile
    from memory_v2.entries.entry import Entry
    from memory_v2.entries.routing import Routing
    from memory_v2.entries.summary import Summary
    from memory_v2.operations.check import Checkup
    from memory_v2.plan import Plan

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

APPLY = Argument("apply", "bool", "Carry the plan out; otherwise only show it.", False)

ROUTE: Row[Plan] = Row(
    "route",
    "entries.routing:route",
    "Find the home of each entry in the inbox.",
    (APPLY,),
    works_on="entries",
    changes="entries",
)

ROUTE_TEXT: Row[Routing] = Row(
    "route_text",
    "entries.routing:route_text",
    "Say where a text would be routed, and why.",
    (Argument("text", "str", "The text."),),
    works_on="entries",
)

AGE: Row[Plan] = Row(
    "age",
    "entries.ageing:age",
    "Find the entries that have expired, and move them to the archive.",
    (APPLY,),
    works_on="entries",
    changes="entries",
)

PACK: Row[Plan] = Row(
    "pack",
    "entries.ageing:pack",
    "Find old entries of low importance, and pack them in the archive: a file for many.",
    (
        Argument("older_than", "int", "They are more than so many days old.", 90),
        Argument("importance", "float", "They are less important; archived ones may also say no importance.", 0.3),
        APPLY,
    ),
    works_on="entries",
    changes="entries",
)

PROMOTE: Row[Plan] = Row(
    "promote",
    "entries.sharing:promote",
    "Find the entries that are sure enough to be shared, and copy them into the shared space.",
    (
        Argument("threshold", "float", "The least confidence, from 0 to 1.", 0.8),
        Argument("require_verified", "bool", "Only entries that somebody has verified.", False),
        Argument("only", "str | None", "Only this entry, however sure it is.", None),
        APPLY,
    ),
    works_on="entries",
    changes="entries",
)

STATUS: Row[Summary] = Row(
    "status",
    "entries.summary:status",
    "Count the entries of each domain, with their importance.",
    works_on="entries",
)

DOMAINS: Row[DomainFile] = Row(
    "domains",
    "entries.domains:domains",
    "Get the domains that entries are routed to, with their keywords.",
    works_on="entries",
)

SET_DOMAINS: Row[DomainFile] = Row(
    "set_domains",
    "entries.domains:set_domains",
    "Store other domains.",
    (Argument("text", "str", "The domains, as TOML."),),
    works_on="entries",
    changes="entries",
)

IMPORT_FILES: Row[Plan] = Row(
    "import_files",
    "entries.importing:import_files",
    "Bring in the observations of vaults and the transactions of shards.",
    (
        Argument("files", "Mapping[str, bytes]", "The files, by name, with their bytes."),
        Argument("agent", "str | None", "Whose entries transactions become. Default: the agent of the settings.", None),
        APPLY,
    ),
    works_on="entries",
    changes="entries",
)

EXPORT_SHARDS: Row[dict[str, Any]] = Row(
    "export_shards",
    "entries.importing:export_shards",
    "Get the domains as DARYL's shards, and their summary, by file.",
    works_on="entries",
)

ROWS: tuple[Row[Any], ...] = (
    CAPTURE,
    CAPTURE_BATCH,
    LIST_ENTRIES,
    READ_ENTRY,
    ROUTE,
    ROUTE_TEXT,
    AGE,
    PACK,
    PROMOTE,
    STATUS,
    DOMAINS,
    SET_DOMAINS,
    IMPORT_FILES,
    EXPORT_SHARDS,
    CHECK,
    SEARCH,
)
