"""The history of a bucket: what is kept where, what is asked for, and what several machines see of each other."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_v2.errors import StorageError
from memory_v2.memory import Memory
from memory_v2.storage.history import EXTERNAL, History
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.s3 import bucket as s3_bucket
from tests.conformance.history_suite import HistoryConformance, entry

from .s3_server import HOST, Door, Loses, Machine, keys, put, upload

pytestmark = pytest.mark.allow_hosts([HOST])

RECORDS = "p/.metadata/history/"


class TestS3History(HistoryConformance):
    @pytest.fixture
    def history(self, machine: Machine) -> History:
        return machine().history

    @pytest.fixture
    def another(self, machine: Machine) -> Callable[[], History]:
        return lambda: machine("another").history


# What is asked for


def test_the_records_are_fetched_once_by_a_machine(bucket: str, machine: Machine, entrance: Door) -> None:
    other = machine("another").history
    ids = [other.record({}, entry(number)) for number in range(9)]
    for _ in range(3):
        history = machine(url=entrance.url).history
        assert [one.id for one in history.revisions()] == ids[::-1]
        assert [one.id for one in history.revisions()] == ids[::-1]
    assert entrance.count("GET", ".git") == 9
    assert entrance.count("GET") == 9 + 6
    ids.append(other.record({}, entry(9)))
    assert [one.id for one in machine(url=entrance.url).history.revisions()] == ids[::-1]
    assert entrance.count("GET", ".git") == 10


def test_more_records_than_one_answer_holds_are_counted(
    bucket: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_bucket, "MAX_KEYS", 4)
    history = machine().history
    ids = [history.record({"memory": b"%d" % number}, entry(number)) for number in range(9)]
    again = machine("another").history
    assert [one.id for one in again.revisions()] == ids[::-1]
    again.record({}, entry(9))
    assert len(list(history.revisions())) == 10


def spoil(folder: Path, pattern: str, data: bytes | None) -> None:
    """Puts other bytes in the place of files; `None` removes them."""
    files = [file for file in folder.glob(pattern) if file.is_file()]
    assert files
    for file in files:
        file.unlink() if data is None else file.write_bytes(data)


@pytest.mark.parametrize("pattern", ["place.json", "objects/??/*", "refs/heads/main"])
@pytest.mark.parametrize("data", [None, b"", b"\xff\xfe\0noise", b"{}", b'{"number": 9}'], ids=ascii)
def test_a_copy_that_was_spoiled_is_fetched_again(
    bucket: str, machine: Machine, pattern: str, data: bytes | None
) -> None:
    history = machine().history
    ids = [history.record({"memory": b"%d" % number}, entry(number)) for number in range(5)]
    folder = machine().cache_folder
    assert folder
    spoil(folder / "history.git", pattern, data)
    again = machine().history
    assert [one.id for one in again.revisions()] == ids[::-1]
    assert [again.read(one, "memory") for one in ids] == [b"0", b"1", b"2", b"3", b"4"]
    ids.append(again.record({}, entry(5)))
    assert [one.id for one in machine("another").history.revisions()] == ids[::-1]
    shutil.rmtree(folder)
    assert [one.id for one in again.revisions()] == ids[::-1]


# Several machines


def test_a_record_whose_answer_was_lost_is_told_and_is_not_in_the_way(
    bucket: str, machine: Machine, entrance: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_bucket, "ATTEMPTS", 1)
    history = machine(url=entrance.url).history
    history.record({}, entry(0))
    entrance.fate = lambda asked: Loses() if asked.method == "PUT" else None
    history.record({}, entry(1))
    entrance.fate = lambda asked: Loses() if asked.method in ("PUT", "HEAD") else None
    with pytest.raises(StorageError, match="hangs up"):
        history.record({}, entry(2))
    entrance.fate = lambda _: None
    history.record({}, entry(3))
    for asked in (history, machine("another").history):
        assert [one.summary for one in asked.revisions()] == ["fact 3", "fact 2", "fact 1", "fact 0"]


def test_what_two_machines_do_is_one_history_and_each_undoes_what_the_other_did(bucket: str, machine: Machine) -> None:
    one, other = Memory(machine()), Memory(machine("another"))
    one.write("The boat is blue.")
    before = keys(bucket)["p/memory.md"]
    other.write("The ship is red.", "ships")
    assert [found.first.summary for found in one.history()] == ["The ship is red.", "The boat is blue."]
    assert one.history() == other.history()
    one.undo()
    assert keys(bucket)["p/memory.md"] == before
    other.undo(other.history()[0].id)
    assert b"ships" in keys(bucket)["p/memory.md"]
    assert [found.first.kind for found in one.history()] == ["undo", "undo", "write", "write"]


def test_an_edit_from_outside_is_noticed_and_undone(bucket: str, machine: Machine) -> None:
    memory = Memory(machine())
    memory.write("The boat is blue.", "boats")
    before = {key: data for key, data in keys(bucket).items() if key.endswith(".md")}
    put(bucket, "p/boats.md", before["p/boats.md"] + b"It sails.\n")
    put(bucket, "p/found.md", b"# Found\n")
    newest = memory.history()[0]
    assert (newest.first.kind, newest.first.summary) == (EXTERNAL, "edited by hand: boats, found")
    assert [line.revision.kind for line in memory.blame("boats") if line.revision and "sails" in line.text] == [
        EXTERNAL
    ]
    memory.undo()
    assert {key: data for key, data in keys(bucket).items() if key.endswith(".md")} == before
    assert len(Memory(machine("another")).history()) == 3


def test_a_plain_copy_of_a_folder_begins_a_history_of_its_own(bucket: str, machine: Machine, tmp_path: Path) -> None:
    local = Memory(LocalStorage(tmp_path / "folder"))
    local.write("The boat is blue.")
    local.write("The ship is red.", "ships")
    upload(tmp_path / "folder", bucket, "p")
    assert any(key.startswith("p/.metadata/history.git/") for key in keys(bucket))
    memory = Memory(machine())
    (found,) = memory.history()
    assert found.is_beginning
    assert found.paths == ("memory", "ships")
    before = keys(bucket)["p/memory.md"]
    memory.write("The lighthouse is white.")
    memory.undo()
    assert keys(bucket)["p/memory.md"] == before
    assert [one.first.kind for one in memory.history()] == ["undo", "write", EXTERNAL]
    assert [one.first.summary for one in local.history()] == ["The ship is red.", "The boat is blue."]


def test_a_record_says_in_plain_words_what_was_done(bucket: str, machine: Machine) -> None:
    Memory(machine()).write("Das Boot heißt 日本.")
    found = keys(bucket)[f"{RECORDS}0000000001.git"]
    (one,) = machine().history.revisions()
    assert json.loads(found.partition(b"\n")[0]) == {"before": "", "head": one.id}
    for told in ("write: Das Boot heißt 日本.", *one.why):
        assert told.encode() in found
    assert keys(bucket)["p/memory.md"] in found
