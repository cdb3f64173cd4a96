"""Threads and processes on one memory: the scenes of `bench.threads` and `bench.race`, smaller."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bench.race import Outcome, one_page, splitting_tree, undo_and_hand_edits
from bench.threads import Place, in_memory, on_disk, run
from memory_v2 import Memory
from memory_v2.storage.base import ANY, Expected
from memory_v2.storage.volatile import VolatileStorage
from tests.effort import effort

SECONDS = 60.0
"""After so long a test fails that would else hang for ever. No test waits so long if it passes."""


@pytest.mark.parametrize("place", [on_disk, in_memory])
def test_what_threads_were_told_is_stored_is_in_the_tree_or_was_removed_on_purpose(place: Place) -> None:
    with place() as (storage, edit):
        outcome, log = run(storage, edit, seed=1, threads=6, operations=6)
    assert outcome.problems == []
    assert len(log.took) == 36


class Halting(VolatileStorage):
    """A storage that halts in the middle of a change, when told to, before it writes the first page."""

    def __init__(self) -> None:
        super().__init__()
        self.halts = False
        self.is_halted, self.may_go_on = threading.Event(), threading.Event()

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        if self.halts:
            self.is_halted.set()
            self.may_go_on.wait(SECONDS)
        return super().write(path, data, expected)


@pytest.fixture
def halted() -> Iterator[Memory]:
    """A memory on which another thread is in the middle of a rename."""
    storage = Halting()
    memory = Memory(storage)
    memory.write("Herons nest in the reeds.", "birds")
    storage.halts = True
    rename = threading.Thread(target=memory.rename, args=("birds", "nature/birds"))
    rename.start()
    assert storage.is_halted.wait(SECONDS)
    yield memory
    storage.may_go_on.set()
    rename.join(SECONDS)
    assert "Herons" in memory.read("nature/birds")
    assert memory.recover() == []


def test_a_search_does_not_wait_for_a_change_of_another_thread(halted: Memory) -> None:
    found: list[str] = []
    search = threading.Thread(target=lambda: found.extend(r.excerpt for r in halted.search("herons")), daemon=True)
    search.start()
    search.join(SECONDS / 2)
    assert any("Herons nest" in excerpt for excerpt in found)


def test_a_change_of_another_thread_is_not_taken_for_an_interrupted_one(halted: Memory) -> None:
    assert halted.storage.interrupted() is None
    assert [finding for finding in halted.check() if finding.kind == "unfinished"] == []


def test_a_change_that_its_own_process_completes_is_not_told_as_finished_by_another() -> None:
    class Waited(VolatileStorage):
        """Another process completes its change while this one waits for the lock."""

        @contextmanager
        def lock(self, wait: bool = True) -> Iterator[None]:
            with super().lock(wait):
                if self.history.head:
                    self.history.mark_checked_out(self.history.head)
                yield

    storage = Waited()
    Memory(storage).write("Herons nest in the reeds.")
    revision = next(storage.history.revisions())
    storage.history.record({"memory": b"# Memory\n"}, replace(revision, operation="other"))
    assert storage.interrupted()
    assert storage.finish() is None


WRITERS, WRITES = 4, effort(6, 24)


@pytest.mark.parametrize("scene", [one_page, splitting_tree])
def test_all_that_was_acknowledged_is_in_the_tree(scene: Callable[[Path, int, int], Outcome], tmp_path: Path) -> None:
    outcome = scene(tmp_path, WRITERS, WRITES)
    assert outcome.problems == []
    assert outcome.in_tree == outcome.acknowledged == WRITERS * WRITES


def test_what_is_not_in_the_tree_was_undone_or_overwritten_by_hand_and_is_in_the_history(tmp_path: Path) -> None:
    outcome = undo_and_hand_edits(tmp_path, WRITERS, WRITES)
    assert outcome.problems == []
    assert outcome.in_tree + outcome.in_history == outcome.acknowledged == WRITERS * WRITES
    assert outcome.undone
    assert outcome.by_hand
