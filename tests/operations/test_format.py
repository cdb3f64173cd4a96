"""A store in an older format is brought up to date with a way back; one in a newer format is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from memory_v2.cli.app import silica
from memory_v2.errors import InvalidPath, NotAllowed, StorageError
from memory_v2.memory import Memory
from memory_v2.storage.base import version_of
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


def test_an_older_store_is_brought_up_to_date_by_the_first_change_and_can_be_had_back(folder: Path) -> None:
    note(folder).unlink()
    before = {name: data for name, data in files(folder).items() if name.endswith(".md")}
    with open_memory(folder) as memory:
        memory.write("Faro is on the sea.")
        assert json.loads(note(folder).read_text()) == {"format": FORMAT}
        as_it_was = memory.history()[1]
        assert as_it_was.first.kind == "write"
        memory.restore(as_it_was.id)
    assert {name: data for name, data in files(folder).items() if name.endswith(".md")} == before


def test_a_folder_of_notes_is_an_older_store_too(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_bytes(b"# Mine\r\n\r\nSee [[notes]].\r\n")
    (tmp_path / "notes.md").write_bytes(b"Not a title\n")
    before = files(tmp_path)
    with open_memory(tmp_path) as memory:
        memory.write("Faro is on the sea.", "towns")
        memory.restore(memory.history()[-1].id)
    assert {name: data for name, data in files(tmp_path).items() if name.endswith(".md")} == before
    assert json.loads(note(tmp_path).read_text()) == {"format": FORMAT}


def test_only_looking_at_an_older_store_does_not_bring_it_up_to_date(folder: Path) -> None:
    note(folder).unlink()
    with open_memory(folder) as memory:
        memory.search("Lisbon")
        memory.history()
        assert memory.check() == []
    assert not note(folder).exists()


# format 2: pages first, with a journal of the change that is being stored


def as_format_2(folder: Path) -> None:
    """Makes the store what the version before would have left: without a note of what is checked out."""
    note(folder).write_text(json.dumps({"format": 2}))
    (folder / ".metadata" / "history.git" / "refs" / "silica" / "checked-out").unlink()


def journal(folder: Path) -> Path:
    return folder / ".metadata" / "journal.json"


def a_change(operation: str = "1f3a", **other: object) -> bytes:
    """A change as format 2 noted it."""
    entry: dict[str, object] = dict.fromkeys(("decided_by", "degraded", "undoes"), "")
    entry |= {"kind": "rename", "summary": "notes", "operation": operation, "why": []}
    entry["when"] = "2026-03-01T09:30:00+00:00"
    return json.dumps({"pages": [], "entry": entry, "overgrown": [], **other}).encode()


def a_page(folder: Path, path: str, after: str | None) -> dict[str, object]:
    file = folder / f"{path}.md"
    return {"path": path, "before": version_of(file.read_bytes()) if file.exists() else "", "after": after}


def pages(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in files(folder).items() if name.endswith(".md")}


def test_a_store_of_format_2_is_brought_up_to_date_and_can_be_undone_to_its_first_operation(folder: Path) -> None:
    as_format_2(folder)
    before = pages(folder)
    with open_memory(folder) as memory:
        assert memory.recover() == []
        memory.write("Faro is on the sea.")
        assert json.loads(note(folder).read_text()) == {"format": FORMAT}
        memory.undo()
        assert pages(folder) == before
        memory.undo()
        memory.undo()
        with pytest.raises(NotAllowed, match="nothing to undo"):
            memory.undo()
    assert pages(folder) == {}


@pytest.mark.parametrize("stored", [0, 1, 2])
def test_a_change_that_format_2_did_not_complete_is_completed(folder: Path, stored: int) -> None:
    root = (folder / "memory.md").read_text()
    steps = [("towns", (folder / "notes.md").read_text()), ("memory", root.replace("notes", "towns")), ("notes", None)]
    noted = [a_page(folder, path, after) for path, after in steps]
    as_format_2(folder)
    journal(folder).write_bytes(a_change(pages=noted))
    for path, after in steps[:stored]:
        (folder / f"{path}.md").write_text(after or "")
    with open_memory(folder) as memory:
        (done,) = memory.recover()
        assert str(done).startswith("a rename of 2026-03-01 09:30 UTC was interrupted; it is done now: ")
        assert memory.check() == []
        assert "Porto" in memory.read("towns")
        assert memory.history()[0].first.kind == "rename"
        memory.undo()
        assert "Porto" in memory.read("notes")
    assert not journal(folder).exists()


@pytest.mark.parametrize(
    "noted",
    [b"", b"{", b"[]", b'{"pages": []}', b"\xff\xfe", b"[" * 200_000]
    + [a_change(operation=name) for name in ("../../../victim", "a/b", "a\0b", "a" * 300, "", "ä", ".", "CON.")]
    + [
        a_change(pages=[{"path": path, "before": "", "after": after}])
        for path, after in (("../x", "x"), (".metadata/x", "x"), ("x", 5), ("x", [1]), (7, "x"))
    ],
    ids=range(19),
)
def test_a_journal_that_cannot_be_read_is_kept_aside_and_blocks_nobody(
    folder: Path, noted: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    victim = folder.parent / "victim.json"
    victim.write_text("precious")
    as_format_2(folder)
    journal(folder).write_bytes(noted)
    before = pages(folder)
    with open_memory(folder) as memory:
        assert memory.check() == []
        assert pages(folder) == before
        memory.write("Faro is on the sea.")
        assert memory.check() == []
    assert (folder / ".metadata" / "journal-damaged.json").read_bytes() == noted
    assert "journal" in caplog.text
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("verb", VERBS)
def test_a_newer_store_is_refused_whatever_is_asked_and_nothing_is_touched(folder: Path, verb: str) -> None:
    note(folder).write_text(json.dumps({"format": FORMAT + 1, "more": "than we know"}))
    before = files(folder)
    with open_memory(folder) as memory, pytest.raises(StorageError, match="install a newer version"):
        VERBS[verb](memory)
    assert files(folder) == before


def test_who_has_it_open_when_a_newer_program_takes_over_changes_nothing_any_more(folder: Path) -> None:
    with open_memory(folder) as memory:
        memory.search("Lisbon")
        note(folder).write_text(json.dumps({"format": FORMAT + 1}))
        before = files(folder, DERIVED)
        with pytest.raises(StorageError, match="install a newer version"):
            memory.write("Faro is on the sea.")
        with pytest.raises(StorageError, match="install a newer version"):
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
        f"silica: this memory is in format {FORMAT + 1}, and this version of the program knows {FORMAT} and older "
        "ones: install a newer version of silica-memory\n"
    )


# format 5: the folder `entries` is not the tree's


def as_format_3(folder: Path) -> None:
    note(folder).write_text(json.dumps({"format": 3}))


def test_pages_whose_paths_are_those_of_entries_keep_their_text_under_others_and_links_follow(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    as_format_3(folder)
    vault = folder / "entries" / "agents" / "hawk" / "memory" / "vault"
    vault.mkdir(parents=True)
    (vault / "obs-2026-02-15-001.md").write_text("CTR dropped.\n")
    (folder / "entries.md").write_text("# Entries\n\nOf the race, see [[entries/boats]].\n")
    (folder / "entries" / "boats.md").write_text("# Boats\n\nNine of them.\n")
    root = folder / "memory.md"
    root.write_text(root.read_text().replace("## Links\n", "## Links\n\n- [[entries]] - who races\n"))
    with open_memory(folder) as memory:
        memory.write("Faro is on the sea.")
        assert memory.check() == []
        assert "see [[entries-pages/boats]]" in memory.read("entries-pages")
        assert "Nine of them" in memory.read("entries-pages/boats")
        assert "[[entries-pages]] - who races" in memory.read()
        assert [one.first.kind for one in memory.history()[:4]] == ["capture", "write", "rename", "outside"]
    assert "'entries' is 'entries-pages' now" in caplog.text
    assert json.loads(note(folder).read_text()) == {"format": FORMAT}
    assert (vault / "obs-2026-02-15-001.md").read_text() == "CTR dropped.\n"
    assert not (folder / "entries.md").exists()


def test_a_change_that_was_cut_short_in_format_3_is_completed_before_the_store_comes_into_this_one(
    folder: Path,
) -> None:
    with open_memory(folder) as memory:
        before = memory.storage.history.head
        memory.write("Faro is on the sea.", "towns")
    as_format_3(folder)
    (folder / ".metadata" / "history.git" / "refs" / "silica" / "checked-out").write_text(f"{before}\n")
    (folder / "towns.md").unlink()
    with open_memory(folder) as memory:
        memory.write("Braga is in the north.", "notes")
        assert "Faro" in memory.read("towns")
        assert memory.check() == []


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
