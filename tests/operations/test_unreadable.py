"""A page that cannot be read, or an index that fails, keeps nobody from the rest."""

from __future__ import annotations

import errno
import logging
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_v2.errors import StorageError, Unreadable
from memory_v2.index import rows
from memory_v2.index.passages import Passage, passages
from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.tree.page import Page
from tests.operations.scenes import SMALL
from tests.properties.whole import clock, faults, pages_of, stands
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
        assert other in memory.undo().changed_pages  # and the page whose line tells of it
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


def _raise(error: Exception) -> Callable[..., None]:
    def fails(*_: object, **__: object) -> None:
        raise error

    return fails


@pytest.fixture
def memory_of_failing_index(tmp_path: Path) -> Iterator[Memory]:
    with Memory(LocalStorage(tmp_path / "memory"), threshold=SMALL, now=clock) as memory_of_failing_index:
        memory_of_failing_index.write("# Tea\n\nAda likes Assam.", "tea")
        memory_of_failing_index.write("# Milk\n\nBob likes milk.", "milk/cold")
        yield memory_of_failing_index


FAILURES: dict[str, tuple[str, Exception]] = {
    "a text": ("rows.passages", TypeError("no text")),
    "a row": ("page_tables.put_pages", ValueError("no row")),
    "the pages that are known": ("full_text.read_state", KeyError("state")),
    "a question": ("full_text.look_up", RecursionError("too deep")),
    "the ranking": ("full_text.rank", ZeroDivisionError()),
    "a query": ("full_text.look_up", sqlite3.OperationalError("Expression tree is too large")),
    "every file": ("store._connect", sqlite3.OperationalError("no such module: fts5")),
    "blocks": ("full_text.block_digest", UnicodeEncodeError("utf-8", "x", 0, 1, "no reason")),
}


@pytest.mark.parametrize(("place", "error"), FAILURES.values(), ids=FAILURES)
def test_the_pages_can_be_used_whatever_fails_in_the_index(
    memory_of_failing_index: Memory, monkeypatch: pytest.MonkeyPatch, place: str, error: Exception
) -> None:
    memory_of_failing_index.close()
    monkeypatch.setattr(f"memory_v2.index.{place}", _raise(error))
    with Memory(memory_of_failing_index.storage, threshold=SMALL, now=clock) as again:
        before = {path: page.data for path, page in pages_of(again.storage).items()}
        again.write("Cleo likes cocoa.")
        again.write("A longer text. " * 20, "tea", "append")
        assert stands(again, "Cleo likes cocoa.")
        again.undo()
        again.undo()
        assert {path: page.data for path, page in pages_of(again.storage).items()} == before
        assert {page.path for page in again.list_files()} == set(before) == {node.path for node in again.graph().nodes}
        again.search("Assam")
        again.rename("milk/cold", "milk/warm")
        again.delete("tea")
        assert "milk/warm" in pages_of(again.storage)
        again.checkup(apply=True)
        assert faults(pages_of(again.storage), SMALL) == []


def test_a_failing_index_still_finds_words(memory_of_failing_index: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_v2.index.full_text.look_up", _raise(KeyError("a bug")))
    [result] = memory_of_failing_index.search("Who likes Assam?", 1)
    assert (result.path, result.excerpt) == ("tea", "Ada likes Assam.")


def test_a_page_that_cannot_be_indexed_is_named_and_the_others_are_found(
    memory_of_failing_index: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails_on_tea(page: Page) -> list[Passage]:
        return passages(page) if page.path != "tea" else [][1]

    monkeypatch.setattr(rows, "passages", fails_on_tea)
    memory_of_failing_index.write("Dan likes Darjeeling.", "tea")
    assert "tea" in caplog.text
    assert [hit.path for hit in memory_of_failing_index.search("Who likes milk?")][:1] == ["milk/cold"]
    assert [(finding.kind, finding.path) for finding in memory_of_failing_index.check()] == [("unindexed", "tea")]
    assert {page.path for page in memory_of_failing_index.list_files()} >= {"memory", "tea", "milk/cold"}
    monkeypatch.undo()
    memory_of_failing_index.write("Eve likes Earl Grey.", "tea")
    assert memory_of_failing_index.check() == []


@pytest.mark.parametrize("path", ["memory", "tea"])
def test_a_page_that_cannot_be_read_keeps_nobody_from_the_rest_when_the_index_has_failed(
    memory_of_failing_index: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    memory_of_failing_index.close()
    monkeypatch.setattr("memory_v2.index.page_tables.read_state", _raise(KeyError("state")))
    Disk(tmp_path / "memory", monkeypatch).refuse(f"{path}.md")
    with Memory(memory_of_failing_index.storage, threshold=SMALL, now=clock) as again:
        assert "Bob likes milk." in again.search("Who likes milk?")[0].excerpt
        assert {page.path for page in again.list_files()} == {"memory", "tea", "milk/cold"}
        assert {node.path for node in again.graph().nodes} == {"memory", "tea", "milk/cold"}
        assert ("unreadable", path) in [(finding.kind, finding.path) for finding in again.check()]
        again.write("Cleo likes cocoa.", "milk/cold", "append")
        assert [hit.excerpt for hit in again.search("cocoa")] == ["Cleo likes cocoa."]
        again.checkup(apply=True)
        again.rename("milk/cold", "milk/warm")
        assert "milk/warm" in [page.path for page in again.list_files()]


def test_a_memory_that_cannot_be_read_says_so_when_the_index_has_failed(
    memory_of_failing_index: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_of_failing_index.close()
    monkeypatch.setattr("memory_v2.index.page_tables.read_state", _raise(KeyError("state")))
    Disk(tmp_path / "memory", monkeypatch).refuse("memory.md", "tea.md", "milk/cold.md")
    with Memory(memory_of_failing_index.storage, threshold=SMALL, now=clock) as again, pytest.raises(Unreadable):
        again.search("Who likes milk?")


def test_check_tells_that_the_index_failed(memory_of_failing_index: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory_of_failing_index.close()
    monkeypatch.setattr("memory_v2.index.page_tables.read_known", _raise(TypeError("a bug")))
    with Memory(memory_of_failing_index.storage, threshold=SMALL, now=clock) as again:
        assert [(finding.kind, finding.path) for finding in again.check()] == [("unindexed", "memory")]
