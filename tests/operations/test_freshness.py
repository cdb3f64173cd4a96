"""When a memory looks at all its pages again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import tests
from memory_v2 import Memory
from memory_v2.operations import context
from memory_v2.storage.base import Stamp
from memory_v2.storage.history import EXTERNAL
from memory_v2.storage.local.storage import LocalStorage

HOUR = 3600.0


class Counting(LocalStorage):
    """Counts the looks at all pages."""

    looks = 0

    def stamps(self, below: str = "") -> Iterator[Stamp]:
        self.looks += 1
        return super().stamps(below)


@pytest.fixture
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counting:
    """A small tree. A look at it stays fresh for an hour, however slow the machine is."""
    monkeypatch.setattr(context, "MAX_AGE", HOUR)
    monkeypatch.setattr(context, "LOOKS_COST", 1e-9)
    monkeypatch.setattr(context, "QUICK_LOOK", 0.0)
    with Memory(LocalStorage(tmp_path)) as memory:
        memory.write("# Tea\n\nEarl Grey is with the cups.", "tea")
    return Counting(tmp_path)


def edit(storage: LocalStorage, text: str) -> None:
    (Path(storage.where) / "tea.md").write_text(f"# Tea\n\n{text}\n", "utf-8")


def paths_of(memory: Memory, query: str) -> list[str]:
    return [hit.path for hit in memory.search(query)]


def test_searches_one_after_the_other_look_once(storage: Counting) -> None:
    with Memory(storage) as memory:
        assert [paths_of(memory, "Earl Grey") for _ in range(5)] == [["tea"]] * 5
    assert storage.looks == 1


def test_what_the_memory_writes_itself_is_found_without_a_look(storage: Counting) -> None:
    with Memory(storage) as memory:
        memory.search("Assam")
        memory.write("Assam is behind the milk.", "tea", "append")
        looks = storage.looks
        assert paths_of(memory, "Assam milk") == ["tea"]
    assert storage.looks == looks


def test_an_edit_by_hand_is_found_after_a_second_at_the_latest(
    storage: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "MAX_AGE", tests.MAX_AGE)
    with Memory(storage) as memory:
        memory.search("Assam")
        looked = time.monotonic()
        edit(storage, "Assam is behind the milk.")
        time.sleep(max(0.0, looked + tests.MAX_AGE - time.monotonic()))
        assert paths_of(memory, "Assam milk") == ["tea"]


def test_while_a_watcher_looks_nothing_else_waits_for_a_look(
    storage: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "MAX_AGE", 0.0)
    with Memory(storage) as memory:
        memory.watch()
        looks = storage.looks
        edit(storage, "Assam is behind the milk.")
        assert paths_of(memory, "Assam milk") == [] and storage.looks == looks
        memory.watch()
        assert paths_of(memory, "Assam milk") == ["tea"] and storage.looks == looks + 1
        monkeypatch.setattr(context, "WATCH_SECONDS", -HOUR)
        edit(storage, "Oolong is on the shelf.")
        assert paths_of(memory, "Oolong shelf") == ["tea"]


def test_the_next_process_finds_an_edit_by_hand_at_once(storage: Counting) -> None:
    with Memory(storage) as memory:
        memory.search("Assam")
    edit(storage, "Assam is behind the milk.")
    with Memory(storage) as memory:
        assert paths_of(memory, "Assam milk") == ["tea"]


def test_what_another_process_has_written_is_found_at_once(storage: Counting) -> None:
    with Memory(storage) as memory, Memory(LocalStorage(Path(storage.where))) as other:
        memory.search("Assam")
        other.write("Assam is behind the milk.", "tea", "append")
        assert paths_of(memory, "Assam milk") == ["tea"]


def test_what_another_process_has_changed_is_found_without_a_look_at_all_pages(storage: Counting) -> None:
    with Memory(storage) as memory, Memory(LocalStorage(Path(storage.where))) as other:
        memory.search("Assam")
        looks = storage.looks
        other.write("Assam is behind the milk.", "tea", "append")
        other.write("# Cups\n\nBlue cups.", "cups")
        assert paths_of(memory, "Assam milk") == ["tea"]
        assert "cups" in paths_of(memory, "blue cups")
        assert {page.path for page in memory.list_files()} == {"memory", "tea", "cups"}
        other.delete("cups")
        assert paths_of(memory, "blue cups") != ["cups"]
        assert {page.path for page in memory.list_files()} == {"memory", "tea"}
    assert storage.looks == looks


def test_what_another_process_has_stored_and_not_indexed_is_found_at_once(
    storage: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(storage) as memory, Memory(LocalStorage(Path(storage.where))) as other:
        memory.search("Assam")
        looks = storage.looks
        with monkeypatch.context() as patched:
            patched.setattr("memory_v2.index.full_text.FullTextIndex.update", lambda *_: None)
            other.write("Assam is behind the milk.", "tea", "append")
            other.write("# Cups\n\nBlue cups.", "cups")
        assert paths_of(memory, "Assam milk") == ["tea"]
        assert "cups" in paths_of(memory, "blue cups")
        with monkeypatch.context() as patched:
            patched.setattr("memory_v2.index.full_text.FullTextIndex.update", lambda *_: None)
            other.delete("cups")
        assert "cups" not in paths_of(memory, "blue cups")
    assert storage.looks == looks


def test_what_another_process_has_changed_may_be_a_link_meanwhile(storage: Counting) -> None:
    with Memory(storage) as memory, Memory(LocalStorage(Path(storage.where))) as other:
        memory.search("Assam")
        other.write("Assam is behind the milk.", "tea", "append")
        (Path(storage.where) / "tea.md").rename(Path(storage.where) / "moved")
        (Path(storage.where) / "tea.md").symlink_to("moved")
        assert "tea" not in paths_of(memory, "Assam milk")


def test_writes_of_another_process_do_not_hide_an_edit_by_hand(
    storage: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "MAX_AGE", tests.MAX_AGE)
    with Memory(storage) as memory, Memory(LocalStorage(Path(storage.where))) as other:
        memory.search("Assam")
        looked = time.monotonic()
        edit(storage, "Assam is behind the milk.")
        while time.monotonic() < looked + tests.MAX_AGE:
            other.write("Blue cups.", "cups", "append")
            memory.search("cups")
        assert paths_of(memory, "Assam milk") == ["tea"]


def test_more_changes_than_are_worth_reading_make_a_look_at_all_pages(
    storage: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_v2.storage.local.git_history.MOST_SINCE", 2)
    with Memory(storage) as memory, Memory(LocalStorage(Path(storage.where))) as other:
        memory.search("Assam")
        looks = storage.looks
        for kind in ("Assam", "Oolong", "Darjeeling"):
            other.write(f"{kind} is behind the milk.", "tea", "append")
        assert "tea" in paths_of(memory, "Oolong milk")
    assert storage.looks == looks + 1


def test_a_page_edited_by_hand_a_moment_ago_keeps_the_edit(storage: Counting) -> None:
    with Memory(storage) as memory:
        memory.search("Assam")
        edit(storage, "Assam is behind the milk.")
        memory.write("Darjeeling is on the shelf.", "tea", "append")
        assert "Assam" in memory.read("tea")
        assert "Darjeeling" in memory.read("tea")
        kinds = [operation.first.kind for operation in memory.history("tea")]
    assert kinds[:2] == ["write", EXTERNAL]


def test_check_looks_at_once(storage: Counting) -> None:
    with Memory(storage) as memory:
        memory.search("Assam")
        (Path(storage.where) / "cups.md").write_text("# Cups\n\nBlue ones.\n", "utf-8")
        assert memory.checkup(apply=True).mended
        assert "cups" in [page.path for page in memory.list_files()]


def test_an_index_that_could_not_be_updated_looks_again(storage: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(storage) as memory:
        memory.search("Assam")
        with monkeypatch.context() as patched:
            patched.setattr("memory_v2.index.full_text.FullTextIndex.update", lambda *_: 1 / 0)
            memory.write("Assam is behind the milk.", "tea", "append")
        assert paths_of(memory, "Assam milk") == ["tea"]


def test_threads_that_ask_at_once_share_a_look(storage: Counting) -> None:
    with Memory(storage) as memory:
        memory.search("Assam")
        memory._engine.parts.freshness.expire()
        storage.looks = 0
        start = threading.Barrier(8)

        def search() -> None:
            start.wait()
            assert paths_of(memory, "Earl Grey") == ["tea"]

        threads = [threading.Thread(target=search) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert storage.looks == 1


def test_a_look_that_failed_is_made_again(storage: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(storage) as memory:
        with monkeypatch.context() as patched:
            patched.setattr(Counting, "stamps", lambda _: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                memory.search("Earl Grey")
        assert paths_of(memory, "Earl Grey") == ["tea"]


@pytest.mark.parametrize("is_indexed", [True, False])
def test_a_page_removed_by_hand_is_recorded_even_if_there_is_no_index(storage: Counting, is_indexed: bool) -> None:
    with Memory(storage) as memory:
        memory.write("Oolong is in the jar.", "jar")
    folder = Path(storage.where)
    (folder / "tea.md").unlink()
    if not is_indexed:
        (folder / ".metadata/index.sqlite").unlink()
    with Memory(storage) as memory:
        assert [page.path for page in memory.list_files()] == ["memory", "jar"]
        [newest, *_] = memory.history()
        assert (newest.first.kind, newest.paths) == (EXTERNAL, ("tea",))
        memory.undo()
        assert "Earl Grey" in memory.read("tea")
