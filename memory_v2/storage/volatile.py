"""Pages in a dictionary, gone with the process: for tests and throw-away memories."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from memory_v2.errors import PageNotFound, StorageConflict
from memory_v2.storage.base import ABSENT, ANY, Expected, Stamp, Stored, version_of
from memory_v2.storage.history import GitHistory
from memory_v2.tree.path import page_path


@dataclass(frozen=True, slots=True)
class _Page:
    stored: Stored
    modified: datetime
    mark: str


class VolatileNotes:
    """The contract of `Notes` without a disk."""

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
    def claim(self, name: str) -> Iterator[bool]:
        with self._claiming:
            is_free = name not in self._claimed
            self._claimed.add(name)
        try:
            yield is_free
        finally:
            if is_free:
                self._claimed.discard(name)

    def sweep(self) -> None:
        """There is nothing that could be left."""


class VolatileStorage:
    """The contract of `MemoryStorage` without a disk; `clock` gives modified times, in UTC. Traces are kept in the
    `cache_folder`, if one is given."""

    where = "in memory"

    def __init__(
        self,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        cache_folder: Path | None = None,
        history: bool = False,
    ) -> None:
        self._clock = clock
        self.notes = VolatileNotes()
        self.cache_folder = cache_folder
        self.history: GitHistory | None = GitHistory(None) if history else None
        self._pages: dict[str, _Page] = {}
        self._changes = count(1)
        # Two locks, so that reading does not wait for a commit: on a disk it does not either.
        self._change = threading.Lock()
        self._commit = threading.RLock()

    def read(self, path: str) -> Stored:
        return self._page(path).stored

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        path = page_path(path)  # as strict as a disk, so that what works here works there
        stored = Stored(data, version_of(data))
        with self._change:
            self._expect(path, expected)
            self._pages[path] = _Page(stored, self._clock(), str(next(self._changes)))
        return stored.version

    def delete(self, path: str, expected: Expected = ANY) -> None:
        with self._change:
            if path not in self._pages and isinstance(expected, str):
                raise PageNotFound(path)
            self._expect(path, expected)
            self._pages.pop(path, None)

    def exists(self, path: str) -> bool:
        return path in self._pages

    def list_files(self) -> list[str]:
        return sorted(self._pages.copy())

    def get_size(self, path: str) -> int:
        return len(self._page(path).stored.data)

    def get_modified_time(self, path: str) -> datetime:
        return self._page(path).modified

    def stamps(self) -> Iterator[Stamp]:
        for path, page in self._pages.copy().items():
            yield Stamp(path, len(page.stored.data), page.mark)

    def ignored_files(self) -> list[tuple[str, str]]:
        return []

    def remove_temporary(self, paths: Iterable[str]) -> None:
        """There is nothing that could be left."""

    @contextmanager
    def lock(self) -> Iterator[None]:
        with self._commit:
            yield

    def _page(self, path: str) -> _Page:
        try:
            return self._pages[path]
        except KeyError:
            raise PageNotFound(path) from None

    def _expect(self, path: str, expected: Expected) -> None:
        page = self._pages.get(path)
        if expected not in (ANY, page.stored.version if page else ABSENT):
            happened = "is there already" if expected == ABSENT else "is no longer as it was when it was read"
            raise StorageConflict(f"the page {path!r} {happened}; read it and try again")
