"""The index of a folder of notes as JSON: `index.json` with its sections and items, `tags.json` with where each tag is.

The same notes give the same bytes, wherever and whenever: there is no time of making in them, and no time of a file.
Only their owner can read them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from memory_v2.errors import StorageError
from memory_v2.notes.cache import NotesCache
from memory_v2.notes.folder import NotesFolder, Refreshed
from memory_v2.notes.note import Item, Note, Section
from memory_v2.storage.local.disk import replace_bytes

INDEX = "index.json"
TAGS = "tags.json"


@dataclass(frozen=True, slots=True)
class Indexed:
    """An index that was written: where, the totals of its notes, and what was found in the folder. `is_new`: the files
    have other bytes than before."""

    folder: Path
    stats: dict[str, Any]
    found: Refreshed
    is_new: bool


@dataclass(frozen=True, slots=True)
class Status:
    """How far the index is behind the folder. `found` tells what was touched; `is_written` whether index.json and
    tags.json in the cache are of the notes as they are."""

    folder: Path
    cache: Path | None
    found: Refreshed
    is_written: bool

    @property
    def is_current(self) -> bool:
        """Whether nothing is behind."""
        return self.found.is_current and self.is_written


def index_status(folder: NotesFolder, cache: Path | None) -> Status:
    """How far the index in the cache is behind the folder; nothing is kept."""
    found, (documents, _) = folder.look(keeps=False), _documents(folder.cache)
    is_written = cache is not None and all(_says(cache / name, text.encode()) for name, text in documents.items())
    return Status(folder.path, cache, found, is_written)


def write_index(folder: NotesFolder, found: Refreshed, place: Path) -> Indexed:
    """Writes both files into a folder, which may be that of the cache. Raises `StorageError`."""
    documents, stats = _documents(folder.cache)
    try:
        new = [write_document(place / name, text) for name, text in documents.items()]
    except OSError as error:
        raise StorageError(f"the index cannot be written to {place}: {error.strerror or error}") from error
    return Indexed(place, stats, found, any(new))


def _documents(cache: NotesCache) -> tuple[dict[str, str], dict[str, Any]]:
    """Both files, of the notes as they were read, and the totals."""
    files: dict[str, str] = {}
    tags: dict[str, list[dict[str, Any]]] = {}
    totals: Counter[str] = Counter()
    days: set[date] = set()
    for note in cache.notes():
        files[note.name] = _json(_file(note))
        totals.update(files=1, words=note.words, sections=len(note.sections), items=len(note.items))
        days.update(item.day for item in note.items if item.day)
        for section in note.sections:
            for tag in {*section.tags, *note.tags}:
                tags.setdefault(tag, []).append({"file": note.name, "heading": section.heading, **_lines(section)})
    stats: dict[str, Any] = {f"total_{what}": totals[what] for what in ("files", "words", "sections", "items")}
    stats["date_range"] = [min(days).isoformat(), max(days).isoformat()] if days else []
    by_tag = {tag: _json(tags[tag]) for tag in sorted(tags)}
    index = _document("files", files, f',\n "stats": {_json(stats)}')
    return {INDEX: index, TAGS: _document("tags", by_tag)}, stats


def _document(name: str, parts: Mapping[str, str], more: str = "") -> str:
    """A document with each part on a line of its own."""
    lines = ",".join(f"\n  {_json(key)}: {part}" for key, part in parts.items())
    return f'{{\n "generated_by": "silica notes index",\n "{name}": {{{lines}\n }}{more}\n}}\n'


def write_document(file: Path, text: str) -> bool:
    """Writes a document as a whole or not at all, for its owner only, unless the file says the same already; tells
    whether it was written."""
    data = text.encode()
    if _says(file, data):
        return False
    replace_bytes(file, data)
    return True


def _says(file: Path, data: bytes) -> bool:
    return file.is_file() and file.read_bytes() == data


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


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
    own = {"heading": section.heading, "level": section.level, **_lines(section), "summary": section.summary}
    return {**own, "tags": list(section.tags), "entities": list(section.entities)}


def _item(item: Item) -> dict[str, Any]:
    day = {"date": item.day.isoformat(), "dated_by": item.dated_by} if item.day else {}
    return {"id": item.id, "kind": item.kind, **_lines(item), **day}


def _lines(part: Section | Item) -> dict[str, int]:
    return {"line_start": part.first_line, "line_end": part.last_line}
