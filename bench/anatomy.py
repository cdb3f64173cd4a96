"""What one write and one search do: `python -m bench.anatomy`.

A sentence is written, offline, into a memory of 30 pages that is open and warm; then it is searched for. Counted are
the source files of the package that were entered, the pages that were read, the locks in the order in which they were
first taken, and the flushes. It runs on older checkouts too: `PYTHONPATH=<checkout> python
bench/anatomy.py`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import memory_v2
from memory_v2 import Memory

PAGES = 30
PACKAGE = str(Path(memory_v2.__file__).parent)
SENTENCE = "The heron that nests by the weir has come back, Ines says."


class Count:
    """What has happened since it began."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self.files: set[str] = set()
        self.reads: Counter[str] = Counter()
        self.locks: Counter[str] = Counter()
        self.flushes: Counter[str] = Counter()

    def profile(self, frame: Any, event: str, _: object) -> None:
        """See `sys.setprofile`."""
        if event != "call" or not frame.f_code.co_filename.startswith(PACKAGE):
            return
        file, name, told = frame.f_code.co_filename, frame.f_code.co_name, frame.f_locals
        self.files.add(file)
        owner = type(told["self"]).__name__ if "self" in told else ""
        if owner == "LocalStorage" and name == "read":
            self.reads[told["path"]] += 1
        elif name == "transaction":
            self.locks["index: a transaction of SQLite"] += 1

    def flushed(self, real: Callable[[Any], None]) -> Callable[[Any], None]:
        """Counts `os.fsync`."""

        def counted(file: Any) -> None:
            number = file if isinstance(file, int) else file.fileno()
            link = Path(f"/proc/self/fd/{number}")  # where there is none, flushes are counted and not told apart
            place = link.readlink() if link.exists() else Path(self._folder)
            self.flushes[f"{'folder' if place.is_dir() else 'file'} of {self._kind(str(place))}"] += 1
            real(file)

        return counted

    def locked(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """Counts the locks of files."""

        def counted(lock: Any, *args: Any, **named: Any) -> Any:
            place = os.path.relpath(lock.lock_file, self._folder)
            self.locks["claim of a note" if "pending" in place else f"storage: {place}"] += 1
            return real(lock, *args, **named)

        return counted

    def _kind(self, place: str) -> str:
        parts = Path(os.path.relpath(place, self._folder)).parts
        if parts[:1] != (".metadata",):
            return "pages"
        inside = parts[1].partition(".")[0] if len(parts) > 1 else ""
        return inside if inside in ("history", "pending", "traces") else "metadata"


def main() -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve() / "memory"
        memory = Memory.open(folder, "offline")
        for number in range(PAGES - 1):
            memory.write(
                f"# Place {number}\n\nWhat happened at place {number} in the year {1990 + number}.", f"p{number}"
            )
        memory.write("The weir was built in 1961.", "p7")
        memory.search("the year 1990")
        pages = len(memory.list_files())
        print(f"{pages} pages, {PACKAGE}")
        for name, act in (("write", partial(memory.write, SENTENCE)), ("search", partial(memory.search, SENTENCE))):
            count = Count(folder)
            _counted(act, count)
            rows = {
                "reads of pages": count.reads,
                "locks, in the order first taken": count.locks,
                "flushes": count.flushes,
            }
            print(f"\none {name}\n{'files of the package entered':34}{len(count.files):6}")
            for row, counted in rows.items():
                print(f"{row:34}{counted.total():6}  {_told(counted)}")
        memory.close()


def _counted(act: Callable[[], object], count: Count) -> None:
    from filelock import BaseFileLock

    with ExitStack() as stack:
        stack.enter_context(patch.object(os, "fsync", count.flushed(os.fsync)))
        stack.enter_context(patch.object(BaseFileLock, "acquire", count.locked(BaseFileLock.acquire)))
        sys.setprofile(count.profile)
        try:
            act()
        finally:
            sys.setprofile(None)


def _told(counter: Counter[str]) -> str:
    return ", ".join(f"{name} ×{times}" if times > 1 else name for name, times in counter.items())


if __name__ == "__main__":
    main()
