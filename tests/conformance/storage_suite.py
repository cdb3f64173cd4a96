"""What every backend promises: inherit `StorageConformance` and say in a fixture how to make one."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier
from typing import ClassVar, TypeVar

import pytest

from memory_v2.errors import InvalidPath, PageNotFound, StorageConflict
from memory_v2.storage.base import ABSENT, ANY, Expected, MemoryStorage, Stamp
from memory_v2.storage.history import Revision

Result = TypeVar("Result")

BYTES = {
    "empty": b"",
    "line ends of three kinds": b"a\r\nb\nc\r",
    "NUL": b"a\0b\x1a",
    "not UTF-8": b"\xff\xfe\x80 \xc3(",
    "a byte order mark": "\ufeff# Title\n".encode(),
    "emoji": "# 🧠 memory 👩‍💻\n".encode(),
    "trailing blanks": b"  a  \n\n\n",
    "every byte": bytes(range(256)),
    "a megabyte": b"0123456789abcdef" * 65_536,
}
PATHS = {
    "root": "memory",
    "nested": "projects/silica",
    "deep": "/".join("abcdefghijkl"),
    "other scripts": "Größe/日本語/данные",
    "blanks and dots": "v1.2 notes/to do (old)",
    "long": "/".join(["x" * 100, "y" * 100]),
}


class StorageConformance:
    """The conformance suite; a backend's test class inherits it and overrides `storage`."""

    turns: ClassVar[int] = 50
    """How often each of many workers writes, where they write at once."""

    @pytest.fixture
    def storage(self, tmp_path: Path) -> MemoryStorage:
        """An empty storage of its own for each test."""
        raise NotImplementedError("a conformance test says how to make its storage")

    # Reading back

    @pytest.mark.parametrize("data", BYTES.values(), ids=BYTES.keys())
    def test_bytes_are_read_as_they_were_written_whatever_was_there(self, storage: MemoryStorage, data: bytes) -> None:
        storage.write("memory", b"something longer than most of them, but for one")
        version = storage.write("memory", data)
        stored = storage.read("memory")
        assert stored.data == data
        assert stored.version == version
        assert storage.get_size("memory") == len(data)

    @pytest.mark.parametrize("path", PATHS.values(), ids=PATHS.keys())
    def test_every_valid_path_can_be_a_page(self, storage: MemoryStorage, path: str) -> None:
        assert not storage.exists(path)
        storage.write(path, path.encode())
        assert storage.read(path).data == path.encode()
        assert storage.exists(path)
        assert storage.list_files() == [path]
        storage.delete(path)
        assert not storage.exists(path)
        assert storage.list_files() == []

    def test_versions_are_equal_if_and_only_if_the_bytes_are(self, storage: MemoryStorage) -> None:
        versions = [storage.write(f"pages/{number}", data) for number, data in enumerate(BYTES.values())]
        assert len(set(versions)) == len(BYTES)
        for version, data in zip(versions, BYTES.values(), strict=True):
            assert storage.write("copy", data) == version
            assert storage.read("copy").version == version

    @pytest.mark.parametrize("path", ["../outside", "/outside", "a/../../outside", "a//b", ".hidden", "a.md", ""])
    def test_a_path_that_no_page_may_have_is_refused(self, storage: MemoryStorage, path: str) -> None:
        with pytest.raises(InvalidPath):
            storage.write(path, b"x")
        assert storage.list_files() == []

    # What is not there

    def test_an_absent_page_is_not_found(self, storage: MemoryStorage) -> None:
        storage.write("projects/silica", b"x")
        for path in ("memory", "projects", "projects/other", "projects/silica/deeper"):
            assert not storage.exists(path)
            for ask in (storage.read, storage.get_size, storage.get_modified_time):
                with pytest.raises(PageNotFound) as caught:
                    ask(path)
                assert caught.value.path == path

    def test_an_empty_storage_lists_nothing(self, storage: MemoryStorage) -> None:
        assert storage.list_files() == []
        assert list(storage.stamps()) == []
        assert storage.ignored_files() == []

    # Expectations

    def test_what_is_below_entries_is_listed_apart_from_pages(self, storage: MemoryStorage) -> None:
        entry = "entries/agents/hawk/memory/vault/2026-02/obs-2026-02-15-001"
        for path in ("a", "entriesish", entry):
            storage.write(path, b"x")
        assert storage.list_files() == ["a", "entriesish"]
        assert sorted(stamp.path for stamp in storage.stamps()) == ["a", "entriesish"]
        for below in ("entries", "entries/agents/hawk", "entries/agents/hawk/memory/vault/2026-02"):
            assert [stamp.path for stamp in storage.stamps(below)] == [entry]
        assert list(storage.stamps("entries/agents/haw")) == []
        assert storage.ignored_files() == storage.ignored_files("entries") == []
        assert storage.read(entry).data == b"x"

    def test_entries_that_were_created_are_recorded_once(self, storage: MemoryStorage) -> None:
        entry, revision = "entries/shared/observations/obs-2026-02-15-001", Revision("capture", "one entry")
        storage.write(entry, b"x", ABSENT)
        assert storage.record_created([entry, "entries/shared/observations/gone"], revision)
        assert not storage.record_created([entry], revision)
        history = storage.history
        assert [(one.kind, one.paths) for one in history.revisions()] == [("capture", (entry,))]
        assert (history.paths(history.head, "entries"), history.pages(history.head)) == ({entry}, {})
        assert history.paths(history.head, "entries/agents") == set()
        assert storage.interrupted() is None

    @pytest.mark.parametrize(
        ("there", "expected", "succeeds"),
        [
            (None, ABSENT, True),
            (b"old", ABSENT, False),
            (b"new", ABSENT, False),  # the same bytes are no excuse
            (b"old", "present", True),
            (b"old", "stale", False),
            (None, "stale", False),
            (None, ANY, True),
            (b"old", ANY, True),
        ],
    )
    def test_a_write_is_carried_out_if_it_finds_what_it_expects(
        self, storage: MemoryStorage, there: bytes | None, expected: Expected, succeeds: bool
    ) -> None:
        expected = self.version_of(storage, there, expected)
        if succeeds:
            version = storage.write("a/b", b"new", expected)
            assert (storage.read("a/b").data, storage.read("a/b").version) == (b"new", version)
        else:
            with pytest.raises(StorageConflict):
                storage.write("a/b", b"new", expected)
            assert (storage.read("a/b").data if storage.exists("a/b") else None) == there
            assert storage.list_files() == ["a/b"] * (there is not None)

    @pytest.mark.parametrize(
        ("there", "expected", "error"),
        [
            (b"old", "present", None),
            (b"old", "stale", StorageConflict),
            (b"old", ABSENT, StorageConflict),
            (b"old", ANY, None),
            (None, "stale", PageNotFound),
            (None, ABSENT, None),
            (None, ANY, None),
        ],
    )
    def test_a_delete_is_carried_out_if_it_finds_what_it_expects(
        self, storage: MemoryStorage, there: bytes | None, expected: Expected, error: type[Exception] | None
    ) -> None:
        storage.write("a/other", b"x")
        expected = self.version_of(storage, there, expected)
        if error is None:
            storage.delete("a/b", expected)
        else:
            with pytest.raises(error):
                storage.delete("a/b", expected)
        is_there = error is not None and there is not None
        assert storage.list_files() == [*["a/b"] * is_there, "a/other"]
        assert not is_there or storage.read("a/b").data == there

    def version_of(self, storage: MemoryStorage, there: bytes | None, expected: Expected) -> Expected:
        """Makes the page as it is to be; returns what is expected of it, with the version that it has or had."""
        stale = storage.write("a/b", b"older")
        if there is None:
            storage.delete("a/b")
        present = stale if there is None else storage.write("a/b", there)
        return {"stale": stale, "present": present}.get(str(expected), expected)

    def test_a_version_is_good_again_when_the_bytes_are_back(self, storage: MemoryStorage) -> None:
        version = storage.write("memory", b"old")
        storage.write("memory", b"new")
        storage.write("memory", b"old")
        storage.write("memory", b"newest", version)
        assert storage.read("memory").data == b"newest"

    # The tree

    def test_a_page_lives_beside_the_pages_below_it(self, storage: MemoryStorage) -> None:
        storage.write("projects", b"parent")
        storage.write("projects/silica", b"child")
        storage.write("projects/silica/tests", b"grandchild")
        assert storage.list_files() == ["projects", "projects/silica", "projects/silica/tests"]
        storage.delete("projects/silica")
        assert storage.list_files() == ["projects", "projects/silica/tests"]
        storage.delete("projects")
        storage.delete("projects/silica/tests")
        assert storage.list_files() == []
        storage.write("projects/silica", b"again")
        assert storage.read("projects/silica").data == b"again"

    def test_pages_are_listed_sorted_and_once(self, storage: MemoryStorage) -> None:
        paths = ["memory", "b/a", "b", "b-c", "a/z/y", "z", "b/a/c", "ä"]
        for path in paths:
            storage.write(path, b"1")
            storage.write(path, b"2")
        assert storage.list_files() == sorted(paths)
        assert storage.ignored_files() == []

    # Times and stamps

    def test_the_modified_time_is_that_of_the_last_write_in_utc(self, storage: MemoryStorage) -> None:
        slack = timedelta(seconds=2)  # a disk or a service has its own clock, and counts it more coarsely
        before = datetime.now(UTC) - slack
        storage.write("memory", b"old")
        first = storage.get_modified_time("memory")
        assert first.utcoffset() == timedelta(0)
        assert before <= first <= datetime.now(UTC) + slack
        storage.write("memory", b"new")
        assert storage.get_modified_time("memory") >= first

    def test_every_page_has_a_stamp_with_its_size(self, storage: MemoryStorage) -> None:
        storage.write("memory", b"12345")
        storage.write("a/b", b"")
        assert sorted((stamp.path, stamp.size) for stamp in storage.stamps()) == [("a/b", 0), ("memory", 5)]

    def test_a_stamp_changes_when_the_bytes_change(self, storage: MemoryStorage) -> None:
        storage.write("other", b"x")
        seen: set[Stamp] = set()
        for round_ in range(20):
            storage.write("memory", b"%02d" % round_)
            (stamp,) = [stamp for stamp in storage.stamps() if stamp.path == "memory"]
            assert stamp not in seen
            seen.add(stamp)

    def test_stamps_come_to_rest_when_nothing_changes(self, storage: MemoryStorage) -> None:
        storage.write("memory", b"x")
        storage.write("a/b", b"y")
        for _ in range(50):
            first = set(storage.stamps())
            time.sleep(0.01)
            if set(storage.stamps()) == first:
                return
        raise AssertionError("the stamps of unchanged pages never became equal")

    # Many at once

    def test_read_modify_write_under_the_lock_loses_nothing(self, storage: MemoryStorage) -> None:
        def add(worker: int) -> None:
            for turn in range(self.turns):
                with storage.lock():
                    line = f"{worker} {turn}\n".encode()
                    if storage.exists("log"):
                        present = storage.read("log")
                        storage.write("log", present.data + line, present.version)
                    else:
                        storage.write("log", line, ABSENT)

        at_once(8, add)
        lines = storage.read("log").data.decode().splitlines()
        assert sorted(lines) == sorted(f"{worker} {turn}" for worker in range(8) for turn in range(self.turns))

    def test_one_of_many_racers_makes_the_page(self, storage: MemoryStorage) -> None:
        for attempt in range(10):
            path = f"race/{attempt}/page"

            def make(racer: int, path: str = path) -> str | None:
                try:
                    return storage.write(path, b"%d" % racer, ABSENT)
                except StorageConflict:
                    return None

            versions = [version for version in at_once(12, make) if version]
            assert versions == [storage.read(path).version]

    def test_a_reader_beside_a_writer_sees_whole_pages(self, storage: MemoryStorage) -> None:
        texts = [letter * 20_000 for letter in (b"a", b"b")]
        storage.write("memory", texts[0])

        def work(worker: int) -> None:
            for turn in range(50):
                if worker:
                    assert storage.read("memory").data in texts
                    assert storage.list_files() == ["memory"]
                else:
                    storage.write("memory", texts[turn % 2])

        at_once(4, work)

    def test_a_thread_may_take_the_lock_twice(self, storage: MemoryStorage) -> None:
        with storage.lock(), storage.lock():
            storage.write("memory", b"x")
        with storage.lock():
            assert storage.list_files() == ["memory"]

    def test_the_lock_is_free_again_after_an_error(self, storage: MemoryStorage) -> None:
        for _ in range(2):
            with pytest.raises(ZeroDivisionError), storage.lock():
                raise ZeroDivisionError

        def take(_: int) -> None:
            with storage.lock():
                storage.write("memory", b"x")

        at_once(1, take)
        assert storage.exists("memory")

    # Places

    def test_the_place_has_words_and_its_cache_folder_can_be_used(self, storage: MemoryStorage) -> None:
        assert storage.where
        storage.write("memory", b"x")
        if folder := storage.cache_folder:
            (folder / "derived").write_bytes(b"y")
            assert storage.cache_folder == folder
        assert storage.list_files() == ["memory"]
        assert storage.ignored_files() == []


def at_once(workers: int, work: Callable[[int], Result]) -> list[Result]:
    """What `work` returns in each of several threads that start at the same moment."""
    start = Barrier(workers)

    def begin(worker: int) -> Result:
        start.wait()
        return work(worker)

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(begin, range(workers)))
