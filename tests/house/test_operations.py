"""A method and the operation that it runs have the same arguments, and what changes pages leaves a trace."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from typing import Any

import pytest

from memory_v2.agent.operation import info
from memory_v2.engine import Engine
from memory_v2.memory import Memory
from memory_v2.memory_checkpoints import Checkpoints
from memory_v2.memory_entries import Entries
from memory_v2.storage.volatile import VolatileStorage
from tests.house.test_import import ONLY_WHEN_WRITING, loaded_by

NO_OPERATIONS = {"open", "recover", "with_model", "rehearse", "check", "import_batch", "running", "cancel", "traces"}
NO_OPERATIONS |= {"trace", "replay", "close", "pick_up", "waiting"}
METHODS = [
    (holder, name)
    for holder in (Memory, Entries, Checkpoints)
    for name, _ in inspect.getmembers(holder, inspect.isfunction)
    if not name.startswith("_") and name not in NO_OPERATIONS
]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Callable[..., Any], dict[str, Any]]]:
    """The operations that the engine was asked for, with their arguments by name; none is carried out."""
    calls: list[tuple[Callable[..., Any], dict[str, Any]]] = []

    def call(_: Engine, operation: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        bound = inspect.signature(operation).bind(None, *args, **kwargs).arguments
        given = dict(list(bound.items())[1:])
        calls.append((operation, asdict(given["asked"]) if is_dataclass(given.get("asked")) else given))

    monkeypatch.setattr(Engine, "run", call)
    monkeypatch.setattr(Engine, "run_on", lambda engine, _, *args, **kwargs: call(engine, *args, **kwargs))
    return calls


@pytest.mark.parametrize(("holder", "name"), METHODS, ids=str)
def test_a_method_runs_an_operation_with_the_same_arguments(
    holder: type, name: str, called: list[tuple[Callable[..., Any], dict[str, Any]]]
) -> None:
    memory = Memory(VolatileStorage())
    of = {Memory: memory, Entries: memory.entries, Checkpoints: memory.checkpoints}[holder]
    _, *parameters = inspect.signature(getattr(holder, name)).parameters.values()
    given = {one.name: (f"<{one.name}>",) if one.name == "tags" else f"<{one.name}>" for one in parameters}
    getattr(of, name)(**given)
    ((operation, arguments),) = called
    assert arguments == given
    told = info(operation)
    assert told.recorded or told.changes != "tree"
    assert isinstance(told.recorded, bool) or told.recorded in arguments
    if "asked" not in inspect.signature(operation).parameters:
        _, *own = inspect.signature(operation).parameters.values()
        assert [(one.name, one.default) for one in own] == [(one.name, one.default) for one in parameters]


def test_the_engine_loads_no_operation() -> None:
    assert not loaded_by("import memory_v2.engine, memory_v2.memory_entries").intersection(ONLY_WHEN_WRITING)
