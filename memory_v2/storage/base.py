"""Where pages live: what every backend promises, and the conformance suite in `tests/conformance` holds it to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

if TYPE_CHECKING:
    from memory_v2.storage.history import Change, History, Revision


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


PENDING: Final = "pending"
"""The folder of the notes about what is not done yet, see `pending.notes`."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The bytes of a page, and the version they are: equal versions mean equal bytes."""

    data: bytes
    version: str


def version_of(data: bytes) -> str:
    """The version that these bytes are, in every store."""
    return hashlib.sha256(data).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Stamp:
    """What is cheap to know of every page: when two stamps of a path are equal, nobody has changed it."""

    path: str
    size: int
    mark: str


def is_note_name(part: str) -> bool:
    """Whether a note may be called so: no name leads out of its folder, and every disk can hold it."""
    return re.fullmatch("[0-9A-Za-z-]{1,64}", part) is not None


class Notes(Protocol):
    """Small things that the program notes beside the pages, such as a text that is to be written.

    A name is `format` or `pending/1f3a`: one part or two, each as `is_note_name` says. A note exists as a whole or not
    at all, and is durable when the call returns. A failure is a `StorageError`.
    """

    @property
    def recovery_interval(self) -> float:
        """The seconds after which it is worth while to look for what others have left."""

    def read(self, name: str) -> bytes | None:
        """The note; `None` if there is none."""

    def write(self, name: str, data: bytes) -> None:
        """Makes the note what it should be, whatever it was."""

    def remove(self, name: str) -> None:
        """Removes the note, if it is there."""

    def names(self, folder: str) -> list[str]:
        """The notes whose names begin with that part, sorted."""

    def claim(self, name: str) -> AbstractContextManager[bool]:
        """Whether nobody else is at work on what is noted there; as long as it is held, others are told that somebody
        is. A process that dies lets go of it. A courtesy, by which work is not done twice: nothing may depend on it."""

    def sweep(self) -> None:
        """Removes what processes that died have left of notes and claims; what cannot be removed stays."""


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
    def history(self) -> History:
        """The record of all changes."""

    @property
    def notes(self) -> Notes:
        """What the program notes for itself."""

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

    def ignored_files(self) -> list[tuple[str, str]]:
        """Markdown files that are no pages, with the reason: (name as it is stored, one sentence)."""

    def remove_temporary(self, paths: Iterable[str]) -> None:
        """Removes temporary files which writes that did not end have left beside these pages. To be called under the
        lock; what cannot be removed stays."""

    def lock(self) -> AbstractContextManager[None]:
        """Held for one change at a time, among all threads and processes on this store; never while a model thinks.
        Re-entrant in a thread. It is the outermost lock: nothing that holds one of the index asks for it."""

    def apply(self, change: Change) -> Change:
        """Makes the change as a whole, even if the program is killed in the middle, and records it; returns it with the
        id of its revision. Pages that were edited by hand are recorded as such first. Raises `StorageConflict` if a
        page is not as it was before the change, and `StorageError`; then nothing was changed, unless the error says
        that the change will be completed later."""

    def interrupted(self) -> Revision | None:
        """The change that a crash cut short, if there is one. Cheap to ask. Raises `StorageError` for a store in a
        newer format."""

    def finish(self) -> tuple[str, ...]:
        """Completes the change that a crash cut short; returns its pages. A page that was edited by hand meanwhile
        keeps the edit."""

    def record_external_edits(self, paths: Iterable[str], now: datetime) -> None:
        """Records what somebody did to these pages by hand, once the history has begun."""

    def begin(self, now: datetime) -> None:
        """Begins the history with the pages as they are, if it has not begun."""
