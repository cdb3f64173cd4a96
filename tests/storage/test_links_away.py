"""Links that git may carry: nothing below a memory is opened through one that leads out of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_v2.cli.chosen_memory import ChosenMemory
from memory_v2.errors import InvalidSetting, StorageError
from memory_v2.locations import project_memory
from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage

PLACES = ("history.git", "traces", "entries.sqlite", "index.sqlite", "imports", "pending", "format.json", "lock")
INSIDE = ("history.git/refs", "history.git/refs/heads", "history.git/objects", "history.git/unflushed")
ACTS: dict[str, Callable[[Memory], object]] = {
    "write": lambda memory: memory.write("The mill has two wheels."),
    "forget": lambda memory: memory.forget("1961", apply=True),
    "capture": lambda memory: memory.entries.capture("The sluice is open."),
}


def tree_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize(
    ("place", "act"),
    [(place, act) for place in PLACES for act in ACTS]
    + [(place, act) for place in INSIDE for act in ("write", "forget")],
)
def test_a_link_in_the_programs_own_folder_leads_nowhere(tmp_path: Path, place: str, act: str) -> None:
    folder, victim = tmp_path / "memory", tmp_path / "victim"
    with Memory(LocalStorage(folder)) as memory:
        memory.write("The weir was built in 1961.")
    there = folder / ".metadata" / place
    if there.is_dir():
        shutil.move(there, victim)
    else:
        victim.write_bytes(there.read_bytes() if there.exists() else b"")
        there.unlink(missing_ok=True)
    before = tree_of(tmp_path / "victim") if victim.is_dir() else victim.read_bytes()
    there.symlink_to(victim)
    with Memory(LocalStorage(folder)) as memory, pytest.raises(StorageError, match="symbolic link"):
        ACTS[act](memory)
    assert (tree_of(tmp_path / "victim") if victim.is_dir() else victim.read_bytes()) == before


@pytest.mark.parametrize("name", [".silica", ".silica/memory"])
def test_the_memory_of_a_project_is_inside_the_project(tmp_path: Path, name: str) -> None:
    project, victim = tmp_path / "project", tmp_path / "victim"
    victim.mkdir()
    (project / name).parent.mkdir(parents=True)
    assert project_memory(project) == project / ".silica" / "memory"
    (project / name).symlink_to(victim)
    with pytest.raises(InvalidSetting, match="symbolic link"):
        project_memory(project)
    with pytest.raises(InvalidSetting, match="symbolic link"):
        ChosenMemory.from_options(None, None, project, None)
    assert [*victim.iterdir()] == []
