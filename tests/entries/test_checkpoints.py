"""A checkpoint holds all pages and entries to the byte: one can go back to it, export it, and load it elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_v2 import InvalidSetting, InvalidText, Memory, NotAllowed, StorageError, UsageError
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.s3.storage import S3Storage
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.path import ENTRIES
from tests.properties.whole import clock
from tests.storage.s3_server import HOST, new_bucket, server

pytestmark = pytest.mark.allow_hosts([HOST])

ODD = "---\nconfidence: much\nown key:   [ 1,2 ]\n---\nodd \udcff bytes\r\n"


@pytest.fixture(params=["local", "volatile", "s3"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """A memory with pages and entries on each storage."""
    with new_bucket() as bucket:
        storage: MemoryStorage = VolatileStorage(clock)
        if request.param == "local":
            storage = LocalStorage(tmp_path / "memory")
        elif request.param == "s3":
            storage = S3Storage(bucket, "m", endpoint=server(), cache=tmp_path / "cache")
        with Memory(storage, now=clock) as opened:
            opened.write("Silica uses pytest.", "projects/silica")
            opened.entries.capture("CTR fell by 12%.", "hawk")
            odd = "entries/agents/hawk/memory/vault/obs-2026-02-01-001"
            storage.write(odd, ODD.encode("utf-8", "surrogateescape"))
            yield opened


def stored(memory: Memory) -> dict[str, bytes]:
    storage = memory.storage
    paths = [*storage.list_files(), *(stamp.path for stamp in storage.stamps(ENTRIES))]
    return {path: storage.read(path).data for path in paths}


def go_on(memory: Memory) -> None:
    """Everything that can happen to a memory."""
    memory.write("The boat is blue.", "boat")
    memory.delete("projects/silica")
    memory.entries.capture("The build takes nine minutes.", "raven")
    memory.storage.delete("entries/agents/hawk/memory/vault/obs-2026-02-01-001")
    memory.entries.set_domains('[garden]\nkeywords = ["leek"]\n')


def test_a_memory_goes_back_to_a_checkpoint_and_undo_comes_back_again(memory: Memory) -> None:
    then = stored(memory)
    made = memory.checkpoints.create_checkpoint("before")
    go_on(memory)
    now = stored(memory)
    assert [one.name for one in memory.checkpoints.list_checkpoints()] == ["before"]
    shown = memory.checkpoints.show_checkpoint("before")
    assert (shown.checkpoint, shown.pages, shown.entries) == (made, 2, 2)
    assert shown.size_bytes == sum(map(len, then.values()))
    result = memory.checkpoints.restore_checkpoint("before")
    assert set(shown.changed) == set(result.changed_pages)
    assert stored(memory) == then
    assert not memory.checkpoints.show_checkpoint("before").changed
    assert not memory.checkpoints.restore_checkpoint("before").changed_pages
    memory.undo(result.revision)
    assert stored(memory) == now


def test_a_checkpoint_is_loaded_into_an_empty_memory_to_the_byte(memory: Memory, tmp_path: Path) -> None:
    memory.checkpoints.create_checkpoint("before")
    exported = memory.checkpoints.export_checkpoint("before", tmp_path / "backup.jsonl")
    assert exported.size_bytes == (tmp_path / "backup.jsonl").stat().st_size
    with Memory(LocalStorage(tmp_path / "other"), now=clock) as other:
        other.checkpoints.load_checkpoint(tmp_path / "backup.jsonl")
        assert stored(other) == stored(memory)
        assert other.entries.capture("CTR fell by 12%.", "hawk").was_known
        other.undo()
        assert stored(other) == {}


def test_a_checkpoint_is_loaded_over_what_is_there_and_undo_takes_it_back(memory: Memory, tmp_path: Path) -> None:
    then = stored(memory)
    memory.checkpoints.create_checkpoint("before")
    memory.checkpoints.export_checkpoint("before", tmp_path / "backup.jsonl")
    go_on(memory)
    now = stored(memory)
    result = memory.checkpoints.load_checkpoint(tmp_path / "backup.jsonl")
    assert (stored(memory), len(result.revisions)) == (then, 1)
    memory.undo()
    assert stored(memory) == now


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a checkpoint with a page and an entry."""
    with Memory(VolatileStorage(clock), now=clock) as memory:
        memory.write("The boat is blue.", "memory")
        memory.entries.capture("CTR fell by 12%.", "hawk")
        memory.checkpoints.create_checkpoint("one")
        memory.checkpoints.export_checkpoint("one", tmp_path / "one.jsonl")
    return tmp_path / "one.jsonl"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b"12%", b"13%", "checksum"),
        (b'"text"', b'"test"', "checksum"),
        (b'checkpoint": 1', b'checkpoint": 2', "version 2"),
        (b"silica_checkpoint", b"something", "no checkpoint"),
        (b"{", b"", "no checkpoint"),
    ],
)
def test_a_file_that_is_not_as_it_was_exported_is_refused(file: Path, old: bytes, new: bytes, why: str) -> None:
    file.write_bytes(file.read_bytes().replace(old, new, 1))
    refused(file, why)


