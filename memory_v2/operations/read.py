"""Reading a page. It stands alone, as it must not wait for what other operations import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_v2.tree.path import ROOT, page_path

if TYPE_CHECKING:
    from memory_v2.storage.base import MemoryStorage


def read(storage: MemoryStorage, path: str = ROOT) -> str:
    """A page as it is stored; bytes that are not UTF-8 appear as U+FFFD. Raises `PageNotFound`, `InvalidPath`."""
    return storage.read(page_path(path or ROOT)).data.decode("utf-8", "replace")
