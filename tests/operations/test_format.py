"""A store without a format gets one with its first change; one in another format is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from memory_v2.cli.app import silica
from memory_v2.errors import InvalidPath, StorageError
from memory_v2.memory import Memory
from memory_v2.storage.format import FORMAT
from memory_v2.storage.local.storage import LocalStorage
from tests.properties.whole import clock

VERBS: dict[str, Callable[[Memory], object]] = {
    "read": lambda memory: memory.read(),
    "write": lambda memory: memory.write("Faro is on the sea."),
    "search": lambda memory: memory.search("Lisbon"),
    "list_files": lambda memory: memory.list_files(),
    "graph": lambda memory: memory.graph(),
    "split": lambda memory: memory.split(),
    "delete": lambda memory: memory.delete("notes"),
    "check": lambda memory: memory.check(),
    "history": lambda memory: memory.history(),
    "blame": lambda memory: memory.blame(),
    "undo": lambda memory: memory.undo(),
    "pack_history": lambda memory: memory.pack_history(),
    "traces": lambda memory: memory.traces(),
    "replay": lambda memory: memory.replay(),
}


DERIVED = (".metadata/index.sqlite", ".metadata/traces/")


def open_memory(folder: Path) -> Memory:
    return Memory(LocalStorage(folder), now=clock)


def note(folder: Path) -> Path:
    return folder / ".metadata" / "format.json"


def files(folder: Path, besides: tuple[str, ...] = ()) -> dict[str, bytes]:
    found = {str(file.relative_to(folder)): file for file in sorted(folder.rglob("*")) if file.is_file()}
    return {name: file.read_bytes() for name, file in found.items() if not name.startswith(besides or ("\0",))}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory of this format."""
    with open_memory(tmp_path) as memory:
        memory.write("Lisbon is on the Tagus.")
        memory.write("Porto is on the Douro.", "notes")
    return tmp_path


def test_a_new_store_says_in_which_format_it_is(folder: Path) -> None:
    assert json.loads(note(folder).read_text()) == {"format": FORMAT}


def test_a_folder_of_pages_becomes_a_store_and_can_be_had_back(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_bytes(b"# Mine\r\n\r\nSee [[notes]].\r\n")
    (tmp_path / "notes.md").write_bytes(b"Not a title\n")
    before = files(tmp_path)
    with open_memory(tmp_path) as memory:
        memory.write("Faro is on the sea.", "towns")
        memory.restore(memory.history()[-1].id)
    assert {name: data for name, data in files(tmp_path).items() if name.endswith(".md")} == before
    assert json.loads(note(tmp_path).read_text()) == {"format": FORMAT}


def pages(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in files(folder).items() if name.endswith(".md")}


@pytest.mark.parametrize("number", [0, FORMAT + 1])
@pytest.mark.parametrize("verb", VERBS)
def test_another_format_is_refused_whatever_is_asked_and_nothing_is_touched(
    folder: Path, verb: str, number: int
) -> None:
    note(folder).write_text(json.dumps({"format": number, "more": "than we know"}))
    before = files(folder)
    with open_memory(folder) as memory, pytest.raises(StorageError, match="use the version"):
        VERBS[verb](memory)
    assert files(folder) == before


def test_who_has_it_open_when_another_version_takes_over_changes_nothing_any_more(folder: Path) -> None:
    with open_memory(folder) as memory:
        memory.search("Lisbon")
        note(folder).write_text(json.dumps({"format": FORMAT + 1}))
        before = files(folder, DERIVED)
        with pytest.raises(StorageError, match="use the version"):
            memory.write("Faro is on the sea.")
        with pytest.raises(StorageError, match="use the version"):
            memory.delete("notes")
    assert files(folder, DERIVED) == before


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"format": "2"}', b'{"format": null}', b"\xff"])
def test_a_format_that_cannot_be_read_is_told_with_what_to_do(folder: Path, data: bytes) -> None:
    note(folder).write_bytes(data)
    with open_memory(folder) as memory, pytest.raises(StorageError, match=r"format.json.*cannot be read"):
        memory.write("Faro is on the sea.")
    note(folder).write_text(json.dumps({"format": FORMAT}))
    assert "Faro" not in open_memory(folder).read()


def test_the_command_line_says_it_in_a_sentence(folder: Path) -> None:
    note(folder).write_text(json.dumps({"format": FORMAT + 1}))
    ended = CliRunner().invoke(silica, ["memory", "--path", str(folder), "read"])
    assert ended.exit_code == 4
    assert ended.stderr == (
        f"silica: this memory is in format {FORMAT + 1}, and this version of the program knows format {FORMAT} only: "
        "use the version of silica-memory that made it\n"
    )


@pytest.mark.parametrize("path", ["entries", "Entries", "entries/agents/hawk/memory/vault/obs-2026-02-15-001"])
def test_no_page_gets_a_path_that_is_kept_for_entries(folder: Path, path: str) -> None:
    acts: list[Callable[[Memory], object]] = [
        lambda memory: memory.write("Faro is on the sea.", path),
        lambda memory: memory.create(path, "Faro is on the sea."),
        lambda memory: memory.rename("notes", path),
        lambda memory: memory.rename_folder("notes", path),
    ]
    with open_memory(folder) as memory:
        before = pages(folder)
        for act in acts:
            with pytest.raises(InvalidPath, match="kept for the entries"):
                act(memory)
        assert pages(folder) == before
