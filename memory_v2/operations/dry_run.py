"""Rehearsing an operation: it is done on the pages as they are, and nothing of it is stored."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.store import FILE
from memory_v2.operations.context import Context, Freshness
from memory_v2.storage.overlay import OverlayStorage


@contextmanager
def dry_run(context: Context) -> Iterator[Context]:
    """A context in which operations change nothing: their changes are kept in memory, their index is a copy."""
    storage = OverlayStorage(context.storage)
    with tempfile.TemporaryDirectory(prefix="silica-dry-run-") as folder:
        if cache := context.storage.cache_folder:
            _copy(cache / FILE, Path(folder) / FILE)
        index = FullTextIndex(storage, Path(folder), storage.history, context.calendar)
        try:
            yield replace(context, storage=storage, index=index, freshness=Freshness())
        finally:
            index.close()


def _copy(file: Path, to: Path) -> None:
    """Copies an index as it is in this moment. One that cannot be copied is made anew from the pages."""
    if not file.exists():
        return
    try:
        source = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        with closing(source), closing(sqlite3.connect(to)) as target:
            source.backup(target)
    except sqlite3.Error:
        to.unlink(missing_ok=True)
