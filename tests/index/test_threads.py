"""An index that many threads use, and the connections that they share."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_v2.errors import PageNotFound
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.page_tables import BATCH
from memory_v2.index.ranking import Ranked, rank
from memory_v2.index.store import FILE, MAX_IDLE, Connections
from memory_v2.storage.base import Stamp, Stored, version_of
from memory_v2.tree.page import parse_page

SECONDS = 60.0
"""After so long a test fails that would else hang for ever. No test waits so long if it passes."""


class Folder:
    """The least that can be indexed: texts by path."""

    def __init__(self, **texts: str) -> None:
        self.texts = texts
        self.on_read: Callable[[str], object] = str

    def unlisted_folders(self) -> tuple[str, ...]:
        return ()

    def stamps(self) -> Iterable[Stamp]:
        return [Stamp(path, len(text), version_of(text.encode())) for path, text in self.texts.items()]

    def read(self, path: str) -> Stored:
        self.on_read(path)
        if path not in self.texts:
            raise PageNotFound(path)
        return Stored(self.texts[path].encode(), "")

    def get_modified_time(self, path: str) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def source() -> Folder:
    return Folder(tea="Ada likes tea\n", milk="Bob likes milk\n")


@pytest.fixture(params=["file", "memory"])
def index(request: pytest.FixtureRequest, source: Folder, tmp_path: Path) -> Iterator[FullTextIndex]:
    index = FullTextIndex(source, tmp_path if request.param == "file" else None)
    index.refresh()
    yield index
    index.close()


@contextmanager
def thread(*works: Callable[[], object]) -> Iterator[Callable[[], None]]:
    """Threads that do these works; what it gives waits until all are done, and raises what they raised."""
    raised: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again in the test's thread
            raised.append(error)

    started = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for one in started:
        one.start()

    def done() -> None:
        for one in started:
            one.join(SECONDS)
        assert not any(one.is_alive() for one in started), "a thread waits for ever"
        if raised:
            raise raised[0]

    yield done
    done()


def ask_all(index: FullTextIndex) -> None:
    assert [hit.path for hit in index.search("likes milk tea")] == ["milk", "tea"]
    assert index.same(["Bob likes milk"]) == {"Bob likes milk": ("milk", 1)}
    assert [row.path for row in index.rows()] == ["milk", "tea"]
    assert len(index.graph().nodes) == 2


def test_a_refresh_that_waits_in_its_callback_holds_up_no_search(source: Folder, index: FullTextIndex) -> None:
    is_told, may_go_on = threading.Event(), threading.Event()

    def on_change(_: Collection[str]) -> bool:
        is_told.set()
        return may_go_on.wait(SECONDS)

    source.texts["tea"] = "Ada likes cocoa, not tea\n"
    with thread(lambda: index.refresh(on_change)):
        assert is_told.wait(SECONDS)
        with thread(lambda: ask_all(index), lambda: ask_all(index)) as asked:
            asked()
        may_go_on.set()
    assert [hit.text for hit in index.search("cocoa")] == ["Ada likes cocoa, not tea"]


def test_a_refresh_that_reads_pages_holds_up_no_search(source: Folder, index: FullTextIndex) -> None:
    is_reading, may_go_on = threading.Event(), threading.Event()

    def on_read(_: str) -> None:
        is_reading.set()
        may_go_on.wait(SECONDS)

    source.texts["tea"] = "Ada likes cocoa\n"
    source.on_read = on_read
    with thread(index.refresh):
        assert is_reading.wait(SECONDS)
        with thread(lambda: ask_all(index), lambda: ask_all(index)) as asked:
            asked()
        may_go_on.set()


def test_the_callback_may_take_a_lock_under_which_another_thread_updates(source: Folder, index: FullTextIndex) -> None:
    storage_lock, is_told = threading.Lock(), threading.Event()

    def on_change(_: Collection[str]) -> bool:
        is_told.set()
        with storage_lock:
            return True

    def commit() -> None:
        with storage_lock:
            holds.set()
            assert is_told.wait(SECONDS)
            source.texts["milk"] = "Bob likes oat milk\n"
            index.update([parse_page("milk", source.texts["milk"])], [])
            index.refresh()
            assert index.search("oat")

    holds = threading.Event()
    source.texts["tea"] = "Ada likes green tea\n"
    with thread(commit):
        assert holds.wait(SECONDS)
        with thread(lambda: index.refresh(on_change)):
            pass
    assert {hit.text for hit in index.search("oat green")} == {"Bob likes oat milk", "Ada likes green tea"}
    assert not index.refresh()


def test_a_page_that_is_committed_while_its_edit_is_told_stays_as_committed(
    source: Folder, index: FullTextIndex
) -> None:
    def commit(_: Collection[str]) -> bool:
        source.texts["tea"] = "Ada likes white tea\n"
        index.update([parse_page("tea", source.texts["tea"])], [])
        return True

    source.texts["tea"] = "Ada likes black tea\n"
    assert set(index.refresh(commit)) == {"tea"}
    assert [hit.text for hit in index.search("tea")] == ["Ada likes white tea"]
    assert not index.refresh()


def test_searches_of_a_file_are_done_side_by_side(
    source: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = FullTextIndex(source, tmp_path)
    index.refresh()
    both = threading.Barrier(2)

    def rank_together(*given: Any) -> list[Ranked]:
        both.wait(SECONDS)
        return rank(*given)

    monkeypatch.setattr("memory_v2.index.full_text.rank", rank_together)
    with thread(lambda: index.search("tea"), lambda: index.search("milk")):
        pass
    index.close()


def test_threads_that_fill_an_index_at_once_share_the_pages(tmp_path: Path) -> None:
    source = Folder(**{f"page{number}": f"tea number {number}\n" for number in range(3 * BATCH)})
    index, reads = FullTextIndex(source, tmp_path), list[str]()
    is_reading, may_go_on = threading.Event(), threading.Event()

    def on_read(path: str) -> None:
        reads.append(path)
        if len(reads) == 1:
            is_reading.set()
            may_go_on.wait(SECONDS)

    source.on_read = on_read
    with thread(index.refresh):
        assert is_reading.wait(SECONDS)
        index.refresh()  # does not wait: the pages that the other thread is at are read last
        may_go_on.set()
    assert reads[0] not in reads[1 : 1 + 2 * BATCH]
    assert len(index.rows()) == len(source.texts)
    index.close()


def test_an_edit_that_was_not_recorded_is_told_again(source: Folder, index: FullTextIndex) -> None:
    told: list[set[str]] = []

    def on_change(paths: Collection[str]) -> bool:
        told.append(set(paths))
        return len(told) > 1

    source.texts["tea"] = "Ada likes cocoa\n"
    for _ in range(3):
        index.refresh(on_change)
        assert index.search("cocoa")
    assert told == [{"tea"}, {"tea"}]


def test_a_page_that_was_renamed_by_hand_is_told_as_one_edit(source: Folder, index: FullTextIndex) -> None:
    told: list[set[str]] = []
    source.texts["cup"] = source.texts.pop("tea")
    assert set(index.refresh(lambda paths: not told.append(set(paths)))) == {"cup", "tea"}  # type: ignore[func-returns-value]
    assert told == [{"cup", "tea"}]


_FORKED = """
import os, sys
from pathlib import Path
from memory_v2.index.full_text import FullTextIndex
from memory_v2.storage.volatile import VolatileStorage

