"""Where pages live: what every backend promises, and the conformance suite in `tests/conformance` holds it to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

if TYPE_CHECKING:
    from memory_v2.storage.history import History


@dataclass(frozen=True, slots=True)
class Absent:
    """The expectation that nothing is there yet."""


@dataclass(frozen=True, slots=True)
class Anything:
    """No expectation: whatever is there, or nothing."""


ABSENT: Final = Absent()
ANY: Final = Anything()
Expected: TypeAlias = Absent | Anything | str
"""What a write or a delete expects to find: nothing, whatever, or this version."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The bytes of a page, and the version they are: equal versions mean equal bytes."""

    data: bytes
    version: str


@dataclass(frozen=True, slots=True)
class Stamp:
    """What is cheap to know of every page: when two stamps of a path are equal, nobody has changed it."""

    path: str
    size: int
    mark: str


class MemoryStorage(Protocol):
    """Bytes under page paths.

    Paths are valid (`tree.path.page_path`) and in NFC. Every change is atomic and durable when the call returns: a
    reader sees the old bytes or the new ones. A failure of the disk or the service is a `StorageError`; an expectation
    that does not hold is a `StorageConflict`, and nothing was changed.
    """

    @property
    def where(self) -> str:
        """The place, in words for a person: a folder, a bucket."""

    @property
    def history(self) -> History | None:
        """What happened to the pages; `None` where no history is kept."""

    @property
    def cache_folder(self) -> Path | None:
        """A folder for what can be derived again; `None` where there is no such place, or it cannot be written."""

    def read(self, path: str) -> Stored:
        """The page's bytes and version; raises `PageNotFound`."""

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        """Stores the bytes and returns their version."""

    def delete(self, path: str, expected: Expected = ANY) -> None:
        """Removes the page; raises `PageNotFound` if there is none, unless `ABSENT` or `ANY` was expected."""

    def exists(self, path: str) -> bool:
        """Whether a page is there."""

    def list_files(self) -> list[str]:
        """The paths of all pages, sorted."""

    def get_size(self, path: str) -> int:
        """The page's size in bytes; raises `PageNotFound`."""

    def get_modified_time(self, path: str) -> datetime:
        """When the page's bytes were last changed, in UTC; raises `PageNotFound`."""

    def stamps(self) -> Iterator[Stamp]:
        """A stamp of every page, in no order, without reading any."""

    def strays(self) -> list[tuple[str, str]]:
        """Markdown files that are no pages, with the reason: (name as it is stored, one sentence)."""

    def lock(self) -> AbstractContextManager[None]:
        """Held by one commit at a time, among all threads and processes on this store; never while a model thinks."""
