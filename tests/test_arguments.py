"""A wrong argument is refused with an error that says what it should be, and nothing is changed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memory_v2
from memory_v2 import InvalidSetting, Memory, NotAllowed, UsageError
from memory_v2.settings import Limits
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.table import TABLE
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
    "Batch": (None, "notes", *NO_STRINGS),
    "float": (None, "3", True, [3], float("nan")),
    "float | None": ("3", True, [3], float("nan")),
    "Iterable[str]": (3, None, object(), [3], "one text"),
    "Iterable[str | Mapping[str, Any]]": (3, None, object()),
    "Mapping[str, bytes]": (3, None, "notes", object()),
    "Decay | str | None": (*NO_STRINGS, "slowly", "linear-0d"),
    "Scope": (None, "nobody", *NO_STRINGS),
}
METHODS = {"check": "checkup", "import": "import_batch"}
FUNCTIONS = {"read": "read_memory", "write": "write_memory", "search": "search_memory", "split": "split_memory"}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(LocalStorage(tmp_path), now=clock)
    memory.write("Ada likes Assam.")
    return memory


def wrong_calls(memory: Memory) -> list[tuple[str, str, dict[str, Any]]]:
    """Every operation with each of its arguments wrong, and the others as they should be."""
    right: dict[str, Any] = {"text": "tea", "path": "memory", "query": "tea", "new": "x", "old": "memory"}
    right |= {
        "files": {},
        "lines": (),
        "id": "a/obs-2026-01-01-001",
        "why": "no",
        "name": "one",
        "file": "one.json",
    }
    right |= {"revision": memory.history()[0].id, "was": memory.read(), "line": 0}
    return [
        (name, argument.name, {needed: right[needed] for needed in right if needed in given} | {argument.name: wrong})
        for name, row in TABLE.items()
        for argument in row.arguments
        for wrong in WRONG[argument.type]
        for given in [{one.name for one in row.arguments}]
        # a search may look as far ahead as it likes, and an entry of the future is told by a check
        if wrong != "9999-01-01" or (argument.name not in ("since", "until") and row.works_on != "entries")
    ]


def _holder(memory: Memory, name: str) -> object:
    if TABLE[name].function.startswith("checkpoints."):
        return memory.checkpoints
    return memory.entries if TABLE[name].works_on == "entries" else memory


def test_a_wrong_argument_of_an_operation_is_refused(memory: Memory) -> None:
    before = pages_of(memory.storage)
    for name, argument, given in wrong_calls(memory):
        holder = _holder(memory, name)
        with pytest.raises(UsageError):
            print(name, argument, given, getattr(holder, METHODS.get(name, name))(**given))
    assert pages_of(memory.storage) == before


def test_a_wrong_argument_of_a_function_is_refused(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICA_MEMORY_PATH", memory.storage.where)
    before = pages_of(memory.storage)
    for name, argument, given in wrong_calls(memory):
        if name in FUNCTIONS:
            function = getattr(memory_v2, FUNCTIONS[name])
            given = {"content" if key == "text" else key: value for key, value in given.items()}
            with pytest.raises(UsageError):
                print(name, argument, given, function(**given))
    assert pages_of(memory.storage) == before


@pytest.mark.parametrize("wrong", [None, *NO_STRINGS])
def test_a_wrong_id_or_name_is_refused(memory: Memory, wrong: Any) -> None:
    calls: list[Callable[[Any], object]] = [memory.show, memory.diff, memory.restore, memory.cancel, memory.trace]
    for call in calls:
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
