"""What is special to pages in a bucket; what every backend promises is in `tests/conformance`."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from moto.s3.models import s3_backends

from memory_v2.errors import PageNotFound, StorageConflict
from memory_v2.memory import Memory
from memory_v2.storage.base import ANY
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.s3 import bucket as s3_bucket
from memory_v2.storage.s3.bucket import Bucket, Object
from memory_v2.storage.s3.cache import PageCache
from memory_v2.storage.s3.storage import S3Storage
from tests.conformance.history_suite import entry
from tests.conformance.storage_suite import at_once
from tests.effort import effort

from .s3_server import HOST, Door, Machine, client, download, keys, put, server, upload

pytestmark = pytest.mark.allow_hosts([HOST])


# Where things are


def test_names_that_no_page_may_have_are_strays(bucket: str, machine: Machine) -> None:
    for name in (
        "a.md",
        "b.MD",
        "a//b.md",
        "con.md",
        "e\u0301.md",
        "Notes/x.md",
        "notes/x.md",
        ".hidden.md",
        "x/",
        "y.png",
    ):
        put(bucket, f"p/{name}", b"x")
    put(bucket, "p/.metadata/history/x.md", b"x")
    storage = machine()
    assert storage.list_files() == ["a", "notes/x"]
    assert [name for name, _ in storage.ignored_files()] == ["Notes/x.md", "a//b.md", "b.MD", "con.md", "e\u0301.md"]
    assert all(reason for _, reason in storage.ignored_files())


def test_what_lies_beside_the_pages_is_passed_over(bucket: str, machine: Machine, entrance: Door) -> None:
    backend = s3_backends["123456789012"]["aws"]
    for number in range(1_200):
        backend.put_object(bucket, f"p/.metadata/history/{number:010}.json", b"{}")
    names = ["(old) notes", "+1", "-", "0", "memory", "ä"]
    for name in (*names, ".metadata", ".metadata.md/x", ".metadata-2/x", ".metadata0/x", ".a", ".z"):
        put(bucket, f"p/{name}.md", b"x")
    storage = machine(url=entrance.url)
    assert storage.list_files() == names
    assert storage.ignored_files() == []
    assert entrance.count("GET") == 2 * 2


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_a_listing_is_the_same_however_much_an_answer_holds(
    bucket: str, machine: Machine, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(s3_bucket, "FIRST_KEYS", 1)
    monkeypatch.setattr(s3_bucket, "MAX_KEYS", most)
    names = ["(old)", "+1", "a", "a/b", "memory", "z"]
    for name in (*names, ".metadata/a", ".metadata/b/c", ".metadata/d"):
        put(bucket, f"p/{name}.md", b"x")
    assert machine().list_files() == names
    listed = Bucket(bucket, endpoint=server()).list("p/", flat=True)
    assert [key.removeprefix("p/") for key, _ in listed] == ["(old).md", "+1.md", "a.md", "memory.md", "z.md"]
    behind = Bucket(bucket, endpoint=server()).list("p/", after="p/a.md", flat=True)
    assert [key.removeprefix("p/") for key, _ in behind] == ["memory.md", "z.md"]


def test_a_plain_copy_of_a_folder_is_a_memory_and_so_is_the_copy_back(
    bucket: str, machine: Machine, tmp_path: Path
) -> None:
    folder, back = tmp_path / "folder", tmp_path / "back"
    local = Memory(LocalStorage(folder), threshold=2_048)
    for number in range(12):
        local.write(f"## Harbour {number}\n\n" + f"The boat number {number} lies in harbour {number}. " * 9)
    assert len(local.list_files()) > 3
    upload(folder, bucket, "p")

    copied = Memory(machine(), threshold=2_048)
    assert copied.list_files() == local.list_files()
    assert all(copied.read(page.path) == local.read(page.path) for page in local.list_files())
    assert copied.check() == []
    copied.write("The lighthouse was painted red in 2026.")
    download(bucket, "p", back)

    again = Memory(LocalStorage(back), threshold=2_048)
    assert again.list_files() == copied.list_files()
    assert again.check() == []
    assert "painted red" in "".join(again.read(page.path) for page in again.list_files())


# Who was first


def test_a_stale_cache_never_overwrites_a_newer_page(machine: Machine) -> None:
    one, other = machine("one"), machine("other")
    one.write("memory", b"old")
    stale = other.read("memory")
    one.write("memory", b"newer")
    assert other.read("memory") == stale
    with pytest.raises(StorageConflict):
        other.write("memory", b"built on the old one", stale.version)
    assert one.read("memory").data == b"newer"
    fresh = other.read("memory")
    assert fresh.data == b"newer"
    other.write("memory", b"newest", fresh.version)
    assert machine("third").read("memory").data == b"newest"


def test_under_the_lock_a_page_is_read_as_it_is(machine: Machine) -> None:
    one, other = machine("one"), machine("other")
    one.write("memory", b"old")
    other.read("memory")
    one.write("memory", b"newer")
    with other.lock():
        assert other.read("memory").data == b"newer"


def test_the_same_bytes_with_another_tag_are_the_same_version(bucket: str, machine: Machine) -> None:
    storage = machine()
    version = storage.write("memory", b"old")
    key = "p/memory.md"
    upload = client().create_multipart_upload(Bucket=bucket, Key=key)["UploadId"]
    part = client().upload_part(Bucket=bucket, Key=key, UploadId=upload, PartNumber=1, Body=b"old")
    client().complete_multipart_upload(
        Bucket=bucket, Key=key, UploadId=upload, MultipartUpload={"Parts": [{"ETag": part["ETag"], "PartNumber": 1}]}
    )
    assert client().head_object(Bucket=bucket, Key=key)["ETag"].endswith('-1"')
    storage.write("memory", b"new", version)
    assert keys(bucket) == {"p/memory.md": b"new"}
    assert storage.read("memory").data == b"new"


# What the cache spares, and what it cannot spoil


def test_a_page_is_read_once_by_all_processes_of_a_machine(machine: Machine, entrance: Door) -> None:
    machine("other").write("memory", b"x")
    assert [machine(url=entrance.url).read("memory").data for _ in range(3)] == [b"x"] * 3
    storage = machine(url=entrance.url)
    assert storage.read("memory").data == b"x"
    assert entrance.count("GET") == 1


def test_when_its_time_is_over_a_page_is_asked_for_and_sent_only_if_it_is_another(
    machine: Machine, entrance: Door
) -> None:
    other, storage = machine("other"), machine(ttl=0, url=entrance.url)
    storage.write("memory", b"old")
    assert storage.read("memory").data == b"old"
    assert "if-none-match" in entrance.asked[-1].headers
    other.write("memory", b"newer")
    assert storage.read("memory").data == b"newer"
    other.delete("memory")
    with pytest.raises(PageNotFound):
        storage.read("memory")
    assert entrance.count("GET") == 3


def test_a_page_is_taken_on_trust_for_so_long_and_no_longer(bucket: str, tmp_path: Path) -> None:
    now = time.time_ns()
    one = S3Storage(bucket, endpoint=server())
    other = S3Storage(bucket, endpoint=server(), cache=tmp_path, ttl=300, clock=lambda: now)
    one.write("memory", b"old")
    other.read("memory")
    one.write("memory", b"newer")
    now += 299_999_999_999
    assert other.read("memory").data == b"old"
    now += 1
    assert other.read("memory").data == b"newer"
    one.write("memory", b"newest")
    now -= 1_000_000_000  # a clock that was set back: nothing is known of how long ago it was
    assert other.read("memory").data == b"newest"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-1],
        lambda data: data.replace(b"text", b"lies"),
        lambda data: b"",
        lambda data: b"{}\ntext",
        lambda data: b"\xff\n",
        lambda data: b"[]",
        lambda data: data.replace(b'"memory"', b'"other"'),
    ],
    ids=["cut", "changed", "empty", "no tag", "garbage", "a list", "another page"],
)
def test_a_cache_that_was_spoiled_is_not_believed(machine: Machine, spoil: Callable[[bytes], bytes]) -> None:
    storage = machine()
    storage.write("memory", b"text")
    assert storage.cache_folder
    (file,) = (storage.cache_folder / "pages").iterdir()
    file.write_bytes(spoil(file.read_bytes()))
    for asking in (storage, machine()):
        assert asking.read("memory").data == b"text"


def test_without_a_place_for_a_cache_everything_works(bucket: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    for cache in (None, tmp_path / "file"):
        storage = S3Storage(bucket, endpoint=server(), cache=cache)
        with storage.lock():
            version = storage.write("memory", b"old", ANY)
            storage.write("memory", b"new", version)
        assert storage.read("memory").data == b"new"
        revision = storage.history.record({"memory": b"new"}, entry())
        assert storage.history.read(revision, "memory") == b"new"
        assert storage.cache_folder is None
        memory = Memory(storage)
        memory.write("The boat is blue.")
        assert "blue" in memory.search("What is the boat?")[0].excerpt
        storage.delete("memory")


def test_each_store_has_a_cache_of_its_own_that_only_its_owner_can_read(bucket: str, tmp_path: Path) -> None:
    folders = set()
    for prefix in ("a", "b"):
        storage = S3Storage(bucket, prefix, endpoint=server(), cache=tmp_path / "cache")
        storage.write("memory", prefix.encode())
        assert storage.read("memory").data == prefix.encode()
        folders.add(storage.cache_folder)
    assert len(folders) == 2
    for found in (tmp_path / "cache").rglob("*"):
        assert found.stat().st_mode & 0o077 == 0


def test_pages_that_are_gone_leave_the_cache(machine: Machine) -> None:
    storage = machine()
    storage.write("memory", b"x")
    storage.write("other", b"x")
    machine("another").delete("other")
    later = machine()
    later.list_files()
    assert later.cache_folder
    assert len(list((later.cache_folder / "pages").iterdir())) == 1


def test_what_was_known_later_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = PageCache(tmp_path)

    def known() -> bytes | None:
        kept = cache.find("memory")
        return kept.found.data if kept else None

    cache.keep("memory", Object("2", b"second"), as_of=20)
    cache.keep("memory", Object("1", b"first"), as_of=10)
    assert known() == b"second"
    cache.drop("memory", as_of=15)
    assert known() == b"second"
    cache.drop("memory", as_of=40)
    cache.keep("memory", Object("3", b"third"), as_of=30)
    assert known() is None
    cache.keep("memory", Object("5", b"fifth"), as_of=50)
    with monkeypatch.context() as full:
        full.setattr(Path, "replace", _refuse)
        cache.keep("memory", Object("6", b"sixth"), as_of=60)
    assert known() is None


def _refuse(*_: object) -> None:
    raise OSError("the disk is full")


# How it is chosen


def test_the_environment_chooses_a_bucket_and_a_path_that_is_given_does_not(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "SILICA_MEMORY_BACKEND": "s3",
        "SILICA_MEMORY_S3_BUCKET": bucket,
        "SILICA_MEMORY_S3_ENDPOINT": server(),
        "SILICA_MEMORY_PATH": str(tmp_path / "folder"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    with Memory.open() as memory:
        memory.write("The boat is blue.")
        assert memory.storage.where == f"s3://{bucket}/memory at {server()}"
        assert len(memory.traces()) == 1
    assert [key for key in keys(bucket) if "/.metadata/" not in key] == ["memory/memory.md"]
    assert list((tmp_path / "cache" / "silica").iterdir()) == [memory.storage.cache_folder]
    with Memory.open(tmp_path / "other") as memory:
        memory.write("The boat is red.")
    assert (tmp_path / "other" / "memory.md").exists()
    assert not (tmp_path / "folder").exists()
    assert b"blue" in keys(bucket)["memory/memory.md"]


# Two machines with one memory


def test_what_two_machines_write_at_once_is_all_there(machine: Machine) -> None:
    memories = [Memory(machine(f"machine {number}"), threshold=4_096) for number in range(2)]
    acknowledged: list[str] = []
    turns = effort(8, 25)

    def work(worker: int) -> None:
        for turn in range(turns):
            text = f"Worker {worker} saw ship {worker * 100 + turn} in the harbour."
            while True:
                try:
                    memories[worker % 2].write(text, None if turn % 5 == 0 else f"ships/{worker}", "append")
                    break
                except StorageConflict:
                    continue
            acknowledged.append(text)

    at_once(8, work)
    assert len(acknowledged) == 8 * turns
    third = Memory(machine("third"))
    lines = [line for page in third.list_files() for line in third.read(page.path).splitlines()]
    assert sorted(line for line in lines if line.startswith("Worker ")) == sorted(acknowledged)
    assert third.check() == []


def test_a_machine_knows_its_own_notes_and_whether_a_process_works_on_them(machine: Machine) -> None:
    one, again, other = machine("one"), machine("one"), machine("two")
    name = "pending/1f3a"
    with one.state.claim(name, is_new=True) as is_mine:
        assert is_mine
        one.state.write(name, b"{}")
        for notes in (one.state, again.state, other.state):
            with notes.claim(name) as is_free:
                assert not is_free
    with other.state.claim(name) as is_free:
        assert not is_free
    with again.state.claim(name) as is_free:
        assert is_free
    again.state.remove(name)
    assert again.cache_folder
    assert list((again.cache_folder / "claims").iterdir()) == []


def test_a_machine_finishes_its_own_text_when_it_is_back(machine: Machine, bucket: str, tmp_path: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from memory_v2.memory import Memory
from memory_v2.models.scripted import ScriptedModel
from memory_v2.storage.s3.storage import S3Storage
bucket, endpoint, cache = sys.argv[1:]
storage = S3Storage(bucket, "p", endpoint=endpoint, cache=Path(cache))
Memory(storage, ScriptedModel(lambda _: os._exit(9))).write("Plums are ripe in August.")
"""
    arguments = [sys.executable, "-c", script, bucket, server(), str(tmp_path / "one")]
    assert subprocess.run(arguments, timeout=60).returncode == 9
    assert Memory(machine("two")).recover() == []
    assert [done.kind for done in Memory(machine("one")).recover()] == ["write"]
    assert "Plums" in Memory(machine("one")).read()
