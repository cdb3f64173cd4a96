from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.volatile import VolatileStorage

from .storage_suite import StorageConformance


class TestVolatileStorage(StorageConformance):
    @pytest.fixture
    def storage(self, tmp_path: Path) -> MemoryStorage:
        return VolatileStorage()


def test_modified_times_come_from_the_clock_that_was_given() -> None:
    noon = datetime(2026, 2, 3, 12, tzinfo=UTC)
    times = iter([noon, noon + timedelta(hours=1)])
    storage = VolatileStorage(clock=lambda: next(times))
    storage.write("memory", b"old")
    assert storage.get_modified_time("memory") == noon
    storage.write("memory", b"new")
    assert storage.get_modified_time("memory") == noon + timedelta(hours=1)


def test_two_memories_share_nothing() -> None:
    one, other = VolatileStorage(), VolatileStorage()
    one.write("memory", b"x")
    assert other.list_files() == []
