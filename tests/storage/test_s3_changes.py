"""Changes in a bucket: what was cut short is completed or taken back; entries and plans are shared by machines."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from memory_v2.errors import StorageConflict, StorageError
from memory_v2.memory import Memory
from memory_v2.storage.history import EXTERNAL, Change, PageChange
from memory_v2.storage.s3 import bucket as s3_bucket
from memory_v2.storage.s3.storage import S3Storage
from tests.conformance.history_suite import entry
from tests.conformance.storage_suite import at_once

from .s3_server import HOST, Answers, Asked, Door, Fate, Loses, Machine, keys, put

pytestmark = pytest.mark.allow_hosts([HOST])

OLD = b"# Memory\n\none\n\ntwo\n"
NEW = b"# Memory\n\none\n\n[[child]]\n"


class Died(BaseException):
    """The machine is switched off."""


def begun(storage: S3Storage) -> str:
    """A memory with one page; returns its revision."""
    return storage.commit(Change((PageChange("memory", None, OLD),), entry(0))).revision.id


SPLIT = Change(
    (PageChange("child", None, b"two\n"), PageChange("memory", OLD, NEW), PageChange("log", None, b"x")), entry(1)
)
AFTER = {"child": b"two\n", "memory": NEW, "log": b"x"}


def dies_at(nth: int, storage: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine dies when it is about to write its nth page of the split."""
    write, left = storage.write, [nth]

    def dying(*args: object) -> str:
        left[0] -= 1
        if left[0] < 0:
            raise Died
        return write(*args)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(storage, "write", dying)
        with pytest.raises(Died):
            storage.commit(SPLIT)


def pages(storage: S3Storage) -> dict[str, bytes]:
    return {path: storage.read(path).data for path in storage.list_files()}


def is_whole(storage: S3Storage) -> bool:
    history = storage.history
    return (
        storage.interrupted() is None and history.head == history.checked_out and not history.unrecorded(pages(storage))
    )


@pytest.mark.parametrize("nth", range(3))
@pytest.mark.parametrize("how", ["finish", "apply"])
def test_what_a_machine_that_died_has_recorded_is_completed_by_the_next(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, nth: int, how: str
) -> None:
    begun(machine())
    dies_at(nth, machine(), monkeypatch)
    other = machine("other")
    assert len(pages(other)) == (1, 2, 2)[nth]
    interrupted = other.interrupted()
    assert interrupted
    assert interrupted.summary == "fact 1"
    if how == "finish":
        finished = other.finish()
        assert finished and set(finished.paths) == set(AFTER)
    else:
        other.commit(Change((PageChange("log", b"x", b"y"),), entry(2)))
    assert pages(other) == AFTER | ({} if how == "finish" else {"log": b"y"})
    assert is_whole(other)
    assert [one.kind for one in machine("third").history.revisions()] == ["write"] * (2 if how == "finish" else 3)


