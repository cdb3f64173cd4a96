"""A wrong argument is refused with an error that says what it should be, and nothing is changed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import memory_v2
from memory_v2 import InvalidSetting, Memory, NotAllowed, UsageError
from memory_v2.memory_checkpoints import Checkpoints
from memory_v2.memory_entries import Entries
from memory_v2.settings import Limits
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage
from tests.docs.api import without_words
from tests.properties.whole import clock, pages_of

NO_STRINGS: tuple[object, ...] = (0, 3, 3.5, False, b"x", [], ["x"], {"a": 1}, object(), Path("x"))
WRONG: dict[str, tuple[object, ...]] = {
    "str": NO_STRINGS,
    "str | None": NO_STRINGS,
    "str | Path": (None, 3, b"x", "", object()),
    "date | str | None": (*NO_STRINGS, "", "Monday", "2026-02-30", "20260203", "9999-01-01"),
    "int": (None, "3", 3.5, True, [3]),
    "int | None": ("3", 3.5, True, [3]),
    "bool": (None, 0, 1, "", "no", [True]),
    "ImportBatch": (None, "notes", *NO_STRINGS),
    "float": (None, "3", True, [3], float("nan")),
    "float | None": ("3", True, [3], float("nan")),
    "Iterable[str]": (3, None, object(), [3], "one text"),
    "Iterable[str | Mapping[str, Any]]": (3, None, object()),
    "Mapping[str, bytes]": (3, None, "notes", object()),
    "Decay | str | None": (*NO_STRINGS, "slowly", "linear-0d"),
    "Literal['update', 'append', 'replace']": (None, "nobody", *NO_STRINGS),
    "Literal['pages', 'entries'] | None": ("nobody", *NO_STRINGS),
    "Scope": (None, "nobody", *NO_STRINGS),
}
FUNCTIONS = {"read": "read_memory", "write": "write_memory", "search": "search_memory", "split": "split_memory"}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(LocalStorage(tmp_path), now=clock)
    memory.write("Ada likes Assam.")
    return memory


HOLDERS: dict[type, Callable[[Memory], object]] = {
    Memory: lambda memory: memory,
    Entries: lambda memory: memory.entries,
    Checkpoints: lambda memory: memory.checkpoints,
}
NO_OPERATIONS = {"open", "with_model", "running", "cancel", "trace", "replay"}


def operations() -> Iterator[tuple[type, str, dict[str, str]]]:
    """Every method that is an operation, with the types of its arguments."""
    for holder in HOLDERS:
        for name, method in inspect.getmembers(holder, inspect.isfunction):
            if not name.startswith("_") and name not in NO_OPERATIONS:
                yield holder, name, dict(types_of(method))


def types_of(method: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    for name, parameter in list(inspect.signature(method).parameters.items())[1:]:
        yield name, without_words(method, parameter.annotation)


def wrong_calls(memory: Memory) -> Iterator[tuple[Callable[..., Any], str, str, dict[str, Any]]]:
    """Every operation with each of its arguments wrong, and the others as they should be."""
    right: dict[str, Any] = {"text": "tea", "path": "memory", "query": "tea", "new": "x", "old": "memory"}
    right |= {"files": {}, "lines": (), "id": "a/obs-2026-01-01-001", "why": "no", "name": "one", "file": "one.json"}
    right |= {"revision": memory.history()[0].id, "was": memory.read(), "line": 0}
    for holder, name, types in operations():
        for argument, kind in types.items():
            for wrong in WRONG[kind]:
                # a search may look as far ahead as it likes, and an entry of the future is told by a check
                if wrong != "9999-01-01" or (argument not in ("since", "until") and holder is Memory):
                    given = {needed: right[needed] for needed in right if needed in types}
                    yield getattr(HOLDERS[holder](memory), name), name, argument, given | {argument: wrong}


def test_a_wrong_argument_of_an_operation_is_refused(memory: Memory) -> None:
    before = pages_of(memory.storage)
    for operation, name, argument, given in wrong_calls(memory):
        with pytest.raises(UsageError):
            print(name, argument, given, operation(**given))
    assert pages_of(memory.storage) == before


def test_a_wrong_argument_of_a_function_is_refused(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICA_MEMORY_PATH", memory.storage.where)
    before = pages_of(memory.storage)
    for _, name, argument, given in wrong_calls(memory):
        if name in FUNCTIONS:
            function = getattr(memory_v2, FUNCTIONS[name])
            given = {"content" if key == "text" else key: value for key, value in given.items()}
            with pytest.raises(UsageError):
                print(name, argument, given, function(**given))
    assert pages_of(memory.storage) == before


@pytest.mark.parametrize("wrong", [None, *NO_STRINGS])
def test_a_wrong_id_or_name_is_refused(memory: Memory, wrong: Any) -> None:
    operations: list[Callable[[Any], object]] = [memory.show, memory.diff, memory.restore]
    for call in operations:
        with pytest.raises(InvalidSetting, match=f"must be a string, not {re.escape(repr(wrong))}"):
            call(wrong)
    others: list[Callable[[Any], object]] = [memory.cancel, memory.trace]
    for call in others:
        with pytest.raises(NotAllowed, match="is a string, not"):
            call(wrong)
    if not isinstance(wrong, Path):  # a file that holds a trace
        with pytest.raises(NotAllowed, match="is a string, not"):
            memory.replay(wrong)


def test_an_empty_id_undoes_nothing(memory: Memory) -> None:
    before = pages_of(memory.storage)
    with pytest.raises(NotAllowed, match="no operation whose id begins with ''"):
        memory.undo("")
    assert pages_of(memory.storage) == before


@pytest.mark.parametrize("argument", list(inspect.signature(Memory).parameters))
def test_a_memory_is_not_made_of_wrong_parts(argument: str) -> None:
    wrong: tuple[Any, ...] = (0, 3.5, b"x", ["x"], {"a": 1}, object())
    for given in wrong:
        if argument != "traces" or given != 0:
            with pytest.raises(InvalidSetting, match=f"{argument} must be"):
                Memory(**({"storage": VolatileStorage()} | {argument: given}))


def test_a_folder_is_no_storage() -> None:
    with pytest.raises(InvalidSetting, match=r"Memory\.open\(\) opens a folder"):
        Memory("notes")  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [0, 3, b"notes", ["notes"], object()])
def test_a_folder_is_named_by_a_string_or_a_path(wrong: Any) -> None:
    with pytest.raises(InvalidSetting, match="must be a string or a Path"):
        Memory.open(wrong)


def test_a_folder_has_a_name_that_a_disk_can_hold() -> None:
    with pytest.raises(InvalidSetting, match="not valid Unicode"):
        Memory.open("/nowhere/\ud800")


@pytest.mark.parametrize("limit", ["turns", "tokens", "seconds", "money"])
@pytest.mark.parametrize("wrong", [None, "3", -1, True, float("nan"), [3]])
def test_a_limit_is_a_number(limit: str, wrong: Any) -> None:
    with pytest.raises(InvalidSetting, match=f"the limit of {limit} must be a number"):
        Limits(**{limit: wrong})
