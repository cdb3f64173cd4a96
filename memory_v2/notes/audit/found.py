"""What the checks find, kept beside what was read: the same notes are not looked through twice on the same day, and
what is found in a note by itself is kept until that note changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import date
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_v2.files.claude_folder import judge_in
from memory_v2.files.listing import is_there, list_files
from memory_v2.notes.audit.findings import Finding
from memory_v2.notes.audit.policy import Policy
from memory_v2.notes.cache import Kept

if TYPE_CHECKING:
    from memory_v2.index.full_text import FullTextIndex
    from memory_v2.notes.audit.context import Material, Search
    from memory_v2.notes.extract import Extracted

VERSION = 2
"""Of the checks: with another one, all is looked through anew. Raise it if a check finds other things."""
MOST_SEARCHED = 500
"""How many notes are searched for where nobody asks for that: it takes some milliseconds each."""
FOUND = 10
"""Among how many places a note must be to be found."""
_AUDITED = "audited"


@dataclass(frozen=True)
class Audited:
    """A folder of notes to look through, what is kept of it, and the day and the policy that say what is old."""

    folder: Path
    kept: Kept
    today: date
    policy: Policy
    open_index: Callable[[], FullTextIndex]

    @cached_property
    def files(self) -> Mapping[str, Path]:
        """All files of the folder by name."""
        return {file.name: file.path for file in list_files(self.folder, judge_in(self.folder)).files}

    @cached_property
    def notes(self) -> Mapping[str, str]:
        """The notes that were read, each with the hash of its bytes."""
        return {name: row.sha256 for name, row in self.kept.rows().items() if row.left_out is None}


def found_in(audited: Audited, searches: bool) -> Sequence[Finding]:
    """What the checks find. Each note is searched for if that is asked for, or there are few."""
    searches = searches or len(audited.notes) <= MOST_SEARCHED
    parts = (
        VERSION,
        searches,
        str(audited.today),
        astuple(audited.policy),
        sorted(audited.notes.items()),
        sorted(audited.files),
    )
    key = sha256(json.dumps(parts).encode("utf-8", "surrogateescape")).hexdigest()
    told = json.loads(audited.kept.told(_AUDITED) or "{}")
    if told.get("key") == key and all(is_there(audited.folder, path) == was for path, was in told["looked"].items()):
        return [*map(_read, told["found"])]
    from memory_v2.notes.audit.checks import CHECKS
    from memory_v2.notes.audit.context import Material
    from memory_v2.notes.judged import judged_notes

    searching = _searching(audited.open_index()) if searches else None
    notes = [note for note in audited.kept.notes() if note.name in audited.files]  # others were removed just now
    there = {note.name for note in notes}
    extracted = [one for one in judged_notes(audited.kept) if _counts(one) and one.file in there]
    material = Material(audited.folder, notes, extracted, audited.files, audited.today, audited.policy, searching)
    found = [*_own(audited.kept, material), *(one for check in CHECKS for one in check(material))]
    rows = [_written(one) for one in found]
    audited.kept.tell(_AUDITED, json.dumps({"key": key, "looked": material.looked, "found": rows}))
    return found


def _own(kept: Kept, material: Material) -> list[Finding]:
    """What is found in each note by itself. Looks only at those that have changed, and again at what cannot be read."""
    from memory_v2.notes.audit.files import own

    known = kept.checked(str(VERSION))
    new: dict[str, str] = {}
    for note in material.notes:
        if note.name not in known and (data := material.data.get(note.name)) is not None:
            found = own(note, data, material.texts.get(note.name, ""))
            new[note.name] = json.dumps([_written(one) for one in found])
    kept.keep_checked(str(VERSION), new)
    rows = known | new
    return [_read(row) for note in material.notes for row in json.loads(rows.get(note.name, "[]"))]


def _counts(one: Extracted) -> bool:
    """Whether something is sure enough for the checks. Numbers they weigh themselves."""
    return one.grade != "keyword" or one.category == "metrics"


def _searching(index: FullTextIndex) -> Search:
    from memory_v2.notes.folder import note_of

    return lambda query: {note_of(hit.path) for hit in index.search(query, FOUND, child_links=True)}


def _written(one: Finding) -> list[Any]:
    return [one.code, one.path, one.line, one.message, one.about, one.also, one.day and one.day.isoformat()]


def _read(row: Sequence[Any]) -> Finding:
    code, path, line, message, about, also, day = row
    return Finding(code, path, line, message, about, tuple(also), date.fromisoformat(day) if day else None)
