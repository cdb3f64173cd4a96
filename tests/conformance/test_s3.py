from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.s3.storage import S3Storage
from tests.storage.s3_server import HOST, new_bucket, server

from .storage_suite import StorageConformance


@pytest.mark.allow_hosts([HOST])
class TestS3Storage(StorageConformance):
    @pytest.fixture(params=["without versions", "with versions"])
    def storage(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryStorage]:
        with new_bucket(versions=request.param == "with versions") as bucket:
            yield S3Storage(bucket, "team/memory", endpoint=server(), cache=tmp_path / "cache")
