"""The files of a folder: which there are, and what is left out before any of them is opened.

Symbolic links are never followed: what they lead to is in the folder anyway, or is not asked for.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from memory_v2.errors import StorageError

TEXT_SUFFIXES = (".md", ".markdown", ".txt")
"""The ends of the names of files that are read as text, in lower case."""

_OF_PROGRAMS = frozenset(
    [
        *(".cache", ".ds_store", ".gitattributes", ".gitignore", ".gitkeep", ".gitmodules", ".stignore"),
        *(".git", ".hg", ".svn", ".stfolder", ".stversions", ".idea", ".vscode", ".venv", "node_modules"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__", "desktop.ini", "thumbs.db"),
        *(".clawvault", ".clawvault.json", ".dreams", ".logseq", ".metadata", ".obsidian", ".smart-env", ".trash"),
        ".silica-notes",
    ]
)
"""Files and folders that hold nothing that somebody wrote to keep, by name in lower case."""
_UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source: its name within the source, with `/`, and where it is."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder of the source that is no document, and why, in a sentence. `is_expected` tells that nothing of
    the user's is in it, such as an index that a program keeps."""

    name: str
    reason: str
    is_expected: bool = False


@dataclass(frozen=True)
class Listing:
    """The files of a folder, and what is left out, both sorted by name. `unlisted` are the folders, with `/`, of which
    nobody knows what is in them."""

    files: Sequence[SourceFile] = ()
    left_out: Sequence[LeftOut] = ()
    unlisted: Sequence[str] = ()

    def names(self) -> Iterator[str]:
        """The names of the files."""
        return (file.name for file in self.files)


Judge: TypeAlias = Callable[[str, Path], LeftOut | None]
"""Leaves out a file, or a folder with all that is in it; the name of a folder ends in `/`. `None` looks into it."""


def list_files(folder: Path, judge: Judge) -> Listing:
    """All files below a folder. Raises `StorageError` if the folder itself cannot be listed."""
    files: list[SourceFile] = []
    left_out: list[LeftOut] = []
    links: list[SourceFile] = []
    unlisted: list[str] = []
    folders = [SourceFile("", folder)]
    for here in folders:  # grows while it is read
        try:
            with os.scandir(here.path) as found:
                inside = list(found)
        except OSError as error:
            if here.path == folder:
                raise StorageError(f"{folder} cannot be listed: {error.strerror}") from error
            left_out.append(LeftOut(here.name, f"this folder cannot be listed: {error.strerror}"))
            unlisted.append(here.name)
            continue
        for one in inside:
            name, path = here.name + printable(one.name), Path(one.path)
            if one.is_symlink():
                links.append(SourceFile(name, path))
            elif one.is_dir(follow_symlinks=False):
                if left := judge(f"{name}/", path):
                    left_out.append(left)
                else:
                    folders.append(SourceFile(f"{name}/", path))
            elif not one.is_file(follow_symlinks=False):
                left_out.append(LeftOut(name, "neither a file nor a folder"))
            elif left := judge(name, path):
                left_out.append(left)
            else:
                files.append(SourceFile(name, path))
    seen = {os.path.realpath(each.path) for each in (*folders, *files)} if links else set()
    left_out += [_link(link, folder, seen) for link in links]
    return Listing(
        sorted(files, key=lambda file: file.name), sorted(left_out, key=lambda left: left.name), sorted(unlisted)
    )


def left_out_as_hidden(name: str, path: Path) -> LeftOut | None:
    """A hidden file or folder, or one that only programs use, with the reason to leave it out."""
    *_, last = name.rstrip("/").rpartition("/")
    if last.casefold() in _OF_PROGRAMS:
        return LeftOut(name, "kept by a program, and no note", is_expected=True)
    if not last.startswith("."):
        return None
    if not name.endswith("/"):
        return LeftOut(name, "a hidden file")
    if text := _text_below(path):
        return LeftOut(name, f"a hidden folder, which holds {text}: name the folder itself to read its notes")
    return LeftOut(name, "a hidden folder without notes", is_expected=True)


def no_reader(file: SourceFile) -> LeftOut:
    """A file of a kind that nobody reads, with the reason."""
    if has_text_suffix(file.name):
        return LeftOut(file.name, "a text that is no part of this format")
    suffix = file.path.suffix
    kind = "JSON" if suffix.lower() == ".json" else f"{printable(suffix)} files" if suffix else "files without a suffix"
    return LeftOut(file.name, f"there is no reader for {kind}")


def has_text_suffix(name: str) -> bool:
    """Whether a file is read as text, by its name."""
    return name.lower().endswith(TEXT_SUFFIXES)


def without_suffix(name: str) -> str:
    """The name of a file without what tells that it is text."""
    return name[: name.rindex(".")] if has_text_suffix(name) else name


def is_there(folder: Path, path: str) -> bool:
    """Whether there is something at a path from a folder; a name that no disk takes is not."""
    try:
        return (folder / path).exists()
    except OSError:
        return False


def printable(name: str) -> str:
    """The name of a file so that it can stand on a line: bytes that are no text and control characters are escaped."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(
        c.encode("unicode_escape").decode("ascii") if unicodedata.category(c) in _UNPRINTABLE else c for c in text
    )


def _link(link: SourceFile, folder: Path, seen: set[str]) -> LeftOut:
    target, root = os.path.realpath(link.path), os.path.realpath(folder)
    if not Path(target).exists():
        return LeftOut(link.name, "a symbolic link that leads nowhere")
    if not Path(target).is_relative_to(root):
        return LeftOut(link.name, f"a symbolic link out of the folder: name {printable(target)} itself to read it")
    inside = printable(os.path.relpath(target, root))
    return LeftOut(link.name, f"a symbolic link to {inside} in the same folder", is_expected=target in seen)


def _text_below(folder: Path) -> str:
    """The name of one text in a folder or below it; empty if there is none."""
    for _, _, names in os.walk(folder):
        if found := sorted(filter(has_text_suffix, names)):
            return printable(found[0])
    return ""


def left_out_in_a_line(left_out: Sequence[LeftOut], most: int = 4) -> str:
    """What is left out, in one line: how many for each reason, and a single one by its name. At most so many reasons,
    those first of which there may be something of the user's in it; empty if nothing is left out."""
    by_reason: dict[str, list[LeftOut]] = {}
    for left in sorted(left_out, key=lambda left: left.is_expected):
        by_reason.setdefault(left.reason, []).append(left)
    told = [
        f"{len(alike)} × {reason}" if len(alike) > 1 else f"{alike[0].name}: {reason}"
        for reason, alike in sorted(by_reason.items(), key=lambda item: (item[1][0].is_expected, -len(item[1])))
    ]
    more = [f"{len(told) - most} other reasons"] if len(told) > most + 1 else []
    return "; ".join([*told[:most], *more] if more else told)
