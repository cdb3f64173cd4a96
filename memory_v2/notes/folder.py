"""The files of a folder of notes: which were touched since they were read, and the notes as pages of an index.

A file is known by its size, its time and its inode; what was touched is known by the hash of its bytes. The time never
says when something was said.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from memory_v2.errors import PageNotFound, UsageError
from memory_v2.files.claude_folder import judge_in
from memory_v2.files.decoding import read_data, read_text
from memory_v2.files.listing import LeftOut, Listing, SourceFile, has_text_suffix, list_files
from memory_v2.notes.cache import BATCH, CachedFile, NotesCache
from memory_v2.notes.note import Note
from memory_v2.notes.parsing import read_note
from memory_v2.progress import with_progress
from memory_v2.storage.base import Stamp, Stored, version_of
from memory_v2.text.days import named_day
from memory_v2.tree.block import encode

SETTLED_SECONDS = 2
"""How long a file must have been untouched for its time to tell that it is the same: some disks keep even seconds."""
SUFFIX = ".md"
LONG_AGO = datetime.fromtimestamp(0, UTC)
"""When a note was changed whose name has no day: the time of its file is never taken for it."""


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


def page_of(name: str) -> str:
    """The path of the page for a note: its name without `.md`, unless another note has that name."""
    bare = name.removesuffix(SUFFIX)
    return name if has_text_suffix(bare) else bare


def note_of(page: str) -> str:
    """The name of the note for a page."""
    return page if has_text_suffix(page) else page + SUFFIX


class NotesFolder:
    """The files of a folder and what is kept of them. For the index it is the `PageSource` of the notes, as they were
    when they were looked at last: so the same full text and ranking finds them as the pages of a memory."""

    def __init__(self, folder: Path, cache: NotesCache) -> None:
        self.path = folder
        self.cache = cache

    def check(self) -> None:
        """Raises `UsageError` unless the folder is there."""
        if not self.path.is_dir():
            what = "is a file" if self.path.exists() else "does not exist"
            raise UsageError(f"the folder of notes {self.path} {what}; name a folder of Markdown files")

    def files(self) -> dict[str, Path]:
        """All files by name, those too that are no notes. Raises `StorageError` if the folder cannot be listed."""
        return {file.name: file.path for file in self._listing().files}

    def _listing(self) -> Listing:
        return list_files(self.path, judge_in(self.path))

    def look(self, only: Collection[str] = (), keeps: bool = True) -> Refreshed:
        """Compares the folder with what is kept and, if it `keeps`, brings that up to date. With `only`, no other files
        are opened; those that are gone are forgotten all the same. Raises `UsageError` if there is no such folder or
        file, `StorageError` if the folder cannot be listed."""
        self.check()
        listing, known = self._listing(), self.cache.files()
        files = {file.name: file for file in listing.files if has_text_suffix(file.name)}
        for part in only:
            if not any(_is_in(name, part) for name in (*files, *known)):
                raise UsageError(f"there is no note {part!r} in {self.path}")
        gone = [name for name in known if name not in files and not name.startswith(tuple(listing.unlisted))]
        marks = {name: _mark(file.path) for name, file in files.items()}
        touched = [name for name, mark in marks.items() if not mark or name not in known or known[name].mark != mark]
        wanted = [name for name in touched if not only or any(_is_in(name, part) for part in only)]
        if keeps:
            self.cache.store_files((), gone)
        read: list[CachedFile] = []
        same: dict[str, str] = {}
        left_out = {name: file.left_out for name, file in known.items() if file.left_out and name in files}
        for name in with_progress(wanted, "files read"):
            file = _read(files[name], marks[name], known.get(name))
            if file.content is None:
                same[name] = file.mark
                continue
            left_out.pop(name, None)
            if file.left_out:
                left_out[name] = file.left_out
            read.append(file)
            if keeps and len(read) % BATCH == 0:
                self.cache.store_files(read[-BATCH:])
        if keeps:
            self.cache.store_files(read[len(read) - len(read) % BATCH :])
            self.cache.mark(same)
        notes = [file.name for file in read if isinstance(file.content, Note)]
        unexpected = [left for left in (*listing.left_out, *left_out.values()) if not left.is_expected]
        return Refreshed(
            files=len(files) - len(left_out),
            new=tuple(name for name in notes if name not in known),
            changed=tuple(name for name in notes if name in known),
            removed=tuple(gone),
            opened=tuple(wanted),
            left_out=tuple(sorted(unexpected, key=lambda left: left.name)),
            behind=tuple(sorted({*touched}.difference(wanted))),
        )

    def stamps(self) -> Iterator[Stamp]:
        """See `PageSource`; the hash of its bytes tells whether a note is the same."""
        return (Stamp(page_of(name), 0, digest) for name, digest in self.cache.hashes().items())

    def read(self, path: str) -> Stored:
        """See `PageSource`; the text is in UTF-8, whatever the file is in, and its lines are those of the file."""
        name = note_of(path)
        place = self.path / name
        text = read_text(SourceFile(name, place if place.is_file() else self._unprintable.get(name, place)))
        if isinstance(text, LeftOut):  # removed, or no longer a text, as the next look at the folder will find
            raise PageNotFound(path)
        data = encode(text.text)
        return Stored(data, version_of(data))

    def unlisted_folders(self) -> tuple[str, ...]:
        """See `PageSource`; of a folder that cannot be listed, the notes stay among those that are kept."""
        return ()

    def get_modified_time(self, path: str) -> datetime:
        """See `PageSource`; by the day in the name of the note or of its folders, at noon: that is the same day in
        every time zone but two."""
        day = named_day(note_of(path))
        return datetime(day.year, day.month, day.day, 12, tzinfo=UTC) if day else LONG_AGO

    @cached_property
    def _unprintable(self) -> dict[str, Path]:
        """Where the notes are whose names on the disk cannot be printed."""
        return {name: place for name, place in self.files().items() if place != self.path / name}


def _is_in(name: str, part: str) -> bool:
    """Whether a file is the named one, or in the named folder."""
    return name == part or name.startswith(part.rstrip("/") + "/")


def _read(file: SourceFile, mark: str, known: CachedFile | None) -> CachedFile:
    """What is read of a file; only its new mark if that is known. What cannot be read has none, and is tried again."""
    data = read_data(file)
    if isinstance(data, LeftOut):
        return CachedFile(file.name, "", "", None if known and known.left_out == data else data)
    digest = sha256(data).hexdigest()
    if known and known.sha256 == digest:
        return CachedFile(file.name, mark, digest)
    return CachedFile(file.name, mark, digest, read_note(file.name, data))


def _mark(path: Path) -> str:
    """What tells that a file was touched; empty if it was touched too lately to tell."""
    try:
        stat = path.stat(follow_symlinks=False)
    except OSError:  # told when it is read
        return ""
    is_settled = time.time() - stat.st_mtime > SETTLED_SECONDS
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}" if is_settled else ""