storage = VolatileStorage()
storage.write("tea", b"Ada likes tea")
index = FullTextIndex(storage, Path(sys.argv[1]) if sys.argv[1:] else None)
index.refresh()
if child := os.fork():
    assert os.waitpid(child, 0)[1] == 0
storage.write("milk", b"Ada likes milk")
index.refresh()
assert len(index.search("Ada")) == 2
index.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.parametrize("place", ["file", "memory"])
def test_a_forked_process_may_go_on_with_the_index(place: str, tmp_path: Path) -> None:
    arguments = [sys.executable, "-X", "dev", "-W", "error", "-c", _FORKED, *([str(tmp_path)] * (place == "file"))]
    done = subprocess.run(arguments, capture_output=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / FILE


@pytest.fixture
def connections(file: Path) -> Iterator[Connections]:
    connections = Connections(file)
    yield connections
    connections.retire()


def is_open(tables: sqlite3.Connection) -> bool:
    try:
        tables.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


def test_the_connection_used_last_is_used_next(connections: Connections) -> None:
    with connections.use() as first, connections.use() as second:
        assert first is not second
    with connections.use() as again:
        assert again is first


def test_only_some_are_kept_open(connections: Connections) -> None:
    with ExitStack() as stack:
        used = [stack.enter_context(connections.use()) for _ in range(MAX_IDLE + 2)]
    assert sum(is_open(tables) for tables in used) == MAX_IDLE


def test_one_that_failed_is_closed(connections: Connections) -> None:
    with pytest.raises(sqlite3.DatabaseError), connections.use() as tables:
        raise sqlite3.DatabaseError("malformed")
    assert not is_open(tables)


def test_those_in_use_are_closed_when_they_come_back(connections: Connections) -> None:
    with connections.use() as tables:
        connections.retire()
        assert is_open(tables)
    assert not is_open(tables)


def test_all_are_to_the_same_file(connections: Connections, file: Path) -> None:
    with connections.use():
        file.rename(file.with_name("elsewhere"))
        with pytest.raises(sqlite3.OperationalError, match="replaced"), connections.use():
            pass


def test_tables_in_memory_have_one_connection() -> None:
    connections = Connections(None)
    with connections.use() as first:
        pass
    with connections.use() as second:
        assert second is first
    connections.retire()
    assert not is_open(first)


_BEGIN = """
import sqlite3, sys
sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
"""


def test_opening_another_connection_drops_no_lock(connections: Connections, file: Path) -> None:
    with connections.use() as writer:
        writer.execute("BEGIN IMMEDIATE")
        with connections.use():
            pass
        other = subprocess.run([sys.executable, "-c", _BEGIN, str(file)], capture_output=True, text=True, check=False)
        assert "database is locked" in other.stderr
        writer.execute("ROLLBACK")