def test_an_edit_by_hand_of_a_change_that_was_cut_short_is_kept_and_recorded(
    bucket: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(machine())
    dies_at(1, machine(), monkeypatch)
    put(bucket, "p/memory.md", b"# Memory\n\none, by hand\n\ntwo\n")
    other = machine("other")
    other.finish()
    assert pages(other) == AFTER | {"memory": b"# Memory\n\none, by hand\n\n[[child]]\n"}
    assert is_whole(other)
    assert [one.kind for one in other.history.revisions()] == [EXTERNAL, "write", "write"]


def test_a_change_whose_pages_cannot_be_written_is_taken_back_for_all_machines(
    machine: Machine, entrance: Door
) -> None:
    storage, other = machine(url=entrance.url), machine("other")
    first = begun(storage)
    seen: list[str] = []

    def fate(asked: Asked) -> Fate:
        if asked.method == "PUT" and asked.key.endswith("/log.md"):
            seen.append(other.history.head)
            return Answers(403, "AccessDenied")
        return None

    entrance.fate = fate
    with pytest.raises(StorageError, match="permission is denied") as caught:
        storage.commit(SPLIT)
    assert "will be completed" not in str(caught.value)
    assert seen[0] != first
    for asked in (other, machine("third"), storage):
        assert [one.id for one in asked.history.revisions()] == [first]
        assert asked.history.head == asked.history.checked_out == first
        assert pages(asked) == {"memory": OLD}
        assert is_whole(asked)
    made = other.commit(SPLIT).revision.id
    assert storage.history.before(made) == first
    assert [one.id for one in storage.history.revisions()] == [made, first]
    assert storage.history.difference(first, made) == tuple(sorted(SPLIT.pages, key=lambda page: page.path))


@pytest.mark.parametrize("arrives", [True, False])
def test_nothing_is_restored_after_a_page_of_which_nobody_knows_whether_it_was_written(
    machine: Machine, entrance: Door, monkeypatch: pytest.MonkeyPatch, arrives: bool
) -> None:
    monkeypatch.setattr(s3_bucket, "ATTEMPTS", 1)
    storage, other = machine(url=entrance.url), machine("other")
    begun(storage)
    entrance.fate = on("memory.md", Loses(arrives))
    with pytest.raises(StorageError, match="will be completed when the memory is next used"):
        storage.commit(SPLIT)
    entrance.fate = lambda _: None
    assert pages(other) == {"child": b"two\n", "memory": NEW if arrives else OLD}
    other.finish()
    assert pages(other) == AFTER
    assert is_whole(other)


def on(suffix: str, fate: Fate) -> Callable[[Asked], Fate]:
    """This fate for whatever changes or looks at such an object."""
    return lambda asked: fate if asked.key.endswith(suffix) and asked.method in ("PUT", "HEAD") else None


@pytest.mark.parametrize("arrives", [True, False])
def test_a_record_of_which_nobody_knows_whether_it_was_made_is_told_and_completed_if_it_was(
    machine: Machine, entrance: Door, monkeypatch: pytest.MonkeyPatch, arrives: bool
) -> None:
    monkeypatch.setattr(s3_bucket, "ATTEMPTS", 1)
    storage, other = machine(url=entrance.url), machine("other")
    begun(storage)
    entrance.fate = on("0000000002.git", Loses(arrives))
    with pytest.raises(StorageError, match="may have been recorded, and will then be completed"):
        storage.commit(SPLIT)
    entrance.fate = lambda _: None
    assert pages(other) == {"memory": OLD}
    other.finish()
    assert pages(other) == (AFTER if arrives else {"memory": OLD})
    assert is_whole(other)


def test_a_change_that_cannot_be_recorded_is_not_made(machine: Machine, entrance: Door) -> None:
    storage = machine(url=entrance.url)
    begun(storage)
    for key in ("0000000002.git", ""):
        entrance.fate = on(key, Answers(403, "AccessDenied"))
        with pytest.raises(StorageError, match="permission is denied"):
            storage.commit(SPLIT)
    entrance.fate = lambda _: None
    assert pages(machine("other")) == {"memory": OLD}
    storage.commit(SPLIT)
    assert pages(machine("other")) == AFTER


def test_nothing_is_recorded_on_top_of_what_was_not_looked_at(machine: Machine) -> None:
    storage, other = machine(), machine("other")
    begun(storage)
    with storage.lock():
        assert storage.history.head
        other.history.record({"memory": NEW}, entry(2))  # without the lease
        with pytest.raises(StorageConflict, match="another change was recorded first"):
            storage.commit(SPLIT)
    assert [one.summary for one in storage.history.revisions()] == ["fact 2", "fact 0"]
    assert "child" not in pages(storage)


def test_a_change_costs_few_requests(machine: Machine, entrance: Door) -> None:
    storage = machine(url=entrance.url)
    begun(storage)
    del entrance.asked[:]
    storage.commit(Change((PageChange("memory", OLD, NEW),), entry(1)))
    assert [(one.method, one.key.split("/", 3)[-1]) for one in entrance.asked] == [
        ("PUT", ".metadata/s3.lock"),
        ("GET", ".metadata/format.json"),
        ("GET", entrance.asked[2].key.split("/", 3)[-1]),
        ("GET", "memory.md"),
        ("PUT", ".metadata/history/0000000002.git"),
        ("PUT", "memory.md"),
        ("PUT", ".metadata/history/checked-out"),
        ("DELETE", ".metadata/s3.lock"),
    ]


@pytest.mark.parametrize("machines", [1, 2])
def test_many_threads_append_without_a_stall(bucket: str, machine: Machine, machines: int) -> None:
    storages = [machine(f"machine {number}") for number in range(machines)]
    begun(storages[0])

    def append(worker: int) -> None:
        storage = storages[worker % machines]
        for turn in range(3):
            with storage.lock():
                now = storage.read("memory").data
                storage.commit(Change((PageChange("memory", now, now + b"- %d %d\n" % (worker, turn)),), entry(turn)))

    at_once(16, append)
    lines = keys(bucket)["p/memory.md"].splitlines()
    assert sorted(lines[5:]) == sorted(b"- %d %d" % (worker, turn) for worker in range(16) for turn in range(3))
    assert is_whole(machine("another"))
    assert len(list(storages[0].history.revisions())) == 49


NOW = datetime(2026, 2, 15, 9, 30, tzinfo=UTC)


def test_machines_capture_under_numbers_of_their_own_and_share_one_history(bucket: str, machine: Machine) -> None:
    first, second = (Memory(machine(name), now=lambda: NOW) for name in ("one", "two"))
    texts = ["Ferries are late.", "The jetty is new.", "Tulips stand by the kiln."]
    ids = [memory.entries.capture(f"{text} {n}").id for text in texts for n, memory in enumerate((first, second))]
    assert len(set(ids)) == 6
    assert [entry.id for entry in second.entries.list_entries()] == sorted(ids)
    assert (first.entries.pick_up(), second.entries.pick_up()) == (6, 0)
    assert second.check() == []
    second.undo()
    assert first.entries.list_entries() == []
    assert not [name for name in keys(bucket) if "/entries/" in name]


def test_pages_are_listed_without_the_entries(bucket: str, machine: Machine) -> None:
    memory = Memory(machine(), now=lambda: NOW)
    memory.write("The lighthouse is white.", "towns")
    memory.entries.capture("The lighthouse keeper retires.")
    memory.entries.pick_up()
    assert [page.path for page in Memory(machine()).list_files()] == ["memory", "towns"]
    results = Memory(machine()).search("lighthouse")
    assert {one.path.partition("/")[0] for one in results} == {"entries", "towns"}
    assert "keeper" not in str(Memory(machine()).search("lighthouse", only="pages"))


def test_plans_are_carried_out_and_undone_in_a_bucket_and_another_machine_sees_it(machine: Machine) -> None:
    now = [datetime(2026, 2, 15, 12, tzinfo=UTC)]
    memory = Memory(machine("one"), now=lambda: now[0])
    lesson = memory.entries.capture("Lesson: test the restore.", decay="linear-14d", confidence=0.9).id
    assert memory.entries.route(apply=True).revision
    (promotion,) = memory.entries.promote(apply=True).planned
    now[0] += timedelta(days=14)
    assert {one.name for one in memory.entries.age(apply=True).planned} == {lesson, promotion.target}
    other = Memory(machine("two"), now=lambda: now[0])
    assert not other.entries.list_entries()
    assert not other.entries.age(apply=True).planned
    other.undo()
    assert {one.id: one.home for one in memory.entries.list_entries()} == {
        lesson: "insights",
        promotion.target: "insights",
    }
