"""A memory in places that are not its own: an Obsidian vault, a git repository, disks of other kinds."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_v2.errors import PageExists, PageNotFound, StorageConflict, StorageError
from memory_v2.memory import Memory
from memory_v2.storage.base import ABSENT, ANY
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.tree.path import is_page_path
from tests.cli.program import Ended, Program
from tests.storage.disks import Disk

CORN = ("Barley", "Maize", "Millet", "Oats", "Rye", "Wheat")
FACTS = "\n\n".join(
    f"## {corn}\n\n" + "\n".join(f"- In {1990 + n} the mill ground {n + len(corn)} tons of {corn}." for n in range(25))
    for corn in CORN
)
VAULT = {
    ".obsidian/app.json": "{}",
    ".obsidian/plugins/calendar/readme.md": "# Calendar\n\nxylophone",
    ".trash/thrown.md": "# Thrown\n\nxylophone",
    ".git/description.md": "xylophone",
    "Board.canvas": "{}",
    "attachments/photo.png": "\x89PNG",
    "mill.pdf": "%PDF",
    "mill/plan.png": "\x89PNG",
    "people/.hidden.md": "xylophone",
    "people/ada.jpg": "JFIF",
    "what?.md": "xylophone",
}
"""What lies in a vault and is no page."""

NOTES = {
    "memory": "# Memory\n\n- [[mill]]\n- [[people]]\n- [[templates/daily]]\n",
    "mill": f"---\ntags: [place]\n---\n# Mill\n\n![[plan.png]]\n\n{FACTS}\n",
    "mill/miller": "# Miller\n\nHe sleeps late.\n",
    "people": "---\naliases:\n  - Folk\n---\n# People\n\n- [[people/ada|Ada]]\n",
    "people/ada": "# Ada\n\nAda keeps the books.\n",
    "templates/daily": "# {{title}}\n\n- [ ] \n",
}
"""Notes that were made by hand."""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path, tmp_path / "memory")


@pytest.fixture
def vault(program: Program) -> Program:
    """The program on somebody's Obsidian vault."""
    for path, text in NOTES.items():
        program.page(path, text)
    for name, text in VAULT.items():
        file = program.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (1_700_000_000, 1_700_000_000))
    (program.folder / "drawings" / "new").mkdir(parents=True)
    return program


