"""The index of a folder of notes as JSON: `index.json` with its sections and items, `tags.json` with where each tag is.

The same notes give the same bytes, wherever and whenever: there is no time of making in them, and no time of a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_v2.notes.note import Item, Note, Section
from memory_v2.storage.local.disk import replace_bytes

INDEX = "index.json"
TAGS = "tags.json"
GENERATED = {"generated_by": "silica notes index"}
"""How a generated file begins, for whoever wonders."""


def index_document(notes: Sequence[Note]) -> dict[str, Any]:
    """The index: for each file its sections and items with their lines and days, and the totals."""
    days = sorted({item.day for note in notes for item in note.items if item.day})
    return {
        **GENERATED,
        "files": {note.name: _file(note) for note in notes},
        "stats": {
            "total_files": len(notes),
            "total_words": sum(note.words for note in notes),
            "total_sections": sum(len(note.sections) for note in notes),
            "total_items": sum(len(note.items) for note in notes),
            "date_range": [days[0].isoformat(), days[-1].isoformat()] if days else [],
        },
    }


def tags_document(notes: Iterable[Note]) -> dict[str, Any]:
    """For each tag the sections that have it."""
    found: dict[str, list[dict[str, Any]]] = {}
    for note in notes:
        for section in note.sections:
            for tag in sorted({*section.tags, *note.tags}):
                place = {"file": note.name, "heading": section.heading, **_lines(section)}
                found.setdefault(tag, []).append(place)
    return {**GENERATED, "tags": dict(sorted(found.items()))}


def content_digest(files: Iterable[tuple[str, str]]) -> str:
    """What tells whether two indexes are of the same notes: made of their names and hashes."""
    return sha256("\0".join(f"{name}\0{digest}" for name, digest in sorted(files)).encode()).hexdigest()


def write_document(file: Path, document: dict[str, Any]) -> bool:
    """Writes a document unless the file says the same already; tells whether it was written."""
    data = (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()
    if file.is_file() and file.read_bytes() == data:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_bytes(file, data)
    return True


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
