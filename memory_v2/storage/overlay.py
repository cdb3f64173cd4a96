"""A storage for what must not be stored: a dry run, and the replay of a trace."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from memory_v2.errors import PageNotFound, StorageError
from memory_v2.storage.base import (
    ABSENT,
    ANY,
    Expected,
    Leftover,
    MemoryStorage,
    Stamp,
    StateFiles,
    Stored,
    conflict,
    stored_page,
    version_of,
)
from memory_v2.storage.history import Change, History, PageChange, Revision, Rewrite, Rules
from memory_v2.text.days import utc_now
from memory_v2.tree.path import is_entry

DRY_RUN = "dry-run"
"""The id of every revision of a dry run."""


class MemoryState(StateFiles):
    """`StateFiles` in a dictionary."""

    recovery_interval = 0.0

    def __init__(self) -> None:
        self._notes: dict[str, bytes] = {}
        self._claimed: set[str] = set()
        self._claiming = threading.Lock()

    def read(self, name: str) -> bytes | None:
        return self._notes.get(name)

    def write(self, name: str, data: bytes) -> None:
        self._notes[name] = data

    def remove(self, name: str) -> None:
        self._notes.pop(name, None)

    def names(self, folder: str) -> list[str]:
        return sorted(name for name in self._notes.copy() if name.startswith(f"{folder}/"))

    @contextmanager
    def claim(self, name: str, is_new: bool = False) -> Iterator[bool]:
        with self._claiming:
            is_free = name not in self._claimed
            self._claimed.add(name)
        try:
            yield is_free
        finally:
            if is_free:
                self._claimed.discard(name)


class OverlayStorage(MemoryStorage):
    """The pages of `storage`, which is only read, but for those in `over`, as they are there. Changes are seen here
    alone, and not recorded in its history; `now` is when they were made."""

    def __init__(
        self,
        storage: MemoryStorage,
        over: Mapping[str, bytes | None] | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._storage = storage
        self._now = now
        self.where = storage.where
        self.state = MemoryState()
        self._pages = dict(over or {})
        self._before: dict[str, bytes | None] = {}

    @property
    def cache_folder(self) -> Path | None:
        return None

    @property
    def history(self) -> History:
        return self._storage.history

    def read(self, path: str) -> Stored:
        if path not in self._pages:
            return self._storage.read(path)
        if (data := self._pages[path]) is None:
            raise PageNotFound(path)
        return Stored(data, version_of(data))

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        self._expect(path, expected)
        self._pages[path] = data
        return version_of(data)

    def delete(self, path: str, expected: Expected = ANY) -> None:
        self._expect(path, expected)
        self._pages[path] = None

    def exists(self, path: str) -> bool:
        return self._pages[path] is not None if path in self._pages else self._storage.exists(path)

    def list_files(self) -> list[str]:
        return sorted(stamp.path for stamp in self.stamps())

    def get_size(self, path: str) -> int:
        return len(self.read(path).data) if path in self._pages else self._storage.get_size(path)

    def get_modified_time(self, path: str) -> datetime:
        is_stored = path not in self._before and (path not in self._pages or self._storage.exists(path))
        return self._storage.get_modified_time(path) if is_stored else self._now()

    def stamps(self, below: str = "") -> Iterator[Stamp]:
        yield from (stamp for stamp in self._storage.stamps(below) if stamp.path not in self._pages)
        for path, data in self._pages.items():
            if data is not None and (path.startswith(f"{below}/") if below else not is_entry(path)):
                yield Stamp(path, len(data), version_of(data))

    def folder_marks(self, below: str) -> Mapping[str, str] | None:
        return None if any(map(is_entry, self._pages)) else self._storage.folder_marks(below)

    def ignored_files(self, below: str = "") -> list[tuple[str, str]]:
        return self._storage.ignored_files(below)

    def unlisted_folders(self) -> Mapping[str, str]:
        return self._storage.unlisted_folders()

    @contextmanager
    def lock(self, wait: bool = True) -> Iterator[None]:
        """Nobody else uses this storage."""
        yield

    def commit(self, change: Change, check: Callable[[], object] | None = None) -> Change:
        if check is not None:
            check()
        for page in change.pages:
            stored = stored_page(self, page.path)
            if (stored.data if stored else None) != page.before:
                raise conflict(page.path, "")
            self._before.setdefault(page.path, page.before)
        self._pages |= {page.path: page.after for page in change.pages}
        return replace(change, revision=replace(change.revision, id=DRY_RUN))

    @property
    def changes(self) -> tuple[PageChange, ...]:
        """What the changes come to, sorted by path: each page before the first and after the last."""
        pages = ((path, before, self._pages[path]) for path, before in sorted(self._before.items()))
        return tuple(PageChange(path, before, after) for path, before, after in pages if before != after)

    def take_back(self, change: Change) -> NoReturn:
        raise StorageError("a change cannot be taken back in a dry run")

    def rewrite(self, rules: Rules, rewrite: Rewrite, record: Revision) -> NoReturn:
        raise StorageError("a history cannot be rewritten in a dry run")

    def interrupted(self) -> Revision | None:
        return None

    def finish(self) -> Revision | None:
        return None

    def record_external_edits(self, paths: Iterable[str], now: datetime) -> str:
        return ""

    def begin(self, now: datetime) -> None:
        """Nothing is recorded."""

    def remove_leftovers(self, leftovers: Iterable[Leftover]) -> None:
        """Nothing is left over."""

    def recorded_at(self, revision: Revision) -> datetime:
        return self._storage.recorded_at(revision)

    def record_created(self, paths: Iterable[str], revision: Revision) -> bool:
        """Nothing is recorded."""
        return False

    def _expect(self, path: str, expected: Expected) -> None:
        stored = stored_page(self, path)
        if expected not in (ANY, stored.version if stored else ABSENT):
            raise conflict(path, expected)
