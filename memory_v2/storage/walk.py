"""Which files in a folder are pages, and which names files in any store may have to be pages."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from memory_v2.errors import InvalidPath
from memory_v2.storage.local.disk import explained, is_link, lstat
from memory_v2.tree.path import fold, is_page_path, page_path, prefixes

SUFFIX = ".md"
LINK = "is a symbolic link; a memory keeps its pages inside its own folder"


def walk(root: Path) -> tuple[dict[str, os.DirEntry[str]], list[tuple[str, str]]]:
    """The pages below a folder, by path; and the files that one could take for pages, each with why it is none."""
    pages: dict[str, os.DirEntry[str]] = {}
    strays: list[tuple[str, str]] = []
    folders = [""]
    while folders:
        above = folders.pop()
        with explained("list", root / above):
            entries = _entries(root / above)
            for entry in entries:
                name = above + _name(entry, entries)
                if problem := _problem(name, entry):
                    strays.append((name, problem))
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(f"{name}/")
                elif name.endswith(SUFFIX):
                    pages[name.removesuffix(SUFFIX)] = entry
    return pages, strays + part_clashes(pages)


def is_markdown(name: str) -> bool:
    """Whether one could take a file of this name for a page."""
    return name[-len(SUFFIX) :].lower() == SUFFIX


def name_problem(name: str) -> str | None:
    """Why no page has this name of a Markdown file."""
    if not name.endswith(SUFFIX):
        return f"the name of a page ends in {SUFFIX!r}, in lower case"
    path = name.removesuffix(SUFFIX)
    return None if _is_page_path(path) else _broken_rule(path)


def part_clashes(pages: dict[str, Any]) -> list[tuple[str, str]]:
    """Takes those pages out that are the same as others on a disk that ignores case; gives their names, and why."""
    strays = []
    for path, kept in _case_clashes(pages).items():
        del pages[path]
        strays.append((f"{path}{SUFFIX}", f"its path equals {kept!r} in all but case; rename one of the two"))
    return strays


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:  # an absent memory, or a folder that has just been removed
        return []


def _name(entry: os.DirEntry[str], entries: Sequence[os.DirEntry[str]]) -> str:
    """The name of an entry; in NFC, if the disk takes that for the same: on a Mac, names are written in either form."""
    name = entry.name
    if unicodedata.is_normalized("NFC", name):
        return name
    composed = unicodedata.normalize("NFC", name)
    if any(other.name == composed for other in entries) or lstat(Path(entry.path).with_name(composed)) is None:
        return name
    return composed


def _leads_away(entry: os.DirEntry[str]) -> bool:
    # Only Windows has junctions; a stat for each entry is what it costs there.
    return entry.is_symlink() or (os.name == "nt" and is_link(entry.stat(follow_symlinks=False)))


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _problem(name: str, entry: os.DirEntry[str]) -> str | None:
    """Why an entry that somebody could take for a page, or for a folder of pages, is none."""
    markdown = is_markdown(name)
    if _leads_away(entry):
        return LINK if markdown or _leads_to_folder(entry) else None
    if not markdown or entry.is_dir(follow_symlinks=False):
        return None
    if not entry.is_file(follow_symlinks=False):
        return "is not a regular file"
    return name_problem(name)


_is_page_path = lru_cache(maxsize=1 << 20)(is_page_path)  # the same names at every walk: 0.1 µs instead of 7


def _broken_rule(path: str) -> str:
    try:
        page_path(path)
    except InvalidPath as error:
        return str(error)
    return "its name is not in Unicode NFC"


def _case_clashes(paths: Iterable[str]) -> dict[str, str]:
    """The paths that a disk without case would hold to be another one (or below it), each with that other one.

    Of such names the last in code point order stays a page, which is the one in lower case.
    """
    names = set(paths)
    for path in list(names):
        while (path := path.rpartition("/")[0]) and path not in names:
            names.add(path)
    if len({fold(name) for name in names}) == len(names):
        return {}
    kept = {fold(name): name for name in sorted(names)}
    clashes = {}
    for path in paths:
        for prefix in prefixes(path):
            if (other := kept[fold(prefix)]) != prefix:
                clashes[path] = other
                break
    return clashes
