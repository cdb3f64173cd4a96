"""The table of operations says what is so: every row can be run, and is spelled as the method and the function are."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_args

import pytest

from memory_v2.checkpoints import rows as checkpoint_rows
from memory_v2.checkpoints.checkpoints import Checkpoints
from memory_v2.entries.entries import Entries
from memory_v2.memory import Memory
from memory_v2.operations.row import REQUIRED, Row
from memory_v2.operations.search_request import SearchRequest
from memory_v2.storage.pending import Mode
from memory_v2.table import TABLE
from tests.house.test_import import ONLY_WHEN_WRITING, loaded_by

TAKEN_WHOLE = {"search": SearchRequest.__init__}
"""What takes the arguments where the operation's function takes them as one."""
METHODS = {"check": "checkup", "import": "import_batch"}
"""Where the method is not called as the operation."""

Spelled = list[tuple[str, Any]]


def spelled(function: Callable[..., Any]) -> Spelled:
    """The arguments of a function after its first, with their defaults."""
    _, *arguments = inspect.signature(function).parameters.values()
    return [(one.name, REQUIRED if one.default is one.empty else one.default) for one in arguments]


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE.keys())
def test_a_row_has_the_arguments_of_the_method_and_of_the_function(row: Row[Any]) -> None:
    told = [(one.name, one.default) for one in row.arguments]
    holder = Checkpoints if row in checkpoint_rows.ROWS else Entries if row.works_on == "entries" else Memory
    method = getattr(holder, METHODS.get(row.name, row.name))
    assert told == spelled(method) == spelled(TAKEN_WHOLE.get(row.name) or row.load())
    types = [one.annotation for one in list(inspect.signature(method).parameters.values())[1:]]
    assert all(one.choices or one.type == named for one, named in zip(row.arguments, types, strict=True))


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE.keys())
def test_what_changes_pages_is_recorded(row: Row[Any]) -> None:
    assert row.is_recorded >= (row.changes == "tree")
    assert row.is_recorded >= row.is_replayable
    assert not row.recorded_with or row.argument(row.recorded_with).type == "bool"


def test_the_choices_are_those_of_the_operation() -> None:
    assert TABLE["write"].argument("mode").choices == get_args(Mode)


def test_reading_the_table_loads_no_operation() -> None:
    assert not loaded_by("import memory_v2.table").intersection(ONLY_WHEN_WRITING)
