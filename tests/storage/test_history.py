"""The history as a git repository: what is recorded is told again, plain git reads it, and damage is named."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import threading
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.errors import StorageError
from memory_v2.storage.history import EXTERNAL, HistoryDamaged, Revision
from memory_v2.storage.local.git_history import FOLDER, GitHistory
from memory_v2.storage.local.git_objects import BRANCH, MAKING, MANY, UNFLUSHED, message_of, read_message
from tests.conformance.history_suite import BEGUN, HistoryConformance, entry, three

GIT = shutil.which("git")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture(autouse=True)
def nothing_is_left_open() -> Iterator[None]:
    before = open_files()
    yield
    gc.collect()  # what is open and forgotten complains now: a warning is an error
    assert open_files() <= before


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


def git(folder: Path, *args: str | Path, env: dict[str, str] | None = None) -> str:
    """Plain git on the repository, with no settings of whoever runs the tests."""
    assert GIT is not None
    own = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    command = [GIT, "--git-dir", folder / FOLDER, *args]
    done = subprocess.run(command, capture_output=True, env={**own, **(env or {})}, cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return (done.stdout + done.stderr).decode()


def complaints(folder: Path) -> list[str]:
    """What is wrong with the repository: as dulwich checks every object, and as git does where it is installed."""
    from dulwich import porcelain

    found = [f"{sha!r}: {error}" for sha, error in porcelain.fsck(str(folder / FOLDER))]
    if GIT:
        found += git(folder, "fsck", "--full", "--strict", "--no-dangling", "--no-progress").splitlines()
    return found


def commit_by_others(folder: Path, files: dict[str, bytes], message: str, link: str = "") -> None:
    """A commit as plain git makes it of a working tree; where git is not installed, by dulwich in its place."""
    tree = folder / "tree"
    for name, data in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(data)
    if link:
        (tree / link).symlink_to("memory.md")
    if GIT:
        who = {f"GIT_{role}_{what}": "ann@there" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        git(folder, "--work-tree", tree, "add", "--all")
        git(folder, "--work-tree", tree, "commit", "--quiet", "--message", message, env=who)
        return
    from dulwich.index import commit_tree
    from dulwich.objects import Blob
    from dulwich.repo import Repo

    with Repo(str(folder / FOLDER)) as repo:
        blobs = []
        for file in sorted(file for file in tree.rglob("*") if file.is_symlink() or file.is_file()):
            mode = 0o120000 if file.is_symlink() else 0o100644
            blob = Blob.from_string(os.fsencode(file.readlink()) if file.is_symlink() else file.read_bytes())
            repo.object_store.add_object(blob)
            blobs.append((os.fsencode(file.relative_to(tree)), blob.id, mode))
        top = commit_tree(repo.object_store, blobs)
        repo.get_worktree().commit(message.encode(), tree=top, author=b"Ann <ann@there>", committer=b"Ann <ann@there>")


def damage(folder: Path, data: bytes | None, *patterns: str) -> None:
    """Puts other bytes in the place of files of the repository, for good; `None` cuts them in half."""
    shutil.rmtree(folder / FOLDER / UNFLUSHED, ignore_errors=True)
    files = [file for pattern in patterns for file in (folder / FOLDER).glob(pattern)]
    assert files
    for file in files:
        file.chmod(0o600)
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2] if data is None else data)


class TestGitHistory(HistoryConformance):
    @pytest.fixture
    def history(self, folder: Path) -> GitHistory:
        return GitHistory(folder)

    @pytest.fixture
    def another(self, folder: Path) -> Callable[[], GitHistory]:
        return lambda: GitHistory(folder)


# messages

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
lines = words.map(lambda text: " ".join(text.split()))
told = lines.filter(bool)


@given(
    kind=st.sampled_from(["write", "split", EXTERNAL]),
    summary=told,
    trailers=st.tuples(told, lines, lines, lines, lines),
)
def test_a_message_tells_an_entry_and_is_read_back(
    kind: str, summary: str, trailers: tuple[str, str, str, str, str]
) -> None:
    operation, agent, decided_by, degraded, undoes = trailers
    why = ("in the tree to the letter: n1", "Operation: not this one", "nothing else was changed")
    one = Revision(kind, summary, operation, decided_by, degraded, undoes, why, agent=agent)
    assert read_message(message_of(one)) == one


def test_plain_git_accepts_the_repository_and_reads_the_log(folder: Path) -> None:
    history = GitHistory(folder)
    ids = three(history)
    history.record({"日本語/メモ": b"x"}, Revision("write", "日本語", "op", "m", "", "", ("why", "and why"), BEGUN))
    for _ in range(2):
        assert complaints(folder) == []
        assert history.pack() in (15, 0)
    if GIT:
        assert git(folder, "log", "--format=%s").splitlines() == [
            "write: 日本語",
            "write: fact 2",
            "write: fact 1",
            "write: fact 0",
        ]
        assert git(folder, "log", "-1", "--format=%an %ct%n%b").splitlines() == [
            f"Silica Memory {BEGUN.timestamp():.0f}",
            "- why",
            "- and why",
            "",
            "Operation: op",
            "Decided-by: m",
            "",
        ]
        assert git(folder, "log", "-1", "--format=%(trailers:key=Operation,valueonly)").strip() == "op"
        assert git(folder, "show", f"{ids[0]}:people/ada.md") == "Ada\n"


def test_the_changes_of_a_revision_are_read_with_each_folder_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, pages = GitHistory(folder), {f"people/p{number}": b"page\n" for number in range(40)}
    history.record(pages, Revision("write", "many"))
    read, reads = GitHistory._tree, list[bytes]()

    def counted(self: GitHistory, tree: bytes) -> Any:
        reads.append(tree)
        return read(self, tree)

    monkeypatch.setattr(GitHistory, "_tree", counted)
    [changes] = history.changed_by(list(history.revisions()))
    assert {change.path: change.after for change in changes} == pages
    assert len(reads) == len(set(reads)) == 2  # the top, and people


def test_a_commit_that_plain_git_made_is_told_and_gone_on_from(folder: Path) -> None:
    history = GitHistory(folder)
    three(history)
    commit_by_others(folder, {"memory.md": b"by Ann\n", "new/page.md": b"new\n"}, "tidied up\n\nfor good\n\nand all")
    found = next(history.revisions())
    assert (found.kind, found.summary, found.why) == (EXTERNAL, "tidied up", ("for good", "and all"))
    assert (found.operation, found.decided_by, found.undoes) == ("", "", "")
    assert found.paths == ("memory", "new/page")
    assert history.pages(found.id) == {"memory": b"by Ann\n", "new/page": b"new\n"}
    name = history.record({"memory": b"and on\n"}, entry(5))
    assert history.before(name) == found.id
    assert complaints(folder) == []


def test_a_branch_that_git_has_packed_is_still_there(folder: Path) -> None:
    ids = three(GitHistory(folder))
    branch = folder / FOLDER / "refs" / "heads" / "main"
    if GIT:
        git(folder, "gc", "--quiet")
        assert not branch.exists()
    else:
        (folder / FOLDER / "packed-refs").write_bytes(b"%s %s\n" % (ids[-1].encode(), BRANCH))
        branch.unlink()
    history = GitHistory(folder)
    assert history.begun
    assert [one.id for one in history.revisions()] == ids[::-1]
    name = history.record({"memory": b"on"}, entry(3))
    assert history.before(name) == ids[-1]


def test_packing_changes_nothing_but_where_things_are(folder: Path) -> None:
    history = GitHistory(folder)
    ids = three(history)
    before = list(history.revisions()), [history.pages(one) for one in ids]
    assert history.size > 0
    assert history.pack() == 3 + 5 + 3  # commits, trees (one of a folder that was emptied), blobs
    assert not list((folder / FOLDER / "objects").glob("??/*"))
    assert history.pack() == 0
    assert (list(history.revisions()), [history.pages(one) for one in ids]) == before
    history.record({"memory": b"on"}, entry(3))
    assert history.pack() == 3
    assert len(list(GitHistory(folder).revisions())) == 4


def test_many_pages_are_recorded_as_one_pack(folder: Path) -> None:
    history = GitHistory(folder)
    many = {f"group-{number % 7}/note-{number}": b"note %d\n" % number for number in range(MANY)}
    history.record(many, entry())
    ids = [history.record({"memory": b"one page\n"}, entry(1)), history.record(dict.fromkeys(many), entry(2))]
    ids += [history.record({path: data * 2 for path, data in many.items()}, entry(3)), history.record(many, entry(4))]
    objects = folder / FOLDER / "objects"
    assert len(list(objects.glob("pack/*.pack"))) == 2  # what was there already is not written again
    assert len(list(objects.glob("??/*"))) == 3 + 3 + 1  # a page, the tree and the commit; two trees and one; the last
    assert complaints(folder) == []
    assert GitHistory(folder).pages(ids[-1]) == {**many, "memory": b"one page\n"}
    assert GitHistory(folder).pages(ids[1]) == {"memory": b"one page\n"}


# damage

DAMAGES = {
    "objects cut in half": (None, ["objects/??/*"]),
    "objects of no byte": (b"", ["objects/??/*"]),
    "objects of one byte": (b"x", ["objects/??/*"]),
    "objects of noise": (b"\xff" * 80, ["objects/??/*"]),
    "objects that say they are commits": (zlib.compress(b"commit 5\0hello"), ["objects/??/*"]),
    "a branch cut in half": (None, ["refs/heads/main"]),
    "a branch of nothing": (b"", ["refs/heads/main"]),
    "a branch of words": (b"nowhere\n", ["refs/heads/main"]),
    "a branch that names what is not there": (b"12" * 20 + b"\n", ["refs/heads/main"]),
    "a branch that is itself": (b"ref: refs/heads/main\n", ["refs/heads/main"]),
    "settings of noise": (b"\xff\xfe", ["config"]),
}
PACKED = {
    "a pack cut in half": (None, ["objects/pack/*.pack"]),
    "a pack of nothing": (b"", ["objects/pack/*.pack"]),
    "an index cut in half": (None, ["objects/pack/*.idx"]),
    "an index of nothing": (b"", ["objects/pack/*.idx"]),
}


@pytest.mark.parametrize("how", [*DAMAGES, *PACKED])
def test_a_repository_that_cannot_be_read_is_damaged_and_set_aside(folder: Path, how: str) -> None:
    history = GitHistory(folder)
    ids = three(history)
    if how in PACKED:
        history.pack()
    data, patterns = {**DAMAGES, **PACKED}[how]
    damage(folder, data, *patterns)
    with pytest.raises(HistoryDamaged, match="is damaged"):
        list(history.revisions())
    with pytest.raises(HistoryDamaged):
        history.record({"memory": b"on"}, entry(3))
    with pytest.raises(HistoryDamaged):
        history.unrecorded({"memory": b"on"})
    broken = {file.name for file in (folder / FOLDER).rglob("*")}
    history.quarantine()
    assert not history.begun
    assert {file.name for file in (folder / "history-damaged-1.git").rglob("*")} == broken
    name = history.record({"memory": b"anew"}, entry(4))
    assert [one.id for one in history.revisions()] == [name]
    assert name not in ids
    assert complaints(folder) == []


@pytest.mark.parametrize("kind", ["commit", "tree", "blob"])
@pytest.mark.parametrize("ask", ["entries", "pages", "read"])
def test_one_object_that_is_cut_off_is_told_where_it_is_needed(folder: Path, kind: str, ask: str) -> None:
    from dulwich.repo import Repo

    history = GitHistory(folder)
    newest = three(history)[-1]
    with Repo(str(folder / FOLDER)) as repo:
        store: Any = repo.object_store
        names = [name.decode() for name in store if store[name].type_name == kind.encode()]
    damage(folder, None, *(f"objects/{name[:2]}/{name[2:]}" for name in names))
    asks: dict[str, Callable[[], object]] = {
        "entries": lambda: list(history.revisions()),
        "pages": lambda: history.pages(newest),
        "read": lambda: history.read(newest, "memory"),
    }
    if (kind, ask) == ("blob", "entries"):
        assert len(list(history.revisions())) == 3
    else:
        with pytest.raises(HistoryDamaged):
            asks[ask]()


def test_what_is_newer_than_the_damage_is_still_told(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    history = GitHistory(folder)
    ids = three(history)
    damage(folder, None, f"objects/{ids[0][:2]}/{ids[0][2:]}")
    assert [one.id for one in history.revisions()] == ids[:1:-1]
    assert f"revisions before {ids[2][:12]} cannot be read" in caplog.text
    newest = history.record({"memory": b"on"}, entry(3))
    assert [one.id for one in history.revisions()] == [newest, ids[2]]


def test_an_object_that_is_gone_is_damage_too(folder: Path) -> None:
    history = GitHistory(folder)
    three(history)
    for name in ("objects", UNFLUSHED):
        shutil.rmtree(folder / FOLDER / name)
    (folder / FOLDER / "objects").mkdir()
    with pytest.raises(HistoryDamaged):
        list(history.revisions())


@pytest.mark.parametrize("data", [b"", None])
def test_objects_that_a_power_cut_has_taken_are_written_again(folder: Path, data: bytes | None) -> None:
    history = GitHistory(folder)
    ids = three(history)
    before = history.pages(ids[-1])
    for file in (folder / FOLDER / "objects").glob("??/*"):
        file.chmod(0o600)
        file.unlink() if data is None else file.write_bytes(data)
    again = GitHistory(folder)
    assert [one.id for one in again.revisions()] == ids[::-1]
    assert again.pages(ids[-1]) == before
    again.record({"memory": b"on"}, entry(3))
    assert complaints(folder) == []


def test_after_many_revisions_their_objects_become_a_pack(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_v2.storage.local.git_objects.MAX_UNFLUSHED", 3)
    history, place = GitHistory(folder), folder / FOLDER
    ids = [history.record({"memory": b"%d" % number}, entry(number)) for number in range(7)]
    assert (len(list(place.glob("objects/pack/*.pack"))), len(list((place / UNFLUSHED).iterdir()))) == (2, 1)
    assert [one.id for one in history.revisions()] == ids[::-1]
    assert complaints(folder) == []


@pytest.mark.parametrize("packs", [True, False])
def test_what_a_power_cut_has_taken_is_in_the_pack_that_follows(
    packs: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = GitHistory(folder)
    ids = three(history)
    before = [history.pages(one) for one in ids]
    shutil.rmtree(folder / FOLDER / "objects" / ids[0][:2])  # whatever packs needs the newest revision only
    if packs:
        history.pack()
    else:
        monkeypatch.setattr("memory_v2.storage.local.git_objects.MAX_UNFLUSHED", 3)
        history.record({"memory": b"on"}, entry(3))
    assert [GitHistory(folder).pages(one) for one in ids] == before
    assert complaints(folder) == []


def test_a_damaged_copy_of_the_objects_replaces_none_that_is_whole(folder: Path) -> None:
    history = GitHistory(folder)
    ids = three(history)
    before = history.pages(ids[1])
    (folder / FOLDER / "objects" / ids[0][:2] / ids[0][2:]).unlink()
    for file in (folder / FOLDER / UNFLUSHED).iterdir():
        data = file.read_bytes()
        file.write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
    with pytest.raises(HistoryDamaged):
        history.read(ids[0], "memory")
    assert history.pages(ids[1]) == before


def test_objects_and_then_the_branch_are_synced_before_a_record_returns(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, place, real = GitHistory(folder), folder / FOLDER, os.fsync
    branch, copies = place / BRANCH.decode(), place / UNFLUSHED
    synced: list[tuple[int, bytes]] = []

    def note(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_ino, branch.read_bytes() if branch.exists() else b""))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    first = history.record({"memory": b"x"}, entry())
    made = [
        folder,
        place,
        place / "HEAD",
        place / "config",
        place / "refs",
        branch,
        branch.parent,
        copies,
        copies / first,
    ]
    assert [file for file in made if file.stat().st_ino not in dict(synced)] == []
    synced.clear()
    newest = history.record({"memory": b"y"}, entry(1))
    files = [copies / newest, copies, branch, branch.parent]
    assert synced == [
        (file.stat().st_ino, f"{newest if file == branch.parent else first}\n".encode()) for file in files
    ]


def test_each_that_is_set_aside_is_kept(folder: Path) -> None:
    history = GitHistory(folder)
    for number in range(1, 4):
        three(history)
        history.quarantine()
        assert (folder / f"history-damaged-{number}.git" / "HEAD").is_file()
    assert not (folder / FOLDER).exists()


def test_a_folder_that_cannot_be_written_is_a_storage_error_and_no_damage(folder: Path) -> None:
    (folder / "file").write_text("where a folder should be")
    history = GitHistory(folder / "file")
    with pytest.raises(StorageError, match="cannot reach the history") as told:
        history.record({"memory": b"x"}, entry())
    assert not isinstance(told.value, HistoryDamaged)


def test_a_branch_that_somebody_else_moves_meanwhile_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dulwich.refs import DiskRefsContainer

    history = GitHistory(folder)
    ids = three(history)
    monkeypatch.setattr(DiskRefsContainer, "set_if_equals", lambda *_, **__: False)
    with pytest.raises(StorageError, match="changed by another process") as told:
        history.record({"memory": b"x"}, entry(3))
    assert not isinstance(told.value, HistoryDamaged)
    assert next(history.revisions()).id == ids[-1]


# What a process that was killed, or a copy, has left


def test_a_copy_without_its_empty_folders_is_the_same_history(folder: Path) -> None:
    ids = three(GitHistory(folder))
    place = folder / FOLDER
    (place / "packed-refs").write_bytes(b"%s %s\n" % (ids[-1].encode(), BRANCH))
    (place / "refs" / "heads" / "main").unlink()
    empty = [path for path in sorted(place.rglob("*"), reverse=True) if path.is_dir() and not any(path.iterdir())]
    assert {"heads", "pack"} <= {path.name for path in empty}
    for path in empty:
        path.rmdir()
    shutil.rmtree(place / "refs")
    history = GitHistory(folder)
    assert [one.id for one in history.revisions()] == ids[::-1]
    assert history.before(history.record({"memory": b"on"}, entry(3))) == ids[-1]
    assert history.pack() > 0


def test_a_history_whose_branch_is_gone_goes_on_from_what_was_checked_out(folder: Path) -> None:
    ids = three(GitHistory(folder))
    GitHistory(folder).mark_checked_out(ids[-1])
    assert GitHistory(folder).problem == ""
    shutil.rmtree(folder / FOLDER / "refs" / "heads")
    history = GitHistory(folder)
    assert ids[-1][:12] in history.problem
    assert history.head == ids[-1]
    assert [one.id for one in history.revisions()] == ids[::-1]
    assert history.before(history.record({"memory": b"on"}, entry(3))) == ids[-1]
    assert GitHistory(folder).problem == ""


def test_objects_that_no_ref_leads_to_are_told(folder: Path) -> None:
    history = GitHistory(folder)
    assert history.problem == ""
    three(history)
    shutil.rmtree(folder / FOLDER / "refs")
    assert "the old objects stay" in history.problem


def test_a_lock_that_a_killed_process_left_keeps_nothing_out_of_the_history(folder: Path) -> None:
    history = GitHistory(folder)
    first = history.record({"memory": b"one"}, entry(1))
    left = folder / FOLDER / "refs/heads/main.lock"
    left.parent.mkdir(exist_ok=True)
    left.touch()
    second = history.record({"memory": b"two"}, entry(2))
    history.mark_checked_out(second)
    assert [one.id for one in history.revisions()] == [second, first]
    assert history.checked_out == second
    assert not left.exists()


@pytest.mark.parametrize("pages", [3, MANY])
def test_a_pack_whose_index_was_being_written_when_its_process_was_killed_is_written_again(
    folder: Path, tmp_path: Path, pages: int
) -> None:
    def begin(folder: Path) -> GitHistory:
        history = GitHistory(folder)
        history.record({}, entry(0))
        history.take_back(history.head)
        return history

    def write(history: GitHistory) -> None:
        history.record({f"page-{number}": b"%d" % number for number in range(pages)}, entry(1))
        history.pack()

    write(begin(tmp_path / "elsewhere"))
    indexes = (tmp_path / "elsewhere" / FOLDER / "objects" / "pack").glob("*.idx")
    index = max(indexes, key=lambda file: file.stat().st_size)
    history = begin(folder)
    packs = folder / FOLDER / "objects" / "pack"
    index.with_suffix(".pack").rename(packs / f"{index.stem}.pack")
    (packs / f"{index.name}.lock").write_bytes(index.read_bytes()[:100])
    write(history)
    assert [one.summary for one in history.revisions()] == [entry(1).summary]
    assert history.read(history.head, "page-2") == b"2"
    assert not list(packs.glob("*.lock"))


def test_half_an_object_that_a_killed_process_left_is_swept_by_the_next_record(folder: Path) -> None:
    history = GitHistory(folder)
    history.record({"memory": b"one"}, entry(1))
    half = folder / FOLDER / "objects" / ".silica-0123456789abcdef.tmp"
    half.write_bytes(b"x\x9c")
    history.record({"memory": b"two"}, entry(2))
    assert half.exists()  # its process may still be alive
    os.utime(half, (0, 0))
    history.record({"memory": b"three"}, entry(3))
    assert not half.exists()


def test_a_repository_whose_making_was_cut_short_is_made_anew(folder: Path) -> None:
    half = folder / f"{MAKING}1f3a.git"
    (half / "branches").mkdir(parents=True)
    history = GitHistory(folder)
    history.record({"memory": b"one"}, entry(1))
    assert [one.summary for one in history.revisions()] == [entry(1).summary]
    assert [path.name for path in folder.iterdir()] == [FOLDER]


def test_a_reader_that_pauses_in_the_middle_keeps_no_thread_from_recording(folder: Path) -> None:
    history = GitHistory(folder)
    three(history)
    revisions = history.revisions()
    newest = next(revisions)
    recorded: list[str] = []
    other = threading.Thread(target=lambda: recorded.append(history.record({"new": b"x"}, entry(3))), daemon=True)
    other.start()
    other.join(60)
    assert recorded == [history.head]
    assert [newest, *revisions] == list(history.revisions())[1:]


@pytest.mark.skipif(GIT is None, reason="git is not installed")
@pytest.mark.parametrize("year", [1, 1969, 1970, 2026, 2400])
def test_git_finds_nothing_wrong_whatever_the_clock_says_and_after_its_own_gc(year: int, folder: Path) -> None:
    history = GitHistory(folder)
    history.record({"memory": b"first"}, Revision("write", "first", when=datetime(year, 1, 1, tzinfo=UTC)))
    git(folder, "gc", "--prune=now", "-q")
    history.record({"memory": b"second"}, Revision("write", "second", when=datetime(year, 1, 2, tzinfo=UTC)))
    git(folder, "fsck", "--full", "--strict")
    git(folder, "repack", "-adq")
    assert [revision.summary for revision in GitHistory(folder).revisions()] == ["second", "first"]
