"""A storage for a dry run: pages are those of another storage until they are changed here, and what is changed here
is kept in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import NoReturn

from memory_v2.errors import PageNotFound, StorageError
from memory_v2.storage.base import (
    ABSENT,
    ANY,
    Expected,
    Leftover,
    MemoryStorage,
    Stamp,
    Stored,
    conflict,
    stored_page,
    version_of,
)
from memory_v2.storage.history import Change, History, PageChange, Revision, Rewrite, Rules
from memory_v2.storage.volatile import VolatileState
from memory_v2.tree.path import is_entry

DRY_RUN = "dry-run"
"""The id of every revision of a dry run."""


class OverlayStorage:
    """The pages of `storage`, which is only read. Changes are seen here alone, and not recorded in its history."""

    cache_folder = None

    def __init__(self, storage: MemoryStorage) -> None:
        self._storage = storage
        self.where = storage.where
        self.state = VolatileState()
        self._changed: dict[str, bytes | None] = {}
        self._before: dict[str, bytes | None] = {}

    @property
    def history(self) -> History:
        return self._storage.history

    def read(self, path: str) -> Stored:
        if path not in self._changed:
            return self._storage.read(path)
        if (data := self._changed[path]) is None:
            raise PageNotFound(path)
        return Stored(data, version_of(data))

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        self._expect(path, expected)
        self._changed[path] = data
        return version_of(data)

    def delete(self, path: str, expected: Expected = ANY) -> None:
        self._expect(path, expected)
        self._changed[path] = None

    def exists(self, path: str) -> bool:
        return self._changed[path] is not None if path in self._changed else self._storage.exists(path)

    def list_files(self) -> list[str]:
        return sorted(stamp.path for stamp in self.stamps())

    def get_size(self, path: str) -> int:
        return len(self.read(path).data) if path in self._changed else self._storage.get_size(path)

    def get_modified_time(self, path: str) -> datetime:
        return datetime.now(UTC) if self._changed.get(path) else self._storage.get_modified_time(path)

    def stamps(self, below: str = "") -> Iterator[Stamp]:
        yield from (stamp for stamp in self._storage.stamps(below) if stamp.path not in self._changed)
        for path, data in self._changed.items():
            if data is not None and (path.startswith(f"{below}/") if below else not is_entry(path)):
                yield Stamp(path, len(data), version_of(data))

    def folder_marks(self, below: str) -> Mapping[str, str] | None:
        return None if any(map(is_entry, self._changed)) else self._storage.folder_marks(below)

    def ignored_files(self, below: str = "") -> list[tuple[str, str]]:
        return self._storage.ignored_files(below)

    def decomposed_names(self, rename: bool = False) -> dict[str, str]:
        return {}

    def unlisted_folders(self) -> Mapping[str, str]:
        return self._storage.unlisted_folders()

    def remove_temporary(self, paths: Iterable[str]) -> None:
        """There are no temporary files."""

    def leftovers(self, holds: Callable[[bytes], bool]) -> list[Leftover]:
        return []

    def remove_leftovers(self, leftovers: Iterable[Leftover]) -> None:
        """Nothing is left over."""

    def other_files(self, holds: Callable[[bytes], bool]) -> list[str]:
        return []

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
        self._changed |= {page.path: page.after for page in change.pages}
        return replace(change, revision=replace(change.revision, id=DRY_RUN))

    @property
    def changes(self) -> tuple[PageChange, ...]:
        """What the changes come to, sorted by path: each page before the first and after the last."""
        pages = ((path, before, self._changed[path]) for path, before in sorted(self._before.items()))
        return tuple(PageChange(path, before, after) for path, before, after in pages if before != after)

    def take_back(self, change: Change) -> NoReturn:
        raise StorageError("a change cannot be taken back in a dry run")

    def rewrite(self, rules: Rules, rewrite: Rewrite, record: Revision) -> NoReturn:
        raise StorageError("a history cannot be rewritten in a dry run")

    def interrupted(self) -> Revision | None:
        return None

    def finish(self) -> Revision | None:
        return None

    def record_external_edits(self, paths: Iterable[str], now: datetime) -> None:
        """Nothing is recorded."""

    def recorded_at(self) -> datetime | None:
        return self._storage.recorded_at()

    def record_created(self, paths: Iterable[str], revision: Revision) -> bool:
        """Nothing is recorded."""
        return False

    def begin(self, now: datetime) -> None:
        """Nothing is recorded."""

    def _expect(self, path: str, expected: Expected) -> None:
        stored = stored_page(self, path)
        if expected not in (ANY, stored.version if stored else ABSENT):
            raise conflict(path, expected)


_: type[MemoryStorage] = OverlayStorage
