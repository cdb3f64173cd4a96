"""Marks of files and folders on a disk: while one stays the same, nothing has changed."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

from memory_v2.storage.local.disk import from_system, to_system

UNSETTLED_NS = 50_000_000
"""The age, in nanoseconds, below which a file's times may not show a later change: several ticks of a disk's clock."""


def mark_of(info: os.stat_result, now: int) -> str:
    """The mark of a file or folder, at a moment in nanoseconds."""
    mark = f"{info.st_mtime_ns:x}-{info.st_ctime_ns:x}-{info.st_ino:x}"
    # A disk's clock ticks every few milliseconds: a file changed just now can change again and keep its times. So the
    # marks of a recently changed file are never equal to later ones.
    settled = abs(now - max(info.st_mtime_ns, info.st_ctime_ns)) > UNSETTLED_NS
    return mark if settled else f"{mark}-{now:x}"


class FolderMarks:
    """The marks of folders, which change when a name in one of them is new, gone, or another file's. A look costs a few
    microseconds a folder, however many files they hold."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._seen: dict[str, tuple[str, tuple[str, ...]]] = {}

    def below(self, top: str) -> dict[str, str]:
        """The mark of a folder and of each one below it, by name; none if it does not exist."""
        now, marks, folders = time.time_ns(), dict[str, str](), [top]
        while folders:
            folder = folders.pop()
            place = f"{self._root}/{to_system(folder)}"  # a path object would take as long as the look
            try:
                info = os.lstat(place)
            except FileNotFoundError:
                continue
            except OSError:  # whoever lists it learns why
                marks[folder] = f"{now:x}"
                continue
            if not stat.S_ISDIR(info.st_mode):
                continue
            marks[folder] = mark = mark_of(info, now)
            kept = self._seen.get(folder)
            if kept is None or kept[0] != mark:
                kept = self._seen[folder] = (mark, _folders_in(place, folder))
            folders += kept[1]
        return marks


def _folders_in(place: str, name: str) -> tuple[str, ...]:
    try:
        with os.scandir(place) as found:
            return tuple(
                f"{name}/{from_system(one.name)}"
                for one in found
                if not one.name.startswith(".") and one.is_dir(follow_symlinks=False)
            )
    except OSError:
        return ()
