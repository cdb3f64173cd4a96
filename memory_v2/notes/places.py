"""Places in notes: what the index has found, with what the notes tell of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice

from memory_v2.errors import PageNotFound, UsageError
from memory_v2.index.base import Hit
from memory_v2.index.full_text import FullTextIndex
from memory_v2.notes.found import NoteHit, Part
from memory_v2.notes.judged import NO_MARKS, Marks, marks_of
from memory_v2.notes.kept import Kept
from memory_v2.notes.note import Item, Note, Section
from memory_v2.notes.pages import NotePages, note_of, page_of
from memory_v2.tree.block import readable, split_lines
from memory_v2.tree.page import Page, read_page


@dataclass(frozen=True, slots=True)
class Place:
    """A place that was found, with what its note tells of it: its items, its section, what labels and headings say that
    it is, and whether all that stands there is over."""

    hit: Hit
    note: Note
    items: Sequence[Item]
    section: Section | None
    marks: Sequence[tuple[str, str]] = ()
    is_over: bool = False

    @property
    def day(self) -> date | None:
        """The newest day of its items; that of its note, if it is a heading."""
        return max((item.day for item in self.items if item.day), default=None if self.items else self.note.day)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of its note and its section."""
        return tuple(dict.fromkeys((*self.note.tags, *(self.section.tags if self.section else ()))))

    def told(self, confidence: float, lines: Sequence[str], around: int) -> NoteHit:
        """The place as it is told, with so many of the note's `lines` around it."""
        first, last = self.hit.first_line, self.hit.last_line
        return NoteHit(
            file=self.note.name,
            first_line=first,
            last_line=last,
            text=self.hit.text,
            score=round(self.hit.score, 4),
            confidence=confidence,
            day=self.day,
            headings=self.hit.section or (self.items[0].headings if self.items else ()),
            tags=self.tags,
            marks=tuple(f"{category}: {grade}" for category, grade in self.marks),
            is_over=self.is_over,
            found_by=self.hit.found_by,
            signs=self.hit.signs,
            before=tuple(lines[max(first - 1 - around, 0) : first - 1]),
            after=tuple(lines[last : last + around]),
        )


@dataclass(frozen=True, slots=True)
class Folder:
    """What is searched: the notes that are kept, their pages, and the index of these."""

    kept: Kept
    pages: NotePages
    index: FullTextIndex

    def names(self, part: Part) -> list[str]:
        """The notes in a part. Raises `UsageError` if none has the name that is asked for."""
        names = [name for name, row in self.kept.rows().items() if row.left_out is None and part.has_file(name)]
        if part.file and not names:
            raise UsageError(f"there is no note {part.file!r} in the folder")
        return sorted(names)

    def page(self, path: str) -> Page | None:
        """A note as a page; `None` if it is gone."""
        try:
            return read_page(path, self.pages.read(path).data)
        except PageNotFound:
            return None

    def lines(self, name: str) -> list[str]:
        """The lines of a note, without their ends; none if it is gone."""
        page = self.page(page_of(name))
        return [line.rstrip("\r\n") for line in split_lines(readable(page.text))] if page else []

    def places(self, hits: Sequence[Hit], part: Part, most: int) -> list[Place]:
        """The first hits in a part of the notes, with what their notes tell of them. What is gone meanwhile is left
        out."""
        notes = {note.name: note for note in self.kept.notes({note_of(hit.path) for hit in hits})}
        known = (_place(hit, notes[name], NO_MARKS) for hit in hits if (name := note_of(hit.path)) in notes)
        chosen = list(islice((one for one in known if part.has(one.tags, one.day)), most))
        marks = marks_of(self.kept, {place.note.name for place in chosen})
        return [_place(one.hit, one.note, marks.get(one.note.name, NO_MARKS)) for one in chosen]


def _place(hit: Hit, note: Note, marks: Marks) -> Place:
    items = [one for one in note.items if one.first_line <= hit.last_line and one.last_line >= hit.first_line]
    section = next((one for one in note.sections if one.first_line <= hit.first_line <= one.last_line), None)
    found = [(category, grade) for item in items for category, grade in marks.of_item.get(item.id, ())]
    is_over = bool(items) and all(item.id in marks.over for item in items)
    return Place(hit, note, items, section, tuple(dict.fromkeys(found)), is_over)
