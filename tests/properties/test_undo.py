"""Whatever was done, undo gives back the tree as it was, to the byte; and undoing the undo gives back what was done."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_v2.errors import NotAllowed, PageExists
from memory_v2.memory import Memory
from memory_v2.operations.history import PastOperation
from memory_v2.operations.results import Result
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.s3.storage import S3Storage
from memory_v2.storage.volatile import VolatileStorage
from tests.effort import effort
from tests.properties.whole import clock, faults, pages_of
from tests.storage.s3_server import HOST, new_bucket, server

WORDS = ("alice", "boat", "carmen", "deploy", "engine", "ferry", "garden", "harbour", "island", "jetty", "kiln")
STEPS = 30
STEPS_ON_S3 = effort(8, 12)
VOLATILE = [("in memory", seed) for seed in range(effort(2, 24))]
ON_S3 = [
    pytest.param((place, seed), marks=pytest.mark.allow_hosts([HOST]))
    for place in ("a bucket with versions", "a bucket without")
    for seed in range(effort(1, 4))
]


@pytest.fixture
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryStorage]:
    place = request.param[0]
    if place == "in memory":
        yield VolatileStorage(clock)
    else:
        with new_bucket(versions=place == "a bucket with versions") as bucket:
            yield S3Storage(bucket, "p", endpoint=server(), cache=tmp_path)


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    number: int = request.node.callspec.params["storage"][1]
    return number


@pytest.fixture
def steps(storage: MemoryStorage) -> int:
    return STEPS if isinstance(storage, VolatileStorage) else STEPS_ON_S3


everywhere = pytest.mark.parametrize("storage", [*VOLATILE, *ON_S3], indirect=True, ids=str)


def tree_of(storage: MemoryStorage) -> dict[str, bytes]:
    return {path: storage.read(path).data for path in storage.list_files()}


def text(rng: random.Random) -> str:
    lines = [f"- {' '.join(rng.sample(WORDS, 6))} {rng.randrange(999)}" for _ in range(rng.randrange(1, 12))]
    title = f"# {rng.choice(WORDS)}\n\n" if rng.random() < 0.5 else ""
    end = rng.choice(["\n", "\r\n", ""])
    return title + "\n".join(lines) + end


def step(memory: Memory, rng: random.Random) -> Result | None:
    """One operation by chance; none where it was refused."""
    pages = memory.storage.list_files()
    page = rng.choice(pages) if pages else "memory"
    name = f"{rng.choice(WORDS)}/{rng.choice(WORDS)}"
    try:
        match rng.randrange(10):
            case 0 | 1 | 2 | 3:
                return memory.write(text(rng))
            case 4:
                return memory.write(text(rng), name)
            case 5:
                return memory.write(text(rng), page, rng.choice(["append", "replace"]))
            case 6:
                return memory.split(page)
            case 7:
                return memory.merge(page)
            case 8:
                return memory.rename(page, name)
            case _:
                return memory.delete(page)
    except (NotAllowed, PageExists, KeyError):
        return None


@everywhere
def test_undo_gives_back_the_tree_to_the_byte_one_by_one(storage: MemoryStorage, seed: int, steps: int) -> None:
    rng = random.Random(seed)
    memory = Memory(storage, threshold=2_048, now=clock)
    trees = [tree_of(storage)]
    for _ in range(steps):
        step(memory, rng)
        if (after := tree_of(storage)) == trees[-1]:
            continue
        if rng.random() < 0.5:
            memory.undo()
            assert tree_of(storage) == trees[-1]
            memory.undo(memory.history()[0].id)
            assert tree_of(storage) == after
        trees.append(after)
    assert len(trees) > steps / 3
    assert not faults(pages_of(storage), 2_048)
    while len(trees) > 1:
        trees.pop()
        memory.undo()
        assert tree_of(storage) == trees[-1]
    with pytest.raises(NotAllowed, match="nothing to undo"):
        memory.undo()


@everywhere
def test_an_earlier_operation_is_undone_or_refused_and_the_tree_is_whole_either_way(
    storage: MemoryStorage, seed: int, steps: int
) -> None:
    rng = random.Random(200 + seed)
    memory = Memory(storage, threshold=2_048, now=clock)
    for _ in range(steps // 2):
        step(memory, rng)
    done: list[PastOperation] = memory.history()
    for operation in rng.sample(done, min(6, len(done))):
        before = tree_of(storage)
        try:
            memory.undo(operation.id)
        except NotAllowed:
            assert tree_of(storage) == before
        assert [finding for finding in memory.check() if finding.severity == "error"] == []


@pytest.mark.parametrize("storage", [VOLATILE[0], ON_S3[0]], indirect=True, ids=str)
def test_any_moment_can_be_restored_and_nothing_of_later_is_lost(storage: MemoryStorage, seed: int, steps: int) -> None:
    rng = random.Random(seed)
    memory = Memory(storage, threshold=2_048, now=clock)
    moments: dict[str, dict[str, bytes]] = {}
    for _ in range(steps):
        if step(memory, rng) is not None and (done := memory.history()):
            moments.setdefault(done[0].id, tree_of(storage))
    for name, tree in moments.items():
        memory.restore(name)
        assert tree_of(storage) == tree
    last = list(moments)[-1]
    assert memory.diff(last).pages == ()
