"""The files of a folder of notes: which were touched since they were read, and the notes as pages of an index.

A file is known by its size, its time and its inode; what was touched is known by the hash of its bytes. The time never
says when something was said.
"""

from __future__ import annotations

import time as clock
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from memory_v2.errors import PageNotFound, UsageError
from memory_v2.files.claude_folder import judge_in
from memory_v2.files.decoding import read_data, read_text
from memory_v2.files.left_out import LeftOut
from memory_v2.files.listing import Listing, SourceFile, has_text_suffix, list_files
from memory_v2.notes.cache import Kept, Read, Row
from memory_v2.notes.note import Note
from memory_v2.progress import with_progress
from memory_v2.storage.base import Stamp, Stored, version_of
from memory_v2.text.calendar import named_day
from memory_v2.tree.block import encode

SETTLED_SECONDS = 2
"""How long a file must have been untouched for its time to tell that it is the same: some disks keep even seconds."""
BATCH = 500
"""How many notes are kept at once, so that a run that is stopped need not read them again."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a look at the folder has found, by name. `files` counts the notes; `opened` are the files whose bytes were
    read; `behind` those that were not looked at because only a part was asked for."""

    files: int
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    behind: tuple[str, ...] = ()

    @property
    def is_current(self) -> bool:
        """Whether nothing had changed."""
        return not (self.new or self.changed or self.removed or self.behind)


def look(folder: Path, kept: Kept, only: Collection[str] = (), keeps: bool = True) -> Refreshed:
    """Compares the folder with what is kept and, if it `keeps`, brings that up to date. With `only`, no other files are
    opened; those that are gone are forgotten all the same. Raises `UsageError` if there is no such folder or file,
    `StorageError` if the folder cannot be listed."""
    listing = _listed(folder)
    rows = kept.rows()
    files = {file.name: file for file in listing.files if has_text_suffix(file.name)}
    for part in only:
        if not any(_is_in(name, part) for name in (*files, *rows)):
            raise UsageError(f"there is no note {part!r} in {folder}")
    gone = [name for name in rows if name not in files and not name.startswith(tuple(listing.unlisted))]
    marks = {name: _mark(file.path) for name, file in files.items()}
    touched = [name for name, mark in marks.items() if not mark or name not in rows or rows[name].mark != mark]
    wanted = [name for name in touched if not only or any(_is_in(name, part) for part in only)]
    if keeps:
        kept.keep((), gone)
    found: list[Read] = []
    same: dict[str, str] = {}
    left_out = {name: row.left_out for name, row in rows.items() if row.left_out and name in files}
    for name in with_progress(wanted, "files read"):
        read = _read(files[name], marks[name], rows.get(name))
        if isinstance(read, str):
            same[name] = read
            continue
        left_out.pop(read.name, None)
        if isinstance(read.what, LeftOut):
            left_out[read.name] = read.what
        found.append(read)
        if keeps and len(found) % BATCH == 0:
            kept.keep(found[-BATCH:], ())
    if keeps:
        kept.keep(found[len(found) - len(found) % BATCH :], ())
        kept.mark(same)
    notes = [read.name for read in found if isinstance(read.what, Note)]
    told = [left for left in (*listing.left_out, *left_out.values()) if not left.is_expected]
    return Refreshed(
        files=len(files) - len(left_out),
        new=tuple(name for name in notes if name not in rows),
        changed=tuple(name for name in notes if name in rows),
        removed=tuple(gone),
        opened=tuple(wanted),
        left_out=tuple(sorted(told, key=lambda left: left.name)),
        behind=tuple(sorted({*touched}.difference(wanted))),
    )


def check_folder(folder: Path) -> None:
    """Raises `UsageError` unless the folder of notes is there."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise UsageError(f"the folder of notes {folder} {what}; name a folder of Markdown files")


def _listed(folder: Path) -> Listing:
    check_folder(folder)
    return list_files(folder, judge_in(folder))


def _is_in(name: str, part: str) -> bool:
    """Whether a file is the named one, or in the named folder."""
    return name == part or name.startswith(part.rstrip("/") + "/")


def _read(file: SourceFile, mark: str, known: Row | None) -> Read | str:
    """What is read of a file; only its new mark if that is known. What cannot be read has none, and is tried again."""
    data = read_data(file)
    if isinstance(data, LeftOut):
        return "" if known and known.left_out == data else Read(file.name, "", "", data)
    digest = sha256(data).hexdigest()
    if known and known.sha256 == digest:
        return mark
    from memory_v2.notes.parsing import read_note  # start-up that no run pays to whom nothing is new

    return Read(file.name, mark, digest, read_note(file.name, data))


def _mark(path: Path) -> str:
    """What tells that a file was touched; empty if it was touched too lately to tell."""
    try:
        found = path.stat(follow_symlinks=False)
    except OSError:  # told when it is read
        return ""
    is_settled = clock.time() - found.st_mtime > SETTLED_SECONDS
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ino}" if is_settled else ""


SUFFIX = ".md"
LONG_AGO = datetime.fromtimestamp(0, UTC)
"""When a note was changed whose name has no day: nobody knows, and the time of its file is never taken for it."""
_NOON = time(12, tzinfo=UTC)
"""It is the same day in every time zone but two."""


def page_of(name: str) -> str:
    """The path of the page for a note: its name without `.md`, unless another note has that name."""
    bare = name.removesuffix(SUFFIX)
    return name if has_text_suffix(bare) else bare


def note_of(page: str) -> str:
    """The name of the note for a page."""
    return page if has_text_suffix(page) else page + SUFFIX


class NotePages:
    """The `PageSource` of a folder of notes, as they were when they were looked at last."""

    def __init__(self, folder: Path, kept: Kept) -> None:
        """The notes of a folder, of which this is kept."""
        self._folder = folder
        self._kept = kept

    def stamps(self) -> Iterator[Stamp]:
        """See `PageSource`; the hash of its bytes tells whether a note is the same."""
        for name, row in self._kept.rows().items():
            if row.left_out is None:
                yield Stamp(page_of(name), 0, row.sha256)

    def read(self, path: str) -> Stored:
        """See `PageSource`; the text is in UTF-8, whatever the file is in, and its lines are those of the file."""
        name = note_of(path)
        text = read_text(SourceFile(name, self._place(name)))
        if isinstance(text, LeftOut):  # removed, or no longer a text, as the next look at the folder will find
            raise PageNotFound(path)
        data = encode(text.text)
        return Stored(data, version_of(data))

    def unlisted_folders(self) -> tuple[str, ...]:
        """See `PageSource`; of a folder that cannot be listed, the notes stay among those that are kept."""
        return ()

    def get_modified_time(self, path: str) -> datetime:
        """See `PageSource`; by the day in the name of the note or of its folders."""
        day = named_day(note_of(path))
        return datetime.combine(day, _NOON) if day else LONG_AGO

    def _place(self, name: str) -> Path:
        place = self._folder / name
        return place if place.is_file() else self._unprintable.get(name, place)

    @cached_property
    def _unprintable(self) -> dict[str, Path]:
        """Where the notes are whose names on the disk cannot be printed."""
        files = list_files(self._folder, judge_in(self._folder)).files
        return {file.name: file.path for file in files if file.path != self._folder / file.name}
