"""The storage that the settings name."""

from __future__ import annotations

from importlib.util import find_spec

from memory_v2.errors import InvalidSetting
from memory_v2.settings import Settings
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.local.storage import LocalStorage


def open_storage(settings: Settings) -> MemoryStorage:
    """The storage for the folder or bucket in the settings. Creates nothing and opens no connection. Raises
    `InvalidSetting` if a package is missing."""
    if settings.s3 is None:
        return LocalStorage(settings.path)
    if find_spec("boto3") is None:
        raise InvalidSetting(
            "the backend s3 needs the package boto3, which is not installed: pip install 'silica-memory[s3]'"
        )
    from memory_v2.storage.s3.storage import S3Storage

    chosen = settings.s3
    return S3Storage(chosen.bucket, chosen.prefix, chosen.region, chosen.endpoint, chosen.cache, chosen.cache_ttl)
