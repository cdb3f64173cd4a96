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
INSIDE = tuple(
    f"history.git/{name}" for name in ("refs", "refs/heads", "refs/silica", "objects", "objects/pack", "unflushed")
)
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


@pytest.mark.parametrize("act", ["write", "forget"])
@pytest.mark.parametrize("place", [*PLACES, *INSIDE])
def test_a_link_to_what_does_not_exist_makes_nothing(tmp_path: Path, place: str, act: str) -> None:
    folder = tmp_path / "memory"
    with Memory(LocalStorage(folder)) as memory:
        memory.write("The weir was built in 1961.")
    there = folder / ".metadata" / place
    shutil.rmtree(there) if there.is_dir() else there.unlink(missing_ok=True)
    there.symlink_to(tmp_path / "victim")
    with Memory(LocalStorage(folder)) as memory, pytest.raises(StorageError, match="symbolic link"):
        ACTS[act](memory)
    assert not (tmp_path / "victim").exists()


@pytest.mark.parametrize("act", ["write", "forget"])
@pytest.mark.parametrize("name", [".git", "commondir", "objects/info/alternates"])
def test_a_file_that_names_another_repository_leads_nowhere(tmp_path: Path, name: str, act: str) -> None:
    folder, victim = memory_and_repository(tmp_path)
    before = tree_of(victim)
    named = folder / ".metadata" / "history.git" / name
    named.parent.mkdir(exist_ok=True)
    told = victim / "objects" if name.endswith("alternates") else victim
    named.write_text(f"{'gitdir: ' * (name == '.git')}{told}\n")
    with Memory(LocalStorage(folder)) as memory, pytest.raises(StorageError, match="names another repository"):
        ACTS[act](memory)
    assert tree_of(victim) == before


def test_what_the_settings_of_the_history_call_its_worktree_is_left_alone(tmp_path: Path) -> None:
    folder, victim = memory_and_repository(tmp_path)
    before = tree_of(victim)
    settings = folder / ".metadata" / "history.git" / "config"
    settings.write_text(
        settings.read_text().replace("bare = true", "bare = false") + f"[core]\n\tworktree = {victim}\n"
    )
    with Memory(LocalStorage(folder)) as memory:
        assert [step.name for step in memory.forget("1961", apply=True).of("redact")] == ["memory"]
        past = memory.storage.history
        assert not any(b"1961" in data for one in past.revisions() for data in past.pages(one.id).values())
    assert tree_of(victim) == before


def memory_and_repository(folder: Path) -> tuple[Path, Path]:
    """A memory, and another repository, of whose refs and packs git would take those of the memory's."""
    for name in ("memory", "other"):
        with Memory(LocalStorage(folder / name)) as memory:
            memory.write("The weir was built in 1961.")
            memory.pack_history()
    return folder / "memory", folder / "other" / ".metadata" / "history.git"


def test_a_trace_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    with Memory(LocalStorage(tmp_path / "memory")) as memory:
        memory.write("The weir was built in 1961.")
        [name] = memory.traces()
        kept = tmp_path / "memory" / ".metadata" / "traces" / f"{name}.jsonl"
        kept.rename(tmp_path / "elsewhere")
        kept.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(StorageError, match="cannot read the trace"):
            memory.trace(name)


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
    (project / name).unlink()
    (project / ".git").mkdir()
    (project / name).symlink_to("../.git" if "/" in name else ".git")
    with pytest.raises(InvalidSetting, match="symbolic link"):
        project_memory(project)
