"""A search in a folder of notes, and the pages that it makes of the notes."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from memory_v2.errors import InvalidPattern, InvalidText, UsageError
from memory_v2.files.decoding import Decoded, read_text
from memory_v2.files.listing import LeftOut, SourceFile
from memory_v2.index.base import Hit
from memory_v2.index.weights import LATELY
from memory_v2.notes.folder import LONG_AGO, note_of, page_of
from memory_v2.notes.notes import Notes
from memory_v2.notes.search import NoteHits

from .folder import hashes, notes_of, reopened, settled

FILES = {
    "MEMORY.md": "# Garden\n\n## Lessons learned\n\n- Water the leeks in the evening\n",
    "beds.md": "# Beds\n\n- Leeks stand in bed 4\n\n| bed | holds |\n|---|---|\n| 1 | beans |\n| 2 | kale |\n",
    "memory/2026-02-16.md": "# Log\n\n- Decision: NOT using peat\n- [x] order manure (Ada)\n- ~~The pump is blue~~\n",
    "memory/2026-02-18.md": "# Log\n\n- The pump leaks at the valve\n- The pump is green\n- [ ] order a valve\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return notes_of(tmp_path, FILES)


def places(found: NoteHits) -> list[str]:
    return [hit.place for hit in found]


def test_a_hit_is_verbatim_with_its_place_its_day_its_headings_and_what_it_is(notes: Notes) -> None:
    hit = notes.search("peat")[0]
    assert (hit.place, hit.day, hit.headings) == ("memory/2026-02-16.md:3", date(2026, 2, 16), ("Log",))
    assert (hit.text, hit.marks, hit.is_over) == ("- Decision: NOT using peat", ("decisions: marker",), False)


def test_what_has_no_day_has_none(notes: Notes) -> None:
    assert notes.search("leeks evening")[0].day is None


@pytest.mark.parametrize(("typed", "meant"), [("manuer", "manure"), ("peart", "peat"), ("leekks", "leeks")])
def test_a_typing_error_is_forgiven_and_told(notes: Notes, typed: str, meant: str) -> None:
    found = notes.search(f"{typed} garden", over=True)
    assert found.respelled == {typed: meant}
    assert found.answered
    assert meant in found[0].text


def test_what_is_done_struck_out_or_superseded_is_left_out_and_counted(notes: Notes) -> None:
    found = notes.search("order")
    assert (places(found), found.hidden) == (["memory/2026-02-18.md:5"], 1)
    assert [(hit.place, hit.is_over) for hit in notes.search("blue", over=True)] == [("memory/2026-02-16.md:5", True)]
    hidden = notes.search("blue")
    assert (list(hidden), hidden.hidden, hidden.answered) == ([], 1, False)


def test_what_says_that_it_is_superseded_is_left_out(tmp_path: Path) -> None:
    lines = [
        "- Superseded by the new plan: the gate is red",
        "- [superseded|by=gate-2] the gate is white",
        "- gate: oak",
    ]
    notes = notes_of(tmp_path, {"gate.md": "# Plan\n\n" + "\n".join(lines) + "\n"})
    found = notes.search("gate")
    assert {hit.text for hit in found if not hit.text.startswith("#")} == {"- gate: oak"}
    assert found.hidden == 2


def test_what_is_done_but_was_never_pending_is_found(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, {"memory/2026-02-16.md": "# Log\n\n- ✅ Moved the hives to the orchard\n"})
    assert notes.search("hives")[0].first_line == 3


def test_what_is_kept_new_or_marked_comes_before_what_answers_as_well(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- The gate of the orchard squeaks\n",
        "plan.md": "- The gate of the orchard sticks\n",
        "2026-01-02.md": "- The gate of the orchard drags\n",
        "2026-02-16.md": "- The gate of the orchard hangs\n",
        "2026-01-03.md": "- Decision: the gate of the orchard stays\n",
    }
    found = notes_of(tmp_path, files).search("gate of the orchard")
    signs = {hit.file: dict(hit.signs) for hit in found}
    assert signs["MEMORY.md"]["kept in MEMORY.md"] > signs["plan.md"]["no daily log"] > 0
    assert signs["2026-02-16.md"][LATELY] > signs["2026-01-03.md"][LATELY] > 0
    assert signs["2026-01-03.md"][LATELY] > signs["2026-01-02.md"][LATELY] > 0
    assert signs["2026-01-03.md"]["decisions by marker"] > 0
    ranks = [hit.file for hit in found]
    assert ranks.index("2026-01-02.md") == len(ranks) - 1
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_an_absence_is_told(notes: Notes) -> None:
    assert notes.search("leeks").answered
    found = notes.search("Which insurance pays for the tractor of the leeks?")
    assert found
    assert not found.answered
    nothing = notes.search("zeppelin")
    assert (list(nothing), nothing.answered, nothing.files) == ([], False, 4)


def test_an_empty_folder_has_no_notes(tmp_path: Path) -> None:
    assert notes_of(tmp_path, {"a.bin": "leeks"}).search("leeks").files == 0


def test_a_search_in_a_part_finds_nothing_else(notes: Notes) -> None:
    assert places(notes.search("pump leeks", file="memory")) == places(notes.search("pump"))
    assert {hit.file for hit in notes.search("leeks", file="MEMORY.md")} == {"MEMORY.md"}
    assert {hit.file for hit in notes.search("leeks", tags=["#Lesson"])} == {"MEMORY.md"}
    assert {hit.file for hit in notes.search("pump peat", since=date(2026, 2, 17))} == {"memory/2026-02-18.md"}
    assert {hit.file for hit in notes.search("pump peat leeks", until=date(2026, 2, 17))} == {"memory/2026-02-16.md"}
    assert not notes.search("leeks", tags=["nothing"])


@pytest.mark.parametrize("tags", [["decisions", "pending"], ["decisions,pending"]])
def test_a_search_for_several_tags_is_in_sections_that_have_all_of_them(tmp_path: Path, tags: list[str]) -> None:
    texts = {"a.md": "# A\n\n- Decision: no pump\n- TODO: sell it\n", "b.md": "# B\n\n- Decision: a new pump\n"}
    notes = notes_of(tmp_path, texts)
    assert {hit.file for hit in notes.search("pump", tags=tags)} == {"a.md"}
    assert not notes.search("pump", tags=[*tags, "legal"])


def test_a_part_that_cannot_be_is_an_error(notes: Notes) -> None:
    with pytest.raises(UsageError, match=r"no note 'other\.md'"):
        notes.search("leeks", file="other.md")
    with pytest.raises(UsageError, match="since must not be after until"):
        notes.search("leeks", since=date(2026, 2, 2), until=date(2026, 2, 1))
    with pytest.raises(UsageError):
        notes.search("leeks", limit=0)
    with pytest.raises(InvalidText):
        notes.search("  ")


def test_lines_around_a_place_are_shown_if_asked_for(notes: Notes) -> None:
    hit = notes.search("peat", context=2)[0]
    assert (hit.before, hit.after) == (("# Log", ""), ("- [x] order manure (Ada)", "- ~~The pump is blue~~"))
    top = notes.search("Garden lessons", file="MEMORY.md", context=9)[0]
    assert len(top.before) == top.first_line - 1
    assert notes.search("peat")[0].before == ()


def test_a_row_of_a_table_is_a_place(notes: Notes) -> None:
    hit = notes.search("kale")[0]
    assert (hit.file, hit.first_line <= 8 <= hit.last_line) == ("beds.md", True)


def test_a_pattern_finds_lines_file_by_file(notes: Notes) -> None:
    found = notes.search(r"pump (is|leaks)", regex=True)
    assert (places(found), found.hidden) == (["memory/2026-02-18.md:3", "memory/2026-02-18.md:4"], 1)
    assert places(notes.search(r"pump", 1, regex=True, over=True)) == ["memory/2026-02-16.md:5"]
    assert places(notes.search(r"^#", regex=True, file="beds.md")) == ["beds.md:1"]
    assert not notes.search("zeppelin", regex=True).answered
    with pytest.raises(InvalidPattern):
        notes.search("(", regex=True)


def test_an_edit_is_found_at_once_and_nothing_in_the_folder_changes(notes: Notes) -> None:
    log = notes.folder / "memory/2026-02-18.md"
    assert notes.search("valve")[0].first_line == 5
    log.write_text("# Log\n\n- The hose leaks\n")
    settled(notes.folder)
    before = hashes(notes.folder)
    assert not notes.search("valve")
    assert notes.search("hose")[0].text == "- The hose leaks"
    assert hashes(notes.folder) == before
    log.unlink()
    assert not reopened(notes.folder).search("hose")


def test_days_are_told_as_documents_have_them(notes: Notes) -> None:
    told = notes.search("pump").to_dict()
    assert told["answered"] is True
    assert (told["hidden"], told["files"], told["respelled"]) == (1, 4, {})


def test_without_a_cache_all_is_found(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    with Notes(notes.folder, None, notes.calendar) as other:
        assert other.search("peat")[0].first_line == 3


PAGES_FILES = {
    "MEMORY.md": "# Garden\n\n## Lessons\n\n- Water in the evening\n",
    "memory/2026-02-17.md": "# Log\n\n- Decision: NOT using peat\n",
    "memory/2026-02-18/pump.md": "The pump leaks\n",
}


def best(notes: Notes, query: str) -> Hit:
    return notes._full_text().search(query, 1)[0]


def test_a_line_is_found_with_its_place_and_its_headings(tmp_path: Path) -> None:
    hit = best(notes_of(tmp_path, PAGES_FILES), "evening water")
    assert (note_of(hit.path), hit.first_line, hit.section) == ("MEMORY.md", 5, ("Garden", "Lessons"))


@pytest.mark.parametrize(
    "name", ["MEMORY.md", "a/b.md", "list.txt", "list.txt.md", "list.markdown", "LIST.MD", "a.b.md", ".md"]
)
def test_every_note_has_a_page_of_its_own(name: str) -> None:
    assert note_of(page_of(name)) == name


def test_only_what_was_touched_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes_of(tmp_path, PAGES_FILES)._full_text().close()
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
    notes = notes_of(tmp_path, PAGES_FILES)
    assert best(notes, "pump").first_line == 1
    (tmp_path / "notes/memory/2026-02-18/pump.md").unlink()
    assert notes._full_text().search("pump") == []


@pytest.mark.parametrize("now", ["# Gate\n\nIt is open.\n", None])
def test_no_word_that_a_note_no_longer_has_is_left_in_the_cache_after_a_search(tmp_path: Path, now: str | None) -> None:
    cache = tmp_path / "cache/notes.sqlite"
    with notes_of(tmp_path, {**PAGES_FILES, "gate.md": "# Gate\n\n- The code is quartz77\n"}) as notes:
        assert best(notes, "quartz77").first_line == 3
    assert b"quartz77" in cache.read_bytes()
    gate = tmp_path / "notes/gate.md"
    if now is None:
        gate.unlink()
    else:
        gate.write_text(now)
    with reopened(tmp_path / "notes") as notes:
        notes.search("pump")
    assert [b"quartz77" in file.read_bytes() for file in cache.parent.iterdir()] == [False]


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
    notes = notes_of(tmp_path, PAGES_FILES)
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
