"""The ledger of imports: which document was brought in by which operation, so that a second run changes nothing.

A batch is noted before it is stored, with the id of its operation. A note counts only if that operation is in the
history and not undone: so a killed run needs no repair, and whoever undoes an import can run it again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from memory_v2.errors import StorageError, Unreadable
from memory_v2.plan import SKIP, Step
from memory_v2.storage.base import IMPORTS, MemoryStorage, version_of
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
    action: Action = "create"


def digest_of(text: str) -> str:
    """Equal for equal texts."""
    return version_of(encode(text))


class Ledger:
    """The imports from one source into one memory, kept as notes `imports/…`."""

    def __init__(self, storage: MemoryStorage, source: Path | str) -> None:
        self._storage = storage
        self._source = Path(source).resolve()
        self._name = f"{IMPORTS}/{version_of(encode(str(self._source)))[:16]}"

    def read(self) -> Mapping[str, Imported]:
        """What was brought in and counts, by the document's name; of several the newest. Raises `StorageError`."""
        noted = {name.rpartition("-")[2]: name for name in self._storage.state.names(IMPORTS) if self._is_own(name)}
        found: dict[str, Imported] = {}
        for operation in self._current():
            if operation in noted:
                for name, imported in self._read(noted[operation], operation):
                    found.setdefault(name, imported)
        return found

    def note(self, operation: str, batch: Mapping[str, Imported]) -> None:
        """Notes a batch before it is stored. Raises `StorageError`."""
        documents = {name: [one.digest, one.page, one.action] for name, one in batch.items()}
        data = {"source": str(self._source), "operation": operation, "documents": documents}
        self._storage.state.write(f"{self._name}-{operation}", json.dumps(data, indent=1).encode())

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Holds off other imports from the same source. Raises `StorageError` if one is running."""
        with self._storage.state.claim(self._name) as is_free:
            if not is_free:
                raise StorageError(f"another import from {self._source} is running; wait until it has ended")
            yield

    def _is_own(self, name: str) -> bool:
        return name.startswith(f"{self._name}-")

    def _current(self) -> Iterator[str]:
        """The operations in the history that are not undone, newest first."""
        history = self._storage.history
        undone: set[str] = set()
        seen: set[str] = set()
        for revision in history.revisions() if history.begun else ():
            if revision.undoes and revision.operation not in undone:
                undone.add(revision.undoes)
            if revision.operation not in seen and revision.operation not in undone:
                seen.add(revision.operation)
                yield revision.operation

    def _read(self, name: str, operation: str) -> Iterator[tuple[str, Imported]]:
        data = self._storage.state.read(name)
        try:
            documents: Any = json.loads(data or b"{}").get("documents", {})
            for document, (digest, page, action) in documents.items():
                yield document, Imported(digest, page, operation, action)
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise Unreadable(
                f"the note .metadata/{name}.json of an import cannot be read; remove it, and its documents are "
                "compared with the pages anew"
            ) from error
