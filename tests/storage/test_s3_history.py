"""The history of a bucket: what is kept where, what is asked for, and what several machines see of each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.errors import StorageError
from memory_v2.memory import Memory
from memory_v2.storage.base import ABSENT
from memory_v2.storage.history import OUTSIDE, History, Revision
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.s3 import bucket as s3_bucket
from memory_v2.storage.s3 import chain as s3_chain
from memory_v2.storage.s3.chain import Body
from memory_v2.storage.s3.storage import S3Storage
from memory_v2.tree.path import is_page_path
from tests.conformance.history_suite import HistoryConformance, entry, three
from tests.conformance.storage_suite import at_once

from .s3_server import HOST, Door, Loses, client, door, keep_versions, keys, new_bucket, server, upload

pytestmark = pytest.mark.allow_hosts([HOST])

RECORDS = "p/.metadata/history/"
PAGES = f"{RECORDS}pages/"

Machine = Callable[..., S3Storage]


@pytest.fixture(params=["with versions", "without versions"])
def bucket(request: pytest.FixtureRequest) -> Iterator[str]:
    with new_bucket(versions=request.param == "with versions") as name:
        yield name


@pytest.fixture
def versioned() -> Iterator[str]:
    """A bucket that keeps old versions."""
    with new_bucket(versions=True) as name:
        yield name


@pytest.fixture
def entrance() -> Iterator[Door]:
    with door() as entrance:
        yield entrance


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with a cache of its own, or that of the name; it asks the server, or the door before it."""

    def start(bucket: str, name: str = "one", url: str = "") -> S3Storage:
        return S3Storage(bucket, "p", endpoint=url or server(), cache=tmp_path / name)

    return start


def put(bucket: str, path: str, data: bytes) -> None:
    """Somebody else writes a page."""
    client().put_object(Bucket=bucket, Key=f"p/{path}.md", Body=data)


def records(bucket: str) -> list[str]:
    return [key.removeprefix(RECORDS) for key in keys(bucket) if key.startswith(RECORDS) and key.endswith(".json")]


def copies(bucket: str) -> dict[str, bytes]:
    """The bytes of pages that the history keeps itself."""
    return {key.removeprefix(PAGES): data for key, data in keys(bucket).items() if key.startswith(PAGES)}


class TestS3History(HistoryConformance):
    """With pages that are stored before they are recorded, as a commit does it."""

    @pytest.fixture
    def start(self, bucket: str, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], History]:
        def start(name: str) -> History:
            storage = machine(bucket, name)
            history = storage.history
            record = history.record

            def store_and_record(changes: dict[str, bytes | None], entry: Revision) -> str:
                for path, data in changes.items():
                    if is_page_path(path):
                        storage.delete(path) if data is None else storage.write(path, data)
                return record(changes, entry)

            monkeypatch.setattr(history, "record", store_and_record)
            return history

        return start

    @pytest.fixture
    def history(self, start: Callable[[str], History]) -> History:
        return start("one")

    @pytest.fixture
    def another(self, start: Callable[[str], History]) -> Callable[[], History]:
        return lambda: start("another")


def test_a_history_of_what_is_not_in_the_bucket_keeps_it(bucket: str, machine: Machine) -> None:
    history = machine(bucket).history
    first = three(history)[0]
    assert sorted(copies(bucket).values()) == [b"# Memory\n", b"# Memory\n\nMore.\n", b"Ada\n"]
    assert machine(bucket, "another").history.pages(first) == {"memory": b"# Memory\n", "people/ada": b"Ada\n"}


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(told=st.tuples(words, words, words, words, words, words), why=st.lists(words))
def test_a_record_is_read_back_as_it_was_made(told: tuple[str, ...], why: list[str]) -> None:
    kind, summary, operation, decided_by, degraded, undoes = told
    body = Body(
        before="",
        kind=kind,
        summary=summary,
        operation=operation,
        decided_by=decided_by,
        degraded=degraded,
        undoes=undoes,
        why=tuple(why),
        when=entry().when,
        pages={},
    )
    assert Body.model_validate_json(body.model_dump_json().encode()) == body


