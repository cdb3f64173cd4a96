"""What an audit looks at: the notes, their bytes, what was extracted of them, and which of them are meant to last.

A log tells what happened on a day: its name has a day, or says so. All other notes are lasting ones, which somebody
keeps up to date; a form to be filled in is neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path

from memory_v2.files.decoding import Decoded, decode_text, read_data
from memory_v2.files.links import LinkResolver
from memory_v2.files.listing import SourceFile, without_suffix
from memory_v2.notes.cache import NotesCache
from memory_v2.notes.classify import is_foreign, is_template
from memory_v2.notes.extract import Extracted, extracted_in
from memory_v2.notes.languages import LONGEST, bare, says
from memory_v2.notes.links import resolver_of
from memory_v2.notes.note import Item, Note
from memory_v2.text.days import named_day
from memory_v2.text.words import content_words
from memory_v2.tree.block import readable, split_lines

_DAY = re.compile(r"(?<!\d)\d{4} \d\d \d\d(?!\d)")
INDEXES = frozenset(["memory", "claude", "agents", "index", "readme", "heartbeat"])
"""The names of files from which an agent starts, in lower case: nothing needs to link to them."""


@dataclass(frozen=True, slots=True)
class Policy:
    """From when on something is old, in days, and how long a file may be that an agent loads whole."""

    unfinished_days: int = 14
    stale_days: int = 30
    index_lines: int = 200
    index_bytes: int = 25 * 1024


@dataclass(frozen=True)
class AuditContext:
    """What was read of a folder of notes, all its files by name, those too that are no notes, and the day and the
    policy that say what is old. `search` gives the names of the notes that a search finds, if notes are to be searched
    for. The bytes of the notes may be given as `contents`."""

    folder: Path
    cache: NotesCache
    files: Mapping[str, Path]
    today: date
    policy: Policy = Policy()
    search: Callable[[str], Collection[str]] | None = None
    contents: Mapping[str, bytes] | None = None
    _words: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False)

    @cached_property
    def notes(self) -> Sequence[Note]:
        """The notes by name, without those that were removed just now."""
        return [note for note in self.cache.notes() if note.name in self.files]

    @cached_property
    def extracted(self) -> Sequence[Extracted]:
        """What is extracted of the notes and is sure enough. Numbers the checks weigh themselves."""
        found = extracted_in(self.cache)
        return [
            one for one in found if one.file in self.files and (one.grade != "keyword" or one.category == "metrics")
        ]

    @cached_property
    def links(self) -> LinkResolver:
        """What the links of the notes lead to."""
        return resolver_of(self.folder, self.files, self.notes)

    def words(self, item: Item) -> frozenset[str]:
        """The words of an item that carry its meaning."""
        return frozenset(self.words_of(item.text[:LONGEST]))

    def words_of(self, text: str) -> Sequence[str]:
        """The words of a text that carry its meaning, in order. Several checks ask for them."""
        if text not in self._words:
            self._words[text] = tuple(content_words(text))
        return self._words[text]

    @cached_property
    def data(self) -> Mapping[str, bytes]:
        """The bytes of each note."""
        if self.contents is not None:
            return self.contents
        read = {note.name: read_data(SourceFile(note.name, self.files[note.name])) for note in self.notes}
        return {name: data for name, data in read.items() if isinstance(data, bytes)}

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The text of each note, with the lines of its file."""
        decoded = {name: decode_text(name, data) for name, data in self.data.items()}
        return {name: readable(one.text) for name, one in decoded.items() if isinstance(one, Decoded)}

    def lines(self, name: str) -> list[str]:
        """The lines of a note."""
        return split_lines(self.texts.get(name, ""))

    @cached_property
    def lasting(self) -> tuple[Note, ...]:
        """The notes that are meant to last."""
        return tuple(note for note in self.notes if not is_log(note) and not is_template(note.name))

    @cached_property
    def logs(self) -> tuple[Note, ...]:
        """The notes that tell what happened."""
        return tuple(note for note in self.notes if is_log(note) and not is_template(note.name))

    @cached_property
    def statements(self) -> tuple[tuple[Note, Item], ...]:
        """What the lasting notes and then the logs say: their items without code, quotes, rows of tables, what tools
        print, and what the program writes into the pages of a memory."""
        notes = (*self.lasting, *self.logs)
        own = ((note, item) for note in notes for item in note.own_items if item.is_prose and item.kind != "row")
        return tuple((note, item) for note, item in own if len(item.text) <= LONGEST and not is_foreign(item.text))

    @cached_property
    def items(self) -> Mapping[str, Item]:
        """The items of all notes by their ids."""
        return {item.id: item for note in self.notes for item in note.items}


def is_log(note: Note) -> bool:
    """Whether a note tells what happened, by its name."""
    stem = bare(stem_of(note.name).replace("-", " ").replace("_", " "))
    return named_day(note.name) is not None or says(stem, "logs", "names") or _DAY.search(stem) is not None


def is_index(note: Note) -> bool:
    """Whether a note is where an agent starts."""
    return stem_of(note.name).casefold() in INDEXES


def stem_of(name: str) -> str:
    """The name of a file without its folders and its suffix."""
    return without_suffix(name.rpartition("/")[2])