@pytest.fixture
def disk(program: Program, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """The disk that the memory lies on."""
    return Disk(program.folder, monkeypatch)


DERIVED = (".metadata/traces", ".metadata/index.sqlite")
"""What may change by looking."""


def state(folder: Path, *besides: str) -> dict[str, tuple[Any, ...]]:
    """All that lies in a folder but for some of it, with bytes, times and modes."""
    found = {}
    for place in folder.rglob("*"):
        name = place.relative_to(folder)
        if not any(name.is_relative_to(other) for other in besides):
            info = place.lstat()
            data = place.read_bytes() if place.is_file() else None
            found[str(name)] = (data, info.st_mode, info.st_mtime_ns if data is not None else 0)
    return found


def foreign(folder: Path) -> dict[str, tuple[Any, ...]]:
    """The files that are no pages."""
    return {name: told for name, told in state(folder, ".metadata").items() if name in VAULT}


def pages(program: Program) -> list[str]:
    """The files that are pages, as the disk names them."""
    names = (str(file.relative_to(program.folder)) for file in program.folder.rglob("*.md"))
    return sorted(name for name in names if is_page_path(name.removesuffix(".md")))


def newest(program: Program) -> str:
    return program.done("history", "-n", "1").split("\t")[0]


def assert_failed(ended: Ended, words: str) -> None:
    """The storage failed, and that is told in one sentence."""
    assert ended.code == 4, ended
    assert words in ended.err
    assert ended.err.startswith("silica: ")
    assert ended.err.count("\n") == 1


# A vault


def test_whatever_is_done_to_the_pages_of_a_vault_its_other_files_stay_as_they_are(vault: Program) -> None:
    before = foreign(vault.folder)
    assert len(before) == len(VAULT)
    vault.done("check", "--apply")
    begun = newest(vault)
    for verb in (
        ("write", "Bob sweeps the mill"),
        ("write", "--to", "drawings/new/boat", "A boat with two masts"),
        ("split", "mill"),
        ("rename", "mill", "work/mill"),
        ("merge", "people/ada"),
        ("delete", "people", "--yes"),
        ("undo", "--yes"),
        ("restore", begun, "mill"),
        ("restore", begun, "--yes"),
        ("check", "--apply"),
        ("gc",),
    ):
        vault.done(*verb)
        assert foreign(vault.folder) == before, verb
    assert pages(vault) == sorted(f"{path}.md" for path in NOTES)


def test_what_is_hidden_is_never_listed_searched_or_shown(vault: Program) -> None:
    vault.done("write", "Bob sweeps the mill")
    for place in (".metadata", ".metadata/traces", ".metadata/deep/er"):
        (vault.folder / place).mkdir(parents=True, exist_ok=True)
        (vault.folder / place / "x.md").write_text("# X\n\nxylophone\n")
    assert vault.quick("search", "xylophone").text == ""
    listed = {page["path"] for page in vault.quick("ls", "--json").json["pages"]}
    assert listed == NOTES.keys()
    for verb in ("ls", "tree", "graph", "check"):
        shown = vault.done(verb)
        assert not any(hidden in shown for hidden in ("xylophone", ".metadata", ".obsidian", ".trash", ".git", ".hid"))


def test_a_folder_goes_with_its_last_page_and_stays_with_anything_else(vault: Program) -> None:
    vault.done("rename", "people", "folk")
    assert sorted(place.name for place in (vault.folder / "people").iterdir()) == [".hidden.md", "ada.jpg"]
    vault.done("rename", "templates/daily", "daily")
    assert not (vault.folder / "templates").exists()
    assert (vault.folder / "drawings" / "new").is_dir()


def test_a_write_that_fails_leaves_an_empty_folder_of_somebody_elses(vault: Program) -> None:
    storage = LocalStorage(vault.folder)
    for path in ("drawings/new/boat", "drawings/new/more/boat"):
        with pytest.raises(StorageConflict):
            storage.write(path, b"x", "a version that was never there")
    assert [place.name for place in (vault.folder / "drawings").rglob("*")] == ["new"]


# Reserved paths


RESERVED = (
    *(".metadata/x", ".METADATA/x", ".metadata", "./.metadata/x", "mill/../.metadata/x", "\u200b.metadata/x"),
    *(".git/description", ".obsidian/x", ".trash/thrown", "people/.hidden", ".metadata\\x", "/x", "..", "x/"),
)


@pytest.mark.parametrize("path", RESERVED)
def test_a_path_that_is_reserved_is_refused_by_every_verb(vault: Program, path: str) -> None:
    vault.done("write", "Bob sweeps the mill")
    (vault.folder / ".metadata" / "x.md").write_text("secret")
    begun, before = newest(vault), state(vault.folder, *DERIVED)
    for verb in (
        ("read", path),
        ("write", "--to", path, "secret"),
        ("write", "--to", path, "--mode", "append", "secret"),
        ("split", path),
        ("merge", path),
        ("rename", path, "x"),
        ("rename", "people", path),
        ("delete", path, "--yes"),
        ("history", path),
        ("blame", path),
        ("restore", begun, path),
    ):
        ended = vault.quick(*verb)
        assert (ended.code, ended.text) == (2, ""), verb
    assert state(vault.folder, *DERIVED) == before


# A git repository around the memory, and one in its place


@pytest.fixture
def repository(program: Program) -> Iterator[Path]:
    """A git repository of somebody's, which the memory lies in."""
    git(program.home, "init", "--quiet")
    (program.home / "code.py").write_text("print()\n")
    git(program.home, "add", "--all")
    git(program.home, "commit", "--quiet", "--message=code")
    yield program.home
    git(program.home, "fsck", "--strict")


def git(where: Path, *args: str) -> list[str]:
    """Plain git, with nothing of the configuration of whoever runs the tests."""
    names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "LC_ALL": "C", **names}
    done = subprocess.run(["git", *args], cwd=where, capture_output=True, text=True, env={**os.environ, **settings})
    assert done.returncode == 0, done
    return done.stdout.splitlines()


def test_what_git_does_to_the_repository_around_it_leaves_the_history_of_a_memory(
    program: Program, repository: Path
) -> None:
    program.done("write", "Ada keeps the books")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=memory")
    program.done("write", "Bob sweeps the mill")
    done = program.done("history").splitlines()
    for verb in (["stash", "--include-untracked"], ["clean", "-d", "--force"], ["gc", "--quiet"]):
        git(repository, *verb)
    assert "Bob" not in program.done("read")
    assert program.done("history").splitlines()[1:] == done  # the first is the stash, to us an edit by hand
    git(repository, "stash", "pop")
    assert "Bob" in program.done("read")
    assert program.done("check").startswith("all is well")


def test_a_memory_in_a_repository_of_its_own_leaves_that_alone(program: Program) -> None:
    program.folder.mkdir()
    git(program.folder, "init", "--quiet")
    before = state(program.folder / ".git")
    program.done("write", "Ada keeps the books")
    program.done("undo", "--yes")
    program.done("write", "Ada keeps the books")
    assert state(program.folder / ".git") == before
    git(program.folder, "add", "--all")
    assert git(program.folder, "ls-files") == ["memory.md"]