# What is kept where


def test_with_versions_nothing_is_stored_twice(versioned: str, machine: Machine) -> None:
    memory = Memory(machine(versioned), threshold=2_048)
    for number in range(12):
        memory.write(f"## Harbour {number}\n\n" + f"The boat number {number} lies in harbour {number}. " * 9)
    assert len(memory.list_files()) > 3
    memory.undo()
    assert records(versioned) == [f"{number:010}.json" for number in range(1, len(records(versioned)) + 1)]
    assert copies(versioned) == {}


def test_without_versions_the_bytes_are_kept_once_each(machine: Machine) -> None:
    with new_bucket() as bucket:
        storage = machine(bucket)
        for text in (b"one", b"two", b"one"):
            storage.history.record({"memory": text, "other": text}, entry())
            storage.write("memory", text)
        assert sorted(copies(bucket).values()) == [b"one", b"two"]
        assert [storage.history.read(one.id, "memory") for one in storage.history.revisions()] == [
            b"one",
            b"two",
            b"one",
        ]


def test_what_was_just_written_or_read_is_recorded_by_one_request(
    versioned: str, machine: Machine, entrance: Door
) -> None:
    put(versioned, "read", b"by somebody else")
    storage = machine(versioned, url=entrance.url)
    storage.history.record({}, entry(0))
    pages: dict[str, bytes | None] = {"new": b"new", "changed": b"after", "read": storage.read("read").data}
    version = storage.write("changed", b"before", ABSENT)
    storage.write("changed", b"after", version)
    storage.write("new", b"new")
    del entrance.asked[:]
    name = storage.history.record({**pages, "gone": None}, entry(1))
    assert [(one.method, one.key.rsplit("/")[-1]) for one in entrance.asked] == [("PUT", "0000000002.json")]
    assert machine(versioned, "another").history.pages(name) == pages
    assert copies(versioned) == {}


def test_what_another_process_of_the_machine_wrote_is_known_too(
    versioned: str, machine: Machine, entrance: Door
) -> None:
    machine(versioned, url=entrance.url).write("memory", b"x")
    storage = machine(versioned, url=entrance.url)
    assert storage.read("memory").data == b"x"
    storage.history.record({"memory": b"x"}, entry())
    assert entrance.count("GET", "memory.md") == 0
    assert copies(versioned) == {}


def test_a_page_that_is_not_known_is_asked_for(versioned: str, machine: Machine, entrance: Door) -> None:
    put(versioned, "memory", b"x")
    storage = machine(versioned, url=entrance.url)
    name = storage.history.record({"memory": b"x"}, entry())
    assert entrance.count("GET", "memory.md") == 1
    assert copies(versioned) == {}
    put(versioned, "memory", b"y")
    assert machine(versioned, "another").history.read(name, "memory") == b"x"


def test_bytes_that_are_no_longer_in_the_bucket_are_kept(versioned: str, machine: Machine) -> None:
    put(versioned, "memory", b"newer")
    name = machine(versioned).history.record({"memory": b"older", "gone": b"gone"}, entry())
    assert sorted(copies(versioned).values()) == [b"gone", b"older"]
    assert machine(versioned, "another").history.pages(name) == {"memory": b"older", "gone": b"gone"}


