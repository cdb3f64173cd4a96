"""What was asked for is noted before anybody is asked, and what an interrupted run leaves is finished just once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

from memory_v2.errors import StorageError
from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Reply
from memory_v2.models.scripted import ScriptedModel
from memory_v2.storage.base import ANY, PENDING, Expected, MemoryStorage
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.overlay import MemoryState
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import Block
from memory_v2.validate import checked_blocks
from tests.operations.scenes import SMALL, body, call, calls, offline
from tests.properties.whole import clock, faults, missing, pages_of

LONG = "".join(f"- Fact {n} of the harbour is paid by Ines in Porto.\n" for n in range(60))


class Dead(BaseException):
    """The process is gone: nothing that would follow happens."""


class DyingNotes(MemoryState):
    """Notes of a process that dies: from then on it changes nothing."""

    is_dead = False

    def write(self, name: str, data: bytes) -> None:
        if self.is_dead:
            raise Dead
        super().write(name, data)

    def remove(self, name: str) -> None:
        if self.is_dead:
            raise Dead
        super().remove(name)


def dying(storage: VolatileStorage) -> Memory:
    """A memory whose process dies as soon as its model is asked."""
    notes = DyingNotes()
    storage.state = notes

    def die(_: Conversation) -> NoReturn:
        notes.is_dead = True
        raise Dead

    return Memory(storage, ScriptedModel(die), now=clock)


def crashed(text: str, path: str | None = None, before: str = "", **said: str) -> VolatileStorage:
    """A storage on which somebody was killed while a model thought about a text."""
    storage = VolatileStorage(clock)
    if before:
        offline(storage=storage).write(before, path)
    with pytest.raises(Dead):
        dying(storage).write(text, path, source=said.get("source"), date=said.get("date"))
    notes = MemoryState()
    for name in storage.state.names(PENDING):
        notes.write(name, storage.state.read(name) or b"")
    storage.state = notes
    return storage


def left(storage: MemoryStorage) -> list[str]:
    return storage.state.names(PENDING)


def test_a_text_is_noted_before_the_model_is_asked_and_not_any_more_when_it_is_written() -> None:
    storage = VolatileStorage(clock)
    noted: list[bytes | None] = []

    def look(_: Conversation) -> Reply:
        noted.extend(storage.state.read(name) for name in storage.state.names(PENDING))
        return calls(call("place", blocks=["n1"], page="memory"))

    Memory(storage, ScriptedModel(look), now=clock).write("Porto is on the Douro.")
    assert b"Porto is on the Douro." in (noted[0] or b"")
    assert left(storage) == []


@pytest.mark.parametrize("path", [None, "notes/porto"])
def test_a_text_whose_process_was_killed_is_written_by_whoever_comes_next_just_once(path: str | None) -> None:
    storage = crashed("Porto is on the Douro.", path)
    assert len(left(storage)) == 1
    memory = offline(storage=storage)
    assert "Porto is on the Douro." in memory.read(path or "memory")
    assert [str(one).partition("interrupted; ")[2] for one in memory.recover()] == [
        f"it is done now: {path or 'memory'}: Porto is on the Douro."
    ]
    assert memory.history()[0].first.degraded == "it was interrupted, and finished later"
    assert left(storage) == []
    again = offline(storage=storage)
    assert sum(page.body.count("Porto is on the Douro.") for page in pages_of(storage).values()) == 1
    assert again.recover() == []
    assert [one.first.kind for one in again.history()] == ["write"]


def test_a_text_on_which_somebody_is_still_at_work_is_left_alone() -> None:
    storage = crashed("Porto is on the Douro.", before="Lisbon is on the Tagus.")
    with storage.state.claim(left(storage)[0]):
        assert "Porto" not in offline(storage=storage).read()
        assert "unfinished" not in {finding.kind for finding in offline(storage=storage).check()}
    assert "Porto" in offline(storage=storage).read()


def test_a_writer_that_was_taken_for_dead_does_not_write_a_second_time() -> None:
    storage = VolatileStorage(clock)
    offline(storage=storage).write("Lisbon is on the Tagus.")

    def finish_it_meanwhile(_: Conversation) -> Reply:
        storage.state, claimed = MemoryState(), storage.state
        for name in claimed.names(PENDING):
            storage.state.write(name, claimed.read(name) or b"")
        assert "Porto" in offline(storage=storage).read()
        return calls(call("place", blocks=["n1"], page="memory"))

    with pytest.raises(StorageError, match="do not write it again"):
        Memory(storage, ScriptedModel(finish_it_meanwhile), now=clock).write("Porto is on the Douro.")
    assert body(offline(storage=storage)).count("Porto is on the Douro.") == 1


def test_a_write_that_is_stopped_by_hand_leaves_nothing_to_be_done() -> None:
    storage = VolatileStorage(clock)

    def stop(_: Conversation) -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Memory(storage, ScriptedModel(stop), now=clock).write("Porto is on the Douro.")
    assert left(storage) == []
    assert storage.list_files() == []


def test_what_others_wrote_meanwhile_is_not_replaced_by_what_came_before_it() -> None:
    storage = crashed("Words of the one who died.", "notes", before="Old words.")
    note = left(storage)[0]
    noted = json.loads(storage.state.read(note) or b"") | {"mode": "replace"}
    noted["over"] = storage.read("notes").version
    storage.state.remove(note)
    offline(storage=storage).write("Words of somebody else.", "notes", "replace")
    storage.state.write(note, json.dumps(noted).encode())
    text = offline(storage=storage).read("notes")
    assert "Words of somebody else." in text
    assert "Words of the one who died." in text


def test_a_page_that_a_killed_write_left_too_large_is_split_by_whoever_comes_next() -> None:
    storage = VolatileStorage(clock)
    memory = offline(SMALL, storage)

    def die_at_the_split(_: Conversation) -> Reply:
        if storage.list_files():
            raise KeyboardInterrupt
        return calls(call("place", blocks=["n1-n60"], page="memory"))

    with pytest.raises(KeyboardInterrupt):
        Memory(storage, ScriptedModel(die_at_the_split), threshold=SMALL, now=clock).write(LONG)
    assert faults(pages_of(storage), SMALL) != []
    assert len(left(storage)) == 1
    assert memory.check() == []
    assert faults(pages_of(storage), SMALL) == []
    assert left(storage) == []


NOTE = {"text": "x", "path": None, "mode": "update", "since": "2026-05-04T10:00:00+00:00", "over": "", "head": ""}
NOTE |= {"source": "", "date": ""}


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b'{"text": 1}',
        b"\xff\xfe",
        b'{"unsettled": ["../x"]}',
        b'{"unsettled": "x"}',
        *(
            json.dumps(NOTE | wrong).encode()
            for wrong in (
                {"text": None},
                {"path": "../x"},
                {"path": 1},
                {"mode": "erase"},
                {"since": "soon"},
                {"since": "2026-05-04T10:00:00"},
                {"over": None},
                {"head": 1},
            )
        ),
    ],
)
def test_a_note_that_cannot_be_read_is_told_and_keeps_nobody_from_anything(damage: bytes) -> None:
    storage = crashed("Porto is on the Douro.", before="Lisbon is on the Tagus.")
    name = left(storage)[0]
    storage.state.write(name, damage)
    memory = offline(storage=storage)
    memory.write("Faro is on the sea.")
    assert "Faro" in memory.read()
    found = [finding for finding in memory.check() if finding.kind == "unfinished"]
    assert [finding.path for finding in found] == [f".metadata/{name}.json"]
    assert storage.state.read(name) == damage


def test_the_lock_of_a_note_is_free_when_its_holder_is_gone_and_leaves_no_file(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    with storage.state.claim("pending/1f") as mine, storage.state.claim("pending/1f") as other:
        assert (mine, other) == (True, False)
    with storage.state.claim("pending/1f") as mine:
        assert mine
    assert list((tmp_path / ".metadata" / "pending").iterdir()) == []


def test_a_page_for_whose_split_there_was_no_room_is_split_when_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = VolatileStorage(clock)
    memory = offline(SMALL, storage)
    real_write = storage.write
    is_full = True

    def write(path: str, data: bytes, expected: Expected = ANY) -> str:
        if is_full and path != "memory":
            raise StorageError("the disk is full")
        return real_write(path, data, expected)

    monkeypatch.setattr(storage, "write", write)
    result = memory.write(LONG, mode="append")
    assert "the disk is full" in result.degraded
    assert len(left(storage)) == 1
    is_full = False
    assert memory.check() == []
    assert faults(pages_of(storage), SMALL) == []
    assert left(storage) == []


def test_a_text_on_which_something_breaks_keeps_nobody_from_the_memory_and_from_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage = crashed("Porto is on the Douro.", before="Lisbon is on the Tagus.")
    storage.state.write(f"{PENDING}/ffff", (storage.state.read(left(storage)[0]) or b"").replace(b"Porto", b"Braga"))

    def broken(text: str) -> tuple[Block, ...]:
        if "Porto" in text:
            raise ZeroDivisionError
        return checked_blocks(text)

    monkeypatch.setattr("memory_v2.operations.recovery.checked_blocks", broken)
    memory = offline(storage=storage)
    assert "Braga" in memory.read()
    assert "Porto" not in memory.read()
    monkeypatch.undo()
    assert "Porto" in memory.read()


@pytest.mark.parametrize("gone", ["the note", "everything beside the pages"])
def test_a_note_that_was_removed_while_a_model_thought_does_not_take_the_text_along(tmp_path: Path, gone: str) -> None:
    storage = LocalStorage(tmp_path)
    with offline(storage=storage) as memory:
        memory.write("Lisbon is on the Tagus.")

    def remove(_: Conversation) -> Reply:
        if gone == "the note":
            storage.state.remove(storage.state.names(PENDING)[0])
        else:
            shutil.rmtree(tmp_path / ".metadata")
        return calls(call("place", blocks=["n1"], page="memory"))

    with Memory(storage, ScriptedModel(remove), now=clock) as memory:
        memory.write("Porto is on the Douro.")
        assert body(memory).count("Porto is on the Douro.") == 1


def test_who_stops_a_write_that_is_being_stored_is_told_that_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write("Lisbon is on the Tagus.")

    def stop(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(storage, "write", stop)
    with pytest.raises(KeyboardInterrupt, match="already being stored"):
        memory.write("Porto is on the Douro.")
    monkeypatch.undo()
    assert body(memory).count("Porto is on the Douro.") == 1
    assert left(storage) == []


def test_what_could_not_be_split_again_is_still_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = crashed(LONG)
    real_write = storage.write

    def write(path: str, data: bytes, expected: Expected = ANY) -> str:
        if path != "memory":
            raise StorageError("the disk is full")
        return real_write(path, data, expected)

    monkeypatch.setattr(storage, "write", write)
    memory = offline(SMALL, storage)
    assert "Fact 59" in memory.read()
    assert len(left(storage)) == 1
    monkeypatch.undo()
    assert memory.check() == []
    assert left(storage) == []


def test_a_note_that_cannot_be_claimed_does_not_keep_the_others_from_being_finished(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    for name in ("aaaa", "bbbb"):
        noted = NOTE | {"text": f"Text {name}.", "mode": "append"}
        storage.state.write(f"{PENDING}/{name}", json.dumps(noted).encode())
    (tmp_path / ".metadata" / "pending" / "aaaa.lock").mkdir()
    with offline(storage=storage) as memory:
        assert "Text bbbb." in memory.read()
    assert left(storage) == [f"{PENDING}/aaaa"]


LARGE = "".join(f"- The ferry {number} leaves dock {number % 7} with crates of salt.\n" for number in range(2_500))


def test_a_large_text_that_was_interrupted_waits_for_the_next_change_and_readers_do_not_wait_for_it() -> None:
    storage = crashed(LARGE, "ferries", before="The harbour is old.")
    memory = offline(storage=storage)
    assert "ferry 7 " not in memory.read("ferries")
    assert [finding.kind for finding in memory.check()] == ["unfinished"]
    [told] = memory.waiting()
    assert told.startswith("a write of 129 KB was interrupted") and left(storage)[0] in told
    memory.write("The weir was built in 1961.", "weir")
    assert not missing(LARGE.splitlines(), [page.body for page in pages_of(storage).values()])
    assert left(storage) == memory.waiting() == []


@pytest.fixture
def undivided(monkeypatch: pytest.MonkeyPatch) -> VolatileStorage:
    """A storage on which a large text was stored, and not divided into pages."""

    def die(*_: object) -> NoReturn:
        raise Dead

    storage = VolatileStorage(clock)
    with monkeypatch.context() as patch, pytest.raises(Dead):
        patch.setattr("memory_v2.operations.write.split_overgrown", die)
        offline(storage=storage).write(LARGE, "ferries")
    return storage


def test_readers_do_not_wait_until_a_large_page_is_divided(undivided: VolatileStorage) -> None:
    memory = offline(storage=undivided)
    assert "ferry 2499 " in memory.read("ferries")
    assert memory.search("ferry 2499")
    assert "while 129 KB were being divided" in memory.waiting()[0]
    memory.write("The weir was built in 1961.", "weir")
    assert not memory.waiting()
    assert not memory.check()


def test_a_large_write_that_was_interrupted_is_undone_without_being_divided_first(undivided: VolatileStorage) -> None:
    memory = offline(storage=undivided)
    memory.undo()
    assert [operation.first.kind for operation in memory.history()] == ["undo", "write"]
    assert not memory.list_files()
    assert left(undivided) == memory.waiting() == []
