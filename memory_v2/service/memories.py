"""The long-term memory of each tenant: a `Memory` in a folder of its own."""

from __future__ import annotations

import threading
from pathlib import Path

from memory_v2 import Memory
from memory_v2.service.keys import DEFAULT_TENANT


class Memories:
    """Opens memories when they are first needed. The default tenant has the folder itself."""

    def __init__(self, folder: Path, model: str | None = None) -> None:
        self._folder, self._model = folder, model
        self._open: dict[str, Memory] = {}
        self._lock = threading.Lock()

    def of(self, tenant: str) -> Memory:
        """The memory of a tenant, for any thread."""
        with self._lock:
            if tenant not in self._open:
                own = self._folder if tenant == DEFAULT_TENANT else self._folder / ".service" / "tenants" / tenant
                self._open[tenant] = Memory.open(own, self._model)
            return self._open[tenant]

    def close(self) -> None:
        """Closes all of them."""
        with self._lock:
            for memory in self._open.values():
                memory.close()
            self._open.clear()
