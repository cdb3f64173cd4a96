"""The index of a folder of notes: the same bytes for the same notes; only what was touched is read; nothing changes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_v2.errors import StorageError, UsageError
from memory_v2.notes.notes import Notes
from memory_v2.notes.parsing import MARK
from tests.notes.folder import hashes, notes_of, reopened, settled

FILES = {
    "MEMORY.md": "# Garden\n\n## Beds\n\n- Leeks in bed 3\n",
    "memory/2026-02-03.md": "- The pump failed\n",
    "memory/2026-02-04.md": "- Decision: no peat\n",
}


def index(notes: Notes) -> tuple[bytes, bytes]:
    done = notes.index()
    return (done.folder / "index.json").read_bytes(), (done.folder / "tags.json").read_bytes()


def test_an_index_has_sections_items_tags_and_totals(tmp_path: Path) -> None:
    written, tags = map(json.loads, index(notes_of(tmp_path, FILES)))
    beds = written["files"]["MEMORY.md"]["sections"][1]
    assert (beds["heading"], beds["level"], beds["line_start"], beds["line_end"]) == ("Beds", 2, 3, 5)
    (item,) = written["files"]["memory/2026-02-03.md"]["items"]
    assert (item["date"], item["dated_by"], item["line_start"]) == ("2026-02-03", "file name", 1)
    stats = written["stats"]
    assert (stats["total_files"], stats["total_items"], stats["date_range"]) == (3, 3, ["2026-02-03", "2026-02-04"])
    assert [place["file"] for place in tags["tags"]["issues"]] == ["memory/2026-02-03.md"]


def test_the_same_notes_give_the_same_bytes_whenever_and_wherever(tmp_path: Path) -> None:
    first = index(notes_of(tmp_path / "a", FILES))
    other = notes_of(tmp_path / "b", dict(reversed(FILES.items())), now="2031-01-01T00:00:00+00:00")
    for file in other.folder.rglob("*.md"):
        os.utime(file, (1_600_000_000, 1_600_000_000))
    assert index(other) == first


def test_a_second_run_opens_only_what_was_touched(tmp_path: Path) -> None:
    notes_of(tmp_path, FILES).index()
    folder = tmp_path / "notes"
    assert reopened(folder).refresh().opened == ()
    (folder / "memory/2026-02-03.md").write_text("- The pump works again\n")
    found = reopened(folder).refresh()
    assert (found.opened, found.changed, found.new) == (("memory/2026-02-03.md",),) * 2 + ((),)


def test_a_file_that_was_only_touched_is_not_changed(tmp_path: Path) -> None:
    notes_of(tmp_path, FILES).index()
    (tmp_path / "notes" / "MEMORY.md").touch()
    found = reopened(tmp_path / "notes").status()
    assert (found.found.opened, found.is_current) == (("MEMORY.md",), True)


def test_a_run_over_a_part_forgets_nothing_else(tmp_path: Path) -> None:
    notes_of(tmp_path, FILES).index()
    folder = tmp_path / "notes"
    (folder / "MEMORY.md").write_text("- Leeks in bed 4\n")
    (folder / "memory/2026-02-03.md").write_text("- changed\n")
    done = reopened(folder).index(only=["memory"])
    assert (done.found.changed, done.found.behind) == (("memory/2026-02-03.md",), ("MEMORY.md",))
    files = json.loads((done.folder / "index.json").read_text())["files"]
    assert set(files) == set(FILES)
    assert not reopened(folder).status().is_current


def test_a_file_that_is_gone_is_gone_at_once_also_from_a_run_over_a_part(tmp_path: Path) -> None:
    notes_of(tmp_path, FILES).index()
    (tmp_path / "notes/memory/2026-02-03.md").unlink()
    done = reopened(tmp_path / "notes").index(only=["MEMORY.md"])
    assert done.found.removed == ("memory/2026-02-03.md",)
    assert "memory/2026-02-03.md" not in (done.folder / "index.json").read_text()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list everything")
def test_what_is_in_a_folder_that_cannot_be_listed_is_not_forgotten(tmp_path: Path) -> None:
    notes_of(tmp_path, FILES).index()
    (tmp_path / "notes/memory").chmod(0)
    try:
        found = reopened(tmp_path / "notes").refresh()
    finally:
        (tmp_path / "notes/memory").chmod(0o755)
    assert (found.removed, [left.name for left in found.left_out]) == ((), ["memory/"])


def test_status_tells_in_a_fresh_process_what_is_behind_and_keeps_nothing(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    assert notes.status().found.new == tuple(sorted(FILES))
    assert notes.status().found.new == tuple(sorted(FILES))
    notes.index()
    assert reopened(notes.folder).status().is_current
    (notes.folder / "new.md").write_text("- new\n")
    reopened(notes.folder).refresh()  # as extract and digest do; index.json is still of the notes before
    status = reopened(notes.folder).status()
    assert (status.found.is_current, status.is_written, status.is_current) == (True, False, False)


def test_generated_files_are_no_notes(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, {**FILES, "report.md": f"{MARK} report -->\n\n- Decision: none\n"})
    notes.index(out=notes.folder)
    settled(notes.folder)
    assert {note.name for note in reopened(notes.folder).all()} == set(FILES)


def test_nothing_in_the_folder_changes(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, {**FILES, "empty.md": "", "bad.md": "caf\udce9\n"})
    before = hashes(notes.folder)
    notes.status()
    notes.index()
    notes.index(only=["MEMORY.md"])
    assert hashes(notes.folder) == before


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    (tmp_path / "secret.md").write_text("- secret\n")
    (notes.folder / "link.md").symlink_to(tmp_path / "secret.md")
    (notes.folder / "loop").symlink_to(notes.folder)
    found = notes.refresh()
    assert found.files == len(FILES)
    assert "link.md" in [left.name for left in found.left_out]


def test_a_file_that_cannot_be_read_is_told_each_time_and_is_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = notes_of(tmp_path, FILES)
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "MEMORY.md":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    first, second = notes.refresh(), notes.refresh()
    assert [left.name for left in (*first.left_out, *second.left_out)] == ["MEMORY.md"] * 2
    assert second.is_current
    monkeypatch.undo()
    assert notes.refresh().new == () and notes.refresh().left_out == ()
    assert "MEMORY.md" in {note.name for note in notes.all()}


def test_a_missing_folder_and_a_missing_part_are_errors_and_an_empty_folder_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        reopened(tmp_path / "nowhere").refresh()
    notes = notes_of(tmp_path, {})
    notes.folder.mkdir(exist_ok=True)
    assert notes.index().stats["total_files"] == 0
    with pytest.raises(UsageError):
        notes.refresh(only=["nowhere.md"])


def test_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    notes.index()
    notes.close()
    (tmp_path / "cache/notes.sqlite").write_bytes(b"no database, but long enough to be taken for one" * 50)
    assert reopened(notes.folder).refresh().new == tuple(sorted(FILES))


def test_a_cache_that_is_damaged_behind_its_beginning_is_made_anew(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, {f"{number}.md": "- The pump failed\n" * 200 for number in range(20)})
    notes.index()
    notes.close()
    cache = tmp_path / "cache/notes.sqlite"
    whole = cache.read_bytes()
    cache.write_bytes(whole[:4096] + b"\xab" * (len(whole) - 4096))
    assert len(reopened(notes.folder).refresh().new) == 20
    assert not reopened(notes.folder).refresh().new


def test_what_a_note_no_longer_says_leaves_the_cache(tmp_path: Path) -> None:
    secret = {"a.md": "- Decision: the safe opens with 4711\n", "b.md": "- Lesson: the spare key is below pot 3\n"}
    with notes_of(tmp_path, secret | {"c.md": "- kale\n"}) as notes:
        notes.extract()
        (notes.folder / "a.md").write_text("- Decision: the safe has a new number\n")
        (notes.folder / "b.md").unlink()
        settled(notes.folder)
        reopened(notes.folder).refresh()
    kept = (tmp_path / "cache/notes.sqlite").read_bytes()
    assert (b"4711" in kept, b"pot 3" in kept, b"kale" in kept) == (False, False, True)


def test_what_a_note_no_longer_says_leaves_an_index_in_the_cache(tmp_path: Path) -> None:
    notes = {"a.md": "# The safe\n\nIts number is 4711.\n", "b.md": "# The key below pot 3\n", "c.md": "# Kale\n"}
    with notes_of(tmp_path, notes) as first:
        assert b"4711" in b"".join(index(first))
        (first.folder / "a.md").write_text("# The safe\n\nIt has a new number.\n")
        (first.folder / "b.md").unlink()
        settled(first.folder)
    reopened(first.folder).search("kale")
    kept = b"".join((tmp_path / "cache" / name).read_bytes() for name in ("index.json", "tags.json"))
    assert (b"4711" in kept, b"pot 3" in kept, b"Kale" in kept) == (False, False, True)


@pytest.mark.parametrize(
    "look", [lambda notes: notes.index(), lambda notes: notes.extract(), lambda notes: notes.digest()]
)
def test_what_a_note_no_longer_says_leaves_the_full_text_whoever_looks(
    look: Callable[[Notes], object], tmp_path: Path
) -> None:
    notes = {"a.md": "# The safe\n\nIts number is zq4711.\n", "b.md": "# The key below potsherd\n", "c.md": "# Kale\n"}
    with notes_of(tmp_path, notes) as first:
        first.search("kale")
        (first.folder / "a.md").write_text("# The safe\n\nIt has a new number.\n")
        (first.folder / "b.md").unlink()
        settled(first.folder)
    with reopened(first.folder) as later:
        look(later)
    kept = b"".join(file.read_bytes() for file in (tmp_path / "cache").iterdir())
    assert (b"4711" in kept, b"potsherd" in kept, b"kale" in kept.lower()) == (False, False, True)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_only_their_owner_reads_the_index_and_the_cache(tmp_path: Path) -> None:
    with notes_of(tmp_path, FILES) as notes:
        notes.index()
        notes.index(out=tmp_path / "out")
        notes.search("pump")
    files = [file for folder in ("cache", "out") for file in (tmp_path / folder).iterdir() if file.is_file()]
    assert {file.name for file in files} >= {"index.json", "tags.json", "notes.sqlite"}
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_a_cache_of_another_version_is_made_anew_for_its_owner_only(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    notes.refresh()
    with notes._cached.store.writing() as tables:
        tables.execute("UPDATE kept SET value = '1' WHERE key = 'version'")
    notes.close()
    assert len(reopened(notes.folder).refresh().new) == len(FILES)
    assert (tmp_path / "cache/notes.sqlite").stat().st_mode & 0o777 == 0o600


def test_without_a_place_to_keep_them_the_notes_are_read_all_the_same(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    notes.close()
    (tmp_path / "file").write_text("")
    blocked = Notes(notes.folder, tmp_path / "file" / "cache", notes.calendar)
    assert blocked.trouble
    assert len(list(blocked.all())) == len(FILES)
    with pytest.raises(StorageError):
        blocked.index()


def test_a_log_of_five_megabytes_is_read(tmp_path: Path) -> None:
    line = f"- 2026-02-03 the pump says: {'nothing was found that would explain it, ' * 40}\n"
    notes = notes_of(tmp_path, {"log.md": "# Log\n\n" + line * (5_000_000 // len(line))})
    assert notes.index().stats["total_items"] == 5_000_000 // len(line)
