"""What is special to pages on a disk; what every backend promises is in `tests/conformance`."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_v2.errors import InvalidPath, PageNotFound, StorageConflict, StorageError
from memory_v2.memory import Memory
from memory_v2.storage.base import ABSENT, ANY, Expected
from memory_v2.storage.local import disk
from memory_v2.storage.local import storage as local
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.local.walk import METADATA


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def storage(folder: Path) -> LocalStorage:
    return LocalStorage(folder)


def files(folder: Path) -> list[str]:
    """Every file and folder below, hidden ones included."""
    return sorted(str(found.relative_to(folder)) for found in folder.rglob("*"))


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def run(script: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True, timeout=60
    )


# Where things are


def test_a_relative_folder_stays_where_it_was_when_the_process_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    storage = LocalStorage(Path("memory"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    storage.write("memory", b"x")
    assert (tmp_path / "memory" / "memory.md").exists()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277, 0o777])
def test_files_and_folders_are_private_whatever_the_umask(
    storage: LocalStorage, folder: Path, tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        storage.write("a/b/c", b"x")
        storage.write("a/b/c", b"y", ANY)
        storage.write("a/new", b"z", ABSENT)
        with storage.lock():
            cache = storage.cache_folder
    finally:
        os.umask(before)
    assert cache == folder / ".metadata"
    for place in (folder, folder / "a", folder / "a/b", cache):
        assert mode(place) == 0o700
    for file in (folder / "a/b/c.md", folder / "a/new.md", cache / "lock"):
        assert mode(file) == 0o600


# Reading an absent memory


def test_reading_an_absent_memory_creates_nothing(storage: LocalStorage, tmp_path: Path) -> None:
    assert storage.list_files() == []
    assert list(storage.stamps()) == []
    assert storage.ignored_files() == []
    assert storage.cache_folder is None
    assert not storage.exists("memory")
    with pytest.raises(PageNotFound):
        storage.read("memory")
    with pytest.raises(PageNotFound):
        storage.delete("memory", "a version")
    storage.delete("memory")
    assert files(tmp_path) == []


def test_a_write_that_conflicts_leaves_no_folders_behind(storage: LocalStorage, folder: Path) -> None:
    with pytest.raises(StorageConflict):
        storage.write("a/b/c", b"x", "a version")
    assert files(folder) == []


def test_a_memory_that_was_removed_is_made_again_by_whoever_opens_it_next(folder: Path) -> None:
    for _ in range(2):
        storage = LocalStorage(folder)
        with storage.lock():
            storage.write("memory", b"x")
        assert storage.list_files() == ["memory"]
        shutil.rmtree(folder)


# Failures


def test_a_file_larger_than_allowed_leaves_the_old_bytes_and_no_temporary_file(
    storage: LocalStorage, folder: Path
) -> None:
    storage.write("a/page", b"old")
    script = """
import errno, resource, sys
from pathlib import Path
from memory_v2.errors import StorageError
from memory_v2.storage.local.storage import LocalStorage

resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
storage = LocalStorage(Path(sys.argv[1]))
for path in ("a/page", "new/page"):
    try:
        storage.write(path, b"x" * 300_000)
    except StorageError as error:
        assert error.errno == errno.EFBIG, error.errno
        print(error)
