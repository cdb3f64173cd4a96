"""What becomes of a memory in a bucket when the network, the server or another machine fails."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_v2.errors import PageNotFound, StorageConflict, StorageError
from memory_v2.memory import Memory
from memory_v2.storage.base import ABSENT, ANY, Expected
from memory_v2.storage.s3 import bucket as s3_bucket
from memory_v2.storage.s3 import lease as s3_lease
from memory_v2.storage.s3.storage import S3Storage
from tests.conformance.storage_suite import at_once

from .s3_server import HOST, Answers, Asked, Cuts, Door, Fate, Loses, Strips, client, keys, new_bucket, server

pytestmark = pytest.mark.allow_hosts([HOST])

PAGE = "/p/memory.md"


@pytest.fixture
def storage(bucket: str, entrance: Door, tmp_path: Path) -> S3Storage:
    return S3Storage(bucket, "p", endpoint=entrance.url, cache=tmp_path / "cache")


@pytest.fixture
def other(bucket: str) -> S3Storage:
    """Another machine."""
    return S3Storage(bucket, "p", endpoint=server())


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes seconds takes moments."""
    monkeypatch.setattr(s3_bucket, "ATTEMPTS", 1)
    monkeypatch.setattr(s3_bucket, "CONFLICT_SECONDS", (0.01, 0.01, 0.01))
    monkeypatch.setattr(s3_lease, "LEASE_SECONDS", 0.4)
    monkeypatch.setattr(s3_lease, "RENEW_SECONDS", 0.1)
    monkeypatch.setattr(s3_lease, "LOOK_SECONDS", 0.05)


def first(count: int, fate: Fate, method: str = "PUT", suffix: str = PAGE) -> Callable[[Asked], Fate]:
    """This fate for the first requests of a kind."""
    left = [count]

    def decide(asked: Asked) -> Fate:
        if asked.method == method and asked.key.endswith(suffix) and left[0]:
            left[0] -= 1
            return fate
        return None

    return decide


def without(condition: str) -> Callable[[Asked], Fate]:
    """The server ignores this condition."""
    return lambda asked: Strips() if condition in asked.headers else None


ALWAYS = 1_000


# Errors that say what to do


@pytest.mark.parametrize(
    ("answers", "advice"),
    [
        (Answers(403, "AccessDenied"), "permission is denied; these credentials must be allowed to list"),
        (Answers(403, "InvalidAccessKeyId"), "AWS_ACCESS_KEY_ID"),
        (Answers(403, "SignatureDoesNotMatch"), "the secret key is wrong"),
        (Answers(400, "ExpiredToken"), "sign in again"),
        (Answers(400, "AuthorizationHeaderMalformed", "<Region>eu-west-3</Region>"), r"another region \(eu-west-3\)"),
        (
            Answers(301, "PermanentRedirect", headers={"x-amz-bucket-region": "eu-west-3"}),
            "another region; set SILICA_MEMORY_S3_REGION",
        ),
        (Answers(403, "RequestTimeTooSkewed"), "the clock of this machine is wrong"),
        (Answers(404, "NoSuchBucket"), "there is no such bucket"),
        (Answers(501, "NotImplemented"), "does not know conditional requests"),
        (Answers(503, "SlowDown"), "try again later"),
        (Answers(500, "InternalError"), "try again later"),
        (Answers(502), "try again later"),
        (Answers(400, "SomethingNew"), r"refuses it \(SomethingNew: the server's words\)"),
        (Loses(arrives=False), "cannot be reached, or hangs up"),
    ],
    ids=lambda value: f"{value.status} {value.code}" if isinstance(value, Answers) else "",
)
@pytest.mark.usefixtures("hurried")
def test_each_refusal_is_one_sentence_that_says_what_to_do(
    storage: S3Storage, entrance: Door, other: S3Storage, answers: Fate, advice: str
) -> None:
    version = other.write("memory", b"old")
    entrance.fate = lambda _: answers
    acts: dict[str, Callable[[], object]] = {
        "read": lambda: storage.read("memory"),
        "list": storage.list_files,
        "write": lambda: storage.write("memory", b"new"),
        "write new": lambda: storage.write("other", b"new", ABSENT),
        "delete": lambda: storage.delete("memory"),
    }
    for name, act in acts.items():
        with pytest.raises(StorageError, match=advice) as caught:
            act()
        assert not isinstance(caught.value, StorageConflict)
        assert str(caught.value).startswith(f"cannot {name.split()[0]} s3://") or "cannot change s3://" in str(
            caught.value
        )
        assert "\n" not in str(caught.value)
    assert other.read("memory").version == version
    assert other.list_files() == ["memory"]


