"""Whatever was done, undo gives back the tree as it was, to the byte; and undoing the undo gives back what was done."""

from __future__ import annotations

import random

import pytest

from memory_v2.errors import NotAllowed, PageExists
from memory_v2.memory import Memory
from memory_v2.operations.past import Operation
from memory_v2.operations.results import Result
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.volatile import VolatileStorage
from tests.properties.whole import clock, faults, pages_of

WORDS = [
    "alice",
    "boat",
    "carmen",
    "deploy",
    "engine",
    "ferry",
    "garden",
    "harbour",
    "island",
    "jetty",
    "kiln",
    "ledger",
]
SEEDS = range(12)
STEPS = 30


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


@pytest.mark.parametrize("seed", SEEDS)
def test_undo_gives_back_the_tree_to_the_byte(seed: int) -> None:
    rng = random.Random(seed)
    storage = VolatileStorage(clock, history=True)
    memory = Memory(storage, threshold=2_048, now=clock)
    undone = 0
    for _ in range(STEPS):
        before = tree_of(storage)
        result = step(memory, rng)
        after = tree_of(storage)
        if result is None or before == after:
            continue
        memory.undo()
        assert tree_of(storage) == before
        undone += 1
        if rng.random() < 0.7:
            memory.undo(memory.history()[0].id)
            assert tree_of(storage) == after
    assert undone > STEPS / 3
    assert not faults(pages_of(storage), 2_048)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_of_it_can_be_undone_one_by_one(seed: int) -> None:
    rng = random.Random(100 + seed)
    storage = VolatileStorage(clock, history=True)
    memory = Memory(storage, threshold=2_048, now=clock)
    trees = [tree_of(storage)]
    for _ in range(STEPS // 2):
        step(memory, rng)
        if tree_of(storage) != trees[-1]:
            trees.append(tree_of(storage))
    while len(trees) > 1:
        trees.pop()
        memory.undo()
        assert tree_of(storage) == trees[-1]
    with pytest.raises(NotAllowed, match="nothing to undo"):
        memory.undo()


@pytest.mark.parametrize("seed", SEEDS)
def test_an_earlier_operation_is_undone_or_refused_and_the_tree_is_whole_either_way(seed: int) -> None:
    rng = random.Random(200 + seed)
    storage = VolatileStorage(clock, history=True)
    memory = Memory(storage, threshold=2_048, now=clock)
    for _ in range(STEPS // 2):
        step(memory, rng)
    done: list[Operation] = memory.history()
    for operation in rng.sample(done, min(6, len(done))):
        before = tree_of(storage)
        try:
            memory.undo(operation.id)
        except NotAllowed:
            assert tree_of(storage) == before
        assert [finding for finding in memory.check() if finding.severity == "error"] == []


def test_any_moment_can_be_restored_and_nothing_of_later_is_lost() -> None:
    rng = random.Random(7)
    storage = VolatileStorage(clock, history=True)
    memory = Memory(storage, threshold=2_048, now=clock)
    moments: dict[str, dict[str, bytes]] = {}
    for _ in range(STEPS):
        if step(memory, rng) is not None and (done := memory.history()):
            moments.setdefault(done[0].id, tree_of(storage))
    for name, tree in moments.items():
        memory.restore(name)
        assert tree_of(storage) == tree
    last = list(moments)[-1]
    assert memory.diff(last).pages == ()
