"""The long-term memory of each tenant: a `Memory` in a folder, or under a prefix of a bucket, of its own."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

from memory_v2 import Memory
from memory_v2.service.keys import DEFAULT_TENANT
from memory_v2.settings import S3Settings, Settings

TENANTS = ".service/tenants"
"""Where the memories of other tenants are, beside the pages of the default one, which do not see it."""


class Memories:
    """Opens memories when they are first needed. The default tenant has the folder, or the bucket, itself."""

    def __init__(self, folder: Path, model: str | None = None, s3: S3Settings | None = None) -> None:
        self._folder, self._model, self._s3 = folder, model, s3
        self._open: dict[str, Memory] = {}
        self._lock = threading.Lock()

    def of(self, tenant: str) -> Memory:
        """The memory of a tenant, for any thread."""
        with self._lock:
            if tenant not in self._open:
                self._open[tenant] = Memory.from_settings(self._settings(tenant))
            return self._open[tenant]

    def _settings(self, tenant: str) -> Settings:
        inside = "" if tenant == DEFAULT_TENANT else f"{TENANTS}/{tenant}"
        settings = Settings.from_environment(os.environ, self._folder / inside, self._model)
        if self._s3 is None:
            return settings
        prefix = "/".join(part for part in (self._s3.prefix, inside) if part)
        return replace(settings, s3=replace(self._s3, prefix=prefix))

    def close(self) -> None:
        """Closes all of them."""
        with self._lock:
            for memory in self._open.values():
                memory.close()
            self._open.clear()