@pytest.mark.usefixtures("hurried")
def test_what_cannot_be_looked_at_is_not_taken_for_absent(storage: S3Storage, entrance: Door) -> None:
    entrance.fate = first(ALWAYS, Answers(403), "HEAD")
    for ask in (storage.exists, storage.get_size, storage.get_modified_time):
        with pytest.raises(StorageError, match="permission is denied"):
            ask("memory")


def test_a_bucket_that_is_not_there_is_told_by_every_question() -> None:
    with new_bucket() as bucket:
        storage = S3Storage(f"{bucket}-not", "p", endpoint=server())
        asks: list[Callable[[], object]] = [
            lambda: storage.read("memory"),
            lambda: storage.exists("memory"),
            lambda: storage.write("memory", b"x"),
            lambda: storage.write("memory", b"x", "a version"),
            lambda: storage.delete("memory", ABSENT),
            lambda: storage.get_size("memory"),
            storage.list_files,
            storage.ignored_files,
            lambda: Memory(storage).write("A text."),
        ]
        for ask in asks:
            with pytest.raises(StorageError, match="there is no such bucket") as caught:
                ask()
            assert not isinstance(caught.value, StorageConflict)


@pytest.mark.parametrize(
    ("bucket_name", "region", "endpoint", "variables", "advice"),
    [
        ("memory", None, "", {"AWS_ACCESS_KEY_ID": ""}, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"),
        ("memory", None, "", {"AWS_SECRET_ACCESS_KEY": ""}, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        ("memory", None, "", {"AWS_PROFILE": "nobody"}, "the profile in AWS_PROFILE"),
        ("no bucket", None, "", {}, "a bucket cannot have this name"),
        ("memory", "no region", "", {}, "there is no such region"),
        ("memory", None, "nowhere", {}, "the endpoint is no address"),
        ("memory", None, f"http://{HOST}:1", {}, "SILICA_MEMORY_S3_REGION and _S3_ENDPOINT"),
    ],
)
@pytest.mark.usefixtures("bucket", "hurried")
def test_what_cannot_be_opened_is_told(
    bucket_name: str,
    region: str | None,
    endpoint: str,
    variables: dict[str, str],
    advice: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        if value:
            monkeypatch.setenv(name, value)
        else:
            monkeypatch.delenv(name)
    storage = S3Storage(bucket_name, "p", region, endpoint or server())
    asks: list[Callable[[], object]] = [
        lambda: storage.read("memory"),
        lambda: storage.write("memory", b"x", ABSENT),
        lambda: storage.exists("memory"),
        storage.list_files,
    ]
    for ask in asks:
        with pytest.raises(StorageError, match=advice) as caught:
            ask()
        assert "\n" not in str(caught.value)


# Other requests on the same object


@pytest.mark.usefixtures("hurried")
def test_a_write_that_meets_another_one_is_sent_again(storage: S3Storage, entrance: Door) -> None:
    entrance.fate = first(2, Answers(409, "ConditionalRequestConflict"))
    version = storage.write("memory", b"old", ABSENT)
    entrance.fate = first(2, Answers(409, "ConditionalRequestConflict"), "DELETE")
    storage.delete("memory", version)
    assert not storage.exists("memory")


@pytest.mark.usefixtures("hurried")
def test_a_write_that_meets_others_for_ever_is_a_conflict(storage: S3Storage, entrance: Door, other: S3Storage) -> None:
    version = other.write("memory", b"old")
    for method in ("PUT", "DELETE"):
        entrance.fate = first(ALWAYS, Answers(409, "ConditionalRequestConflict"), method)
        with pytest.raises(StorageConflict):
            storage.write("memory", b"new", version) if method == "PUT" else storage.delete("memory", version)
    assert other.read("memory").data == b"old"


# Answers that are lost


@pytest.mark.parametrize("arrives", [True, False], ids=["answer lost", "request lost"])
@pytest.mark.parametrize("expected", [ABSENT, ANY, "the version"], ids=["absent", "any", "version"])
def test_a_write_whose_answer_is_lost_is_made_once(
    storage: S3Storage, entrance: Door, other: S3Storage, arrives: bool, expected: Expected
) -> None:
    if isinstance(expected, str):
        expected = storage.write("memory", b"old")
    entrance.fate = first(1, Loses(arrives))
    version = storage.write("memory", b"new", expected)
    assert other.read("memory").version == version
    assert storage.write("memory", b"newer", version) == other.read("memory").version
    assert entrance.count("PUT") >= 3


@pytest.mark.parametrize("arrives", [True, False], ids=["answer lost", "request lost"])
def test_a_delete_whose_answer_is_lost_is_made_once(
    storage: S3Storage, entrance: Door, other: S3Storage, arrives: bool
) -> None:
    version = storage.write("memory", b"old")
    entrance.fate = first(1, Loses(arrives), "DELETE")
    storage.delete("memory", version)
    assert not other.exists("memory")


def test_a_lost_answer_does_not_hide_that_somebody_else_was_faster(
    storage: S3Storage, entrance: Door, other: S3Storage
) -> None:
    version = storage.write("memory", b"old")
    tries = 0

    def fate(asked: Asked) -> Fate:
        nonlocal tries
        if asked.method == "PUT":
            tries += 1
            if tries == 1:
                return Loses(arrives=False)
            if tries == 2:
                other.write("memory", b"theirs")
        return None

    entrance.fate = fate
    with pytest.raises(StorageConflict):
        storage.write("memory", b"mine", version)
    assert other.read("memory").data == b"theirs"


@pytest.mark.usefixtures("hurried")
def test_a_write_of_which_every_answer_is_lost_is_looked_up(
    storage: S3Storage, entrance: Door, other: S3Storage
) -> None:
    entrance.fate = first(ALWAYS, Loses())
    assert storage.write("memory", b"new", ABSENT) == other.read("memory").version


@pytest.mark.usefixtures("hurried")
def test_after_a_change_that_nobody_knows_of_nothing_is_taken_back(
    storage: S3Storage, entrance: Door, other: S3Storage
) -> None:
    with storage.lock():
        child = storage.write("child", b"moved from the parent", ABSENT)
        entrance.fate = first(1, Loses(arrives=False))
        with pytest.raises(StorageError, match="hangs up"):
            storage.write("memory", b"links to the child", ABSENT)
        for undo in (lambda: storage.delete("child", child), lambda: storage.write("child", b"", child)):
            with pytest.raises(StorageError, match="the next change completes this one"):
                undo()
    assert other.read("child").data == b"moved from the parent"
    with storage.lock():
        storage.delete("child", child)
    assert other.list_files() == []


def test_a_page_whose_bytes_break_off_is_asked_for_again(storage: S3Storage, entrance: Door, other: S3Storage) -> None:
    other.write("memory", b"a text of some length")
    entrance.fate = first(1, Cuts(), "GET")
    assert storage.read("memory").data == b"a text of some length"
    entrance.fate = first(ALWAYS, Cuts(), "GET")
    other.write("memory", b"another text")
    with storage.lock(), pytest.raises(StorageError, match="hangs up"):
        storage.read("memory")


# The lock


def test_machines_wait_for_each_other(bucket: str) -> None:
    def add(worker: int) -> None:
        storage = S3Storage(bucket, "p", endpoint=server())
        for turn in range(8):
            with storage.lock():
                before = storage.read("log").data if storage.exists("log") else b""
                storage.write("log", before + b"%d %d\n" % (worker, turn))  # no expectation: only the lock protects

    at_once(4, add)
    assert len(S3Storage(bucket, "p", endpoint=server()).read("log").data.splitlines()) == 32


@pytest.mark.usefixtures("hurried")
def test_a_holder_that_died_is_overtaken_after_its_lease(bucket: str, other: S3Storage) -> None:
    client().put_object(Bucket=bucket, Key="p/.metadata/s3.lock", Body=b"somebody who died")
    started = time.monotonic()
    with other.lock():
        assert time.monotonic() - started >= 0.4
        other.write("memory", b"x")
    assert list(keys(bucket)) == ["p/memory.md"]


@pytest.mark.usefixtures("hurried")
def test_a_holder_that_is_alive_is_not_overtaken(
    storage: S3Storage, other: S3Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_lease, "LEASE_SECONDS", 5.0)  # much longer than any request takes on a busy machine
    monkeypatch.setattr(s3_lease, "WAIT_SECONDS", 7.0)
    taken, refused = threading.Event(), threading.Event()

    def work(worker: int) -> None:
        if worker == 0:
            with storage.lock():
                taken.set()
                while not refused.wait(0.05):
                    storage.exists("memory")
        else:
            assert taken.wait(60)
            try:
                with (
                    pytest.raises(StorageError, match=f"process {os.getpid()} on .* has held the memory"),
                    other.lock(),
                ):
                    pass
            finally:
                refused.set()

    at_once(2, work)


@pytest.mark.usefixtures("hurried")
def test_who_has_lost_the_lock_changes_nothing(storage: S3Storage, other: S3Storage) -> None:
    with storage.lock():
        time.sleep(0.2)
        with other.lock():
            with pytest.raises(StorageConflict, match="another machine took the lock"):
                storage.write("memory", b"late")
            other.write("memory", b"theirs")
        assert other.read("memory").data == b"theirs"
    with storage.lock():
        storage.write("memory", b"in time")


@pytest.mark.usefixtures("hurried")
def test_who_has_lost_the_lock_in_the_middle_stops_there(storage: S3Storage, other: S3Storage) -> None:
    with storage.lock():
        version = storage.write("child", b"x", ABSENT)
        time.sleep(0.2)
        with other.lock():
            for _ in range(2):
                with pytest.raises(StorageError, match="the next change completes this one") as caught:
                    storage.delete("child", version)
                assert not isinstance(caught.value, StorageConflict)
    assert other.list_files() == ["child"]


@pytest.mark.usefixtures("hurried")
def test_what_was_stored_is_stored_though_the_lock_cannot_be_given_back(
    storage: S3Storage, entrance: Door, other: S3Storage
) -> None:
    with storage.lock():
        storage.write("memory", b"x")
        entrance.fate = lambda _: Loses(arrives=False)
    entrance.fate = lambda _: None
    with other.lock():
        assert other.read("memory").data == b"x"


def test_a_server_that_takes_no_notice_of_conditions_is_refused(storage: S3Storage, entrance: Door) -> None:
    for ignored in ("if-none-match", "if-match"):
        entrance.fate = without(ignored)
        with pytest.raises(StorageError, match="ignores If-Match"), storage.lock():
            pass
    entrance.fate = lambda _: None
    with storage.lock():
        storage.write("memory", b"x")


def test_a_server_is_asked_for_conditions_once_by_a_machine(
    bucket: str, storage: S3Storage, entrance: Door, tmp_path: Path
) -> None:
    for again in (storage, storage, S3Storage(bucket, "p", endpoint=entrance.url, cache=tmp_path / "cache")):
        with again.lock():
            pass
    assert entrance.count("PUT") == 3 + 2


# The server goes away in the middle of a split

FISH = "tons of fish, which is what the boats bring"
COASTS = [
    f"## Coast {coast}\n\n" + "".join(f"- Harbour {n} has a crane for {n * 7 + 11} {FISH}.\n" for n in harbours)
    for coast, harbours in enumerate((range(8), range(8, 16), range(16, 24), range(24, 32)))
]
STEPS = 6
"""How often the write below changes an object: the root, its four new children, the root once more."""


@pytest.mark.parametrize(
    ("nth", "arrives", "comes_back"),
    [
        (1, True, False),
        (1, False, True),
        (2, True, True),
        (3, False, False),
        (5, False, True),
        (STEPS, True, True),
        (STEPS, False, True),
        (STEPS, True, False),
        (STEPS + 1, True, False),
    ],
)
@pytest.mark.usefixtures("hurried")
def test_a_server_that_goes_away_in_the_middle_of_a_split_takes_nothing_with_it(
    bucket: str, entrance: Door, tmp_path: Path, nth: int, arrives: bool, comes_back: bool
) -> None:
    memory = Memory(S3Storage(bucket, "p", endpoint=entrance.url, cache=tmp_path / "one"), threshold=2_048)
    for coast in COASTS[:-1]:
        memory.write(coast, "memory", "append")
    acknowledged = _harbours(*COASTS[:-1])
    assert len(memory.list_files()) == 1
    changes, is_gone = 0, False

    def fate(asked: Asked) -> Fate:
        nonlocal changes, is_gone
        if is_gone:
            is_gone = not (comes_back and asked.method == "HEAD")
            return Loses(arrives=False)
        if asked.method in ("PUT", "DELETE") and asked.key.endswith(".md"):
            changes += 1
            if changes == nth:
                is_gone = True
                return Loses(arrives)
        return None

    entrance.fate = fate
    if nth == 1:
        with pytest.raises(StorageError) as caught:
            memory.write(COASTS[-1], "memory", "append")
        assert not isinstance(caught.value, StorageConflict)
    else:  # the text is stored, and the split is what fails
        result = memory.write(COASTS[-1], "memory", "append")
        assert ("the page 'memory' could not be split" in result.degraded) == (nth <= STEPS)
        assert result.split_triggered == (nth > STEPS)
        acknowledged = _harbours(*COASTS)
    assert changes == min(nth, STEPS)

    entrance.fate = lambda _: None
    later = Memory(S3Storage(bucket, "p", endpoint=server(), cache=tmp_path / "two"), threshold=2_048)
    assert acknowledged <= _harbours(_everything(later))
    later.checkup(apply=True)
    assert [finding for finding in later.check() if finding.severity == "error"] == []
    assert acknowledged <= _harbours(_everything(later))


def _harbours(*texts: str) -> set[str]:
    return {line for text in texts for line in text.splitlines() if line.startswith("- Harbour")}


def _everything(memory: Memory) -> str:
    return "\n".join(memory.read(page.path) for page in memory.list_files())


def test_a_page_that_is_gone_is_not_found_by_a_machine_that_has_it_in_its_cache(
    storage: S3Storage, other: S3Storage
) -> None:
    version = storage.write("memory", b"x")
    other.delete("memory")
    with storage.lock(), pytest.raises(PageNotFound):
        storage.read("memory")
    with pytest.raises(PageNotFound):
        storage.delete("memory", version)
    with pytest.raises(StorageConflict):
        storage.write("memory", b"y", version)
