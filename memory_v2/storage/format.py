"""Which format a store is in: how things lie beside the pages, and what a page looks like.

    1   pages, and perhaps a history; nothing says so
    2   the same, with notes of what is under way: a journal of the change that is being stored, texts that wait
    3   the history comes first: a change has happened once it is recorded, and a second ref says how far the pages
        have been written; there is no journal

The first change brings an older store up to date, after its pages have been recorded as they were. A store in a newer
format is refused.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_v2.errors import StorageError
from memory_v2.storage.base import Notes, is_note_name
from memory_v2.storage.history import Revision
from memory_v2.tree.block import encode
from memory_v2.tree.path import page_path

FORMAT = 3
NOTE = "format"
_JOURNAL = "journal"

logger = logging.getLogger(__name__)


def is_current(notes: Notes) -> bool:
    """Whether the store is in this format; a new store is not. Raises `StorageError` for a newer format."""
    data = notes.read(NOTE)
    if data is None:
        return False
    try:
        found = json.loads(data)["format"]
        is_older = bool(found < FORMAT)
    except (ValueError, TypeError, LookupError) as error:
        raise StorageError(
            "the note .metadata/format.json of this memory cannot be read, so its format is unknown; "
            f'if no newer version of this program has used it, make it {{"format": {FORMAT}}}'
        ) from error
    if found > FORMAT:
        raise StorageError(
            f"this memory is in format {found}, and this version of the program knows {FORMAT} and older ones: "
            "install a newer version of silica-memory"
        )
    return not is_older


def write_format(notes: Notes) -> None:
    """Says that the store is in this format."""
    notes.write(NOTE, json.dumps({"format": FORMAT}).encode() + b"\n")


@dataclass(frozen=True, slots=True)
class Step:
    """A page of a change in format 2: its version before (empty: none), and its bytes after."""

    path: str
    before: str
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A change that a program of format 2 noted, as `note`, and did not complete."""

    steps: tuple[Step, ...]
    revision: Revision
    note: str = _JOURNAL


def unfinished_by_format_2(notes: Notes) -> Unfinished | None:
    """The change that format 2 left in its journal. One that cannot be read is kept under another name."""
    noted = notes.read(_JOURNAL)
    if noted is None:
        return None
    try:
        return _unfinished(json.loads(noted))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        notes.write(f"{_JOURNAL}-damaged", noted)
        notes.remove(_JOURNAL)
        logger.warning("a change that was cut short cannot be read; its note is kept as .metadata/journal-damaged.json")
        return None


def _unfinished(journal: Any) -> Unfinished:
    told = journal["entry"]
    if not is_note_name(told["operation"]):
        raise ValueError("no operation has this name")
    steps = (
        Step(page_path(page["path"]), str(page["before"]), None if page["after"] is None else encode(page["after"]))
        for page in journal["pages"]
    )
    when = datetime.fromisoformat(told["when"])
    found = tuple(steps)
    revision = Revision(
        kind=str(told["kind"]),
        summary=str(told["summary"]),
        operation=told["operation"],
        decided_by=str(told["decided_by"]),
        degraded=str(told["degraded"]),
        undoes=str(told["undoes"]),
        why=tuple(map(str, told["why"])),
        when=when,
        paths=tuple(step.path for step in found),
    )
    return Unfinished(found, revision)
