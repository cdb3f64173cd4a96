"""Reading a page. In a module of its own, so that it does not import what other operations need."""

from __future__ import annotations

from memory_v2.agent.operation import operation
from memory_v2.storage.base import MemoryStorage
from memory_v2.tree.path import ROOT, page_path


@operation("read")
def read(storage: MemoryStorage, path: str = ROOT) -> str:
    """The page as it is stored, with U+FFFD for bytes that are not UTF-8. Raises `PageNotFound`, `InvalidPath`."""
    return storage.read(page_path(ROOT if path in (None, "") else path)).data.decode("utf-8", "replace")
