"""Reading and writing the files of hosts, through symbolic links and with their modes kept."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from memory_v2.hosts.unclear import Unclear
from memory_v2.storage.local.disk import lstat, make_folder, new_temporary, read_bytes, store_bytes, sync_folder


def bytes_of(file: Path) -> bytes | None:
    """What is in a file, through symbolic links; `None` if it does not exist."""
    real = Path(os.path.realpath(file))
    found = lstat(real)
    if found is None:
        return None
    if stat.S_ISLNK(found.st_mode):
        raise Unclear("it is a symbolic link to itself")
    if not stat.S_ISREG(found.st_mode):
        raise Unclear("it is not a file")
    return read_bytes(real)


def why_unwritable(file: Path) -> str:
    """Why a file must not be replaced, although its folder might allow it."""
    found = lstat(Path(os.path.realpath(file)))
    return "it is read-only" if found and not found.st_mode & 0o222 else ""


def write(file: Path, data: bytes | None) -> None:
    """Replaces the bytes of a file, through symbolic links, keeping its mode; or deletes it."""
    real = Path(os.path.realpath(file))
    if data is None:
        real.unlink(missing_ok=True)
        return
    make_folder(real.parent)
    temporary = new_temporary(real.parent)
    try:
        store_bytes(temporary, data, lstat(real))
        temporary.replace(real)
    finally:
        with suppress(OSError):
            temporary.unlink()
    sync_folder(real.parent)
