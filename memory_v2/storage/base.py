"""Where pages live: the contract of every backend. The suite in `tests/conformance` checks each of them against it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeAlias

from memory_v2.errors import PageNotFound, StorageConflict
from memory_v2.storage.history import Change, History, Revision, Rewrite, Rules


class Expectation(Enum):
    """That the page does not exist, or any page or none."""

    ABSENT = 0
    ANY = 1


ABSENT, ANY = Expectation.ABSENT, Expectation.ANY
Expected: TypeAlias = Expectation | str
"""What a write or a delete expects to find: no page, anything, or this version."""

NOTE_SUFFIX: Final = ".json"
PENDING: Final = "pending"
"""The folder of the pending notes, which describe operations that are not finished; see `pending`."""
PLANS: Final = "plans"
"""The folder of the notes with what was planned about entries and can be carried out; see `entries.curation`."""
IMPORTS: Final = "imports"
"""The folder of the claims on sources that are being imported; see `migrate.ledger`."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The bytes of a page and their version. Equal versions mean equal bytes."""

    data: bytes
    version: str


def version_of(data: bytes) -> str:
    """The version of these bytes: the same in every store."""
    return hashlib.sha256(data).hexdigest()[:32]


def stored_page(storage: MemoryStorage, path: str) -> Stored | None:
    """The page, or `None` if it does not exist."""
    try:
        return storage.read(path)
    except PageNotFound:
        return None


def conflict(path: str, expected: Expected) -> StorageConflict:
    """The error for a page that is not as a write or a delete expected it."""
    happened = "is there already" if expected == ABSENT else "is no longer as it was when it was read"
    return StorageConflict(f"the page {path!r} {happened}; read it and try again")


class Stamp(NamedTuple):
    """A page's size and a mark, without reading it. If two stamps of a path are equal, the page has not changed."""

    path: str
    size: int
    mark: str


class Leftover(NamedTuple):
    """Bytes of the program's own that are neither a page, a note nor in the history: the name of a file or an object,
    and which old version of it."""

    name: str
    version: str = ""


def is_note_name(part: str) -> bool:
    """Whether this is one valid part of a note's name: it stays in its folder, and every disk can store it."""
    return re.fullmatch("[0-9A-Za-z-]{1,64}", part) is not None


def notes_in(folder: str, files: Iterable[str]) -> list[str]:
    """The names of the notes in a folder that has these files, sorted."""
    names = (file.removesuffix(NOTE_SUFFIX) for file in files if file.endswith(NOTE_SUFFIX))
    return sorted(f"{folder}/{name}" for name in names if is_note_name(name))


class StateFiles(Protocol):
    """Small files of the program's own beside the pages, such as a text that is still to be written.

    A name has one part or two (`format`, `pending/1f3a`), each valid for `is_note_name`. Writes are atomic, and durable
    when the call returns. Raises `StorageError` on failure.
    """

    recovery_interval: float
    """The shortest time, in seconds, between two searches for unfinished work of other processes."""

    def read(self, name: str) -> bytes | None:
        """Returns the note's bytes, or `None` if it does not exist."""

    def write(self, name: str, data: bytes) -> None:
        """Creates or replaces the note."""

    def remove(self, name: str) -> None:
        """Removes the note if it exists."""

    def names(self, folder: str) -> list[str]:
        """The names of the notes in a folder, sorted."""

    def claim(self, name: str, is_new: bool = False) -> AbstractContextManager[bool]:
        """Claims the work that a note describes: yields `True` unless somebody else holds the claim. If its process
        dies, the claim ends. Claims only save work; correctness must not depend on them. A note that `is_new` is about
        to be written for the first time, so nobody need be asked for it."""

    def sweep(self) -> None:
        """Removes temporary files and claims of processes that died. Files that cannot be removed are ignored."""
        return


