"""What a disk does to the files beside the pages: no page is lost, the memory goes on, and it says what happened."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from itertools import cycle
from pathlib import Path

import pytest

from memory_v2.errors import StorageError
from memory_v2.memory import Memory
from memory_v2.storage.history import Revision
from memory_v2.storage.local import git_history
from memory_v2.storage.local.git_history import FOLDER, GitHistory
from memory_v2.storage.local.git_objects import BRANCH, CHECKED_OUT, UNFLUSHED
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.local.walk import METADATA
from tests.crash.boundaries import Boundary, watched
from tests.crash.holds import AFTERWARDS, age, leftovers, tree_of, unhurried
from tests.crash.scenes import NEW, SCENES, THRESHOLD, copied, opened, prepared
from tests.properties.whole import faults, missing, pages_of, stands, texts_of
from tests.templates import copied_from

FILES: dict[str, Callable[[Path], object]] = {
    "cut": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "empty": lambda file: file.write_bytes(b""),
    "zeroed": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "garbage": lambda file: file.write_bytes(bytes(range(256)) * 40),
    "deleted": lambda file: file.unlink(),
}


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    with unhurried():
        yield


def scene_named(name: str, folder: Path) -> Path:
    return copied_from(_made(name), folder)


@cache
def _made(name: str) -> Callable[[Path], object]:
    scene = next(scene for scene in SCENES if scene.name == name)
    return lambda folder: prepared(scene, folder)


def interrupted(name: str, folder: Path, when: Callable[[Boundary], bool]) -> Path:
    """The store of a scene as a kill leaves it at the first boundary for which `when` holds."""
    scene = next(scene for scene in SCENES if scene.name == name)
    live = prepared(scene, folder / "live")
    states: list[Path] = []

    def at_boundary(boundary: Boundary) -> None:
        if not states and when(boundary):
            states.append(copied(live, folder / "state"))

    with opened(live) as memory, watched(live, at_boundary):
        scene.act(memory)
    return states[0]


def goes_on(memory: Memory) -> None:
    """The memory can be used in every way."""
    goes_on_without_its_past(memory)
    memory.undo()
    assert not stands(memory, AFTERWARDS)


def goes_on_without_its_past(memory: Memory) -> None:
    memory.write(AFTERWARDS)
    assert stands(memory, AFTERWARDS)
    assert AFTERWARDS.removeprefix("- ") in memory.search("kestrels at the mill")[0].excerpt
    assert errors(memory) == []
    assert faults(pages_of(memory.storage), THRESHOLD) == []


def errors(memory: Memory) -> list[str]:
    return [finding.kind for finding in memory.check() if finding.severity == "error"]


# Notes


def test_a_change_was_cut_short_and_an_object_of_its_history_is_gone(tmp_path: Path) -> None:
    state = interrupted("rename with pages below", tmp_path, lambda at: at.action == "link" and "/" in at.place)
    had = [text for text in texts_of(pages_of(opened(state).storage)) if "[[" not in text]  # links follow the rename
    shutil.rmtree(state / METADATA / FOLDER / UNFLUSHED)
    objects = sorted((state / METADATA / FOLDER / "objects").glob("??/*"))
    for number, file in enumerate(objects):
        folder = copied(state, tmp_path / f"without-{number}")
        (folder / file.relative_to(state)).unlink()
        with opened(folder) as memory:
            memory.checkup(apply=True)
            assert missing(had, texts_of(pages_of(memory.storage))) == [], file
            goes_on_without_its_past(memory)


# Temporary files


def test_a_file_that_is_half_written_is_taken_for_nothing_and_swept(tmp_path: Path) -> None:
    state = interrupted("append", tmp_path, lambda at: at.action == "torn" and at.place.startswith("work/"))
    for folder in (METADATA, f"{METADATA}/pending"):
        (state / folder).mkdir(exist_ok=True)
        (state / folder / ".silica-0123456789abcdef.tmp").write_bytes(b"# Half a pa")
    assert len([name for name in leftovers(state) if name.endswith(".tmp")]) == 3
    age(state)
    paths = list(tree_of(opened(tmp_path / "live")))
    with opened(state) as memory:
        assert [page.path for page in memory.list_files()] == paths
        assert stands(memory, NEW)
        assert memory.check() == []
    assert leftovers(state) == []


# The history


def damaged_history(folder: Path) -> dict[str, list[Path]]:
    kept = folder / METADATA / FOLDER
    return {
        "HEAD": [kept / "HEAD"],
        "the branch": [kept / BRANCH.decode()],
        "the configuration": [kept / "config"],
        "every object": sorted(kept.glob("objects/??/*")),
    }


@pytest.mark.parametrize("damage", FILES)
@pytest.mark.parametrize("part", ["HEAD", "the branch", "the configuration", "every object"])
def test_a_damaged_history_takes_no_page_along_and_is_set_aside_by_the_next_change(
    part: str, damage: str, tmp_path: Path
) -> None:
    store = scene_named("append", tmp_path / "store")
    before = tree_of(opened(store))
    for file in damaged_history(store)[part]:
        file.chmod(0o600)
        FILES[damage](file)
    with opened(store) as memory:
        assert memory.read("work/deploys").encode() == before["work/deploys"]
        assert memory.search("signed tag")
        try:
            memory.history()
        except StorageError as error:
            assert "history" in str(error)
        memory.write(NEW, "work/deploys", "append")
        assert stands(memory, NEW)
        assert memory.history()[0].first.kind in ("write", "outside")
        goes_on(memory)


@pytest.mark.parametrize("gone", ["objects", "HEAD", "refs", "objects HEAD", "objects HEAD config"])
def test_half_a_copy_of_the_history_keeps_nobody_from_writing(gone: str, tmp_path: Path) -> None:
    store = scene_named("append", tmp_path / "store")
    before = tree_of(opened(store))
    kept = store / METADATA / FOLDER
    shutil.rmtree(kept / UNFLUSHED)  # what is there could be had back from it
    for name in gone.split():
        shutil.rmtree(kept / name) if (kept / name).is_dir() else (kept / name).unlink()
    with opened(store) as memory:
        found = [finding.kind for finding in memory.check()]
        assert found == ([] if gone == "HEAD" else ["damaged-history"])
        assert tree_of(memory) == before
        memory.write(NEW, "work/deploys", "append")
        assert stands(memory, NEW)
        goes_on(memory)
        memory.undo()
    assert (kept / "HEAD").read_text() == "ref: refs/heads/main\n"


def test_each_single_object_of_the_history_may_be_gone(tmp_path: Path) -> None:
    store = scene_named("append", tmp_path / "store")
    blocks = [block.content for page in pages_of(opened(store).storage).values() for block in page.blocks]
    shutil.rmtree(store / METADATA / FOLDER / UNFLUSHED)
    objects = sorted(path.relative_to(store) for path in (store / METADATA / FOLDER).glob("objects/??/*"))
    assert len(objects) > 9
    for number, name in enumerate(objects):
        folder = copied(store, tmp_path / str(number))
        (folder / name).unlink()
        with opened(folder) as memory:
            memory.write(NEW, "work/deploys", "append")
            assert missing(blocks, texts_of(pages_of(memory.storage))) == []
            assert stands(memory, NEW)
            goes_on_without_its_past(memory)
            try:
                memory.undo()
            except StorageError as error:
                assert str(folder / METADATA / FOLDER) in str(error)
            else:
                assert not stands(memory, AFTERWARDS)


@pytest.mark.parametrize("lock", ["HEAD", "packed-refs", "config", "refs/heads/main", "refs/silica/checked-out"])
def test_a_lock_that_was_left_in_the_history_keeps_nobody_out(lock: str, tmp_path: Path) -> None:
    store = scene_named("append", tmp_path / "store")
    file = store / METADATA / FOLDER / f"{lock}.lock"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"")
    age(store)
    with opened(store) as memory:
        past = len(memory.history())
        memory.write(NEW, "work/deploys", "append")
        assert len(memory.history()) == past + 1
        goes_on(memory)
    if lock in ("refs/heads/main", "objects"):  # the others stand in nobody's way, and may be those of plain git
        assert leftovers(store) == []


# The index


@pytest.mark.parametrize(
    ("damage", "leftover"),
    list(
        zip(
            [*FILES, "read-only", "a folder", "of another store"],
            cycle(["-journal", "-wal", "-shm", None]),
            strict=False,
        )
    ),
)
def test_an_index_that_is_damaged_or_of_another_store_changes_no_answer(
    damage: str, leftover: str | None, tmp_path: Path
) -> None:
    store = scene_named("append", tmp_path / "store")
    other = scene_named("write and split", tmp_path / "other")
    with opened(copied(store, tmp_path / "twin")) as memory:
        listed, found = memory.list_files(), memory.search("signed tag")
    index = store / METADATA / "index.sqlite"
    if damage == "read-only":
        index.chmod(0o400)
    elif damage == "a folder":
        index.unlink()
        index.mkdir()
    elif damage == "of another store":
        shutil.copy(other / METADATA / "index.sqlite", index)
    else:
        FILES[damage](index)
    if leftover:
        index.with_name(index.name + leftover).write_bytes(bytes(range(256)) * 64)
    with opened(store) as memory:
        assert [(page.path, page.title, page.links_to) for page in memory.list_files()] == [
            (page.path, page.title, page.links_to) for page in listed
        ]
        assert [(hit.path, hit.excerpt) for hit in memory.search("signed tag")] == [
            (hit.path, hit.excerpt) for hit in found
        ]
        goes_on(memory)


@pytest.mark.parametrize("part", ["HEAD", "config", "packed-refs", "the branch", "what is checked out", "an object"])
def test_a_pipe_in_the_history_holds_nobody_up(part: str, tmp_path: Path) -> None:
    store = scene_named("append", tmp_path / "store")
    kept = store / METADATA / FOLDER
    named = {"the branch": BRANCH.decode(), "what is checked out": CHECKED_OUT.decode()}
    head = opened(store).storage.history.head
    place = kept / (f"objects/{head[:2]}/{head[2:]}" if part == "an object" else named.get(part, part))
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    with opened(store) as memory:
        assert memory.read("work/deploys")
        assert memory.search("signed tag")
        memory.check()
        with suppress(StorageError):
            memory.history()
        memory.write(NEW, "work/deploys", "append")
        assert stands(memory, NEW)


def test_a_pipe_in_place_of_a_note_holds_nobody_up(tmp_path: Path) -> None:
    store = scene_named("append", tmp_path / "store")
    (store / METADATA / "pending").mkdir(exist_ok=True)
    os.mkfifo(store / METADATA / "pending/1f3a.json")
    with opened(store) as memory:
        assert memory.read("work/deploys")
        assert ("unfinished", ".metadata/pending/1f3a.json") in [(f.kind, f.path) for f in memory.check()]
        memory.write(NEW, "work/deploys", "append")
        assert stands(memory, NEW)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # dulwich leaves such a pack open
def test_no_flipped_byte_of_a_packed_history_is_more_than_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_history, "GIT_SECONDS", 0.0)
    storage = LocalStorage(tmp_path)
    revision = Revision("write", "a page", when=datetime(2026, 1, 1, tzinfo=UTC))
    for number in range(3):
        storage.history.record({"memory": b"# Memory\n" * 40 + b"%d" % number, "a/b": b"# B\n"}, revision)
    storage.history.pack()
    kept = tmp_path / METADATA / FOLDER
    for file in (*sorted(kept.glob("objects/pack/*")), kept / BRANCH.decode(), kept / "config"):
        data = file.read_bytes()
        file.chmod(0o600)
        for place in range(0, len(data), 7):
            file.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
            history = GitHistory(tmp_path / METADATA)
            with suppress(StorageError):
                list(history.revisions())
            with suppress(StorageError):
                history.pages(history.head)
            with suppress(StorageError):
                history.difference("", history.head)
        file.write_bytes(data)
    assert len(list(storage.history.revisions())) == 3
