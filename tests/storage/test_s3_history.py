"""The history in a bucket, and what becomes of it when records or old pages are lost or changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_v2.errors import StorageError
from memory_v2.memory import Memory
from memory_v2.storage.history import EXTERNAL, History, HistoryDamaged
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.s3 import bucket as s3_bucket
from tests.conformance.history_suite import HistoryConformance, entry, three
from tests.effort import IS_THOROUGH

from .s3_server import HOST, Answers, Asked, Door, Fate, Loses, Machine, client, keys, put, upload

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


def record_key(number: int) -> str:
    return f"{RECORDS}{number:010}.git"


def change(bucket: str, key: str, how: Callable[[bytes], bytes] | None) -> None:
    """Somebody puts other bytes in the place of an object; `None` removes it."""
    if how is None:
        client().delete_object(Bucket=bucket, Key=key)
    else:
        client().put_object(Bucket=bucket, Key=key, Body=how(keys(bucket)[key]))


DAMAGES: dict[str, Callable[[bytes], bytes] | None] = {
    "lost": None,
    "cut in half": lambda data: data[: len(data) // 2],
    "of no byte": lambda _: b"",
    "of noise": lambda _: b"\xff\xfe\x00noise",
    "no record": lambda _: b"[]",
    "with other words": lambda data: data.replace(b"fact", b"lies"),
    "written anew by other hands": lambda data: data + b"\n",
}


@pytest.mark.parametrize(
    ("how", "number"),
    [(how, number) for n, how in enumerate(DAMAGES) for number in (1, 2, 3) if IS_THOROUGH or (n + number) % 2],
)
def test_a_record_that_is_lost_or_changed_is_noticed_and_all_before_it_is_set_aside(
    bucket: str, machine: Machine, how: str, number: int, caplog: pytest.LogCaptureFixture
) -> None:
    knowing = machine("knowing").history
    ids = [*three(knowing), knowing.record({"memory": b"4"}, entry(3))]
    change(bucket, record_key(number), DAMAGES[how])
    damaged = keys(bucket)

    history = machine().history
    assert machine("yet another").history.begun
    if number < 3:  # of the next revision nobody can tell what it changed
        assert [one.id for one in history.revisions()] == [ids[3]]
        assert f"revisions before {ids[3][:12]} cannot be read: the history in s3://" in caplog.text
    else:
        with pytest.raises(HistoryDamaged):
            list(history.revisions())
    assert history.read(ids[3], "memory") == b"4"
    assert history.before(ids[3]) == ids[2]
    for ask in (lambda: history.unrecorded({"memory": b"4"}), lambda: history.record({"memory": b"5"}, entry(4))):
        with pytest.raises(HistoryDamaged, match=rf"{record_key(number)} is missing or was changed"):
            ask()
    for lost in (lambda: history.read(ids[number - 1], "memory"), lambda: history.before(ids[number - 1])):
        with pytest.raises(HistoryDamaged, match=r"the history in s3://.* is damaged .* lifecycle rule"):
            lost()
    history.quarantine()
    assert record_key(4) in caplog.text
    assert not history.begun
    assert list(history.revisions()) == []
    assert history.unrecorded({"memory": b"4"}) == {"memory": b"4"}

    name = history.record({"memory": b"5"}, entry(4))
    for asked in (history, machine().history, machine("fresh").history, knowing):
        assert [(one.id, one.is_first) for one in asked.revisions()] == [(name, True)]
        assert asked.pages(name) == {"memory": b"5"}
        assert asked.before(name) == ""
    assert {key: data for key, data in keys(bucket).items() if key in damaged} == damaged
    knowing.record({"memory": b"6"}, entry(5))
    assert [one.summary for one in machine("last").history.revisions()] == ["fact 5", "fact 4"]


def test_a_record_that_names_another_commit_than_the_next_one_follows_is_noticed(bucket: str, machine: Machine) -> None:
    three(machine().history)
    change(bucket, record_key(2), lambda data: data.replace(b'"head": "', b'"head": "0'))
    with pytest.raises(HistoryDamaged, match=rf"{record_key(2)} is missing or was changed"):
        machine("fresh").history.record({}, entry(4))


def test_a_record_that_was_never_made_does_not_lead_anywhere(bucket: str, machine: Machine) -> None:
    history = machine().history
    three(history)
    for junk in (7, 0):
        client().put_object(Bucket=bucket, Key=record_key(junk), Body=b"{}")
    client().put_object(Bucket=bucket, Key=f"{RECORDS}notes.txt", Body=b"x")
    client().put_object(Bucket=bucket, Key=f"{RECORDS}1.git", Body=b"x")
    with pytest.raises(HistoryDamaged, match=record_key(7)):
        list(history.revisions())
    history.quarantine()
    history.record({}, entry(4))
    assert record_key(8) in keys(bucket)
    client().put_object(Bucket=bucket, Key=record_key(9_999_999_999), Body=b"{}")
    fresh = machine("fresh").history
    fresh.quarantine()
    with pytest.raises(StorageError, match=f"no record can follow .*{record_key(9_999_999_999)}; remove it"):
        fresh.record({}, entry(5))


def test_a_record_that_was_brought_back_is_read_again(bucket: str, machine: Machine) -> None:
    ids = three(machine("knowing").history)
    data = keys(bucket)[record_key(2)]
    change(bucket, record_key(2), None)
    history = machine().history
    with pytest.raises(HistoryDamaged):
        list(history.revisions())
    client().put_object(Bucket=bucket, Key=record_key(2), Body=data)
    assert [one.id for one in history.revisions()] == ids[::-1]
    name = history.record({"memory": b"on"}, entry(3))
    assert [one.id for one in machine("fresh").history.revisions()] == [name, *ids[::-1]]


def test_a_newest_record_that_is_gone_is_not_built_upon(bucket: str, machine: Machine) -> None:
    history = machine().history
    ids = three(history)
    change(bucket, record_key(3), None)
    for asked in (history, machine().history, machine("fresh").history):
        assert [one.id for one in asked.revisions()] == ids[1::-1]
    assert history.unrecorded({"people/ada": None}) == {"people/ada": None}
    name = history.record({}, entry(3))
    assert [one.id for one in machine("another").history.revisions()] == [name, *ids[1::-1]]


def test_a_history_that_was_removed_by_hand_begins_anew(bucket: str, machine: Machine) -> None:
    memory = Memory(machine())
    memory.write("The boat is blue.")
    memory.write("The ship is red.")
    for key in keys(bucket):
        if key.startswith(RECORDS):
            client().delete_object(Bucket=bucket, Key=key)
    for asked in (memory, Memory(machine()), Memory(machine("fresh"))):
        (found,) = asked.history()
        assert found.is_beginning
    memory.write("The lighthouse is white.")
    assert [one.first.kind for one in Memory(machine("another")).history()] == ["write", EXTERNAL]


def test_a_record_whose_object_was_stored_anew_is_still_the_same(bucket: str, machine: Machine) -> None:
    history = machine().history
    ids = three(history)
    key, data = record_key(3), keys(bucket)[record_key(3)]
    upload = client().create_multipart_upload(Bucket=bucket, Key=key)["UploadId"]
    part = client().upload_part(Bucket=bucket, Key=key, UploadId=upload, PartNumber=1, Body=data)
    client().complete_multipart_upload(
        Bucket=bucket, Key=key, UploadId=upload, MultipartUpload={"Parts": [{"ETag": part["ETag"], "PartNumber": 1}]}
    )
    for asked in (history, machine().history):
        assert [one.id for one in asked.revisions()] == ids[::-1]


def test_the_next_change_sets_a_damaged_history_aside_and_can_be_undone(
    bucket: str, machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    memory = Memory(machine())
    memory.write("The boat is blue.")
    memory.write("The ship is red.")
    memory.write("The lighthouse is white.")
    change(bucket, record_key(1), DAMAGES["cut in half"])
    fresh = Memory(machine("fresh"))
    (newest,) = fresh.history()
    assert newest.first.summary == "The lighthouse is white."
    fresh.write("The jetty is green.")
    assert "a new one begins" in caplog.text
    for one in (fresh, memory):
        assert [found.first.summary for found in one.history()] == [
            "The jetty is green.",
            "pages as they were when a damaged history was moved aside",
        ]
    before = keys(bucket)["p/memory.md"]
    memory.write("The kiln is grey.")
    fresh.undo()
    assert keys(bucket)["p/memory.md"] == before


# The server


def on_history(fate: Fate) -> Callable[[Asked], Fate]:
    return lambda asked: fate if "/.metadata/history" in asked.key and asked.method == "PUT" else None


@pytest.mark.parametrize(
    ("answers", "advice"),
    [
        (Answers(403, "AccessDenied"), "permission is denied"),
        (Answers(503, "SlowDown"), "try again later"),
        (Answers(404, "NoSuchBucket"), "there is no such bucket"),
    ],
)
def test_each_refusal_is_told_and_is_no_damage(
    machine: Machine, entrance: Door, answers: Fate, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_bucket, "ATTEMPTS", 1)
    storage = machine("other")
    storage.write("memory", b"x")
    name = storage.history.record({"memory": b"x"}, entry(0))
    storage.write("memory", b"y")
    kept = machine(url=entrance.url).history
    list(kept.revisions())
    entrance.fate = lambda _: answers
    fresh = machine("fresh", url=entrance.url).history
    asks: list[Callable[[], object]] = [
        lambda: fresh.begun,
        lambda: list(fresh.revisions()),
        lambda: fresh.unrecorded({"memory": b"x"}),
        lambda: fresh.record({"memory": b"x"}, entry(1)),
        lambda: fresh.quarantine(),
        lambda: kept.record({"memory": b"x"}, entry(1)),
        lambda: list(kept.states("memory")),
    ]
    for ask in asks:
        with pytest.raises(StorageError, match=advice) as caught:
            ask()
        assert not isinstance(caught.value, HistoryDamaged)
    entrance.fate = lambda _: None
    assert kept.read(name, "memory") == b"x"
    assert [one.id for one in fresh.revisions()] == [name]


def test_a_record_that_is_refused_though_there_is_none_is_told(machine: Machine, entrance: Door) -> None:
    history = machine(url=entrance.url).history
    history.record({}, entry(0))
    entrance.fate = on_history(Answers(412, "PreconditionFailed"))
    with pytest.raises(StorageError, match=f"{record_key(2)} cannot be created, though it does not exist"):
        history.record({}, entry(1))
