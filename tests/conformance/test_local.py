from __future__ import annotations

from pathlib import Path

import pytest

from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.local.storage import LocalStorage

from .storage_suite import StorageConformance


class TestLocalStorage(StorageConformance):
    @pytest.fixture
    def storage(self, tmp_path: Path) -> MemoryStorage:
        return LocalStorage(tmp_path / "not yet" / "memory")
