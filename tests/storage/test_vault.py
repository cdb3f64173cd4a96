"""A memory that is somebody's Obsidian vault; paths that are reserved, and names for Windows."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from memory_v2.errors import PageExists, StorageConflict
from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.tree.path import is_page_path
from tests.cli.program import Program
from tests.storage.vault import DERIVED, NOTES, VAULT, foreign, newest, pages, state

# A vault


def test_whatever_is_done_to_the_pages_of_a_vault_its_other_files_stay_as_they_are(vault: Program) -> None:
    before = foreign(vault.folder)
    assert len(before) == len(VAULT)
    vault.done("check", "--apply")
    begun = newest(vault)
    for verb in (
        ("write", "Bob sweeps the mill"),
        ("write", "--to", "drawings/new/boat", "A boat with two masts"),
        ("split", "mill"),
        ("rename", "mill", "work/mill"),
        ("merge", "people/ada"),
        ("delete", "people", "--yes"),
        ("undo", "--yes"),
        ("restore", begun, "mill"),
        ("restore", begun, "--yes"),
        ("check", "--apply"),
        ("gc",),
    ):
        vault.done(*verb)
        assert foreign(vault.folder) == before, verb
    assert pages(vault) == sorted(f"{path}.md" for path in NOTES)


def test_what_is_hidden_is_never_listed_searched_or_shown(vault: Program) -> None:
    vault.done("write", "Bob sweeps the mill")
    for place in (".metadata", ".metadata/traces", ".metadata/deep/er"):
        (vault.folder / place).mkdir(parents=True, exist_ok=True)
        (vault.folder / place / "x.md").write_text("# X\n\nxylophone\n")
    assert vault.quick("search", "xylophone").text == ""
    listed = {page["path"] for page in vault.quick("ls", "--json").json["pages"]}
    assert listed == NOTES.keys()
    for verb in ("ls", "tree", "graph", "check"):
        shown = vault.done(verb)
        assert not any(hidden in shown for hidden in ("xylophone", ".metadata", ".obsidian", ".trash", ".git", ".hid"))


def test_a_folder_goes_with_its_last_page_and_stays_with_anything_else(vault: Program) -> None:
    vault.done("rename", "people", "folk")
    assert sorted(place.name for place in (vault.folder / "people").iterdir()) == [".hidden.md", "ada.jpg"]
    vault.done("rename", "templates/daily", "daily")
    assert not (vault.folder / "templates").exists()
    assert (vault.folder / "drawings" / "new").is_dir()


def test_a_write_that_fails_leaves_an_empty_folder_of_somebody_elses(vault: Program) -> None:
    storage = LocalStorage(vault.folder)
    for path in ("drawings/new/boat", "drawings/new/more/boat"):
        with pytest.raises(StorageConflict):
            storage.write(path, b"x", "a version that was never there")
    assert [place.name for place in (vault.folder / "drawings").rglob("*")] == ["new"]


# Reserved paths


RESERVED = (
    *(".metadata/x", ".METADATA/x", ".metadata", "./.metadata/x", "mill/../.metadata/x", "\u200b.metadata/x"),
    *(".git/description", ".obsidian/x", ".trash/thrown", "people/.hidden", ".metadata\\x", "/x", "..", "x/"),
)


@pytest.mark.parametrize("path", RESERVED)
def test_a_path_that_is_reserved_is_refused_by_every_verb(vault: Program, path: str) -> None:
    vault.done("write", "Bob sweeps the mill")
    (vault.folder / ".metadata" / "x.md").write_text("secret")
    begun, before = newest(vault), state(vault.folder, *DERIVED)
    for verb in (
        ("read", path),
        ("write", "--to", path, "secret"),
        ("write", "--to", path, "--mode", "append", "secret"),
        ("split", path),
        ("merge", path),
        ("rename", path, "x"),
        ("rename", "people", path),
        ("delete", path, "--yes"),
        ("history", path),
        ("blame", path),
        ("restore", begun, path),
    ):
        ended = vault.quick(*verb)
        assert (ended.code, ended.text) == (2, ""), verb
    assert state(vault.folder, *DERIVED) == before


# Windows


def test_whatever_the_program_names_can_be_named_so_on_windows(vault: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(vault.folder / ".git")
    (vault.folder / "what?.md").unlink()
    made: set[str] = set()

    def note(name: str) -> None:
        real = getattr(os, name)

        def call(place: Any, *args: Any, **more: Any) -> Any:
            if not isinstance(place, int) and Path(os.fsdecode(place)).is_relative_to(vault.folder):
                made.add(str(Path(os.fsdecode(place)).relative_to(vault.folder)))
            return real(place, *args, **more)

        monkeypatch.setattr(os, name, call)

    for name in ("open", "mkdir", "replace", "rename"):
        note(name)
    vault.done("write", "Bob: sweeps <the> mill?")
    vault.done("split", "mill")
    vault.done("search", 'who "sweeps" | the mill?')
    vault.done("undo", "--yes")
    vault.done("gc")
    monkeypatch.undo()
    made |= {str(place.relative_to(vault.folder)) for place in vault.folder.rglob("*")}
    parts = {part for name in made for part in Path(name).parts}
    assert any(part.endswith(".tmp") for part in parts)
    assert any(part.endswith(".jsonl") for part in parts)
    assert [part for part in parts if not is_page_path(part.removeprefix(".").removesuffix(".md") or "x")] == []
    assert len({name.casefold() for name in made}) == len(made)
    with pytest.raises(PageExists):
        Memory(LocalStorage(vault.folder)).rename("people", "MILL")
