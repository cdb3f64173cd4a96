"""Finding the pages in a folder, and marks of files and folders: while one stays the same, nothing has changed."""

from __future__ import annotations

import os
import stat
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memory_v2.storage.format import NOTE
from memory_v2.storage.local.disk import advice, explained, from_system, is_link, lstat, mark_of, to_system
from memory_v2.tree.path import ENTRIES, SUFFIX, file_problem, is_markdown, name_problem, part_clashes, prefixes

METADATA = ".metadata"
"""The folder of the program's own data in the folder of a memory."""
LINK = "is a symbolic link; a memory keeps its pages inside its own folder"
INNER = "is the folder of another memory; open that one to work with its pages"


@dataclass(frozen=True)
class Walked:
    """What is below a folder: the `pages`, by path; the files that look like pages but are not, and the folders that
    cannot be listed (`projects/`), each with the reason."""

    pages: dict[str, os.DirEntry[str]] = field(default_factory=dict)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    unlisted: dict[str, str] = field(default_factory=dict)


def walk_files(folder: Path) -> Iterator[Path]:
    """The files in a folder and its folders; others may be removing some of them."""
    for place, _, names in os.walk(folder):
        yield from (Path(place, name) for name in names)


def walk(root: Path, below: str = "") -> Walked:
    """The pages in a folder; or what is `below` a folder of entries in it. Raises `StorageError` if the folder itself
    cannot be listed."""
    found = Walked()
    if below and (link := _link_above(root, below)):
        found.ignored.append((link, LINK))
        return found
    folders = [f"{below}/" if below else ""]
    while folders:
        above = folders.pop()
        try:
            folders += _look_into(root, above, found)
        except OSError as error:
            with explained("list", root / above):
                if not above:
                    raise
            found.unlisted[above] = f"this folder cannot be listed: {advice(error)}"
    found.ignored.extend(part_clashes(found.pages))
    return found


def is_memory(folder: str | Path) -> bool:
    """Whether a memory has been written in this folder."""
    return os.path.lexists(f"{folder}/{METADATA}/{NOTE}.json")  # a path object would take as long as the look


def _link_above(root: Path, below: str) -> str:
    """The first of these folders that is a symbolic link; empty if none is."""
    for name in prefixes(below):
        if (there := lstat(root / to_system(name))) is not None and is_link(there):
            return name
    return ""


def _look_into(root: Path, above: str, found: Walked) -> list[str]:
    """Adds what is in one folder, and returns the folders in it."""
    folders = []
    rule = file_problem if above.startswith(f"{ENTRIES}/") else name_problem
    entries = _entries(root / to_system(above))
    for entry in entries:
        name = above + _name(entry, entries)
        if name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False) and rule(name) is None:
            found.pages[name.removesuffix(SUFFIX)] = entry
        elif problem := _problem(name, entry, rule):
            found.ignored.append((name, problem))
        elif entry.is_dir(follow_symlinks=False) and name != ENTRIES:
            if is_memory(entry.path):
                found.ignored.append((name, INNER))
            else:
                folders.append(f"{name}/")
    return folders


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:  # an absent memory, or a folder that has just been removed
        return []


def _name(entry: os.DirEntry[str], entries: Sequence[os.DirEntry[str]]) -> str:
    """The file's name; in NFC if the disk finds it under that name too, as macOS does."""
    name = from_system(entry.name)
    if unicodedata.is_normalized("NFC", name):
        return name
    composed = unicodedata.normalize("NFC", name)
    wanted = to_system(composed)
    if any(other.name == wanted for other in entries) or lstat(Path(entry.path).with_name(wanted)) is None:
        return name
    return composed


def _leads_away(entry: os.DirEntry[str]) -> bool:
    # Only Windows has junctions, and there it costs a stat for each file.
    return entry.is_symlink() or (os.name == "nt" and is_link(entry.stat(follow_symlinks=False)))


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _problem(name: str, entry: os.DirEntry[str], rule: Callable[[str], str | None]) -> str | None:
    """Why a file or folder that looks like a page, or like a folder of pages, is not one; `None` otherwise."""
    markdown = is_markdown(name)
    if _leads_away(entry):
        return LINK if markdown or _leads_to_folder(entry) else None
    if not markdown or entry.is_dir(follow_symlinks=False):
        return None
    if not entry.is_file(follow_symlinks=False):
        return "is not a regular file"
    return rule(name)


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