"""
    done = run(script, folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("make room and try again") == 2
    assert files(folder) == ["a", "a/page.md"]
    assert storage.read("a/page").data == b"old"


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "make room"),
        (errno.EDQUOT, "make room"),
        (errno.EIO, "try again"),
        (errno.EACCES, "permission is denied"),
        (errno.EROFS, "read-only"),
    ],
)
@pytest.mark.parametrize("expected", [ANY, ABSENT])
def test_a_failed_sync_leaves_the_old_tree_and_says_what_to_do(
    storage: LocalStorage,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    words: str,
    expected: Expected,
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    storage.write("a/page", b"old")
    path = "new/page" if expected == ABSENT else "a/page"
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        with pytest.raises(StorageError, match=words) as caught:
            storage.write(path, b"new", expected)
    assert caught.value.errno == number
    assert isinstance(caught.value.__cause__, OSError)
    assert files(folder) == ["a", "a/page.md"]
    assert storage.read("a/page").data == b"old"


def test_an_interrupted_write_leaves_the_old_tree(
    storage: LocalStorage, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    storage.write("a/page", b"old")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", interrupt)
        for path in ("a/page", "new/page"):
            with pytest.raises(KeyboardInterrupt):
                storage.write(path, b"new")
    assert files(folder) == ["a", "a/page.md"]
    assert storage.read("a/page").data == b"old"


def test_file_and_folders_are_synced_before_a_write_returns(
    storage: LocalStorage, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    real = os.fsync

    def note(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    storage.write("a/b", b"x")
    made = [folder.parent, folder, folder / "a/b.md", folder / "a"]
    assert synced == [place.stat().st_ino for place in made]
    synced.clear()
    storage.delete("a/b")
    assert synced == [folder.stat().st_ino]


def test_a_disk_that_cannot_sync_folders_is_good_enough(storage: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def refuse_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", refuse_folders)
    storage.write("a/b", b"x")
    assert storage.read("a/b").data == b"x"


def test_a_disk_without_hard_links_still_creates_and_still_refuses(
    storage: LocalStorage, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Path, target: Path, **how: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    storage.write("a/b", b"first", ABSENT)
    with pytest.raises(StorageConflict):
        storage.write("a/b", b"second", ABSENT)
    assert storage.read("a/b").data == b"first"
    assert [name for name in files(folder) if not name.startswith(METADATA)] == ["a", "a/b.md"]


def test_a_memory_folder_that_is_a_file_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_bytes(b"mine")
    with pytest.raises(StorageError, match=r"the memory folder .*notes\.md is a file"):
        LocalStorage(file)
    with pytest.raises(StorageError, match="a file is where a folder should be"):
        LocalStorage(file / "memory")
    assert file.read_bytes() == b"mine"


def test_a_memory_folder_with_too_long_a_name_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="too long"):
        LocalStorage(tmp_path / ("x" * 300))


def test_a_place_where_no_folder_can_be_made_reads_as_absent_and_refuses_writes() -> None:
    storage = LocalStorage(Path("/proc/nope"))
    assert storage.list_files() == []
    assert storage.cache_folder is None
    with pytest.raises(PageNotFound):
        storage.read("memory")
    with pytest.raises(StorageError, match=r"cannot write /proc/nope/memory\.md: .*choose another folder"):
        storage.write("memory", b"x")
    with pytest.raises(StorageError, match="cannot lock"), storage.lock():
        raise AssertionError("unreachable")


def test_a_file_where_a_folder_should_be_is_named_and_left_alone(storage: LocalStorage, folder: Path) -> None:
    storage.write("memory", b"x")
    (folder / "projects").write_bytes(b"mine")
    assert not storage.exists("projects/silica")
    with pytest.raises(PageNotFound):
        storage.read("projects/silica")
    for path in ("projects/silica", "projects/silica/deeper"):
        with pytest.raises(StorageError, match="a file is where a folder should be"):
            storage.write(path, b"y")
    assert files(folder) == ["memory.md", "projects"]
    assert (folder / "projects").read_bytes() == b"mine"


@pytest.mark.parametrize("expected", [ANY, ABSENT])
def test_a_folder_with_the_name_of_a_page_is_no_page(storage: LocalStorage, folder: Path, expected: Expected) -> None:
    (folder / "x.md").mkdir(parents=True)
    assert not storage.exists("x")
    assert storage.list_files() == []
    with pytest.raises(PageNotFound):
        storage.read("x")
    with pytest.raises(StorageError, match="move it away"):
        storage.write("x", b"y", expected)
    storage.delete("x")
    assert files(folder) == ["x.md"]


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "a/../../outside", "a/..", ".", "a\\..\\b"])
def test_no_path_leads_out_of_the_folder(storage: LocalStorage, folder: Path, path: str) -> None:
    storage.write("a/b", b"x")
    (folder.parent / "outside.md").write_bytes(b"secret")
    for ask in (storage.read, storage.exists, storage.delete, storage.get_size, storage.get_modified_time):
        with pytest.raises(InvalidPath):
            ask(path)
    with pytest.raises(InvalidPath):
        storage.write(path, b"x")
    assert (folder.parent / "outside.md").read_bytes() == b"secret"


# Symbolic links


@pytest.fixture
def outside(tmp_path: Path, folder: Path) -> Iterator[Path]:
    """A folder of somebody else's; nothing in it may have changed at the end."""
    (tmp_path / "outside").mkdir()
    file = tmp_path / "outside" / "secret.md"
    file.write_bytes(b"secret")
    folder.mkdir()
    yield file
    assert files(file.parent) == ["secret.md"]
    assert file.read_bytes() == b"secret"


