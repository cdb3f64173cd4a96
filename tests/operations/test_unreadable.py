"""What cannot be read keeps nobody from the rest: one page, one folder, the program's own files."""

from __future__ import annotations

import errno
import logging
from pathlib import Path

import pytest

from memory_v2.errors import StorageError, Unreadable
from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage
from tests.storage.disks import Disk

PAGES = {
    "memory": "# Memory\n\nApples grow here.\n",
    "projects": "# Projects\n\nPears grow here.\n",
    "projects/silica": "# Silica\n\nPlums grow here; see [[garden]].\n",
    "garden": "# Garden\n\nTulips grow here.\n",
}


@pytest.fixture(params=["known", "unknown"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Memory:
    """A memory of a few pages, of which its index knows, or does not."""
    memory = Memory(LocalStorage(tmp_path))
    for path, text in PAGES.items():
        memory.write(text, path)
    memory.close()
    if request.param == "unknown":
        (tmp_path / ".metadata/index.sqlite").unlink()
    return Memory(LocalStorage(tmp_path))


@pytest.fixture
def disk(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(tmp_path, monkeypatch)


def findings(memory: Memory) -> list[tuple[str, str]]:
    return [(finding.kind, finding.path) for finding in memory.check()]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_that_cannot_be_read_is_named_and_the_others_are_served(path: str, memory: Memory, disk: Disk) -> None:
    before = {path: memory.read(path) for path in PAGES}
    others = [other for other in PAGES if other != path]
    disk.refuse(f"{path}.md")
    with pytest.raises(Unreadable, match=rf"{path}\.md: permission is denied"):
        memory.read(path)
    assert sorted(page.path for page in memory.list_files()) == sorted(PAGES)
    found = {result.path for word in ("apples", "pears", "plums", "tulips") for result in memory.search(word)}
    assert found == set(others)
    assert findings(memory) == [("unreadable", path)]
    assert memory.checkup(apply=True).findings == tuple(memory.check())
    assert memory.diff(memory.history()[-1].id).paths == tuple(sorted(others))
    for other in others:
        memory.write("Daffodils grow here.", other, "append")
        assert memory.undo().changed_pages == [other]
        assert memory.history(other)[0].first.kind == "undo"
        memory.blame(other)
        assert memory.read(other) == before[other]
    with pytest.raises(Unreadable):
        memory.write("Lilies grow here.", path, "append")
    disk.refuse()
    assert {path: memory.read(path) for path in PAGES} == before
    assert {result.path for result in memory.search("pears plums")} >= {"projects", "projects/silica"}
    assert findings(memory) == []
    assert not any(operation.first.kind == "outside" for operation in memory.history())


def test_a_folder_that_cannot_be_listed_is_named_and_loses_no_link(memory: Memory, disk: Disk) -> None:
    disk.refuse("projects")
    assert memory.search("tulips")[0].path == "garden"
    assert findings(memory) == [("unreadable", "projects/")]
    memory.checkup(apply=True)
    memory.write("Roses grow here.", "garden", "append")
    disk.refuse()
    assert "[[projects/silica]]" in memory.read("projects")
    assert memory.search("plums")[0].path == "projects/silica"
    assert findings(memory) == []
    assert [operation.first.kind for operation in memory.history()] == ["write"] * 5


def test_a_page_that_cannot_be_read_is_told_once(memory: Memory, disk: Disk, caplog: pytest.LogCaptureFixture) -> None:
    disk.refuse("garden.md")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            memory.search("plums")
            memory.list_files()
    assert [record.args[0] for record in caplog.records if record.args] == ["garden"]  # type: ignore[index]


def test_if_no_page_can_be_read_a_search_does_not_say_that_there_is_nothing(memory: Memory, disk: Disk) -> None:
    disk.refuse(*(f"{path}.md" for path in PAGES))
    for _ in range(2):
        with pytest.raises(Unreadable):
            memory.search("tulips")


@pytest.mark.parametrize("own", [".metadata", ".metadata/format.json", ".metadata/history.git"])
def test_files_of_the_program_that_cannot_be_read_keep_nobody_from_reading_pages(
    own: str, memory: Memory, disk: Disk, tmp_path: Path
) -> None:
    disk.refuse(own)
    assert memory.read("garden") == (tmp_path / "garden.md").read_text("utf-8")
    assert memory.search("tulips")[0].path == "garden"
    assert len(memory.list_files()) == len(PAGES)
    assert all(kind == "unreadable" for kind, _ in findings(memory))
    with pytest.raises(StorageError):
        memory.write("Lilies grow here.", "garden", "append")
    disk.refuse()
    assert [operation.first.kind for operation in Memory(LocalStorage(tmp_path)).history()][-4:] == ["write"] * 4


def test_a_process_that_has_too_many_files_open_takes_no_page_for_unreadable(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Disk(tmp_path / "garden.md", monkeypatch).fail_to_open(errno.EMFILE)
    with pytest.raises(StorageError) as raised:
        memory.list_files()
    assert not isinstance(raised.value, Unreadable)
