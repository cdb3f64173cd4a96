"""The notes of a folder as the pages of an index: the same full text and ranking as a memory has.

What is kept of the notes says which there are and what their bytes hash to, so no file is opened that was not touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, time
from functools import cached_property
from pathlib import Path

from memory_v2.errors import PageNotFound
from memory_v2.files.claude_folder import judge_in
from memory_v2.files.decoding import read_text
from memory_v2.files.left_out import LeftOut
from memory_v2.files.listing import SourceFile, has_text_suffix, list_files
from memory_v2.notes.kept import Kept
from memory_v2.storage.base import Stamp, Stored, version_of
from memory_v2.text.calendar import named_day
from memory_v2.tree.block import encode

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
