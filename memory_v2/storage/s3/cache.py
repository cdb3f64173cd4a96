"""The local cache of a bucket's pages, each with its tag and the time of the last check.

Everything can be fetched again: a file that is torn, changed or not writable only costs a request.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memory_v2.storage.base import version_of
from memory_v2.storage.local.disk import make_folder, read_bytes, replace_bytes
from memory_v2.storage.s3.bucket import Object


@dataclass(frozen=True, slots=True)
class CachedPage:
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

    def find(self, path: str) -> CachedPage | None:
        """The cached page; `None` if there is none."""
        if self._folder is None:
            return None
        try:
            head, _, data = read_bytes(self._file(self._folder, path)).partition(b"\n")
            known = json.loads(head)
            found = Object(str(known["etag"]), data)
            kept = CachedPage(found, str(known["version"]), int(known["as_of"]))
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
            known = {"path": path, "etag": found.etag, "version": version_of(found.data), "as_of": as_of}
            with suppress(OSError):
                data = json.dumps(known).encode() + b"\n" + found.data
                replace_bytes(self._file(folder, path), data, is_flushed=False)

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
