"""The format of a store: the file `.metadata/format.json`, which the first change writes. A store in another format is
refused. While the history is rewritten, so that something was never in it, the file holds the journal too.

The new history is staged beside the old one first, where nothing reads it. The journal then says what is left to do:
from that moment on the text is forgotten, since all that follows needs neither the text nor a decision, and the next
change, also that of another process, finishes it. See `VersionedStorage.rewrite`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_v2.errors import StorageError
from memory_v2.storage.base import StateFiles, version_of
from memory_v2.storage.history import compared
from memory_v2.tree.block import decode, encode
from memory_v2.tree.path import page_path

FORMAT = 1
NOTE = "format"
REPAIR = f'make .metadata/format.json {{"format": {FORMAT}}}'
"""What to do about a file that cannot be read."""


def read_format(state: StateFiles) -> Mapping[str, Any]:
    """The content of the file; empty for a store that has none yet. Raises `StorageError` for another format."""
    data = state.read(NOTE)
    if data is None:
        return {}
    try:
        content = json.loads(data)
        number = content["format"]
        is_number = isinstance(number, int)
    except (ValueError, TypeError, LookupError, RecursionError):
        is_number = False
    if not is_number:
        raise StorageError(
            "the file .metadata/format.json of this memory cannot be read, so its format is unknown; "
            f"if no other version of this program has used it, {REPAIR}"
        )
    if number != FORMAT:
        raise StorageError(
            f"this memory is in format {number}, and this version of the program knows format {FORMAT} only: "
            "use the version of silica-memory that made it"
        )
    return dict(content)


def write_format(state: StateFiles, journal: Mapping[str, Any] | None = None) -> None:
    """Writes the file, with the journal of a rewriting that has been decided."""
    content = {"format": FORMAT} | ({"rewriting": journal} if journal else {})
    state.write(NOTE, json.dumps(content).encode() + b"\n")


@dataclass(frozen=True, slots=True)
class PageRewrite:
    """One page of a rewriting: its version before (empty if it did not exist) and its bytes after."""

    path: str
    before: str
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Journal:
    """A rewriting that is decided: the pages, each with its version before and its bytes after, what the history needs,
    and which operation it is, of when."""

    steps: tuple[PageRewrite, ...]
    history: Mapping[str, Any]
    operation: str
    when: datetime

    def to_dict(self) -> dict[str, Any]:
        """As the note of the format has it."""
        pages = [
            {"path": step.path, "before": step.before, "after": None if step.after is None else decode(step.after)}
            for step in self.steps
        ]
        told = {"operation": self.operation, "when": self.when.isoformat()}
        return told | {"pages": pages, "history": dict(self.history)}


def journal_of(noted: Mapping[str, Any]) -> Journal:
    """The journal in a note. Raises `StorageError` if it is damaged."""
    try:
        pages = [(page_path(page["path"]), str(page["before"]), page["after"]) for page in noted["pages"]]
        steps = tuple(
            PageRewrite(path, before, None if after is None else encode(after)) for path, before, after in pages
        )
        return Journal(steps, dict(noted["history"]), str(noted["operation"]), datetime.fromisoformat(noted["when"]))
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise StorageError(
            "the file .metadata/format.json of this memory tells of something that is being forgotten, and cannot be "
            f"read; {REPAIR}, and forget it again"
        ) from error


def steps_between(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> tuple[PageRewrite, ...]:
    """The steps from one state of all pages to another, new pages first, removals last."""
    changes = sorted(compared(old, new), key=lambda page: (page.after is None, page.before is not None))
    return tuple(
        PageRewrite(page.path, "" if page.before is None else version_of(page.before), page.after) for page in changes
    )