@pytest.mark.parametrize(
    "path",
    [
        "../outside",
        "/etc/passwd",
        ".metadata/format",
        "entries/agents/hawk/x",
        "ENTRIES/a",
        "con",
        "memory",
        "Memory",
        7,
    ],
)
def test_a_path_that_is_none_is_refused_whatever_the_checksum_says(file: Path, path: object) -> None:
    from hashlib import sha256

    first, *lines = file.read_bytes().splitlines(keepends=True)
    lines.append(json.dumps({"path": path, "text": "x"}).encode() + b"\n")
    head = json.loads(first) | {"sha256": sha256(b"".join(lines)).hexdigest()}
    file.write_bytes(json.dumps(head).encode() + b"\n" + b"".join(lines))
    refused(file, "one.jsonl:4: ")


@pytest.mark.parametrize("cut", [0, 1, 100, -1])
def test_a_file_that_was_cut_is_refused(file: Path, cut: int) -> None:
    file.write_bytes(file.read_bytes()[:cut])
    refused(file, "damaged|no checkpoint")


def refused(file: Path, why: str) -> None:
    memory = Memory(VolatileStorage(clock), now=clock)
    memory.write("What is here stays.")
    before = stored(memory)
    with pytest.raises(InvalidText, match=why):
        memory.checkpoints.load_checkpoint(file)
    assert (stored(memory), len(memory.history())) == (before, 1)


def test_names_are_told_apart_and_taken_once() -> None:
    memory = Memory(VolatileStorage(clock), now=clock)
    with pytest.raises(NotAllowed, match="empty"):
        memory.checkpoints.create_checkpoint("one")
    memory.write("The boat is blue.")
    memory.checkpoints.create_checkpoint("one")
    memory.checkpoints.create_checkpoint("März_2")
    with pytest.raises(NotAllowed, match="already"):
        memory.checkpoints.create_checkpoint("one")
    for wrong in ("", "a b", "a/b", "x" * 65, "-one", "a\nb"):
        with pytest.raises(InvalidSetting):
            memory.checkpoints.create_checkpoint(wrong)
    with pytest.raises(NotAllowed, match="there are: März_2, one"):
        memory.checkpoints.show_checkpoint("two")


def test_a_checkpoint_holds_what_was_edited_by_hand(tmp_path: Path) -> None:
    with Memory(LocalStorage(tmp_path / "memory"), now=clock) as memory:
        captured = memory.entries.capture("CTR fell by 12%.", "hawk")
        file = tmp_path / "memory" / f"{memory.entries.store.find(captured.id).path}.md"
        file.write_text(file.read_text() + "By hand.\n")
        memory.write("The boat is blue.")
        (tmp_path / "memory" / "memory.md").write_text("# By hand\n")
        then = stored(memory)
        memory.checkpoints.create_checkpoint("one")
        memory.write("The boat is green.", mode="replace")
        file.unlink()
        memory.checkpoints.restore_checkpoint("one")
        assert stored(memory) == then


def test_a_checkpoint_follows_when_something_is_forgotten(tmp_path: Path) -> None:
    with Memory(LocalStorage(tmp_path / "memory"), now=clock) as memory:
        memory.write("The code is KX-4711.", "memory")
        memory.checkpoints.create_checkpoint("one")
        memory.forget("KX-4711", apply=True)
        memory.checkpoints.export_checkpoint("one", tmp_path / "one.jsonl")
        assert b"KX-4711" not in (tmp_path / "one.jsonl").read_bytes()
        memory.checkpoints.restore_checkpoint("one")
        assert "KX-4711" not in memory.read()


def test_an_export_replaces_nothing_unasked_and_is_whole_or_not_there(file: Path, tmp_path: Path) -> None:
    memory = Memory(VolatileStorage(clock), now=clock)
    memory.write("The boat is blue.")
    memory.checkpoints.create_checkpoint("one")
    before = file.read_bytes()
    with pytest.raises(UsageError, match="--force"):
        memory.checkpoints.export_checkpoint("one", file)
    assert file.read_bytes() == before
    memory.checkpoints.export_checkpoint("one", file, force=True)
    assert file.read_bytes() != before
    with pytest.raises(UsageError, match="name another file"):
        memory.checkpoints.export_checkpoint("one", tmp_path, force=True)
    with pytest.raises(StorageError):
        memory.checkpoints.export_checkpoint("one", file / "below")


@pytest.mark.parametrize("name", ["\ud800", "a\0b", "a" * 5_000])
def test_a_name_that_no_file_can_have_is_refused(name: str) -> None:
    memory = Memory(VolatileStorage(clock))
    memory.write("The heron is back.")
    memory.checkpoints.create_checkpoint("now")
    for act in (
        lambda: memory.checkpoints.export_checkpoint("now", name),
        lambda: memory.checkpoints.load_checkpoint(name),
    ):
        with pytest.raises((UsageError, StorageError), match="cannot"):
            act()
