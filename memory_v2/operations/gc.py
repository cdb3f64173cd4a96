"""Packing the history: many small files become one."""

from __future__ import annotations

from dataclasses import dataclass

from memory_v2.errors import NotAllowed
from memory_v2.operations.operation import operation
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.local.storage import LocalStorage


@dataclass(frozen=True, slots=True)
class Packed:
    """The number of packed objects, and the size of the history on disk before and after, in bytes."""

    objects: int
    bytes_before: int
    bytes_after: int


@operation("pack_history", changes="store")
def pack(storage: MemoryStorage) -> Packed:
    """Packs the history of a storage without losing anything. Raises `NotAllowed` if it is not a folder's history."""
    if not isinstance(storage, LocalStorage):
        raise NotAllowed(f"the history of {storage.where} needs no packing: only that of a folder does")
    history = storage.history
    if not history.begun:
        return Packed(0, 0, 0)
    with storage.lock():
        before = history.size
        return Packed(history.pack(), before, history.size)