@pytest.mark.parametrize("path", ["page", "linked/secret", "linked/new", "linked/below/new", "gone", "loop"])
def test_a_symbolic_link_is_refused_whatever_is_asked(
    storage: LocalStorage, folder: Path, outside: Path, path: str
) -> None:
    (folder / "page.md").symlink_to(outside)
    (folder / "linked").symlink_to(outside.parent)
    (folder / "gone.md").symlink_to(outside.parent / "new.md")
    (folder / "loop.md").symlink_to("loop.md")
    for expected in (ANY, ABSENT, "a version"):
        with pytest.raises(StorageError, match="is a symbolic link; a memory keeps its pages inside its own"):
            storage.write(path, b"x", expected)
        with pytest.raises(StorageError, match="is a symbolic link"):
            storage.delete(path, expected)
    for ask in (storage.read, storage.get_size, storage.get_modified_time):
        with pytest.raises(StorageError, match="is a symbolic link"):
            ask(path)
    assert not storage.exists(path)


def test_symbolic_links_are_listed_as_strays_and_not_as_pages(
    storage: LocalStorage, folder: Path, outside: Path
) -> None:
    (folder / "page.md").symlink_to(outside)
    (folder / "inside.md").symlink_to("real.md")
    (folder / "linked").symlink_to(outside.parent)
    (folder / "loop").symlink_to("loop")
    (folder / "photo.png").symlink_to("nowhere")
    storage.write("real", b"x")
    assert storage.list_files() == ["real"]
    assert [stamp.path for stamp in storage.stamps()] == ["real"]
    reason = "is a symbolic link; a memory keeps its pages inside its own folder"
    assert storage.ignored_files() == [("inside.md", reason), ("linked", reason), ("page.md", reason)]


def test_the_memory_folder_itself_may_be_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    storage = LocalStorage(tmp_path / "link")
    with storage.lock():
        storage.write("a/b", b"x")
    assert storage.list_files() == ["a/b"]
    assert (tmp_path / "real" / "a" / "b.md").read_bytes() == b"x"
    storage.delete("a/b")
    assert (tmp_path / "link").is_symlink()


def test_a_metadata_folder_that_is_a_symbolic_link_is_not_used(
    storage: LocalStorage, folder: Path, outside: Path
) -> None:
    (folder / ".metadata").symlink_to(outside.parent)
    assert storage.cache_folder is None
    with pytest.raises(StorageError, match="is a symbolic link"), storage.lock():
        raise AssertionError("unreachable")


# What else is in the folder


