"""What is kept on the local disk of a bucket: pages, each with its tag and the moment at which it was known to be so,
and the records of the history, which are for good.

All of it can be fetched again: a file that is torn, tampered with or unwritable costs a request and nothing else.
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
    """A page as it was at a moment, in nanoseconds."""

    found: Object
    version: str
    as_of: int


class PageCache:
    """One file for each page below `folder`, which is made when it is needed; keeps nothing where that is `None`."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._changing = threading.Lock()
        self._changed: dict[str, int] = {}

    @property
    def folder(self) -> Path | None:
        """The folder, if there is one that can be written."""
        if self._folder is None:
            return None
        try:
            make_folder(self._folder)
        except OSError:
            return None
        return self._folder if os.access(self._folder, os.W_OK | os.X_OK) else None

    def find(self, path: str) -> Kept | None:
        """The page as it was last known."""
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
        """Keeps what a page was at that moment, unless something later is known of it."""
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
        """Forgets a page that was not, or no longer, there at that moment."""
        with self._changing:
            if self._folder is None or as_of < self._changed.get(path, 0):
                return
            self._changed[path] = as_of
            with suppress(OSError):
                self._file(self._folder, path).unlink()

    def prune(self, paths: set[str]) -> None:
        """Removes the files of all other pages; a page that was missed is fetched again."""
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
    """The records of the history that this machine has seen: one file, a line for each. `folder` gives the folder, if
    there is one that can be written."""

    def __init__(self, folder: Callable[[], Path | None]) -> None:
        self._folder = folder

    def load(self) -> dict[int, CachedRecord]:
        """The records by number. A line that is torn, or not what its sum says, is left out."""
        file = self._file()
        try:
            lines = read_bytes(file).split(b"\n") if file else []
        except OSError:
            return {}
        read = (record for line in lines if line and (record := _read_line(line)))
        return {record.number: record for record in read}

    def add(self, records: Iterable[CachedRecord]) -> None:
        """Keeps these as well. Each begins a line of its own, whatever somebody before has left unfinished."""
        lines = b"".join(_line(record) for record in records)
        with suppress(OSError):
            if lines and (file := self._file()):
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
                with os.fdopen(os.open(file, flags, 0o600), "wb", 0) as stream:
                    stream.write(lines)

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
