"""Folders that go with the object that needs them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import mkdtemp
from weakref import finalize


def temporary_folder(user: object, within: str | None = None) -> Path:
    """A new folder, which is removed when `user` is no longer used; not at the end of a process that was forked
    meanwhile."""
    folder = mkdtemp(prefix="silica-", dir=within)
    finalize(user, _remove, folder, os.getpid())
    return Path(folder)


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