def test_versioning_can_be_turned_on_and_suspended_at_any_time(machine: Machine) -> None:
    with new_bucket() as bucket:
        storage, names = machine(bucket), []
        for number, versions in enumerate((None, True, False, True)):
            if versions is not None:
                keep_versions(bucket, versions)
            # moto forgets the old versions of what is written while versioning is suspended, which S3 does not do
            for path in ("suspended",) if versions is False else ("memory", f"{number}"):
                storage.write(path, b"%d" % number)
                names.append(storage.history.record({path: b"%d" % number}, entry(number)))
        assert sorted(copies(bucket).values()) == [b"0", b"2"]
        for history in (storage.history, machine(bucket, "another").history):
            assert [data for _, data in history.states("memory")] == [b"0", b"1", b"3"]
            assert [data for _, data in history.states("suspended")] == [b"2"]
            assert history.pages(names[-1]) == {"memory": b"3", "0": b"0", "1": b"1", "suspended": b"2", "3": b"3"}


def test_the_version_of_a_page_whose_answer_was_lost_is_known(
    versioned: str, machine: Machine, entrance: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_bucket, "ATTEMPTS", 1)
    storage = machine(versioned, url=entrance.url)
    version = storage.write("memory", b"old")
    for expected, data in ((version, b"new"), (None, b"newer")):
        entrance.fate = lambda asked: Loses() if asked.method == "PUT" else None
        storage.write("memory", data, expected) if expected else storage.write("memory", data)
        entrance.fate = lambda _: None
        storage.history.record({"memory": data}, entry())
    assert copies(versioned) == {}
    put(versioned, "memory", b"newest")
    assert [data for _, data in machine(versioned, "another").history.states("memory")] == [b"new", b"newer"]


def test_the_same_bytes_stored_anew_are_found_under_either_version(
    versioned: str, machine: Machine, entrance: Door
) -> None:
    storage = machine(versioned, url=entrance.url)
    storage.write("memory", b"x")
    put(versioned, "memory", b"x")
    with storage.lock():
        assert storage.read("memory").data == b"x"  # not sent again, but with the id of the newer version
    name = storage.history.record({"memory": b"x"}, entry())
    put(versioned, "memory", b"y")
    older = client().list_object_versions(Bucket=versioned, Prefix="p/memory.md")["Versions"][-1]
    client().delete_object(Bucket=versioned, Key="p/memory.md", VersionId=older["VersionId"])
    assert machine(versioned, "another").history.read(name, "memory") == b"x"


# What is asked for


def test_whether_it_has_begun_is_asked_until_it_has(versioned: str, machine: Machine, entrance: Door) -> None:
    history, other = machine(versioned, url=entrance.url).history, machine(versioned, "another").history
    assert [history.begun for _ in range(2)] == [False, False]
    assert len(entrance.asked) == 2
    other.record({}, entry())
    assert [history.begun for _ in range(5)] == [True] * 5
    assert len(entrance.asked) == 3


def test_the_records_are_fetched_once_by_a_machine(versioned: str, machine: Machine, entrance: Door) -> None:
    other = machine(versioned, "another").history
    ids = [other.record({}, entry(number)) for number in range(9)]
    for _ in range(3):
        history = machine(versioned, url=entrance.url).history
        assert [one.id for one in history.revisions()] == ids[::-1]
        assert [one.id for one in history.revisions()] == ids[::-1]
    assert entrance.count("GET", ".json") == 9
    assert entrance.count("GET") == 9 + 6
    ids.append(other.record({}, entry(9)))
    assert [one.id for one in machine(versioned, url=entrance.url).history.revisions()] == ids[::-1]
    assert entrance.count("GET", ".json") == 10


def test_a_long_history_is_fetched_in_blocks_from_its_end(
    versioned: str, machine: Machine, entrance: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_chain, "BLOCK", 7)
    one = machine(versioned, "another").history
    for number in range(30):
        one.record({}, entry(number))
    one.quarantine()
    ids = [one.record({}, entry(number)) for number in range(15)]
    history = machine(versioned, url=entrance.url).history
    assert [one.id for one in history.revisions()] == ids[::-1]
    assert entrance.count("GET", ".json") == 3 * 7


