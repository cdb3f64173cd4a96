"""What was extracted of a note is kept with it, and is made anew when the note has changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from memory_v2.notes import judged
from memory_v2.notes.extract import EVERYTHING, Extracted, extracted
from memory_v2.notes.note import Note

from .folder import notes_of, reopened, settled

FILES = {
    "MEMORY.md": "# Garden\n\n## Contacts\n\n- **Ada** - sells seeds\n",
    "memory/2026-02-17.md": "- Decision: NOT using peat\n- [x] dig bed 3\n- Members rose to 6 (from 4)\n",
    "memory/2026-02-18.md": "- ~35+ karma, **Problem**: the pump leaks\n",
}


def test_what_is_kept_is_what_was_extracted(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    fresh = [one for note in notes.all() for one in extracted(note)]
    for _ in range(2):
        assert list(judged.judged_notes(notes._kept)) == fresh
    assert {one.category for one in fresh} >= {"contacts", "decisions", "metrics", "pending", "issues"}


def test_only_notes_that_have_changed_are_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes_of(tmp_path, FILES).extract()
    asked = list[str]()

    def extracting(note: Note) -> Iterator[Extracted]:
        asked.append(note.name)
        return extracted(note)

    monkeypatch.setattr("memory_v2.notes.extract.extracted", extracting)
    folder = tmp_path / "notes"
    assert len(reopened(folder).extract()) == 4
    (folder / "MEMORY.md").write_text("# Garden\n")
    (folder / "memory/2026-02-18.md").unlink()
    assert {one.file for one in reopened(settled(folder)).extract()} == {"memory/2026-02-17.md"}
    assert asked == ["MEMORY.md"]


def test_days_and_aliases_count_as_ever(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    people = tmp_path / "people"
    people.write_text("Ada Lovelace = Ada\n")
    contacts = replace(EVERYTHING, categories=("contacts",))
    assert [one.people for one in notes.extract(contacts)] == [("Ada",)]
    assert [one.people for one in notes.extract(contacts, people)] == [("Ada Lovelace",)]
    day = date(2026, 2, 18)
    assert {one.day for one in notes.extract(replace(EVERYTHING, since=day, until=day))} == {day}
