"""The marks of folders tell what has changed below them without a look at every file."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_v2.storage.base import ABSENT
from memory_v2.storage.local.storage import LocalStorage

FIRST, OTHER = "entries/agents/a/memory/vault/2026-02/obs", "entries/agents/b/memory/vault/2026-02/obs"


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    storage = LocalStorage(tmp_path)
    storage.write(FIRST, b"one")
    storage.write(OTHER, b"one")
    time.sleep(0.1)  # the marks of what has just changed are never final
    return storage


def test_marks_stay_while_nothing_changes(storage: LocalStorage) -> None:
    before = storage.folder_marks("entries")
    assert FIRST.rpartition("/")[0] in before
    assert storage.folder_marks("entries") == before == LocalStorage(Path(storage.where)).folder_marks("entries")


@pytest.mark.parametrize(
    "change",
    [
        lambda storage: storage.write(f"{FIRST}-2", b"two", ABSENT),
        lambda storage: storage.write(FIRST, b"ONE"),
        lambda storage: storage.delete(FIRST),
        lambda storage: storage.write(f"{FIRST}/below", b"two"),
    ],
    ids=["created", "replaced", "deleted", "a folder"],
)
def test_a_mark_changes_with_a_name_in_its_folder(
    storage: LocalStorage, change: Callable[[LocalStorage], object]
) -> None:
    before = storage.folder_marks("entries")
    change(storage)
    after = storage.folder_marks("entries")
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert FIRST.rpartition("/")[0] in changed
    assert not any(name.startswith("entries/agents/b") for name in changed)


def test_what_is_not_there_has_no_marks(tmp_path: Path) -> None:
    assert LocalStorage(tmp_path).folder_marks("entries") == {}
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "entries").symlink_to(tmp_path / "elsewhere")
    assert LocalStorage(tmp_path).folder_marks("entries") == {}
