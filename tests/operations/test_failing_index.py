"""An index that fails keeps nobody from the pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_v2.errors import Unreadable
from memory_v2.index import rows
from memory_v2.index.passages import Passage, passages
from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.tree.page import Page
from tests.operations.scenes import SMALL
from tests.properties.whole import clock, faults, pages_of, stands
from tests.storage.disks import Disk


def _raise(error: Exception) -> Callable[..., None]:
    def fails(*_: object, **__: object) -> None:
        raise error

    return fails


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(LocalStorage(tmp_path / "memory"), threshold=SMALL, now=clock) as memory:
        memory.write("# Tea\n\nAda likes Assam.", "tea")
        memory.write("# Milk\n\nBob likes milk.", "milk/cold")
        yield memory


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
    memory: Memory, monkeypatch: pytest.MonkeyPatch, place: str, error: Exception
) -> None:
    memory.close()
    monkeypatch.setattr(f"memory_v2.index.{place}", _raise(error))
    with Memory(memory.storage, threshold=SMALL, now=clock) as again:
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


def test_a_failing_index_still_finds_words(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_v2.index.full_text.look_up", _raise(KeyError("a bug")))
    [result] = memory.search("Who likes Assam?", 1)
    assert (result.path, result.excerpt) == ("tea", "Ada likes Assam.")


def test_a_page_that_cannot_be_indexed_is_named_and_the_others_are_found(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails_on_tea(page: Page) -> list[Passage]:
        return passages(page) if page.path != "tea" else [][1]

    monkeypatch.setattr(rows, "passages", fails_on_tea)
    memory.write("Dan likes Darjeeling.", "tea")
    assert "tea" in caplog.text
    assert [hit.path for hit in memory.search("Who likes milk?")][:1] == ["milk/cold"]
    assert [(finding.kind, finding.path) for finding in memory.check()] == [("unindexed", "tea")]
    assert {page.path for page in memory.list_files()} >= {"memory", "tea", "milk/cold"}
    monkeypatch.undo()
    memory.write("Eve likes Earl Grey.", "tea")
    assert memory.check() == []


@pytest.mark.parametrize("path", ["memory", "tea"])
def test_a_page_that_cannot_be_read_keeps_nobody_from_the_rest_when_the_index_has_failed(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    memory.close()
    monkeypatch.setattr("memory_v2.index.page_tables.read_state", _raise(KeyError("state")))
    Disk(tmp_path / "memory", monkeypatch).refuse(f"{path}.md")
    with Memory(memory.storage, threshold=SMALL, now=clock) as again:
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
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.close()
    monkeypatch.setattr("memory_v2.index.page_tables.read_state", _raise(KeyError("state")))
    Disk(tmp_path / "memory", monkeypatch).refuse("memory.md", "tea.md", "milk/cold.md")
    with Memory(memory.storage, threshold=SMALL, now=clock) as again, pytest.raises(Unreadable):
        again.search("Who likes milk?")


def test_check_tells_that_the_index_failed(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.close()
    monkeypatch.setattr("memory_v2.index.page_tables.read_known", _raise(TypeError("a bug")))
    with Memory(memory.storage, threshold=SMALL, now=clock) as again:
        assert [(finding.kind, finding.path) for finding in again.check()] == [("unindexed", "memory")]
