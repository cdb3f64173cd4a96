"""A folder of notes in the full-text index: what is found, on which lines, and what is read again."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from memory_v2.files.decoding import Decoded, read_text
from memory_v2.files.left_out import LeftOut
from memory_v2.files.listing import SourceFile
from memory_v2.index.base import Hit
from memory_v2.notes.folder import LONG_AGO, note_of, page_of
from memory_v2.notes.notes import Notes

from .folder import hashes, notes_of, reopened, settled

FILES = {
    "MEMORY.md": "# Garden\n\n## Lessons\n\n- Water in the evening\n",
    "memory/2026-02-17.md": "# Log\n\n- Decision: NOT using peat\n",
    "memory/2026-02-18/pump.md": "The pump leaks\n",
}


def best(notes: Notes, query: str) -> Hit:
    return notes._full_text().search(query, 1)[0]


def test_a_line_is_found_with_its_place_and_its_headings(tmp_path: Path) -> None:
    hit = best(notes_of(tmp_path, FILES), "evening water")
    assert (note_of(hit.path), hit.first_line, hit.section) == ("MEMORY.md", 5, ("Garden", "Lessons"))


@pytest.mark.parametrize(
    "name", ["MEMORY.md", "a/b.md", "list.txt", "list.txt.md", "list.markdown", "LIST.MD", "a.b.md", ".md"]
)
def test_every_note_has_a_page_of_its_own(name: str) -> None:
    assert note_of(page_of(name)) == name


def test_only_what_was_touched_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes_of(tmp_path, FILES)._full_text().close()
    read = list[str]()

    def reading(file: SourceFile) -> Decoded | LeftOut:
        read.append(file.name)
        return read_text(file)

    monkeypatch.setattr("memory_v2.notes.folder.read_text", reading)
    folder = tmp_path / "notes"
    reopened(folder)._full_text()
    assert read == []
    (folder / "MEMORY.md").write_text("# Garden\n\n- Mulch in the autumn\n")
    (folder / "memory/2026-02-17.md").touch()
    with reopened(folder) as notes:
        assert best(notes, "mulch").first_line == 3
    assert read == ["MEMORY.md"]


def test_a_note_that_is_gone_is_not_found(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    assert best(notes, "pump").first_line == 1
    (tmp_path / "notes/memory/2026-02-18/pump.md").unlink()
    assert notes._full_text().search("pump") == []


def test_lines_are_those_of_the_file_whatever_its_bytes_are(tmp_path: Path) -> None:
    files = {"crlf.md": "one\r\n\r\ntwo\r\n\r\nthe leeks\r\n", "old.md": "one\r\rtwo\r\rthe beans\r"}
    notes = notes_of(tmp_path, files)
    folder = tmp_path / "notes"
    (folder / "broken.md").write_bytes(b"\xefgarbage \xff\xfe\n\nthe \xe9 pump leaks\n")
    (folder / "wide.md").write_bytes("one\n\nthe cellar\n".encode("utf-16"))
    (folder / "marked.md").write_bytes(b"\xef\xbb\xbf# Title\n\nthe attic\n")
    (folder / "empty.md").touch()
    settled(folder)
    before = hashes(folder)
    lines = {"leeks": 5, "beans": 5, "pump": 3, "cellar": 3, "attic": 3}
    assert {word: best(notes, word).first_line for word in lines} == lines
    assert hashes(folder) == before


def test_a_day_is_never_that_of_the_file(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    days = [best(notes, word).date for word in ("peat", "pump")]
    assert days == [date(2026, 2, 17), date(2026, 2, 18)]
    hit = best(notes, "evening")
    assert hit.date == LONG_AGO.date()


def test_a_note_with_a_name_that_cannot_be_printed_is_found(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, {"a\nb.md": "the leeks\n"})
    assert best(notes, "leeks").path == "a\\nb"


def test_what_looks_like_the_links_of_a_page_is_text_of_a_note(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, {"plan.md": "# Plan\n\n## Links\n\n- [[seeds]] - where leeks are bought\n"})
    assert notes._full_text().search("leeks", child_links=True)[0].first_line == 5
