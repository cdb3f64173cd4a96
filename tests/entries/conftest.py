"""The memories of these tests, at the moment that each module names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_v2 import Memory
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage


@pytest.fixture
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """A memory in a folder."""
    with Memory(LocalStorage(tmp_path), now=lambda: request.module.NOW) as memory:
        yield memory


@pytest.fixture(params=["local", "volatile"])
def any_memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """A memory on each storage that needs no server."""
    storage = LocalStorage(tmp_path) if request.param == "local" else VolatileStorage()
    with Memory(storage, now=lambda: request.module.NOW) as memory:
        yield memory