def test_more_records_than_one_answer_holds_are_counted(
    versioned: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_bucket, "MAX_KEYS", 4)
    history = machine(versioned).history
    ids = [history.record({"memory": b"%d" % number}, entry(number)) for number in range(9)]
    again = machine(versioned, "another").history
    assert [one.id for one in again.revisions()] == ids[::-1]
    assert len(copies(versioned)) == 9
    again.record({}, entry(9))
    assert len(list(history.revisions())) == 10


def test_without_a_place_for_a_cache_everything_works(bucket: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    for number, cache in enumerate((None, tmp_path / "file")):
        storage = S3Storage(bucket, "p", endpoint=server(), cache=cache)
        storage.write("memory", b"%d" % number)
        name = storage.history.record({"memory": b"%d" % number}, entry(number))
        assert storage.history.read(name, "memory") == b"%d" % number
    assert len(list(S3Storage(bucket, "p", endpoint=server()).history.revisions())) == 2


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-20],
        lambda data: data.replace(b"fact 1", b"lies 1"),
        lambda data: data.replace(b"fact 4", b"lies 4"),
        lambda data: b"",
        lambda data: b"\xff\xfe\0garbage",
        lambda data: b"[]\n{}\n" + data[40:],
        lambda data: data.replace(b"\n", b""),
        lambda data: data.replace(b'"number": 4', b'"number": 9'),
        lambda data: data.replace(b'"number": 2', b'"number": 1'),
    ],
    ids=["cut", "changed", "newest changed", "empty", "noise", "no records", "one line", "a number too high", "twice"],
)
def test_a_cache_that_was_spoiled_is_not_believed(
    versioned: str, machine: Machine, spoil: Callable[[bytes], bytes]
) -> None:
    history = machine(versioned).history
    ids = [history.record({"memory": b"%d" % number}, entry(number)) for number in range(5)]
    folder = machine(versioned).cache_folder
    assert folder
    file = folder / "history.jsonl"
    file.write_bytes(spoil(file.read_bytes()))
    again = machine(versioned).history
    assert [one.id for one in again.revisions()] == ids[::-1]
    assert [one.summary for one in again.revisions()] == [f"fact {number}" for number in range(5)][::-1]
    ids.append(again.record({}, entry(5)))
    assert [one.id for one in machine(versioned, "another").history.revisions()] == ids[::-1]
    assert [one.id for one in machine(versioned).history.revisions()] == ids[::-1]


def test_a_cache_in_which_the_same_stands_over_and_over_is_made_short_again(versioned: str, machine: Machine) -> None:
    storage = machine(versioned)
    ids = three(storage.history)
    assert storage.cache_folder
    file = storage.cache_folder / "history.jsonl"
    short = file.read_bytes()
    file.write_bytes(short * 100)
    assert [one.id for one in machine(versioned).history.revisions()] == ids[::-1]
    assert file.read_bytes() == short
    assert file.stat().st_mode & 0o077 == 0


# Several machines


def test_of_many_who_record_at_once_none_loses_a_record(bucket: str, machine: Machine) -> None:
    def work(worker: int) -> list[str]:
        history = machine(bucket, f"machine {worker}").history
        return [
            history.record({f"pages/{worker}": b"%d" % turn}, Revision("write", f"{worker} {turn}"))
            for turn in range(8)
        ]

    recorded = at_once(6, work)
    history = machine(bucket, "another").history
    told = list(history.revisions())
    assert {one.id for one in told} == {name for names in recorded for name in names}
    assert sorted(one.summary for one in told) == sorted(f"{worker} {turn}" for worker in range(6) for turn in range(8))
    assert history.pages(told[0].id) == {f"pages/{worker}": b"7" for worker in range(6)}


