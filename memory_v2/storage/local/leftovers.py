"""What crashes and damage may have left in a folder, and files that are not the memory's, searched for something."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

from memory_v2.storage.local.disk import from_system, is_file, is_link, is_temporary, lstat, read_bytes, sync_folder
from memory_v2.storage.local.walk import METADATA, walk_files
from memory_v2.tree.path import SUFFIX

SET_ASIDE = ("history-damaged-*", "history-making-*")
"""Repositories that nobody reads: damaged ones, and those whose making was cut short."""

MAX_BYTES = 32_000_000
"""Limits the files of others that are searched, in bytes: larger ones are films and archives, not notes."""

Holds = Callable[[bytes], bool]


def find_leftovers(folder: Path, holds: Holds) -> list[str]:
    """The names of temporary files that hold something, and of histories set aside that may: packs are not searched,
    nor is what cannot be read."""
    found = [file for file in walk_files(folder) if _is_torn(file.relative_to(folder)) and _may_hold(file, holds)]
    for pattern in SET_ASIDE:
        for place in (folder / METADATA).glob(pattern):
            if any(_may_hold(file, holds) for file in walk_files(place) if file.is_file()):
                found.append(place)
    return sorted(from_system(str(place.relative_to(folder))) for place in found)


def remove_leftover(folder: Path, name: str) -> None:
    """Removes a file or a folder that `find_leftovers` has found. Any other name is ignored: it may have come with the
    memory from a stranger."""
    place, parts = folder / name, Path(name).parts
    is_aside = parts[:1] == (METADATA,) and len(parts) == 2 and any(map(Path(name).match, SET_ASIDE))
    if ".." in parts or Path(name).is_absolute() or not (is_aside or _is_torn(Path(name))):
        return
    if any(is_link(found) for above in (place, *place.parents) if above != folder and (found := lstat(above))):
        return
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        sync_folder(place.parent)


def find_others(folder: Path, pages: Collection[str], holds: Holds) -> list[str]:
    """The names of files that are not the memory's and hold something in their bytes or their name; a git repository
    around the pages is named without a look."""
    names = list(_others(folder, pages))
    found = [name for name in names if holds(name.encode("utf-8", "surrogateescape")) or _holds(folder / name, holds)]
    return sorted([".git"] * (folder / ".git").exists() + found)


def _others(folder: Path, pages: Collection[str]) -> Iterator[str]:
    for file in walk_files(folder):
        parts = file.relative_to(folder).parts
        name = from_system("/".join(parts))
        is_page = name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in pages
        is_ours = parts[0] in (METADATA, ".git") or is_page or is_temporary(file.name)
        if not is_ours and is_file(found := lstat(file)) and found.st_size <= MAX_BYTES:
            yield name


def _holds(file: Path, holds: Holds) -> bool:
    try:
        return holds(read_bytes(file))
    except OSError:
        return False


def _is_torn(file: Path) -> bool:
    return is_temporary(file.name) or (file.parts[:-1] == (METADATA, "traces") and file.suffix == ".tmp")


def _may_hold(file: Path, holds: Holds) -> bool:
    if file.suffix in (".pack", ".idx"):
        return True
    try:
        data = read_bytes(file)
        if len(file.parent.name) == 2 and len(file.name) == 38:
            data = zlib.decompress(data)
    except (OSError, zlib.error):
        return True
    return holds(data)
