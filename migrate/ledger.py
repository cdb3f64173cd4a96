"""What imports have brought in, so that a second run changes nothing: the revision of an import has it as its text, a
row of JSON for each document. An import that is undone does not count, so it can be run again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from memory_v2.errors import StorageError
from memory_v2.plan import SKIP, Step
from memory_v2.storage.base import IMPORTS, MemoryStorage, version_of
from memory_v2.storage.history import IMPORT, History, Revision
from memory_v2.tree.block import encode

Action: TypeAlias = Literal["create", "merge", "append", "follow", "skip"]
"""What is done with a document. `create` makes a page of it; `merge` lets the model work it into the tree; `append`
puts it at the end of the root, to be divided as the root grows; `follow` brings a page to the document's new state;
`skip` leaves it."""
Status: TypeAlias = Literal["created", "merged", "appended", "followed", "unchanged", "skipped", "failed"]
"""What became of a document. `unchanged` is as an earlier run left it. `skipped` was left alone for a reason that a
person may want to know: it is there already, it changed on both sides, its page was deleted. `failed` is tried again by
the next run."""
UNCHANGED = "as it was brought in"
"""The reason of a step for a document that an earlier run brought in, and that is as it was."""
STATUSES: tuple[Status, ...] = get_args(Status)
_APPLIED: Mapping[str, Status] = {
    "create": "created",
    "merge": "merged",
    "append": "appended",
    "follow": "followed",
}


def status_of(step: Step) -> Status:
    """What became of the document of a step, after a run."""
    if step.action == SKIP:
        return "unchanged" if step.reason == UNCHANGED else "skipped"
    return _APPLIED[step.action] if step.applied else "failed"


def totals_of(steps: Iterable[Step]) -> dict[str, int]:
    """How many documents have each status."""
    counted = Counter(map(status_of, steps))
    return {status: counted[status] for status in STATUSES}


@dataclass(frozen=True, slots=True)
class Imported:
    """A document that was brought in: the digest of its text then, the page that got it, the operation, and how."""

    digest: str
    page: str
    operation: str
    action: str = "create"


def digest_of(text: str) -> str:
    """Equal for equal texts."""
    return version_of(encode(text))


def record_of(source: Path | str, steps: Iterable[Step], pages: Mapping[str, str]) -> str:
    """The text of the revision that brings documents of a source to these pages."""
    rows = [(step.name, pages[step.name], step.facts["digest"], step.action) for step in steps if step.name in pages]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in ((_resolved(source),), *rows))


def imported_from(storage: MemoryStorage, source: Path | str) -> dict[str, Imported]:
    """What was brought in from a source and counts, by the document's name; of several the newest. Raises
    `StorageError`."""
    found: dict[str, Imported] = {}
    for revision in _current(storage.history):
        rows = [row for line in revision.text.split("\n") if (row := _row(line))]
        if rows and rows[0] == [_resolved(source)]:
            for name, page, digest, action in (row for row in rows if len(row) == 4):
                found.setdefault(name, Imported(digest, page, revision.operation, action))
    return found


@contextmanager
def claimed(storage: MemoryStorage, source: Path | str) -> Iterator[None]:
    """Holds off other imports from the same source. Raises `StorageError` if one is running."""
    with storage.state.claim(f"{IMPORTS}/{version_of(encode(_resolved(source)))[:16]}") as is_free:
        if not is_free:
            raise StorageError(f"another import from {source} is running; wait until it has ended")
        yield


def _resolved(source: Path | str) -> str:
    return str(Path(source).resolve())


def _row(line: str) -> list[str]:
    """A row of JSON; empty if it is none any more, since something in it was forgotten."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return row if isinstance(row, list) and all(isinstance(cell, str) for cell in row) else []


def _current(history: History) -> Iterator[Revision]:
    """The revisions of imports that are not undone, newest first."""
    undone: set[str] = set()
    for revision in history.revisions() if history.begun else ():
        if revision.undoes and revision.operation not in undone:
            undone.add(revision.undoes)
        if revision.kind == IMPORT and revision.operation not in undone:
            yield revision
