"""The ledger of imports: which document was brought in by which operation, so that a second run changes nothing.

A batch is noted before it is stored, with the id of its operation. A note counts only if that operation is in the
history and not undone: so a killed run needs no repair, and whoever undoes an import can run it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memory_v2.storage.base import MemoryStorage


@dataclass(frozen=True, slots=True)
class Imported:
    """A document that was brought in: the digest of its text then, the page that got it, and the operation."""

    digest: str
    page: str
    operation: str


class Ledger:
    """The imports from one source into one memory, kept as notes `imports/…`."""

    def __init__(self, storage: MemoryStorage, source: Path) -> None:
        self._storage = storage
        self._source = source

    def read(self) -> Mapping[str, Imported]:
        """What was brought in and counts, by the document's name; of several the newest."""
        raise NotImplementedError

    def note(self, operation: str, batch: Mapping[str, Imported]) -> None:
        """Notes a batch before it is stored. Raises `StorageError`."""
        raise NotImplementedError