class MemoryStorage(Protocol):
    """Bytes under page paths.

    Paths are valid (`tree.path.page_path`) and in NFC. Every write is atomic, and durable when the call returns: a
    reader sees the old bytes or the new ones. If the disk or the service fails, methods raise `StorageError`. If a page
    is not as expected, they raise `StorageConflict` and change nothing.
    """

    where: str
    """The place for a person to read: a folder or a bucket."""
    state: StateFiles
    """The state files of this store."""

    @property
    def history(self) -> History:
        """The record of all changes."""

    @property
    def cache_folder(self) -> Path | None:
        """A folder for derived data, which can be rebuilt; `None` if there is none or it is not writable."""

    def read(self, path: str) -> Stored:
        """The page's bytes and version; raises `PageNotFound`, and `Unreadable` if only this page cannot be read."""

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        """Stores the bytes and returns their version."""

    def delete(self, path: str, expected: Expected = ANY) -> None:
        """Removes the page. Raises `PageNotFound` if a version was expected and the page does not exist."""

    def exists(self, path: str) -> bool:
        """Whether the page exists."""

    def list_files(self) -> list[str]:
        """The paths of all pages, sorted; entries are none."""

    def get_size(self, path: str) -> int:
        """The page's size in bytes; raises `PageNotFound`."""

    def get_modified_time(self, path: str) -> datetime:
        """When the page's bytes were last changed, in UTC; raises `PageNotFound`."""

    def stamps(self, below: str = "") -> Iterator[Stamp]:
        """A stamp of every page, in no order, without reading any; or of every entry `below` a folder (`entries`)."""

    def folder_marks(self, below: str) -> Mapping[str, str] | None:
        """A mark of a folder and of each one below it, by name, without listing what did not change: while a mark stays
        the same, no name in the folder is new, gone, or another file's. None of them if the folder does not exist;
        `None` if this storage has no folders."""
        return None

    def ignored_files(self, below: str = "") -> list[tuple[str, str]]:
        """The Markdown files that are not pages, or `below` a folder of entries those that are not entries, each as
        (stored name, reason in one sentence)."""

    def decomposed_names(self, rename: bool = False) -> Mapping[str, str]:
        """The Markdown files that are no pages only because their names are decomposed, as a Mac may write them: stored
        name → the path of the page that each is under its NFC name, which is free. With `rename` they get that name.
        None where files cannot be renamed."""
        return {}

    def unlisted_folders(self) -> Mapping[str, str]:
        """The folders (`projects/`) that could not be listed at the last look, each with the reason in one sentence.
        Pages below them are in no list, and may exist all the same."""
        return {}

    def remove_temporary(self, paths: Iterable[str]) -> None:
        """Removes temporary files that interrupted writes left beside these pages. Call it under the lock. Files that
        cannot be removed are ignored."""
        return

    def lock(self, wait: bool = True) -> AbstractContextManager[None]:
        """The lock for one change at a time, across all threads and processes that use this store. It is never held
        during a model request. Re-entrant in a thread. Outermost: never take it while holding a lock of the index.
        Without `wait`, raises `StorageError` if it is not free."""

    def commit(self, change: Change, check: Callable[[], object] | None = None) -> Change:
        """Makes and records the change, all of it or none, even if the program is killed; returns it with the id of its
        revision. An interrupted change is finished first, then `check` is called, under the lock, which may raise to
        stop it. External edits of its pages are recorded first. Raises `StorageConflict` if a page differs from its
        `before`, and `StorageError`. After an error nothing has changed, unless the error says that the change will be
        completed later."""

    def take_back(self, change: Change) -> bool:
        """Removes a change that was committed, and its revision, as if it had never been; unless something was recorded
        after it. Returns whether that worked."""

    def rewrite(self, rules: Rules, rewrite: Rewrite, record: Revision) -> None:
        """Makes the pages and the history what they are by these rules, for good, and records it; `rewrite` is that of
        the history. All of it or none, even if the program is killed: once it is decided, the next change finishes it.
        External edits are recorded first. Raises `StorageError`, and `HistoryDamaged` for a history that cannot be
        read."""

    def leftovers(self, holds: Callable[[bytes], bool]) -> list[Leftover]:
        """Temporary files, histories that were set aside, and old versions in a bucket whose bytes hold something, or
        cannot be searched."""
        return []

    def remove_leftovers(self, leftovers: Iterable[Leftover]) -> None:
        """Removes them for good, as far as they are still left over. Also forgets what is cached on this machine."""

    def other_files(self, holds: Callable[[bytes], bool]) -> list[str]:
        """The names of files beside the pages that are not the program's and hold something, or cannot be searched."""
        return []

    def interrupted(self) -> Revision | None:
        """The revision of a change that was interrupted, or `None`. Cheap. Raises `StorageError` for a store in a
        format that this program does not know."""

    def finish(self) -> Revision | None:
        """Completes an interrupted change and returns its revision; `None` if there is none. Its pages are noted as
        pending splits. A page edited by hand in the meantime keeps the edit."""

    def record_external_edits(self, paths: Iterable[str], now: datetime) -> str:
        """Records external edits of these pages, and returns the id of their revision; empty if there are none, and
        before the history has begun."""

    def recorded_at(self, revision: Revision) -> datetime:
        """When a revision was recorded, as exactly as is known."""

    def record_created(self, paths: Iterable[str], revision: Revision) -> bool:
        """Records entries that were created outside of a change, as this revision; those that are recorded already, or
        gone, are left out. Returns whether there were any. Raises `StorageError`."""

    def begin(self, now: datetime) -> None:
        """Begins the history with the current pages, if it has not begun."""
