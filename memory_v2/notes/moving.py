"""Moving files of a folder of notes into the archive and back, whole or not at all, whenever the program is stopped.

What is to be moved is written down before anything is. Each file has one of its two names, or for a moment both; so it
can always be moved on or back, and no file ever takes the place of another one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memory_v2.errors import StorageConflict, StorageError
from memory_v2.storage.local.disk import make_folder, replace_bytes, sync_folder

JOURNAL = ".silica-notes/archive.json"
"""Where it is written down, in the folder of notes: a cache may be deleted at any time."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Files that are moved together: their names before and after, and the folders that are made for them."""

    files: tuple[tuple[str, str], ...]
    folders: tuple[str, ...] = ()


def move(folder: Path, files: Sequence[tuple[str, str]]) -> None:
    """Moves files to their new names. Raises `StorageConflict` if one of these is taken, `StorageError`."""
    made = sorted({str(Path(to).parent) for _, to in files if not (folder / to).parent.exists()})
    try:
        _write(folder, [*_read(folder), Moved(tuple(files), tuple(made))])
        for name, to in files:
            make_folder((folder / to).parent)
            _rename(folder / name, folder / to)
    except OSError as error:
        raise _failed(folder, error) from error


def move_back(folder: Path) -> tuple[tuple[str, str], ...]:
    """Takes back what was moved last; returns the files that have their old names again. Raises `StorageConflict` if
    there is another file by an old name: it stays, and so do those that are not moved yet. Raises `StorageError`."""
    try:
        while journal := _read(folder):
            last = journal[-1]
            back = tuple(one for one in last.files if _rename(folder / one[1], folder / one[0]))
            for made in last.folders:
                with suppress(OSError):  # there is something else in it by now
                    (folder / made).rmdir()
            _write(folder, journal[:-1])
            if back:
                return back
    except OSError as error:
        raise _failed(folder, error) from error
    return ()


def _rename(old: Path, new: Path) -> bool:
    """Gives a file its new name, if it has the old one."""
    if not os.path.lexists(old):
        return False
    if os.path.lexists(new):
        if not new.samefile(old):
            raise StorageConflict(f"{new} is there already, so {old} stays where it is; rename one of them by hand")
    else:
        try:
            os.link(old, new, follow_symlinks=False)  # unlike renaming, it replaces nothing
        except (OSError, NotImplementedError):
            if os.path.lexists(new):
                raise
            old.rename(new)  # a disk without hard links
    old.unlink(missing_ok=True)
    sync_folder(new.parent)
    sync_folder(old.parent)
    return True


def _read(folder: Path) -> list[Moved]:
    try:
        told = json.loads((folder / JOURNAL).read_text("utf-8", "surrogateescape"))
        return [Moved(tuple((old, new) for old, new in one["files"]), tuple(one["folders"])) for one in told]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, KeyError) as error:
        raise StorageError(f"{folder / JOURNAL} is damaged, so nobody knows what was moved: {error}") from error


def _write(folder: Path, journal: Sequence[Moved]) -> None:
    file = folder / JOURNAL
    if journal:
        told = [{"files": one.files, "folders": one.folders} for one in journal]
        replace_bytes(file, json.dumps(told, ensure_ascii=False, indent=1).encode("utf-8", "surrogateescape"))
        return
    file.unlink(missing_ok=True)
    with suppress(OSError):
        file.parent.rmdir()


def _failed(folder: Path, error: OSError) -> StorageError:
    if isinstance(error, StorageError):
        return error
    return StorageError(
        f"a file in {folder} could not be moved: {error.strerror or error}; 'silica notes undo' goes back"
    )
