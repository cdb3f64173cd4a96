"""The entries of a memory as they leave it: as files, to the byte, as a part of one file, and as lines of JSON."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memory_v2.entries.checking import stored_paths
from memory_v2.entries.entry import Entry
from memory_v2.entries.file import read_entry
from memory_v2.entries.places import place_of
from memory_v2.errors import Unreadable
from memory_v2.files.left_out import LeftOut
from memory_v2.memory import Memory
from memory_v2.migrate.export_forms import row_line
from memory_v2.serialize import document
from memory_v2.tree.block import decode, readable

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the entries: the entry in it is `None` if it cannot be read as one, or if it holds the domains."""

    path: str
    data: bytes
    entry: Entry | None = None


def stored_entries(memory: Memory) -> tuple[list[StoredFile], list[LeftOut]]:
    """The files of all entries, and of the domains if somebody has edited them, by path; and those that cannot be
    read."""
    area = memory.entries.area
    files, left_out = [], []
    for path in sorted(stored_paths(area)):
        try:
            data = area.data(path)
        except Unreadable as error:
            logger.warning("the entry %r is left out: %s", path, error)
            left_out.append(LeftOut(path, str(error)))
            continue
        if data is not None:
            place = place_of(path)
            files.append(StoredFile(path, data, read_entry(place, data).entry if place else None))
    return files, left_out


def entry_lines(files: Sequence[StoredFile]) -> Iterator[bytes]:
    """Each file as a line of JSON: what is known of the entry, or the text of the file if that is nothing."""
    for one in files:
        told: dict[str, Any] = {"entry": document(one.entry)} if one.entry else {"text": decode(one.data)}
        yield row_line({"path": one.path, **told}).encode()


def entries_part(files: Sequence[StoredFile]) -> Iterator[bytes]:
    """The entries as the end of one Markdown file: each with its id and its day above its text, which is quoted."""
    entries = [one.entry for one in files if one.entry]
    if entries:
        yield b"# Entries\n\n"
    for entry in entries:
        quoted = "".join(f"> {line}".rstrip() + "\n" for line in readable(entry.text).rstrip().split("\n"))
        yield f"{entry.id}, {entry.observed_at.isoformat()}\n\n{quoted}\n".encode()
