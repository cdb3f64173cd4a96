"""A memory on disks of other kinds: read-only, that ignore case, that cannot do everything."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_v2.errors import PageNotFound, StorageError
from memory_v2.memory import Memory
from memory_v2.storage.base import ABSENT, ANY
from memory_v2.storage.local.storage import LocalStorage
from tests.cli.program import Program
from tests.storage.disks import Disk
from tests.storage.vault import DERIVED, assert_failed, newest, pages, state

# A disk that is read-only

LOOKING = (
    ("read",),
    ("read", "people/ada"),
    ("ls",),
    ("tree",),
    ("graph",),
    ("check",),
    ("history",),
    ("history", "people"),
    ("blame", "people/ada"),
    ("search", "who keeps the books?"),
)
WRITING = (
    ("write", "Eve paints the mill"),
    ("write", "--to", "new/page", "--mode", "append", "Eve paints the mill"),
    ("split", "mill"),
    ("merge", "mill/miller"),
    ("rename", "people", "folk"),
    ("delete", "people", "--yes"),
    ("undo", "--yes"),
    ("check", "--apply"),
    ("gc",),
)


def test_on_a_read_only_disk_everything_can_be_looked_at(vault: Program, disk: Disk) -> None:
    vault.done("write", "Bob sweeps the mill")
    of_pages = (("show", newest(vault)), ("diff", newest(vault)), *LOOKING)
    of_traces = (("trace",), ("trace", "last"), ("replay", "last"))
    before = [vault.done(*verb) for verb in (*of_pages, *of_traces)]
    files = state(vault.folder)
    disk.make_read_only()
    assert [vault.done(*verb) for verb in (*of_pages, *of_traces)] == before
    assert state(vault.folder) == files


@pytest.mark.parametrize("is_new", [True, False], ids=["never used", "used"])
def test_on_a_read_only_disk_a_change_fails_with_a_sentence_and_leaves_nothing(
    vault: Program, disk: Disk, is_new: bool
) -> None:
    nothing_yet = ("undo", "gc") if is_new else ()
    verbs = [verb for verb in WRITING if verb[0] not in nothing_yet]
    if not is_new:
        vault.done("write", "Bob sweeps the mill")
    files = state(vault.folder)
    disk.make_read_only()
    for verb in verbs:
        assert_failed(vault.quick(*verb), "the disk is read-only")
        assert state(vault.folder) == files, verb


def test_a_folder_that_was_never_written_to_can_be_looked_at_on_a_read_only_disk(vault: Program, disk: Disk) -> None:
    disk.make_read_only()
    for verb in LOOKING:
        assert "read-only" not in vault.done(*verb)
    assert "Ada keeps the books" in vault.done("search", "who keeps the books?")
    assert not (vault.folder / ".metadata").exists()


def test_a_text_that_waits_on_a_read_only_disk_keeps_nobody_from_reading_and_is_not_lost(
    program: Program, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.done("write", "Ada keeps the books")
    note = program.folder / ".metadata" / "pending" / "abcdef0123.json"
    waiting = {
        "text": "Bob sweeps the mill",
        "path": None,
        "mode": "update",
        "since": "2026-01-05T09:30:00Z",
        **dict.fromkeys(("over", "head", "source", "date"), ""),
    }
    note.parent.mkdir()
    note.write_text(json.dumps(waiting))
    disk.make_read_only()
    for verb in (("read",), ("search", "Ada"), ("ls",), ("history",)):
        program.done(*verb)
    assert "Bob" not in program.done("read")
    monkeypatch.undo()
    assert "Bob sweeps the mill" in program.done("read")
    assert not note.exists()


def test_pages_that_cannot_be_written_stay_while_the_programs_own_folder_can(vault: Program, disk: Disk) -> None:
    vault.done("write", "Bob sweeps the mill")
    files, entries = state(vault.folder, ".metadata"), vault.done("history")
    disk.make_read_only(besides=vault.folder / ".metadata")
    for verb in WRITING:
        if verb != ("gc",):
            assert_failed(vault.quick(*verb), "the disk is read-only")
            assert state(vault.folder, ".metadata") == files, verb
    assert vault.done("history") == entries
    assert "Bob sweeps the mill" in vault.done("search", "who sweeps the mill?")
    assert list((vault.folder / ".metadata").glob("pending/*")) == []


def test_nothing_is_written_while_the_programs_own_folder_cannot_be(vault: Program, disk: Disk) -> None:
    vault.done("write", "Bob sweeps the mill")
    own = vault.folder / ".metadata"
    files = state(vault.folder)
    disk.folder = own
    disk.make_read_only()
    for verb in WRITING:
        assert_failed(vault.quick(*verb), "the disk is read-only")
        assert state(vault.folder) == files, verb
    assert "Bob sweeps the mill" in vault.done("search", "who sweeps the mill?")


def test_the_system_itself_refuses_to_write_and_the_program_says_so(vault: Program) -> None:
    vault.done("write", "Bob sweeps the mill")
    places = [vault.folder, *vault.folder.rglob("*")]
    modes = {place: place.stat().st_mode for place in places}
    files = state(vault.folder)
    for place in places:
        place.chmod(0o500 if place.is_dir() else 0o400)
    try:
        found = vault.run("search", "who sweeps the mill?", before=lose_power)
        refused = [vault.run(*verb, before=lose_power) for verb in WRITING[:1] + WRITING[4:5]]
    finally:
        for place in places:
            place.chmod(modes[place])
    assert (found.code, found.err) == (0, "")
    assert "Bob sweeps the mill" in found.text
    for ended in refused:
        assert_failed(ended, "permission is denied")
    assert state(vault.folder) == files


def lose_power() -> None:
    """Root may write where nobody may; from the next program on it may not."""
    if os.geteuid() == 0 and sys.platform == "linux":
        drop, override, search = 24, 1, 2  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        library = ctypes.CDLL(None)
        assert [library.prctl(drop, which, 0, 0, 0) for which in (override, search)] == [0, 0]


# A disk that ignores case


@pytest.fixture(params=["heeds case", "ignores case", "ignores case and form"])
def any_disk(request: pytest.FixtureRequest, disk: Disk) -> Disk:
    """Each kind of disk: to a memory they are all the same."""
    if request.param != "heeds case":
        disk.ignore_case(forms="form" in request.param)
    return disk


@pytest.fixture
def boats(program: Program) -> Program:
    """The program on `memory` → `boats` → `boats/sails`."""
    program.done("write", "--to", "boats", "A boat has two masts")
    program.done("write", "--to", "boats/sails", "Sails are white")
    return program


def test_a_rename_in_case_that_fails_half_way_is_taken_back(
    boats: Program, any_disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, real = boats.files(), LocalStorage.write

    def fail(self: LocalStorage, path: str, data: bytes, *more: Any) -> str:
        if path == "Boats":
            raise StorageError("the disk is full")
        return real(self, path, data, *more)

    with monkeypatch.context() as patched:
        patched.setattr(LocalStorage, "write", fail)
        assert boats.quick("rename", "boats", "Boats").code == 4
    assert boats.files() == before
    assert boats.done("check").startswith("all is well")


def test_a_page_has_one_name_on_any_disk(boats: Program, any_disk: Disk) -> None:
    before = boats.files()
    for verb in (("read",), ("split",), ("merge",), ("delete", "--yes"), ("blame",)):
        for path in ("BOATS", "boats/Sails", "Boats/sails"):
            ended = boats.quick(*verb, path)
            assert (ended.code, ended.text) == (3, ""), verb
    for path in ("BOATS", "boats/Sails", "Boats/sails", "Boats/oars"):
        assert "on a disk that ignores case" in boats.quick("write", "--to", path, "Red").err
        assert boats.quick("rename", "memory/x", path).code == 3
    assert boats.files() == before
    storage = LocalStorage(boats.folder)
    assert [storage.exists(path) for path in ("boats", "BOATS", "boats/Sails", "Boats/sails")] == [True] + 3 * [False]
    with pytest.raises(PageNotFound):
        storage.get_size("Boats")
    storage.delete("BOATS", ANY)
    assert boats.files() == before


def test_what_is_the_same_to_the_disk_is_never_written_over(boats: Program, disk: Disk) -> None:
    disk.ignore_case()
    before = boats.files()
    storage = LocalStorage(boats.folder)
    for path in ("BOATS", "Boats/sails", "Boats/oars"):
        for expected in (ANY, ABSENT, "a version"):
            with pytest.raises(StorageError, match="to this disk that is 'boats"):
                storage.write(path, b"x", expected)
    assert boats.files() == before


def test_a_file_in_another_case_that_is_no_page_is_in_the_way_and_stays(program: Program, disk: Disk) -> None:
    program.page("memory", "# Memory\n")
    (program.folder / "boats.MD").write_text("mine")
    (program.folder / "Assets").mkdir()
    (program.folder / "Assets" / "photo.png").write_text("PNG")
    disk.ignore_case()
    before = state(program.folder, ".metadata")
    assert_failed(program.quick("write", "--to", "boats", "Red"), "to this disk that is 'boats.MD', which is there")
    assert_failed(program.quick("write", "--to", "assets/list", "Red"), "to this disk that is 'Assets', which is there")
    assert state(program.folder, ".metadata") == before
    program.done("write", "--to", "Assets/list", "Red")
    assert pages(program) == ["Assets/list.md", "memory.md"]


def test_a_root_in_another_case_is_no_root_on_any_disk(program: Program, any_disk: Disk) -> None:
    program.page("Memory", "# Mine\n")
    before = program.files()
    assert program.quick("read").code == 3
    ended = program.quick("write", "Ada keeps the books")
    assert ended.code == 3
    assert "rename Memory.md to memory.md" in ended.err
    assert program.files() == before


def test_a_page_that_is_renamed_in_case_by_hand_is_told_as_such(boats: Program, any_disk: Disk) -> None:
    (boats.folder / "boats" / "sails.md").rename(boats.folder / "boats" / "x")
    (boats.folder / "boats" / "x").rename(boats.folder / "boats" / "Sails.md")
    told = boats.quick("history", "--json").json["operations"][0]
    assert (told["kind"], told["changed_pages"]) == ("outside", ["boats/Sails", "boats/sails"])
    assert boats.done("check").startswith("all is well")
    assert boats.quick("restore", newest(boats), "--yes").code == 0
    assert pages(boats) == ["boats.md", "boats/Sails.md", "memory.md"]


def test_a_name_that_a_mac_has_written_in_its_own_form_is_that_of_a_page_there(program: Program, disk: Disk) -> None:
    program.page("memory", "# Memory\n\n- [[Größe]]\n- [[Öl/Süß]]\n")
    for path in ("Größe", "Öl/Süß"):
        program.page(unicodedata.normalize("NFD", path), f"# Maß\n\nDas Maß von {path} ist 3.\n")
    assert "not in Unicode NFC" in program.done("check")
    disk.ignore_case(forms=True)
    assert program.done("check").startswith("all is well: 3 pages")
    assert {page["path"] for page in program.quick("ls", "--json").json["pages"]} == {"memory", "Größe", "Öl/Süß"}
    program.done("write", "--to", "Größe", "--mode", "append", "Es ist aus Xylit.")
    assert program.done("search", "Xylit").startswith("Größe:")
    assert len(list(program.folder.rglob("*.md"))) == 3
    program.done("delete", "Öl/Süß", "--yes")
    assert not (program.folder / "Öl").exists()


def test_pages_that_were_just_listed_are_read_without_listing_their_folder_each_time(
    program: Program, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        program.page(f"notes/{number:02}", f"# {number}\n")
    disk.ignore_case()
    listed: list[Path] = []
    real = Path.iterdir

    def note(place: Path) -> Iterator[Path]:
        listed.append(place)
        return real(place)

    monkeypatch.setattr(Path, "iterdir", note)
    with Memory(LocalStorage(program.folder)) as memory:
        assert len(memory.list_files()) == 20
    assert program.folder / "notes" not in listed


# Disks that cannot do everything


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK])
def test_where_files_cannot_be_locked_a_change_is_refused_and_all_can_be_read(
    vault: Program, disk: Disk, number: int
) -> None:
    vault.done("write", "Bob sweeps the mill")
    files = state(vault.folder, *DERIVED)
    disk.keep_no_locks(number)
    for verb in (("write", "Eve paints"), ("rename", "people", "folk"), ("undo", "--yes")):
        assert_failed(vault.quick(*verb), "this disk cannot do that")
        assert state(vault.folder, *DERIVED) == files, verb
    assert "Bob" in vault.done("search", "who sweeps the mill?")
    assert vault.done("history").count("\n") == 2


def test_a_memory_stick_without_modes_and_second_names_is_good_enough(program: Program, disk: Disk) -> None:
    disk.keep_no_modes()
    program.done("write", "--to", "people/ada", "Ada keeps the books")
    program.done("rename", "people/ada", "folk/ada")
    program.done("undo", "--yes")
    assert pages(program) == ["memory.md", "people/ada.md"]
