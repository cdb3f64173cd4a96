"""A memory to play a scene on: in memory, at a fixed moment, with the model that is asked."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from memory_v2.memory import Memory
from memory_v2.models.base import Model
from memory_v2.settings import Limits
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.page import new_page, read_page
from memory_v2.tree.path import ROOT

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
PATIENT = Limits(turns=16, tokens=1_000_000, seconds=36_000, money=1_000)
"""A live reader behind an endpoint may take its time; what is played again takes none."""


class Stage:
    """A tree that was set up, and a memory on it whose model decides."""

    def __init__(self, model: Model, folder: Path | None = None) -> None:
        """`folder`: where traces are kept, if they are to be."""
        self.storage = VolatileStorage(lambda: NOW, folder)
        self.memory = Memory(self.storage, model, now=lambda: NOW, limits=PATIENT)
        self.offline = Memory(self.storage, now=lambda: NOW, traces=0)

    def page(self, path: str, title: str, body: str, children: Mapping[str, str] | None = None) -> None:
        """Stores a page as it is, listing these children (path → description)."""
        page = new_page(path, title, [parse_blocks(body.strip() + "\n")])
        for child, description in (children or {}).items():
            page = page.with_child(child, description)
        self.storage.write(path, page.stamped(NOW).data)

    def text(self, path: str = ROOT) -> str:
        """A page, with the program's sections."""
        return self.offline.read(path)

    def tree(self) -> dict[str, str]:
        """Every page: path → text."""
        return {path: self.text(path) for path in self.storage.list_files()}

    def bodies(self) -> dict[str, str]:
        """Every page without the program's sections."""
        return {path: read_page(path, self.storage.read(path).data).body for path in self.storage.list_files()}
