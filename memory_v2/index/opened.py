"""Which index a memory has."""

from __future__ import annotations

from memory_v2.index.dense.chosen import Dense
from memory_v2.index.full_text import FullTextIndex
from memory_v2.storage.base import MemoryStorage
from memory_v2.text.calendar import Calendar


def open_index(storage: MemoryStorage, calendar: Calendar, by_meaning: bool) -> FullTextIndex:
    """The index of a storage, beside its other derived data; `by_meaning` is whether it compares meanings too."""
    folder = storage.cache_folder
    return FullTextIndex(storage, folder, storage.history, calendar, Dense(folder) if by_meaning else None)