def test_markdown_files_that_cannot_be_pages_are_strays_with_a_reason(storage: LocalStorage, folder: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "Größe.md")
    storage.write("memory", b"x")
    for name in ("what?.md", "con.md", "bad#folder/page.md", decomposed, "loud.MD", "x.md.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"mine")
    os.mkfifo(folder / "pipe.md")
    (folder / os.fsdecode(b"\xff.md")).write_bytes(b"mine")
    assert storage.list_files() == ["memory"]
    strays = dict(storage.ignored_files())
    assert sorted(strays) == sorted(
        ["what?.md", "con.md", "bad#folder/page.md", decomposed, "loud.MD", "x.md.md", "pipe.md", "\udcff.md"]
    )
    assert "cannot hold '?'" in strays["what?.md"]
    assert "device" in strays["con.md"]
    assert "cannot hold '#'" in strays["bad#folder/page.md"]
    assert "NFC" in strays[decomposed]
    assert "lower case" in strays["loud.MD"]
    assert "leave '.md' off" in strays["x.md.md"]
    assert "regular file" in strays["pipe.md"]
    assert "control or invisible" in strays["\udcff.md"]


def test_a_pipe_with_the_name_of_a_page_holds_nobody_up(storage: LocalStorage, folder: Path) -> None:
    folder.mkdir()
    os.mkfifo(folder / "pipe.md")
    with pytest.raises(PageNotFound):
        storage.read("pipe")
    with pytest.raises(StorageError, match="move it away"):
        storage.write("pipe", b"x")


def test_of_two_names_equal_in_all_but_case_one_is_a_page_and_the_other_a_stray(
    storage: LocalStorage,
) -> None:
    for path in ("Ideas", "ideas", "Projects/a", "projects", "b/X", "b/x", "straße", "STRASSE"):
        storage.write(path, b"x")
    assert storage.list_files() == ["b/x", "ideas", "projects", "straße"]
    assert [name for name, _ in storage.ignored_files()] == ["Ideas.md", "Projects/a.md", "STRASSE.md", "b/X.md"]
    reasons = dict(storage.ignored_files())
    assert "'ideas' in all but case" in reasons["Ideas.md"]
    assert "'projects' in all but case" in reasons["Projects/a.md"]


def test_memory_in_capitals_beside_a_folder_of_that_name_is_a_page(storage: LocalStorage) -> None:
    for path in ("MEMORY", "memory/2026-02-06"):  # as agents keep their notes
        storage.write(path, b"x")
    assert storage.list_files() == ["MEMORY", "memory/2026-02-06"]
    assert storage.ignored_files() == []


# Stamps


def test_an_edit_that_sets_the_old_time_again_changes_the_stamp(storage: LocalStorage, folder: Path) -> None:
    storage.write("memory", b"old")
    file = folder / "memory.md"
    os.utime(file, ns=(1, 1))
    before = list(storage.stamps())
    file.write_bytes(b"new")
    os.utime(file, ns=(1, 1))
    assert list(storage.stamps()) != before


def test_a_page_that_was_read_is_not_read_again_before_it_is_replaced_unless_it_was_edited(
    storage: LocalStorage, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = storage.write("memory", b"old")
    time.sleep(0.1)  # what has just changed may change again and keep its times
    read: list[Path] = []

    def read_bytes(file: Path) -> bytes:
        read.append(file)
        return file.read_bytes()

    monkeypatch.setattr(disk, "read_bytes", read_bytes)
    assert storage.read("memory").version == version
    again = storage.write("memory", b"new", version)
    assert len(read) == 1
    time.sleep(0.1)
    storage.read("memory")
    (folder / "memory.md").write_bytes(b"own")
    with pytest.raises(StorageConflict):
        storage.write("memory", b"mine", again)
    assert (folder / "memory.md").read_bytes() == b"own"


@pytest.mark.parametrize(
    "act",
    [
        lambda storage, version: storage.write("memory", b"new", version),
        lambda storage, version: storage.delete("memory", version),
    ],
)
def test_an_edit_between_the_last_look_and_the_change_stays_and_is_a_conflict(
    act: Callable[[LocalStorage, str], object], storage: LocalStorage, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = storage.write("memory", b"old")
    (folder / "own").write_bytes(b"own")
    look = LocalStorage._expect

    def look_and_edit(self: LocalStorage, path: str, expected: Expected) -> None:
        look(self, path, expected)
        (folder / "own").rename(folder / "memory.md")  # as editors save

    with monkeypatch.context() as patched:
        patched.setattr(LocalStorage, "_expect", look_and_edit)
        with pytest.raises(StorageConflict):
            act(storage, version)
    assert files(folder) == ["memory.md"]
    assert storage.read("memory").data == b"own"


# The lock


def test_writers_in_several_processes_lose_nothing_under_the_lock(storage: LocalStorage, folder: Path) -> None:
    script = """
import sys
from pathlib import Path
from memory_v2.storage.local.storage import LocalStorage

storage = LocalStorage(Path(sys.argv[1]))
for turn in range(25):
    with storage.lock():
        data = storage.read("log").data if storage.exists("log") else b""
        storage.write("log", data + f"{sys.argv[2]} {turn}\\n".encode())
"""
    workers = [subprocess.Popen([sys.executable, "-c", script, str(folder), str(worker)]) for worker in range(4)]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0, 0]
    lines = storage.read("log").data.decode().splitlines()
    assert sorted(lines) == sorted(f"{worker} {turn}" for worker in range(4) for turn in range(25))


def test_a_lock_that_another_process_holds_is_named_and_is_free_when_that_process_is_killed(
    storage: LocalStorage, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = """
import sys
from pathlib import Path
from memory_v2.storage.local.storage import LocalStorage

with LocalStorage(Path(sys.argv[1])).lock():
    print("held", flush=True)
    sys.stdin.read()
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        monkeypatch.setattr(local, "LOCK_SECONDS", 0.1)
        with pytest.raises(StorageError) as caught, storage.lock():
            raise AssertionError("unreachable")
        assert str(folder / ".metadata" / "lock") in str(caught.value)
        holder.kill()
        holder.wait(60)
    monkeypatch.undo()
    with storage.lock():
        storage.write("memory", b"x")
    assert storage.list_files() == ["memory"]


def test_reading_does_not_wait_for_the_lock(storage: LocalStorage, folder: Path) -> None:
    storage.write("memory", b"x")
    script = """
import sys
from pathlib import Path
from memory_v2.storage.local.storage import LocalStorage

storage = LocalStorage(Path(sys.argv[1]))
print(storage.read("memory").data, storage.list_files())
assert "filelock" not in sys.modules
"""
    with storage.lock():
        done = run(script, folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "b'x' ['memory']\n"


def test_threads_get_the_lock_of_a_folder_in_the_order_in_which_they_ask(tmp_path: Path) -> None:
    storage, order = LocalStorage(tmp_path), list[int]()

    def ask(number: int) -> None:
        with storage.lock(), storage.lock():
            order.append(number)

    with storage.lock():
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(5)]
        for thread in threads:
            thread.start()
            time.sleep(0.05)
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4]


# Owners


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_what_root_makes_in_a_users_folder_belongs_to_the_user(folder: Path) -> None:
    memory = Memory(LocalStorage(folder))
    memory.write("# Memory\n\nApples.", "memory")
    (folder / ".metadata" / "lock").unlink()
    for place in (folder, *folder.rglob("*")):
        os.chown(place, 65534, 65534)
    memory.write("# Garden\n\nTulips.", "plants/garden")
    memory.write("Pears.", "memory", "append")
    assert memory.undo().changed_pages
    unreadable = [
        str(place.relative_to(folder))
        for place in folder.rglob("*")
        if place.stat().st_uid == 0 and not place.stat().st_mode & 0o004 and "traces" not in place.parts
    ]
    assert unreadable == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_a_user_can_go_on_with_a_memory_that_root_has_begun(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    with Memory.open(folder) as memory:
        memory.write("# Memory\n\nApples.", "memory")
        memory.search("apples")
    roots = [place for place in folder.rglob("*") if place.lstat().st_uid == 0]
    assert [str(place) for place in roots if place.is_dir() or not place.stat().st_mode & 0o004] == []


# Locales


@pytest.mark.skipif(sys.platform == "win32", reason="names are Unicode there, whatever the locale is")
@pytest.mark.parametrize("name", ["größe", "ordner-ä/größe"])
def test_a_process_whose_locale_is_ascii_finds_the_same_pages(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "Notizen für später"
    memory = Memory(LocalStorage(folder))
    memory.write(f"# Memory\n\nSee [[{name}]].\n", "memory")
    memory.write("# Größe\n\nZwölf Meter.\n", name)
    before = {path: memory.read(path) for path in memory.storage.list_files()}
    memory.close()
    script = """
import sys
from memory_v2.memory import Memory
memory = Memory.open(sys.argv[1])
paths = memory.storage.list_files()
assert len(paths) == 2 and not memory.checkup(apply=True).changes.changed_pages
assert memory.search("Meter")[0].path in paths and "Meter" in memory.read(paths[1])
memory.write("Lang und breit.", paths[1], "append")
memory.write("Neu.", paths[1] + "-zwei")
memory.undo()
memory.undo()
assert memory.check() == []
"""
    ascii_only = {**os.environ, "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", script, folder], env=ascii_only, check=True, timeout=60)
    after = Memory(LocalStorage(folder))
    assert {path: after.read(path) for path in after.storage.list_files()} == before
    assert after.check() == []


def _without_a_disk(folder: Path, kept: Path) -> None:
    shutil.copytree(folder, kept)
    shutil.rmtree(folder)
    folder.mkdir()


@pytest.mark.parametrize("leave", [lambda folder, kept: folder.rename(kept), _without_a_disk])
@pytest.mark.parametrize("opened_before", ["by writing", "by reading"])
def test_a_memory_that_is_moved_or_unmounted_while_it_is_open_is_not_taken_for_an_empty_one(
    leave: Callable[[Path, Path], None], opened_before: str, tmp_path: Path
) -> None:
    folder, kept = tmp_path / "memory", tmp_path / "kept"
    memory = Memory.open(folder)
    memory.write("The kiln is warm.")
    memory.entries.capture("The kiln was lit at six.")
    if opened_before == "by reading":
        memory = Memory.open(folder)
        assert memory.search("kiln")
    leave(folder, kept)
    calls: list[Callable[[], object]] = [
        memory.read,
        memory.list_files,
        memory.check,
        lambda: memory.search("kiln"),
        lambda: memory.write("The pot is red."),
        lambda: memory.entries.capture("The pot was found."),
        memory.undo,
    ]
    for call in calls:
        with pytest.raises(StorageError, match="is gone: it was moved, deleted or unmounted"):
            call()
    assert not folder.exists() or list(folder.iterdir()) == []
    shutil.rmtree(folder, ignore_errors=True)
    kept.rename(folder)
    memory.write("The pot is red.")
    assert "kiln" in memory.read()
