"""The format of a store: its files beside the pages, and the syntax of a page.

    1   pages, and perhaps a history; no format note
    2   adds notes: a journal of the change in progress, and texts that are still to be written
    3   history first: a change has happened once it is recorded, a second ref names the revision that is checked out,
        and there is no journal
    4   3 while the history is rewritten: the note has the journal under `rewriting`, and the next change finishes it
    5   the folder `entries` is not the tree's: what is in it are entries
    6   5 while the history is rewritten

The first change upgrades an older store, after recording its pages as they are. A store in a newer format is refused.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_v2.errors import StorageError
from memory_v2.storage.base import StateFiles, is_note_name
from memory_v2.storage.history import Revision
from memory_v2.tree.block import encode
from memory_v2.tree.path import page_path

FORMAT = 5
NOTE = "format"
HISTORY_FIRST = 3
"""The first format in which a change has happened once it is recorded."""
_REWRITING = {4: 3, 6: 5}
"""The formats of stores whose history is being rewritten, each with the one that they have afterwards."""
_JOURNAL = "journal"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoreFormat:
    """The format of a store, and the journal of a rewriting of its history that is not finished. 0 stands for a new
    store, and for one of format 1."""

    number: int
    rewriting: Mapping[str, Any] | None = None

    @property
    def is_current(self) -> bool:
        """Whether this version of the program writes this format."""
        return self.number == FORMAT


def is_current(notes: StateFiles) -> bool:
    """Whether the store is in the current format; a new store is not. Raises `StorageError` if it is newer or
    unknown."""
    return read_format(notes).is_current


def read_format(notes: StateFiles) -> StoreFormat:
    """The format of a store. Raises `StorageError` if it is newer or unknown."""
    data = notes.read(NOTE)
    if data is None:
        return StoreFormat(0)
    try:
        noted = json.loads(data)
        version = noted["format"]
        is_known = bool(version <= FORMAT)
        if version in _REWRITING and isinstance(noted.get("rewriting"), dict):
            return StoreFormat(_REWRITING[version], noted["rewriting"])
    except (ValueError, TypeError, LookupError) as error:
        raise StorageError(
            "the note .metadata/format.json of this memory cannot be read, so its format is unknown; "
            f'if no newer version of this program has used it, make it {{"format": {FORMAT}}}'
        ) from error
    if not is_known:
        raise StorageError(
            f"this memory is in format {version}, and this version of the program knows {FORMAT} and older ones: "
            "install a newer version of silica-memory"
        )
    return StoreFormat(version)


def write_format(notes: StateFiles, number: int = FORMAT) -> None:
    """Notes that the store is in this format."""
    notes.write(NOTE, json.dumps({"format": number}).encode() + b"\n")


def write_rewriting(notes: StateFiles, journal: Mapping[str, Any]) -> None:
    """Notes the journal of a rewriting of the history. Older versions of this program refuse the store meanwhile."""
    notes.write(NOTE, json.dumps({"format": max(_REWRITING), "rewriting": journal}).encode() + b"\n")


@dataclass(frozen=True, slots=True)
class Step:
    """One page of a change in a journal: its version before (empty if it did not exist) and its bytes after."""

    path: str
    before: str
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An interrupted change of format 2; `note` is the name of its journal."""

    steps: tuple[Step, ...]
    revision: Revision
    note: str = _JOURNAL


def unfinished_by_format_2(notes: StateFiles) -> Unfinished | None:
    """The interrupted change in the journal of format 2, or `None`. A damaged journal is kept under another name."""
    noted = notes.read(_JOURNAL)
    if noted is None:
        return None
    try:
        return _unfinished(json.loads(noted))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        notes.write(f"{_JOURNAL}-damaged", noted)
        notes.remove(_JOURNAL)
        logger.warning("an interrupted change cannot be read; its journal is kept as .metadata/journal-damaged.json")
        return None


def _unfinished(journal: Any) -> Unfinished:
    noted = journal["entry"]
    if not is_note_name(noted["operation"]):
        raise ValueError("not a valid operation id")
    steps = (
        Step(page_path(page["path"]), str(page["before"]), None if page["after"] is None else encode(page["after"]))
        for page in journal["pages"]
    )
    when = datetime.fromisoformat(noted["when"])
    all_steps = tuple(steps)
    revision = Revision(
        kind=str(noted["kind"]),
        summary=str(noted["summary"]),
        operation=noted["operation"],
        decided_by=str(noted["decided_by"]),
        degraded=str(noted["degraded"]),
        undoes=str(noted["undoes"]),
        why=tuple(map(str, noted["why"])),
        when=when,
        paths=tuple(step.path for step in all_steps),
    )
    return Unfinished(all_steps, revision)
