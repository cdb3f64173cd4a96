"""The index of a folder of notes as JSON: `index.json` with its sections and items, `tags.json` with where each tag is.

The same notes give the same bytes, wherever and whenever: there is no time of making in them, and no time of a file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_v2.notes.note import Item, Note, Section
from memory_v2.storage.local.disk import replace_bytes

INDEX = "index.json"
TAGS = "tags.json"
GENERATED = {"generated_by": "silica notes index"}
"""How a generated file begins, for whoever wonders."""


@dataclass(frozen=True, slots=True)
class Index:
    """The texts of both files, and the totals. Each file of the folder, and each tag, is on a line of its own."""

    index: str
    tags: str
    stats: dict[str, Any]


def make_index(notes: Iterable[Note]) -> Index:
    """The index of some notes, of which one at a time is held in memory."""
    files: dict[str, str] = {}
    tags: dict[str, list[str]] = {}
    totals: Counter[str] = Counter()
    days: set[date] = set()
    for note in notes:
        files[note.name] = _json(_file(note))
        totals.update(words=note.words, sections=len(note.sections), items=len(note.items))
        days.update(item.day for item in note.items if item.day)
        for section in note.sections:
            for tag in {*section.tags, *note.tags}:
                place = {"file": note.name, "heading": section.heading, **_lines(section)}
                tags.setdefault(tag, []).append(_json(place))
    stats = {
        "total_files": len(files),
        **{f"total_{what}": totals[what] for what in ("words", "sections", "items")},
        "date_range": [min(days).isoformat(), max(days).isoformat()] if days else [],
    }
    places = {tag: f"[{', '.join(tags[tag])}]" for tag in sorted(tags)}
    return Index(_document("files", files, {"stats": stats}), _document("tags", places, {}), stats)


def _document(key: str, lines: Mapping[str, str], more: Mapping[str, Any]) -> str:
    members = ",\n".join(f"  {_json(name)}: {line}" for name, line in lines.items())
    rest = "".join(f",\n {_json(name)}: {_json(value)}" for name, value in more.items())
    opening = ",\n".join(f" {_json(name)}: {_json(value)}" for name, value in GENERATED.items())
    return f"{{\n{opening},\n {_json(key)}: {{\n{members}\n }}{rest}\n}}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def content_digest(files: Iterable[tuple[str, str]]) -> str:
    """What tells whether two indexes are of the same notes: made of their names and hashes."""
    return sha256("\0".join(f"{name}\0{digest}" for name, digest in sorted(files)).encode()).hexdigest()


def write_document(file: Path, text: str) -> bool:
    """Writes a document unless the file says the same already; tells whether it was written."""
    data = text.encode()
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