def test_a_record_whose_answer_was_lost_is_told_and_is_not_in_the_way(
    versioned: str, machine: Machine, entrance: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_bucket, "ATTEMPTS", 1)
    history = machine(versioned, url=entrance.url).history
    history.record({}, entry(0))
    entrance.fate = lambda asked: Loses() if asked.method == "PUT" else None
    history.record({}, entry(1))
    entrance.fate = lambda asked: Loses() if asked.method in ("PUT", "HEAD") else None
    with pytest.raises(StorageError, match="hangs up"):
        history.record({}, entry(2))
    entrance.fate = lambda _: None
    history.record({}, entry(3))
    for asked in (history, machine(versioned, "another").history):
        assert [one.summary for one in asked.revisions()] == ["fact 3", "fact 2", "fact 1", "fact 0"]


def test_what_two_machines_do_is_one_history_and_each_undoes_what_the_other_did(bucket: str, machine: Machine) -> None:
    one, other = Memory(machine(bucket)), Memory(machine(bucket, "another"))
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


def test_what_others_recorded_is_not_taken_for_an_edit_by_hand(versioned: str, machine: Machine) -> None:
    one, other = Memory(machine(versioned)), Memory(machine(versioned, "another"))
    for number in range(3):
        one.write(f"The boat number {number} is blue.")
        other.write(f"The ship number {number} is red.")
    assert {found.first.kind for found in one.history()} == {"write"}
    assert len(records(versioned)) == 6


def test_an_edit_from_outside_is_noticed_and_undone(bucket: str, machine: Machine) -> None:
    memory = Memory(machine(bucket))
    memory.write("The boat is blue.", "boats")
    before = {key: data for key, data in keys(bucket).items() if key.endswith(".md")}
    put(bucket, "boats", before["p/boats.md"] + b"It sails.\n")
    put(bucket, "found", b"# Found\n")
    newest = memory.history()[0]
    assert (newest.first.kind, newest.first.summary) == (OUTSIDE, "edited by hand: boats, found")
    assert [line.entry.kind for line in memory.blame("boats") if line.entry and "sails" in line.text] == [OUTSIDE]
    memory.undo()
    assert {key: data for key, data in keys(bucket).items() if key.endswith(".md")} == before
    assert len(Memory(machine(bucket, "another")).history()) == 3


def test_a_plain_copy_of_a_folder_begins_a_history_of_its_own(bucket: str, machine: Machine, tmp_path: Path) -> None:
    local = Memory(LocalStorage(tmp_path / "folder"))
    local.write("The boat is blue.")
    local.write("The ship is red.", "ships")
    upload(tmp_path / "folder", bucket, "p")
    assert any(key.startswith("p/.metadata/history.git/") for key in keys(bucket))
    memory = Memory(machine(bucket))
    (found,) = memory.history()
    assert found.is_beginning
    assert found.paths == ("memory", "ships")
    before = keys(bucket)["p/memory.md"]
    memory.write("The lighthouse is white.")
    memory.undo()
    assert keys(bucket)["p/memory.md"] == before
    assert [one.first.kind for one in memory.history()] == ["undo", "write", OUTSIDE]
    assert [one.first.summary for one in local.history()] == ["The ship is red.", "The boat is blue."]


def test_a_record_says_in_plain_words_what_was_done(versioned: str, machine: Machine) -> None:
    Memory(machine(versioned)).write("Das Boot heißt 日本.")
    found = keys(versioned)[f"{RECORDS}0000000001.json"]
    told = json.loads(found)
    assert (told["before"], told["kind"], told["summary"]) == ("", "write", "Das Boot heißt 日本.")
    assert "日本".encode() in found
    answer = client().head_object(Bucket=versioned, Key="p/memory.md", VersionId=told["pages"]["memory"]["version_id"])
    assert answer["ContentLength"] == len(keys(versioned)["p/memory.md"])
    assert client().head_object(Bucket=versioned, Key=f"{RECORDS}0000000001.json")["ContentType"] == "application/json"
    (one,) = machine(versioned).history.revisions()
    assert replace(one, paths=()).why == tuple(told["why"])