def test_what_a_hook_of_git_has_in_its_environment_does_not_lead_the_history_astray(
    program: Program, repository: Path
) -> None:
    odd = repository / "odd.gitconfig"
    odd.write_text(
        "[user]\nname = Zed\n[commit]\ngpgsign = true\n[gpg]\nprogram = false\n"
        "[core]\nhooksPath = /nowhere\nautocrlf = true\nbare = false\nworktree = /nowhere\n"
        "[init]\ndefaultBranch = trunk\ntemplateDir = /nowhere\n[extensions]\nobjectFormat = sha256\n"
    )
    own = repository / ".git"
    environment = {
        "GIT_DIR": str(own),
        "GIT_COMMON_DIR": str(own),
        "GIT_WORK_TREE": str(repository),
        "GIT_INDEX_FILE": str(own / "index"),
        "GIT_OBJECT_DIRECTORY": str(own / "objects"),
        "GIT_NAMESPACE": "elsewhere",
        "GIT_AUTHOR_NAME": "Zed",
        "GIT_CONFIG_GLOBAL": str(odd),
        "GIT_DEFAULT_HASH": "sha256",
    }
    before = state(own)
    assert program.run("write", "Ada keeps the books\r\nBob sweeps", env=environment).code == 0
    assert program.run("undo", "--yes", env=environment).code == 0
    assert state(own) == before
    history = program.folder / ".metadata" / "history.git"
    told = git(history, "log", "--format=%an %s", "main")
    assert [line.split(":")[0] for line in told] == ["Silica Memory undo", "Silica Memory write"]
    git(history, "fsck", "--strict")


@pytest.mark.parametrize("words", [None, b"history.git\n"])
def test_what_somebody_made_of_the_gitignore_of_the_programs_own_folder_stays(
    program: Program, words: bytes | None
) -> None:
    program.done("write", "Ada keeps the books")
    file = program.folder / ".metadata" / ".gitignore"
    if words is None:
        file.unlink()
    else:
        file.write_bytes(words)
    program.done("write", "Bob sweeps the mill")
    program.done("check", "--apply")
    assert (file.read_bytes() if file.exists() else None) == words


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


# Windows


def test_whatever_the_program_names_can_be_named_so_on_windows(vault: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(vault.folder / ".git")
    (vault.folder / "what?.md").unlink()
    made: set[str] = set()

    def note(name: str) -> None:
        real = getattr(os, name)

        def call(place: Any, *args: Any, **more: Any) -> Any:
            if not isinstance(place, int) and Path(os.fsdecode(place)).is_relative_to(vault.folder):
                made.add(str(Path(os.fsdecode(place)).relative_to(vault.folder)))
            return real(place, *args, **more)

        monkeypatch.setattr(os, name, call)

    for name in ("open", "mkdir", "replace", "rename"):
        note(name)
    vault.done("write", "Bob: sweeps <the> mill?")
    vault.done("split", "mill")
    vault.done("search", 'who "sweeps" | the mill?')
    vault.done("undo", "--yes")
    vault.done("gc")
    monkeypatch.undo()
    made |= {str(place.relative_to(vault.folder)) for place in vault.folder.rglob("*")}
    parts = {part for name in made for part in Path(name).parts}
    assert any(part.endswith(".tmp") for part in parts)
    assert any(part.endswith(".jsonl") for part in parts)
    assert [part for part in parts if not is_page_path(part.removeprefix(".").removesuffix(".md") or "x")] == []
    assert len({name.casefold() for name in made}) == len(made)
    with pytest.raises(PageExists):
        Memory(LocalStorage(vault.folder)).rename("people", "MILL")


def test_a_memory_inside_another_one_is_left_alone_by_it(tmp_path: Path) -> None:
    outer, inner = Memory.open(tmp_path), Memory.open(tmp_path / "mill" / "own")
    outer.write("Ada keeps the books", "mill")
    inner.write("The boat is new", "boat")
    inner.entries.capture("Saw a heron")
    before = {file: file.read_bytes() for file in (tmp_path / "mill").rglob("*.md")}
    assert [page.path for page in outer.list_files()] == ["memory", "mill"]
    assert [(finding.kind, finding.path) for finding in outer.checkup(apply=True).findings] == [
        ("stray-file", "mill/own")
    ]
    for path in ("mill/own/boat", "mill/own/new"):
        with pytest.raises(StorageError, match="another memory"):
            outer.write("Bob sweeps the mill", path)
    assert {file: file.read_bytes() for file in (tmp_path / "mill").rglob("*.md")} == before
    assert inner.check() == []


def test_a_memory_that_is_begun_in_a_folder_of_another_one_takes_the_folder_over(tmp_path: Path) -> None:
    outer = Memory.open(tmp_path)
    outer.write("Ada keeps the books", "mill/books")
    inner = Memory.open(tmp_path / "mill")
    inner.write("The boat is new", "boat")
    assert "mill/books" not in [page.path for page in Memory.open(tmp_path).list_files()]
    assert "Ada" in inner.read("books")
    assert [finding.severity for finding in outer.check()] == ["notice"]
    outer.write("Bob sweeps the mill")
    assert "Bob" in outer.read()
