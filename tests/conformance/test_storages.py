"""A folder and a bucket keep the promises of a storage."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.s3.storage import S3Storage
from tests.effort import effort
from tests.storage.s3_server import HOST, new_bucket, server

from .storage_suite import StorageConformance


class TestLocalStorage(StorageConformance):
    @pytest.fixture
    def storage(self, tmp_path: Path) -> MemoryStorage:
        return LocalStorage(tmp_path / "not yet" / "memory")


@pytest.mark.allow_hosts([HOST])
class TestS3Storage(StorageConformance):
    turns = effort(10, 50)  # each is a dozen requests

    @pytest.fixture
    def storage(self, tmp_path: Path) -> Iterator[MemoryStorage]:
        with new_bucket() as bucket:
            yield S3Storage(bucket, "team/memory", endpoint=server(), cache=tmp_path / "cache")
