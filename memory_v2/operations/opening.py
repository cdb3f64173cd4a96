"""Putting together what operations work with, when a memory is first used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from memory_v2.agent import load
from memory_v2.index.dense.chosen import Dense
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.store import Store
from memory_v2.models.base import Model
from memory_v2.operations.context import Context
from memory_v2.storage.base import MemoryStorage
from memory_v2.text.calendar import Calendar

if TYPE_CHECKING:
    from memory_v2.index.entries import EntryIndex


def open_context(
    storage: MemoryStorage,
    model: str | Model,
    prices: Path | None,
    threshold: int,
    calendar: Calendar,
    is_dense: bool,
    store: Store,
    entries: Callable[[], EntryIndex],
) -> Context:
    """The parts for the operations of a memory: its index is opened, with its `entries` in the same `store`, and
    its model is loaded by its name. Raises `InvalidSetting`, `ModelError`."""
    planner = load.load_model(load.OFFLINE)
    decides = model
    if isinstance(decides, str):
        decides = planner if decides == load.OFFLINE else load.load_model(decides, prices)
    return Context(
        storage=storage,
        index=FullTextIndex(
            storage, None, storage.history, calendar, Dense() if is_dense else None, store=store, entries=entries
        ),
        model=decides,
        planner=planner,
        threshold=threshold,
        now=calendar.now,
        timezone=calendar.zone,
    )
