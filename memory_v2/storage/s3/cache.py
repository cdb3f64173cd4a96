"""The local cache of a bucket: pages, each with its tag and the time of the last check, and the records of the history,
which never change.

Everything can be fetched again: a file that is torn, changed or not writable only costs a request.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memory_v2.storage.base import version_of
from memory_v2.storage.local.disk import make_folder, read_bytes
from memory_v2.storage.s3.bucket import Object


@dataclass(frozen=True, slots=True)
class Kept:
    """A cached page, and the time at which the server last confirmed it, in nanoseconds."""

    found: Object
    version: str
    as_of: int


class PageCache:
    """One file for each page in `folder`, which is created when needed. With `None` nothing is cached."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._changing = threading.Lock()
        self._changed: dict[str, int] = {}

    @property
    def folder(self) -> Path | None:
        """The folder; `None` if there is none or it is not writable."""
        if self._folder is None:
            return None
        try:
            make_folder(self._folder)
        except OSError:
            return None
        return self._folder if os.access(self._folder, os.W_OK | os.X_OK) else None

    def find(self, path: str) -> Kept | None:
        """The cached page; `None` if there is none."""
        if self._folder is None:
            return None
        try:
            head, _, data = read_bytes(self._file(self._folder, path)).partition(b"\n")
            known = json.loads(head)
            found = Object(str(known["etag"]), data)
            kept = Kept(found, str(known["version"]), int(known["as_of"]))
            is_it = known["path"] == path and kept.version == version_of(data)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return kept if is_it and kept.as_of >= self._changed.get(path, 0) else None

    def keep(self, path: str, found: Object, as_of: int) -> None:
        """Caches the page, unless newer information about it is known."""
        with self._changing:
            folder = self.folder
            if folder is None or as_of < self._changed.get(path, 0):
                return
            self._changed[path] = as_of
            file = self._file(folder, path)
            known = {
                "path": path,
                "etag": found.etag,
                "version": version_of(found.data),
                "as_of": as_of,
            }
            temporary = file.with_name(f"{file.name}-{os.urandom(8).hex()}.tmp")
            with suppress(OSError):
                make_folder(file.parent)
                try:
                    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
                        stream.write(json.dumps(known).encode() + b"\n" + found.data)
                    temporary.replace(file)
                finally:
                    temporary.unlink(missing_ok=True)

    def drop(self, path: str, as_of: int) -> None:
        """Forgets a page that did not exist at that time, unless newer information about it is known."""
        with self._changing:
            if self._folder is None or as_of < self._changed.get(path, 0):
                return
            self._changed[path] = as_of
            with suppress(OSError):
                self._file(self._folder, path).unlink()

    def prune(self, paths: set[str]) -> None:
        """Removes the cached pages that are not in `paths`."""
        if self._folder is None:
            return
        known = {self._file(self._folder, path).name for path in paths}
        with suppress(OSError):
            for file in (self._folder / "pages").iterdir():
                if file.name not in known:
                    file.unlink(missing_ok=True)

    def _file(self, folder: Path, path: str) -> Path:
        return folder / "pages" / hashlib.sha256(path.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class CachedRecord:
    """A record of the history: its number, the tag of its object, its bytes."""

    number: int
    etag: str
    data: bytes


class RecordCache:
    """The records of the history that this machine has seen, in one file with a line for each. `folder` returns the
    folder; `None` if there is none or it is not writable."""

    def __init__(self, folder: Callable[[], Path | None]) -> None:
        self._folder = folder

    def load(self) -> dict[int, CachedRecord]:
        """The records by number. Lines that are torn or fail their checksum are skipped."""
        file = self._file()
        try:
            lines = read_bytes(file).split(b"\n") if file else []
        except OSError:
            return {}
        read = (record for line in lines if line and (record := _read_line(line)))
        return {record.number: record for record in read}

    def add(self, records: Iterable[CachedRecord]) -> None:
        """Appends the records. Each begins with a line break, because the last line may be torn."""
        lines = b"".join(_line(record) for record in records)
        with suppress(OSError):
            if lines and (file := self._file()):
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
                with os.fdopen(os.open(file, flags, 0o600), "wb", 0) as stream:
                    stream.write(lines)

    def clear(self) -> None:
        """Removes all records."""
        with suppress(OSError):
            if file := self._file():
                file.unlink(missing_ok=True)

    def _file(self) -> Path | None:
        folder = self._folder()
        return folder and folder / "history.jsonl"


def _line(record: CachedRecord) -> bytes:
    known = {"number": record.number, "etag": record.etag, "sum": version_of(record.data)}
    return b"\n" + json.dumps({**known, "record": record.data.decode("utf-8")}, ensure_ascii=False).encode()


def _read_line(line: bytes) -> CachedRecord | None:
    try:
        known = json.loads(line)
        record = CachedRecord(int(known["number"]), str(known["etag"]), str(known["record"]).encode())
        return record if known["sum"] == version_of(record.data) else None
    except (ValueError, KeyError, TypeError, OverflowError):
        return None
