"""What changes in a folder of notes while it is watched: its files, and what they tell that no note told before."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_v2.notes.extract import EVERYTHING, Extracted, Wanted, collected
from memory_v2.notes.folder import Refreshed
from memory_v2.notes.notes import Notes
from memory_v2.text.words import normal

HOW = "pip install 'silica-memory[watch]'"
QUIET_MILLISECONDS = 200
"""How long a folder must be left alone before it is looked at: an editor that saves changes a file several times."""
LONGEST_MILLISECONDS = 1_500
"""How long a folder is waited for that is never left alone."""
TICK_MILLISECONDS = 1_000
"""How often a watch wakes without a change."""
LOOKS = 30
"""After how many of these it looks all the same: some network drives tell nothing."""


@dataclass(frozen=True, slots=True)
class News:
    """What a look at the folder has found, and what is extracted of the notes that changed and was told by none before.
    What is closed is not told."""

    found: Refreshed
    told: tuple[Extracted, ...] = ()


class Watch:
    """Looks at a folder of notes again and again. At first nothing is news but the files themselves."""

    def __init__(self, notes: Notes) -> None:
        """Reads the notes, and what is extracted of them."""
        self._notes = notes
        self.first = News(notes.refresh())
        self._known = {_key(one) for one in notes.extract(EVERYTHING)}

    def look(self) -> News:
        """What has changed since the last look. Raises `UsageError`, `StorageError`."""
        found = self._notes.refresh()
        touched = (*found.new, *found.changed)
        told = collected(self._notes.extracted_of(touched), Wanted()) if touched else []
        new = tuple(one for one in told if _key(one) not in self._known)
        self._known.update(map(_key, new))
        return News(found, new)


def _key(one: Extracted) -> tuple[str, str]:
    """What stays the same if a line is moved to another heading or note."""
    return one.category, normal(one.text)


def changes(folder: Path, interval: float, warn: Callable[[str], None]) -> Iterator[None]:
    """Yields whenever something in the folder may have changed: as soon as the system tells, or every `interval`
    seconds. If the system cannot tell, that is warned of once."""
    try:
        yield from _told(folder)
    except ImportError:
        warn(f"the folder is looked at every {interval:g} seconds; to be told at once: {HOW}")
    except (OSError, RuntimeError) as error:  # RuntimeError: a name that is no UTF-8
        warn(f"the folder is looked at every {interval:g} seconds: the system cannot watch it: {error}")
    while True:
        time.sleep(interval)
        yield


def _told(folder: Path) -> Iterator[None]:
    from watchfiles import watch

    while True:
        watched = _identity(folder)
        root = str(folder.resolve())  # some systems name what changes so; a link may lead into a hidden folder
        seen = watch(
            root,
            watch_filter=_is_shown_in(root),
            debounce=LONGEST_MILLISECONDS,
            step=QUIET_MILLISECONDS,
            rust_timeout=TICK_MILLISECONDS,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        )
        for tick, what in enumerate(seen):
            if what or tick % LOOKS == 0:  # at first too: something may have changed before the system watched
                yield
            if any(path == root for _, path in what) or _identity(folder) != watched:
                break  # the system tells nothing of a new folder in its place, which may have the inode of the old one


def _is_shown_in(root: str) -> Callable[[object, str], bool]:
    """Whether a path is not hidden below this one; what is hidden is no note."""
    return lambda _, path: f"{os.sep}." not in path.removeprefix(root)


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
