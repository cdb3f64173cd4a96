"""State files on the local disk: the note `pending/1f3a` is the file `.metadata/pending/1f3a.json`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memory_v2.storage.base import NOTE_SUFFIX, PENDING, StateFiles, notes_in
from memory_v2.storage.local import disk

CLAIM = ".lock"
STALE_SECONDS = 60.0
"""The age, in seconds, at which a temporary file or claim may be removed: long enough that no running process is about
to use it."""


class LocalState(StateFiles):
    """The files in a folder; `make` creates that folder, and both it and `check` refuse symbolic links in it."""

    recovery_interval = 2.0
    """In seconds. A search costs a few file reads, and work that a crash interrupted can wait that long."""

    def __init__(self, folder: Path, make: Callable[[], Path], check: Callable[[], object]) -> None:
        self._folder = folder
        self._make = make
        self._check = check
        self._claimed: set[str] = set()

    def read(self, name: str) -> bytes | None:
        file = self._file(name)
        with disk.reading(file):
            self._check()
            try:
                return disk.read_bytes(file)
            except (FileNotFoundError, NotADirectoryError):
                return None

    def write(self, name: str, data: bytes) -> None:
        file = self._file(name)
        with disk.explained("write", file):
            self._make()
            disk.replace_bytes(file, data)

    def remove(self, name: str) -> None:
        file = self._file(name)
        with disk.explained("delete", file):
            self._check()
            if disk.lstat(file) is not None:  # a read-only disk also refuses to remove a missing file
                file.unlink(missing_ok=True)
                disk.sync_folder(file.parent)

    def names(self, folder: str) -> list[str]:
        with disk.explained("list", self._folder / folder):
            self._check()
            try:
                return notes_in(folder, [file.name for file in (self._folder / folder).iterdir()])
            except (FileNotFoundError, NotADirectoryError):
                return []

    @contextmanager
    def claim(self, name: str, is_new: bool = False) -> Iterator[bool]:
        """The system releases a file lock when its process dies."""
        from filelock import FileLock, Timeout  # 40 ms of start-up, which reading should not pay

        if name in self._claimed:  # by a thread of this process: no need to ask the disk
            yield False
            return
        file = self._folder / f"{name}{CLAIM}"
        lock = FileLock(file, mode=0o600, fallback_to_soft=False)
        with disk.explained("lock", file):
            self._make()
            disk.make_folder(file.parent)
            try:
                lock.acquire(timeout=0)
                is_free = True
                disk.leave_to_owner_above(file)
            except Timeout:
                is_free = False
            except OSError:
                with suppress(OSError):
                    file.unlink()  # a disk without locks has created it all the same
                raise
        try:
            if is_free:
                self._claimed.add(name)
            yield is_free
        finally:
            if is_free:
                self._claimed.discard(name)
                with suppress(OSError):
                    file.unlink()  # before others can hold it; where an open file cannot be removed, it stays
                lock.release()

    def sweep(self) -> None:
        """Files younger than `STALE_SECONDS` may be in use and stay."""
        with suppress(OSError):
            for file in (*self._folder.iterdir(), *self._folder.glob(f"{PENDING}/*")):
                if time.time() - file.lstat().st_mtime < STALE_SECONDS:
                    continue
                is_claim = file.suffix == CLAIM and file.parent.name == PENDING
                if disk.is_temporary(file.name):
                    file.unlink(missing_ok=True)
                elif is_claim and not file.with_suffix(NOTE_SUFFIX).exists():
                    with self.claim(f"{PENDING}/{file.stem}"):
                        pass  # releasing a claim removes its file

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}{NOTE_SUFFIX}"
