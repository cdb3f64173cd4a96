"""The index of a folder of notes as JSON: `index.json` with its sections and items, `tags.json` with where each tag is.

The same notes give the same bytes, wherever and whenever: there is no time of making in them, and no time of a file.
"""

from __future__ import annotations

import filecmp
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_v2.notes.note import Item, Note, Section
from memory_v2.storage.local.disk import make_folder, new_temporary

INDEX = "index.json"
TAGS = "tags.json"
_BY = '"generated_by": "silica notes index"'
"""How a generated file begins, for whoever wonders."""


@dataclass
class Tally:
    """What is counted while an index is written: the totals, and the sections of each tag."""

    totals: Counter[str] = field(default_factory=Counter)
    days: set[date] = field(default_factory=set)
    tags: dict[str, list[tuple[str, Section]]] = field(default_factory=dict)

    def count(self, note: Note) -> None:
        """Counts a note."""
        self.totals.update(files=1, words=note.words, sections=len(note.sections), items=len(note.items))
        self.days.update(item.day for item in note.items if item.day)
        for section in note.sections:
            for tag in {*section.tags, *note.tags}:
                self.tags.setdefault(tag, []).append((note.name, section))

    @property
    def stats(self) -> dict[str, Any]:
        """The totals as the index has them."""
        totals = {f"total_{what}": self.totals[what] for what in ("files", "words", "sections", "items")}
        return {**totals, "date_range": [min(self.days).isoformat(), max(self.days).isoformat()] if self.days else []}


def index_chunks(notes: Iterable[Note], tally: Tally) -> Iterator[str]:
    """The text of `index.json`, each file on a line of its own; one note at a time is held in memory."""
    yield f'{{\n {_BY},\n "files": {{'
    for number, note in enumerate(notes):
        tally.count(note)
        yield f"{',' * (number > 0)}\n  {_json(note.name)}: {_json(_file(note))}"
    yield f'\n }},\n "stats": {_json(tally.stats)}\n}}\n'


def tags_chunks(tally: Tally) -> Iterator[str]:
    """The text of `tags.json`, each tag on a line of its own."""
    yield f'{{\n {_BY},\n "tags": {{'
    for number, tag in enumerate(sorted(tally.tags)):
        places = [{"file": name, "heading": section.heading, **_lines(section)} for name, section in tally.tags[tag]]
        yield f"{',' * (number > 0)}\n  {_json(tag)}: {_json(places)}"
    yield "\n }\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def content_digest(files: Iterable[tuple[str, str]]) -> str:
    """What tells whether two indexes are of the same notes: made of their names and hashes."""
    return sha256("\0".join(f"{name}\0{digest}" for name, digest in sorted(files)).encode()).hexdigest()


def write_document(file: Path, chunks: Iterable[str]) -> bool:
    """Writes a document as a whole or not at all, unless the file says the same already; tells whether it was
    written."""
    make_folder(file.parent)
    made = new_temporary(file.parent)
    try:
        with made.open("x", encoding="utf-8", newline="") as stream:
            stream.writelines(chunks)
            stream.flush()
            os.fsync(stream.fileno())
        if file.is_file() and filecmp.cmp(made, file, shallow=False):
            return False
        made.replace(file)
        return True
    finally:
        made.unlink(missing_ok=True)


def _file(note: Note) -> dict[str, Any]:
    return {
        "sections": [_section(section) for section in note.sections],
        "items": [_item(item) for item in note.items],
        "word_count": note.words,
        "date": note.day.isoformat() if note.day else None,
        "sha256": note.sha256,
        **({"trouble": list(note.trouble)} if note.trouble else {}),
    }


def _section(section: Section) -> dict[str, Any]:
    return {
        "heading": section.heading,
        "level": section.level,
        **_lines(section),
        "summary": section.summary,
        "tags": list(section.tags),
        "entities": list(section.entities),
    }


def _item(item: Item) -> dict[str, Any]:
    day = {"date": item.day.isoformat(), "dated_by": item.dated_by} if item.day else {}
    return {"id": item.id, "kind": item.kind, **_lines(item), **day}


def _lines(part: Section | Item) -> dict[str, int]:
    return {"line_start": part.first_line, "line_end": part.last_line}
