"""What a scenario is: something that models decide live, on a memory that was set up, and by what it is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from memory_v2.memory import Memory
from memory_v2.models.base import Model
from memory_v2.settings import Limits
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.page import new_page, read_page
from memory_v2.tree.path import ROOT

BOTH = ("anthropic", "openai")
DATA = Path(__file__).parent / "data"
NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
PATIENT = Limits(turns=16, tokens=1_000_000, seconds=36_000, money=1_000)
"""A live reader behind an endpoint may take its time; what is played again takes none."""


@cache
def data(name: str) -> Any:
    """What a file of `data` holds: texts, pages and sessions of scenes."""
    return yaml.safe_load((DATA / f"{name}.yaml").read_text("utf-8"))


class Stage:
    """A memory to play a scene on: in memory, at a fixed moment, with the model that is asked."""

    def __init__(self, model: Model) -> None:
        self.storage = VolatileStorage(lambda: NOW)
        self.memory = Memory(self.storage, model, now=lambda: NOW, limits=PATIENT, dense=False)
        self.offline = Memory(self.storage, now=lambda: NOW, traces=0, dense=False)

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


@dataclass(frozen=True)
class Scenario:
    """A scene: `act` has the model decide, `judge` asserts on what came of it. `stage` is made for the model, and is
    where it is played."""

    name: str
    about: str
    act: Callable[[Any], Any]
    judge: Callable[[Any, Any], None]
    wires: tuple[str, ...] = BOTH
    stage: Callable[[Any], Any] = Stage
