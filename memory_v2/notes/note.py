"""The values of a folder of notes: a note, its sections, and its items.

An item is the unit that everything counts in: a bullet, a paragraph, a row of a table. What reads, indexes, extracts or
sums up notes works on items, so that each finding has a line and an id.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["bullet", "paragraph", "row", "quote", "code"]
DatedBy: TypeAlias = Literal["own", "section", "front matter", "file name", ""]

_OF_PROGRAM = (("Links",), ("Metadata",))
"""The sections that the program writes into each page of a memory."""


@dataclass(frozen=True, slots=True)
class Item:
    """A bullet, a paragraph or a row of a table: its words to the letter, without the mark of a list, on lines
    `first_line` to `last_line` (from 1). Quotes and code are items too.

    `id` is made of the name of the note, the headings and the words, so it stays when lines above it change. `leads`
    are the lines that introduce it: a bullet above it or a paragraph that ends in a colon, the head of its table.
    `is_done` tells whether its box is ticked; `None` if it has no box.
    """

    id: str
    kind: Kind
    text: str
    first_line: int
    last_line: int
    headings: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()
    day: date | None = None
    dated_by: DatedBy = ""
    is_done: bool | None = None

    @property
    def is_prose(self) -> bool:
        """Whether somebody said it here: neither code nor a quotation."""
        return self.kind not in ("code", "quote")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the lines down to the next one. The lines above the first heading have level 0, and no heading."""

    heading: str
    level: int
    first_line: int
    last_line: int
    summary: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """A file of the folder, as it was read. `sha256` is that of its bytes; `day` is that of its front matter, else of
    its name; `titles` are what it is called beside its name; `trouble` says what a person should look at."""

    name: str
    sha256: str
    words: int
    day: date | None = None
    tags: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    items: tuple[Item, ...] = ()
    trouble: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()

    @property
    def own_items(self) -> tuple[Item, ...]:
        """The items that somebody wrote here: all, but of a page of a memory those that the program writes into it, the
        list of its links and its metadata."""
        is_page = any(item.headings[-1:] == ("Metadata",) and "size_bytes:" in item.text for item in self.items[-3:])
        if not is_page:
            return self.items
        return tuple(item for item in self.items if item.headings[-1:] not in _OF_PROGRAM)


def is_within(day: date | None, since: date | None, until: date | None) -> bool:
    """Whether a day is one of these. With a first or a last one, what has no day is not."""
    if since is None and until is None:
        return True
    return day is not None and (since or date.min) <= day <= (until or date.max)
