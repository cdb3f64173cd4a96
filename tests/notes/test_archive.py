"""Old daily logs are moved into an archive: which, and how it is taken back whatever happens."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from memory_v2.errors import StorageConflict, UsageError
from memory_v2.notes import archive
from memory_v2.notes.archive import CAPTURED
from memory_v2.notes.notes import Notes

from .folder import hashes, notes_of, reopened, settled

NOW = "2026-03-20T12:00:00+00:00"
FILES = {
    "MEMORY.md": "# Garden\n\n- Water in the evening\n\nMore is in [[2026-02-01]] and [a log](memory/2026-02-02.md).\n",
    "memory/2026-02-01.md": "# Log\n\n- dug bed 3\n",
    "memory/2026-02-02.md": "# Log\n\n- dug bed 4\n",
    "memory/2026-02-03.md": "# Log\n\n- Decision: the orchard is pruned by the cooperative every other winter\n",
    "memory/2026-02-04.md": "# Log\n\n- [ ] buy a filter\n- [x] sow kale\n",
    "memory/2026-02-05.md": "# Log\n\n- see ![a sketch](sketch.png)\n",
    "memory/2026-02-06.md": "# Log\r\n\r\n- dug bed 6\r\n",
    "memory/2026-03-19.md": "# Log\n\n- dug bed 7\n",
    "memory/sketch.png": "png",
    "beds-2026-02.md": "# Beds\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return notes_of(tmp_path, FILES, NOW)


def names(folder: Path) -> set[str]:
    return set(hashes(folder))


def test_a_plan_says_what_is_moved_and_what_keeps_the_others(notes: Notes) -> None:
    before = hashes(notes.folder)
    plan = notes.archive(30)
    assert [(one.name, one.target) for one in plan.planned] == [
        ("memory/2026-02-01.md", "memory/archive/2026-02-01.md"),
        ("memory/2026-02-06.md", "memory/archive/2026-02-06.md"),
    ]
    reasons = {one.name[-5:-3]: one.reason for one in plan.skipped}
    assert reasons.keys() == {"02", "03", "04", "05"}
    assert "MEMORY.md:5" in reasons["02"]
    assert "no lasting note" in reasons["03"]
    assert "1 item still pending" in reasons["04"]
    assert "sketch.png" in reasons["05"]
    assert len(plan.due) == 2 and hashes(notes.folder) == before


def test_what_is_moved_is_found_and_taken_back_to_the_byte(notes: Notes) -> None:
    before, days = hashes(notes.folder), notes.days()
    assert len(notes.archive(30, apply=True).planned) == 2
    assert names(notes.folder) >= {"memory/archive/2026-02-01.md", "memory/archive/2026-02-06.md", archive.JOURNAL}
    assert not names(notes.folder) & {"memory/2026-02-01.md", "memory/2026-02-06.md"}
    hit = reopened(notes.folder).search("bed 3")[0]
    assert (hit.place, str(hit.day)) == ("memory/archive/2026-02-01.md:3", "2026-02-01")
    assert not reopened(notes.folder, NOW).archive(30, apply=True).planned
    assert [old for old, _ in reopened(notes.folder).undo()] == ["memory/2026-02-01.md", "memory/2026-02-06.md"]
    assert (hashes(notes.folder), reopened(notes.folder).days()) == (before, days)
    assert not (notes.folder / "memory/archive").exists()
    assert not (notes.folder / ".silica-notes").exists()
    assert reopened(notes.folder).undo() == ()


def test_what_is_forced_tells_the_links_that_it_breaks(notes: Notes) -> None:
    plan = notes.archive(30, apply=True, force=True)
    assert (len(plan.planned), plan.skipped, plan.due) == (6, (), ())
    assert [(one.path, one.line, one.message.split()[3]) for one in plan.warnings] == [
        ("MEMORY.md", 5, "memory/2026-02-02.md"),
        ("memory/2026-02-05.md", 3, "sketch.png"),
    ]


def test_a_file_of_the_same_name_in_the_archive_is_never_replaced(notes: Notes) -> None:
    taken = notes.folder / "memory/archive/2026-02-01.md"
    taken.parent.mkdir()
    taken.write_text("another\n")
    plan = notes.archive(30, apply=True, force=True)
    assert "memory/2026-02-01.md" in {one.name for one in plan.skipped}
    assert taken.read_text() == "another\n"


def test_what_several_note_as_captured_at_once_is_all_noted(tmp_path: Path) -> None:
    items = "".join(f"- [ ] mend fence {number}\n" for number in range(80))
    notes = notes_of(tmp_path, {"MEMORY.md": f"# Garden\n\n{items}"}, NOW)
    found = notes.extract()

    def note(turn: int) -> None:
        with reopened(notes.folder, NOW) as own:
            for one in found[turn::8]:
                own.note_captured([one])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(note, range(8)))
    with sqlite3.connect(tmp_path / "cache/notes.sqlite") as tables:
        [(told,)] = tables.execute("SELECT value FROM kept WHERE key = ?", (CAPTURED,))
    assert (len(found), json.loads(told)) == (80, sorted(one.id for one in found))


def test_undo_in_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    missing = notes_of(tmp_path, FILES, NOW).folder / "elsewhere"
    with Notes.open(missing) as opened, pytest.raises(UsageError, match="does not exist"):
        opened.undo()


def test_undo_replaces_nothing_and_goes_on_when_the_way_is_free(notes: Notes) -> None:
    notes.archive(30, apply=True)
    again = notes.folder / "memory/2026-02-06.md"
    again.write_text("written anew\n")
    with pytest.raises(StorageConflict, match="rename one of them"):
        notes.undo()
    assert again.read_text() == "written anew\n"
    again.unlink()
    assert [old for old, _ in notes.undo()] == ["memory/2026-02-06.md"]
    assert names(notes.folder) == FILES.keys()


def test_what_was_written_into_an_archived_log_comes_back_with_it(notes: Notes) -> None:
    notes.archive(30, apply=True)
    with (notes.folder / "memory/archive/2026-02-01.md").open("a") as log:
        log.write("- and 8\n")
    notes.undo()
    assert (notes.folder / "memory/2026-02-01.md").read_text().endswith("bed 3\n- and 8\n")


@pytest.mark.parametrize("kill_at", range(16))
def test_a_kill_at_any_step_loses_nothing_and_is_taken_back(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, kill_at: int
) -> None:
    before = hashes(notes.folder)
    notes.close()
    child = os.fork()
    if not child:
        with monkeypatch.context() as patch:
            _die_at(patch, kill_at)
            with reopened(notes.folder, NOW) as other:
                other.archive(30, apply=True)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    texts = {digest for digest, _ in hashes(notes.folder).values()}
    assert {digest for digest, _ in before.values()} <= texts
    if os.WIFSIGNALED(status) and kill_at % 2:  # half of them are finished first
        assert not reopened(notes.folder, NOW).archive(30, apply=True).warnings
        assert names(notes.folder) >= {"memory/archive/2026-02-01.md", "memory/archive/2026-02-06.md"}
        assert not names(notes.folder) & {"memory/2026-02-01.md", "memory/2026-02-06.md"}
    while reopened(notes.folder).undo():
        pass
    assert hashes(notes.folder) == before


def _die_at(patch: pytest.MonkeyPatch, step: int) -> None:
    """Lets the process be killed at so many steps into moving."""
    left = iter(range(step, -1, -1))

    def counted(name: str, owner: object) -> None:
        real = getattr(owner, name)

        def call(*args: object, **more: object) -> object:
            if next(left, 0) == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **more)

        patch.setattr(owner, name, call)

    for name in ("replace_bytes", "make_folder", "sync_folder"):
        counted(name, archive)
    counted("link", os)


def test_a_memory_is_not_archived(notes: Notes) -> None:
    (notes.folder / ".metadata").mkdir()
    with pytest.raises(UsageError, match="is a memory"):
        notes.archive(30)


@pytest.mark.parametrize("text", ['{"files": 1}}', "[" * 100_000])
def test_a_damaged_journal_is_told(text: str, notes: Notes) -> None:
    journal = notes.folder / archive.JOURNAL
    journal.parent.mkdir()
    journal.write_text(text)
    with pytest.raises(OSError, match="damaged"):
        notes.undo()


@pytest.mark.parametrize(
    "names",
    [
        ["../2026-01-01.md"],
        ["memory/../../2026-01-01.md"],
        ["/etc/2026-01-01.md"],
        ["{outside}/2026-01-01.md"],
        ["memory/\0/2026-01-01.md"],
        ["memory/\ud800/2026-01-01.md"],
        ["memory/linked/2026-01-01.md"],
        ["memory/.ssh/id_rsa"],
        [["memory/2026-02-01.md", "../2026-02-01.md"]],
        [7],
        "2026-01-01.md",
    ],
)
def test_a_planted_journal_moves_nothing_in_or_out(notes: Notes, names: object) -> None:
    outside = notes.folder.parent / "outside"
    (outside / "archive").mkdir(parents=True)
    for place in (outside, outside / "archive", notes.folder.parent):
        (place / "2026-01-01.md").write_text("a key\n")
    (notes.folder / "memory/linked").symlink_to(outside)
    journal = notes.folder / archive.JOURNAL
    journal.parent.mkdir()
    journal.write_text(json.dumps([names]).replace("{outside}", str(outside)))
    before = hashes(notes.folder), hashes(outside)
    with pytest.raises(OSError, match=r"damaged|not inside"):
        notes.undo()
    with pytest.raises(OSError, match=r"damaged|not inside"):
        notes.archive(30, apply=True)
    assert (hashes(notes.folder), hashes(outside)) == before


@pytest.mark.parametrize("link", [".silica-notes", ".silica-notes/archive.json", "memory/archive"])
def test_a_link_out_of_the_folder_is_not_followed(notes: Notes, link: str) -> None:
    outside = notes.folder.parent / "outside"
    outside.mkdir()
    (outside / "archive.json").write_text(json.dumps([["memory/2026-02-01.md"]]))
    (outside / "2026-02-01.md").write_text("a payload\n")
    place = notes.folder / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside / "archive.json" if link.endswith("json") else outside)
    if link == "memory/archive":
        journal = notes.folder / archive.JOURNAL
        journal.parent.mkdir()
        journal.write_text((outside / "archive.json").read_text())
    with pytest.raises(OSError):
        notes.undo()
    assert (outside / "2026-02-01.md").read_text() == "a payload\n"
    with suppress(OSError):
        notes.archive(30, apply=True, force=True)
    assert {file.name for file in outside.iterdir()} == {"archive.json", "2026-02-01.md"}


def test_links_between_logs_that_move_together_keep_none_of_them(tmp_path: Path) -> None:
    files = {"2026-01-01.md": "- see [more](2026-01-02.md)\n", "2026-01-02.md": "- see [[2026-01-01]]\n"}
    assert len(notes_of(tmp_path, files, NOW).archive(30).planned) == 2
    files["2026-01-03.md"] = "- see [1](2026-01-01.md), [again](2026-01-01.md) and ![this](sketch.png)\n"
    assert notes_of(tmp_path, {**files, "sketch.png": "png"}, NOW).archive(30).planned == ()


@pytest.fixture(autouse=True)
def _settled(tmp_path: Path) -> Iterator[None]:
    yield
    settled(tmp_path)
