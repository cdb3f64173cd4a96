"""The values of a search in notes: where is looked, and what is found."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from typing import Any

from memory_v2.errors import UsageError
from memory_v2.notes.note import is_within


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of the notes: sections with a tag, files of a name or in a folder, items from `since` to `until`. What is
    over is part of it only if `over`. With a first or a last day, what has no day is left out."""

    tag: str = ""
    file: str = ""
    since: date | None = None
    until: date | None = None
    over: bool = False

    def __post_init__(self) -> None:
        if self.since and self.until and self.since > self.until:
            raise UsageError(f"since must not be after until: {self.since} is after {self.until}")

    @property
    def is_of_whole_notes(self) -> bool:
        """Whether everything in its files belongs to it, but for what is over."""
        return not (self.tag or self.since or self.until)

    def has_file(self, name: str) -> bool:
        """Whether a note is in it, by its name."""
        inside = f"/{name}"
        part = f"/{self.file.strip('/')}"
        return not self.file or inside.endswith(part) or inside.startswith(f"{part}/")

    def has(self, tags: Collection[str], day: date | None) -> bool:
        """Whether it has what is tagged so, from that day."""
        is_tagged = not self.tag or _bare(self.tag) in map(_bare, tags)
        return is_tagged and is_within(day, self.since, self.until)


def _bare(tag: str) -> str:
    """A tag as it is compared: `#Lesson` and `lessons` are the same."""
    return tag.lstrip("#").casefold().removesuffix("s")


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A place that answers: lines `first_line` to `last_line` of a note, verbatim, with as much around as makes them a
    statement; `…` stands for lines that are left out.

    `score` is from 0 to 1, and `signs` are what it is made of: each in words, with its points. `confidence` is how much
    of what the query asks for stands there, from 0 to 1. `marks` say what it is (`decisions: marker`), `tags` are those
    of its section, and `is_over` tells that it is done, struck out or superseded. `before` and `after` are the lines
    around it, if they were asked for.
    """

    file: str
    first_line: int
    last_line: int
    text: str
    score: float
    confidence: float = 1.0
    day: date | None = None
    headings: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    is_over: bool = False
    found_by: str = ""
    signs: tuple[tuple[str, float], ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where it stands: `memory/2026-02-09.md:12`."""
        return f"{self.file}:{self.first_line}" + (f"-{self.last_line}" if self.last_line > self.first_line else "")


class NoteHits(list[NoteHit]):
    """What was found, best first.

    `answered` is false if no place tells enough of what is asked for; what is in the list then are the nearest places.
    `respelled` are the words that no note has, each with the one that was looked for in its place. `hidden` is how many
    places were left out because they are over, and `files` how many notes were searched.
    """

    answered: bool = False
    respelled: dict[str, str] = {}  # noqa: RUF012 - replaced, never changed
    hidden: int = 0
    files: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it."""
        names = ("answered", "respelled", "hidden", "files")
        return {**{name: getattr(self, name) for name in names}, "results": list(self)}
