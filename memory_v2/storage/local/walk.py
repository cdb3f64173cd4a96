"""Finding the pages in a folder."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from memory_v2.storage.local.disk import explained, is_link, lstat
from memory_v2.storage.names import SUFFIX, is_markdown, name_problem, part_clashes

LINK = "is a symbolic link; a memory keeps its pages inside its own folder"


def walk(root: Path) -> tuple[dict[str, os.DirEntry[str]], list[tuple[str, str]]]:
    """The pages below a folder, by path, and the files that look like pages but are not, each with the reason."""
    pages: dict[str, os.DirEntry[str]] = {}
    ignored: list[tuple[str, str]] = []
    folders = [""]
    while folders:
        above = folders.pop()
        with explained("list", root / above):
            entries = _entries(root / above)
            for entry in entries:
                name = above + _name(entry, entries)
                if problem := _problem(name, entry):
                    ignored.append((name, problem))
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(f"{name}/")
                elif name.endswith(SUFFIX):
                    pages[name.removesuffix(SUFFIX)] = entry
    return pages, ignored + part_clashes(pages)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:  # an absent memory, or a folder that has just been removed
        return []


def _name(entry: os.DirEntry[str], entries: Sequence[os.DirEntry[str]]) -> str:
    """The file's name; in NFC if the disk finds it under that name too, as macOS does."""
    name = entry.name
    if unicodedata.is_normalized("NFC", name):
        return name
    composed = unicodedata.normalize("NFC", name)
    if any(other.name == composed for other in entries) or lstat(Path(entry.path).with_name(composed)) is None:
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


def _problem(name: str, entry: os.DirEntry[str]) -> str | None:
    """Why a file or folder that looks like a page, or like a folder of pages, is not one; `None` otherwise."""
    markdown = is_markdown(name)
    if _leads_away(entry):
        return LINK if markdown or _leads_to_folder(entry) else None
    if not markdown or entry.is_dir(follow_symlinks=False):
        return None
    if not entry.is_file(follow_symlinks=False):
        return "is not a regular file"
    return name_problem(name)
