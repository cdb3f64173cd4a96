"""A folder of notes, and what is read of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from memory_v2.notes.notes import Notes
from memory_v2.text.days import Calendar
from tests.migrate.folder import write_files

LONG_AGO = 1_700_000_000
"""A time of files, in seconds: what was touched in the last moments is read again."""


def notes_of(tmp_path: Path, files: Mapping[str, str], now: str = "2026-03-02T12:00:00+00:00") -> Notes:
    """The notes in a folder with these files, which nobody has touched for long."""
    folder = settled(write_files(tmp_path / "notes", files))
    return reopened(folder, now)


def reopened(folder: Path, now: str = "2026-03-02T12:00:00+00:00") -> Notes:
    """The same folder as another process would open it."""
    moment = datetime.fromisoformat(now)
    return Notes(folder, folder.parent / "cache", Calendar(UTC, lambda: moment))


def settled(folder: Path) -> Path:
    """The folder; none of its files was touched lately."""
    for file in folder.rglob("*"):
        if file.is_file() and not file.is_symlink():
            os.utime(file, (LONG_AGO, LONG_AGO))
    return folder


def hashes(folder: Path) -> dict[str, tuple[str, int]]:
    """All that is in a folder: names, bytes and times."""
    return {
        str(file.relative_to(folder)): (sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
