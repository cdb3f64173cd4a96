"""Pages and their history in memory, lost when the process ends: for tests and throw-away memories."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from memory_v2.errors import PageNotFound, StorageError
from memory_v2.storage.base import ABSENT, ANY, Expected, Leftover, MemoryStorage, Stamp, Stored, conflict, version_of
from memory_v2.storage.history import (
    Extent,
    History,
    HistoryDamaged,
    PageChange,
    Revision,
    Rewrite,
    Rules,
    compared,
    pages_since,
)
from memory_v2.storage.versioned import VersionedStorage
from memory_v2.tree.path import is_entry, page_path


@dataclass(frozen=True, slots=True)
class _Page:
    stored: Stored
    modified: datetime
    mark: str


class VolatileState:
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

    def sweep(self) -> None:
        """Nothing to do: there are no temporary files."""


class VolatileHistory:
    """A `History` in a list: each revision with the pages and entries after it."""

    problem = ""

    def __init__(self) -> None:
        self._records: list[tuple[Revision, dict[str, bytes]]] = []
        self._recording = threading.Lock()
        self.checked_out = ""

    @property
    def begun(self) -> bool:
        return bool(self._records)

    @property
    def head(self) -> str:
        return self._records[-1][0].id if self._records else ""

    @property
    def stamp(self) -> str:
        return self.checked_out

    def changed_since(self, stamp: str) -> frozenset[str] | None:
        return pages_since(self, stamp)

    def mark_checked_out(self, revision: str) -> None:
        self.checked_out = revision

    def record(self, changes: Mapping[str, bytes | None], revision: Revision) -> str:
        with self._recording:
            after = {path: data for path, data in {**self._newest, **changes}.items() if data is not None}
            return self._append(revision, after)

    def _append(self, revision: Revision, after: dict[str, bytes]) -> str:
        key = f"{self.head} {len(self._records)} {revision}".encode("utf-8", "replace")
        recorded = replace(
            revision.in_lines,
            id=hashlib.sha1(key, usedforsecurity=False).hexdigest(),
            paths=tuple(change.path for change in compared(self._newest, after)),
            when=revision.when.astimezone(UTC).replace(microsecond=0),
            is_first=not self._records,
        )
        self._records.append((recorded, after))
        return recorded.id

    def take_back(self, revision: str) -> None:
        if self.head == revision:
            self._records.pop()

    def quarantine(self) -> None:
        raise HistoryDamaged("the history in memory is damaged")

    def revisions(self, path: str | None = None) -> Iterator[Revision]:
        return (recorded for recorded, _ in reversed(self._records[:]) if path is None or path in recorded.paths)

    def read(self, revision: str, path: str) -> bytes | None:
        return self._files(revision).get(path)

    def states(self, path: str) -> Iterator[tuple[Revision, bytes | None]]:
        return ((recorded, after.get(path)) for recorded, after in self._records[:] if path in recorded.paths)

    def pages(self, revision: str) -> dict[str, bytes]:
        return {path: data for path, data in self._files(revision).items() if not is_entry(path)}

    def paths(self, revision: str, below: str) -> set[str]:
        return {path for path in self._files(revision) if path.startswith(f"{below}/")}

    def before(self, revision: str) -> str:
        place = self._place(revision)
        return self._records[place - 1][0].id if place else ""

    def difference(self, old: str, new: str) -> tuple[PageChange, ...]:
        return compared(*(self._files(revision) if revision else {} for revision in (old, new)))

    def changed_by(self, revisions: Sequence[Revision]) -> Iterator[tuple[PageChange, ...]]:
        for revision in revisions:
            changes = self.difference(self.before(revision.id), revision.id)
            yield tuple(change for change in changes if not is_entry(change.path))

    def unrecorded(self, pages: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        return {path: data for path, data in pages.items() if self._newest.get(path) != data}

    def rewriting(self, rules: Rules) -> VolatileRewrite:
        return VolatileRewrite(self, rules)

    def adopt(self, staged: Mapping[str, Any]) -> None:
        """There is no crash to come back from: staging has done it."""

    @property
    def _newest(self) -> dict[str, bytes]:
        return self._records[-1][1] if self._records else {}

    def _files(self, revision: str) -> dict[str, bytes]:
        return self._records[self._place(revision)][1]

    def _place(self, revision: str) -> int:
        for place, (recorded, _) in enumerate(self._records):
            if recorded.id == revision:
                return place
        raise HistoryDamaged(f"the history in memory has no revision {revision[:12]!r}")


class VolatileRewrite:
    """The `Rewrite` of a history in a list."""

    def __init__(self, history: VolatileHistory, rules: Rules) -> None:
        self._history = history
        self._rules = rules

    def extent(self) -> Extent:
        before: dict[str, bytes] = {}
        revisions, versions = 0, set[bytes]()
        for revision, after in self._history._records:
            changes = compared(before, after)
            versions |= {page.after for page in changes if page.after and self._rules.page(page.after) != page.after}
            is_changed = any(self._rules.path(page.path) != page.path or page.after in versions for page in changes)
            revisions += is_changed or self._rules.revision(revision) != revision
            before = after
        return Extent(revisions, len(versions))

    def stage(self, record: Revision) -> dict[str, Any]:
        history, rules, is_kept = VolatileHistory(), self._rules, True
        ids: dict[str, str] = {}
        for old, files in self._history._records:
            after = {path: rules.page(data) for name, data in files.items() if (path := rules.path(name)) is not None}
            revision = rules.revision(old)
            if is_kept := is_kept and (revision, after) == (old, files):
                history._records.append((old, files))
            else:
                ids[old.id] = history._append(replace(revision, undoes=ids.get(old.undoes, revision.undoes)), after)
        history.record({}, record)
        self._history._records, self._history.checked_out = history._records, history.head
        return {}


class VolatileStorage(VersionedStorage):
    """A `MemoryStorage` in a dictionary. `clock` gives modified times, in UTC. Traces are kept in `cache_folder`, if
    one is given."""

    where = "in memory"

    def __init__(
        self,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        cache_folder: Path | None = None,
    ) -> None:
        self._clock = clock
        self.state = VolatileState()
        self.cache_folder = cache_folder
        self._history = VolatileHistory()
        self._pages: dict[str, _Page] = {}
        self._changes = count(1)
        # Two locks: one page at a time, and one change at a time.
        self._change = threading.Lock()
        self._commit = threading.RLock()

    @property
    def history(self) -> VolatileHistory:
        return self._history

    def read(self, path: str) -> Stored:
        return self._page(path).stored

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        path = page_path(path)  # as strict as a disk, so that code that works here works there
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
        return sorted(path for path in self._pages.copy() if not is_entry(path))

    def get_size(self, path: str) -> int:
        return len(self._page(path).stored.data)

    def get_modified_time(self, path: str) -> datetime:
        return self._page(path).modified

    def stamps(self, below: str = "") -> Iterator[Stamp]:
        for path, page in self._pages.copy().items():
            if path.startswith(f"{below}/") if below else not is_entry(path):
                yield Stamp(path, len(page.stored.data), page.mark)

    def folder_marks(self, below: str) -> Mapping[str, str] | None:
        return None

    def ignored_files(self, below: str = "") -> list[tuple[str, str]]:
        return []

    def decomposed_names(self, rename: bool = False) -> dict[str, str]:
        return {}

    def unlisted_folders(self) -> dict[str, str]:
        return {}

    def remove_temporary(self, paths: Iterable[str]) -> None:
        """Nothing to do: there are no temporary files."""

    def leftovers(self, holds: Callable[[bytes], bool]) -> list[Leftover]:
        return []

    def remove_leftovers(self, leftovers: Iterable[Leftover]) -> None:
        """Nothing to do: nothing is left over."""

    def other_files(self, holds: Callable[[bytes], bool]) -> list[str]:
        return []

    @contextmanager
    def lock(self, wait: bool = True) -> Iterator[None]:
        if not self._commit.acquire(blocking=wait):
            raise StorageError("another thread is storing a change; try again later")
        try:
            yield
        finally:
            self._commit.release()

    def _page(self, path: str) -> _Page:
        try:
            return self._pages[path]
        except KeyError:
            raise PageNotFound(path) from None

    def _expect(self, path: str, expected: Expected) -> None:
        page = self._pages.get(path)
        if expected not in (ANY, page.stored.version if page else ABSENT):
            raise conflict(path, expected)


_: tuple[type[MemoryStorage], type[History], type[Rewrite]] = (VolatileStorage, VolatileHistory, VolatileRewrite)
