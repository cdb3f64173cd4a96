"""Taking a memory out: as a folder of Markdown files, as one file, or as lines of JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from memory_v2.entries.places import place_of
from memory_v2.errors import UsageError
from memory_v2.files.left_out import LeftOut
from memory_v2.memory import Memory
from memory_v2.migrate.export_entries import StoredFile, entries_part, entry_lines, stored_entries
from memory_v2.migrate.export_forms import file_text, json_line, part_text
from memory_v2.migrate.leaves import Leaf, leaves
from memory_v2.progress import with_progress
from memory_v2.storage.local.disk import explained, replace_bytes, to_system
from memory_v2.tree.block import encode

Form: TypeAlias = Literal["folder", "file", "jsonl"]
"""A file for each page; one file with all pages, in the order of the tree; a line of JSON for each page."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was exported: where to, how many pages, entries, files and bytes, and what could not be read."""

    dest: str
    form: Form
    pages: int
    files: int
    size_bytes: int
    left_out: tuple[LeftOut, ...] = ()
    entries: int = 0


def export(memory: Memory, dest: Path, form: Form = "folder", force: bool = False) -> Exported:
    """Writes all pages and entries to a folder, or to one file. The memory is not changed.

    A file is written whole or not at all. What is at `dest` already is refused; with `force` files of the same names
    are replaced, and others stay. Raises `UsageError`, `StorageError`.
    """
    _check(memory, dest, form, force)
    pages, left_out = leaves(memory)
    entries, unread = stored_entries(memory)
    size = 0
    if form == "folder":
        files = {leaf.page.path: encode(file_text(leaf)) for leaf in pages} | {one.path: one.data for one in entries}
        for path, data in with_progress([*files.items()], "files written"):
            size += _put(dest / to_system(f"{path}.md"), data)
    else:
        size = _put(dest, b"".join(_data(pages, entries, form)))
    count = len(pages) + len(entries) if form == "folder" else 1
    held = sum(place_of(one.path) is not None for one in entries)
    return Exported(str(dest), form, len(pages), count, size, (*left_out, *unread), held)


def exported_data(memory: Memory, form: Literal["file", "jsonl"]) -> tuple[bytes, Sequence[LeftOut]]:
    """What `export` would write to one file, and what could not be read. Raises `StorageError`."""
    pages, left_out = leaves(memory)
    entries, unread = stored_entries(memory)
    return b"".join(_data(pages, entries, form)), [*left_out, *unread]


def _data(pages: Sequence[Leaf], entries: Sequence[StoredFile], form: Form) -> Iterator[bytes]:
    for leaf in pages:
        yield encode(part_text(leaf)) if form == "file" else json_line(leaf).encode()
    yield from entries_part(entries) if form == "file" else entry_lines(entries)


def _put(file: Path, data: bytes) -> int:
    with explained("write", file):
        replace_bytes(file, data)
    return len(data)


def _check(memory: Memory, dest: Path, form: Form, force: bool) -> None:
    """Raises `UsageError` if the place is taken, is of the wrong kind, or is in the memory itself."""
    whole, home = dest.resolve(), Path(memory.storage.where).resolve()
    if whole == home or home in whole.parents or (form == "folder" and whole in home.parents):
        raise UsageError(f"{dest} is in the memory itself, or around it; export to another place")
    with explained("read", dest):
        is_folder, is_taken = dest.is_dir(), dest.exists()
        is_taken = any(dest.iterdir()) if is_folder else is_taken
    if form != "folder" and is_folder:
        raise UsageError(f"{dest} is a folder; name a file, or export a folder")
    if form == "folder" and is_taken and not is_folder:
        raise UsageError(f"{dest} is a file; name a folder, or export one file")
    if is_taken and not force:
        what = "is not empty" if form == "folder" else "is there already"
        raise UsageError(f"{dest} {what}; name another place, or use --force to replace files of the same names")
