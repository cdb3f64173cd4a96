"""Memories to try operations on, and models that say what a test wants said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory_v2.memory import Memory
from memory_v2.models.base import Reply, ToolCall
from memory_v2.models.scripted import Answer, ScriptedModel
from memory_v2.operations.results import Result
from memory_v2.settings import DEFAULT_THRESHOLD, MIN_THRESHOLD, Limits
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.history import Change
from memory_v2.storage.volatile import VolatileStorage
from tests.properties.whole import clock

SMALL = MIN_THRESHOLD


def offline(
    threshold: int = DEFAULT_THRESHOLD, storage: MemoryStorage | None = None, traces_in: Path | None = None
) -> Memory:
    """A memory without a model. Traces are kept if they have a folder to be kept in."""
    return Memory(storage or VolatileStorage(clock, traces_in), threshold=threshold, now=clock)


def scripted(memory: Memory, *replies: Answer, threshold: int = DEFAULT_THRESHOLD) -> tuple[Memory, ScriptedModel]:
    """The same memory, with a model that answers from a script."""
    model = ScriptedModel(list(replies))
    return Memory(memory.storage, model, threshold=threshold, now=clock, limits=Limits(turns=6)), model


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments)


def calls(*made: ToolCall) -> Reply:
    return Reply("words beside the calls", made, stop_reason="tool_use")


def problems(memory: Memory, result: Result) -> list[str]:
    """What the first model was told to mend."""
    events = memory.trace(result.trace).events
    first = events[: next(n for n, event in enumerate(events) if event["event"] == "decided")]
    return [event["text"] for event in first if event["event"] == "message" and event.get("error")]


def body(memory: Memory, path: str = "memory") -> str:
    """What stands on a page, without what the program notes below."""
    return memory.read(path).partition("## Metadata")[0].partition("## Links")[0].strip()


class Crowded(VolatileStorage):
    """A storage on which somebody else changes a page just before each of the next `rivals` commits."""

    def __init__(self, rivals: int, path: str = "memory") -> None:
        super().__init__(clock)
        self.rivals = rivals
        self.path = path
        self.said: list[str] = []

    def commit(self, change: Change, check: Callable[[], object] | None = None) -> Change:
        if self.rivals and self.exists(self.path):
            self.rivals -= 1
            self.said.append(f"Rival fact {self.rivals}.")
            self.write(self.path, f"{self.said[-1]}\n\n".encode() + self.read(self.path).data)
        return super().commit(change, check)
