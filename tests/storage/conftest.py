"""A bucket on this machine, and machines that have their memory in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_v2.storage.s3.storage import S3Storage

from .s3_server import Door, Machine, door, new_bucket, server


@pytest.fixture
def bucket() -> Iterator[str]:
    with new_bucket() as name:
        yield name


@pytest.fixture
def entrance() -> Iterator[Door]:
    with door() as entrance:
        yield entrance


@pytest.fixture
def machine(bucket: str, tmp_path: Path) -> Machine:
    """A machine with a cache of its own, or that of the name; it asks the server, or the door before it."""

    def start(name: str = "one", url: str = "", ttl: float = 300) -> S3Storage:
        return S3Storage(bucket, "p", endpoint=url or server(), cache=tmp_path / name, ttl=ttl)

    return start
