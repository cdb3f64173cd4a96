"""Operations by chance, with pages edited, dropped and moved by hand before each and between its plan and its commit.

From Python, from the shell and over MCP: no line that was typed is lost where success is reported, no success is
without a revision, `undo` takes back the last.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import anyio
import pytest

from memory_v2.errors import PageExists, SilicaError
from memory_v2.memory import Memory
from memory_v2.operations.results import Result, SplitResult, WriteResult
from memory_v2.storage.base import Stored
from memory_v2.storage.local.storage import LocalStorage
from tests.cli.program import Program
from tests.effort import effort
from tests.mcp.scenes import connected
from tests.properties.whole import pages_of, texts_of

STEPS = 8
NAMES = ("dam", "weir", "mill/wheels", "mill/pond", "dams/pond", "log")
REMOVING = ("delete", "delete_folder", "replace", "undo")
OPERATIONS: dict[str, Callable[[Memory, random.Random, str], Result]] = {
    "write": lambda memory, rng, fact: memory.write(fact),
    "write to": lambda memory, rng, fact: memory.write(fact, rng.choice(NAMES)),
    "append": lambda memory, rng, fact: memory.write(fact, rng.choice(NAMES), "append"),
    "replace": lambda memory, rng, fact: memory.write(fact, rng.choice(NAMES), "replace"),
    "create": lambda memory, rng, fact: memory.create(rng.choice(NAMES), f"# Made\n\n{fact}\n"),
    "insert": lambda memory, rng, fact: memory.insert(rng.choice(NAMES), 0, f"{fact}\n"),
    "rename": lambda memory, rng, fact: memory.rename(*rng.sample(NAMES, 2)),
    "rename_folder": lambda memory, rng, fact: memory.rename_folder(*rng.sample(["mill", "dams"], 2)),
    "delete": lambda memory, rng, fact: memory.delete(rng.choice(NAMES)),
    "delete_folder": lambda memory, rng, fact: memory.delete_folder(rng.choice(["mill", "dams"])),
    "merge": lambda memory, rng, fact: memory.merge(rng.choice(NAMES)),
    "split": lambda memory, rng, fact: memory.split(rng.choice(NAMES)),
    "undo": lambda memory, rng, fact: memory.undo(),
}

SHELL: dict[str, Callable[[random.Random, str], list[str]]] = {
    "write": lambda rng, fact: ["write", fact],
    "write to": lambda rng, fact: ["write", "--to", rng.choice(NAMES), fact],
    "append": lambda rng, fact: ["write", "--to", rng.choice(NAMES), "--mode", "append", fact],
    "replace": lambda rng, fact: ["write", "--to", rng.choice(NAMES), "--mode", "replace", fact],
    "rename": lambda rng, fact: ["rename", *rng.sample(NAMES, 2)],
    "delete": lambda rng, fact: ["delete", "--yes", rng.choice(NAMES)],
    "merge": lambda rng, fact: ["merge", rng.choice(NAMES)],
    "split": lambda rng, fact: ["split", rng.choice(NAMES)],
    "check": lambda rng, fact: ["check", "--apply"],
    "undo": lambda rng, fact: ["undo", "--yes"],
}
"""What is typed for each."""
TOOLS: dict[str, Callable[[random.Random, str], tuple[str, dict[str, str]]]] = {
    "write": lambda rng, fact: ("write_memory", {"content": fact}),
    "write to": lambda rng, fact: ("write_memory", {"content": fact, "path": rng.choice(NAMES)}),
    "append": lambda rng, fact: ("write_memory", {"content": fact, "path": rng.choice(NAMES), "mode": "append"}),
    "replace": lambda rng, fact: ("write_memory", {"content": fact, "path": rng.choice(NAMES), "mode": "replace"}),
    "delete": lambda rng, fact: ("delete_memory", {"path": rng.choice(NAMES)}),
    "split": lambda rng, fact: ("split_memory", {"path": rng.choice(NAMES)}),
    "undo": lambda rng, fact: ("undo_memory", {}),
}
"""What an agent calls for each."""


class AttentiveStorage(LocalStorage):
    """A folder in which something is done by hand just before an operation takes the lock, or takes it once more."""

    by_hand: Callable[[], None] | None = None
    locks_before = 0
    """How often the lock is taken before that."""
    dropped = ""
    """A page that is dropped by hand just before it is looked for, once."""

    def read(self, path: str) -> Stored:
        if path == self.dropped:
            self.dropped = ""
            drop(Path(self.where), path)
        return super().read(path)

    @contextmanager
    def lock(self, wait: bool = True) -> Iterator[None]:
        if wait and (act := self.by_hand):
            self.locks_before -= 1
            if self.locks_before < 0:
                self.by_hand = None
                act()
        with super().lock(wait):
            yield


class Hand:
    """Who edits the folder by hand; `typed` is every line that was typed and not taken away by the same hand."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self.rng, self.typed = folder, rng, set[str]()
        self.number = 0

    def act(self) -> None:
        file = self.folder / f"{self.rng.choice(NAMES)}.md"
        match self.rng.randrange(4):
            case 0 | 1 if not file.exists():
                file.parent.mkdir(exist_ok=True, parents=True)
                file.write_text(f"# By hand\n\n{self.line()}\n")
            case 0 | 1 | 2 if file.exists() and "\n\n" in file.read_text():
                file.write_text(file.read_text().replace("\n\n", f"\n\n{self.line()}\n\n", 1))
            case 3 if file.exists():
                other = self.folder / f"{self.rng.choice(NAMES)}.md"
                if not other.exists():
                    other.parent.mkdir(exist_ok=True)
                    file.rename(other)
            case _:
                pass

    def line(self) -> str:
        self.number += 1
        line = f"- typed by hand as number {self.number}, of the heron"
        self.typed.add(line)
        return line


def in_history(memory: Memory, line: str) -> bool:
    kept = memory.storage.history
    return any(line.encode() in data for change in kept.revisions() for data in kept.pages(change.id).values())


Do = Callable[[str, random.Random, str], Result | bool]
"""Does an operation; returns its result, or whether it says that it was done."""


def by_python(memory: Memory) -> Do:
    def do(name: str, rng: random.Random, fact: str) -> Result | bool:
        try:
            return OPERATIONS[name](memory, rng, fact)
        except (SilicaError, KeyError):
            return False

    return do


def by_shell(program: Program) -> Do:
    return lambda name, rng, fact: program.quick(*SHELL[name](rng, fact)).code == 0


def by_mcp(memory: Memory) -> Do:
    async def call(tool: str, arguments: dict[str, str]) -> bool:
        async with connected(memory) as client:
            return not (await client.call_tool(tool, arguments)).is_error

    return lambda name, rng, fact: anyio.run(call, *TOOLS[name](rng, fact))


def play(memory: Memory, hand: Hand, names: list[str], do: Do, seed: int) -> None:
    storage, rng = memory.storage, hand.rng
    assert isinstance(storage, AttentiveStorage)
    memory.write("The weir was built in 1961.", "weir")
    memory.write("The mill has two wheels.", "mill/wheels")
    for step in range(STEPS):
        if rng.random() < 0.5:
            hand.act()
        storage.by_hand = hand.act if rng.random() < 0.4 else None
        storage.locks_before = rng.randrange(3)
        name = rng.choice(names)
        where = f"seed {seed}, step {step}, {name}"
        result = do(name, rng, f"The fact {seed * 100 + step} is about a river.")
        if not isinstance(result, bool) and not result.revisions:
            assert isinstance(result, WriteResult | SplitResult), where
            assert getattr(result, "outcome", "") == "nothing new" or getattr(result, "reason", ""), where
        storage.by_hand = None
        texts = texts_of(pages_of(storage))
        for line in hand.typed.copy():
            if not any(line in text for text in texts):
                assert result is not False and name in REMOVING, f"{where}: {line!r} is gone"
                assert in_history(memory, line), f"{where}: {line!r} is not even in the history"
                hand.typed.remove(line)
    newest = next((change for change in memory.history() if change.is_next), None)
    if newest is not None:
        try:
            memory.undo()
        except SilicaError:
            return
        undone = next(change for change in memory.history() if change.id == newest.id)
        assert undone.undone_by.startswith(memory.history()[0].id), seed


@pytest.mark.parametrize("seed", range(effort(6, 1_000)))
def test_what_is_typed_stays_whatever_is_done_around_it(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    storage = AttentiveStorage(folder)
    with Memory(storage) as memory:
        play(memory, Hand(folder, random.Random(seed)), list(OPERATIONS), by_python(memory), seed)


@pytest.mark.parametrize("seed", range(effort(3, 1_000)))
def test_what_is_typed_stays_whatever_is_done_around_it_from_the_shell(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "memory"
    storage = AttentiveStorage(folder)
    monkeypatch.setattr("memory_v2.memory.open_storage", lambda settings: storage)
    with Memory(storage) as memory:
        program = Program(tmp_path, folder)
        play(memory, Hand(folder, random.Random(seed)), list(SHELL), by_shell(program), seed)


@pytest.mark.parametrize("seed", range(effort(3, 1_000)))
def test_what_is_typed_stays_whatever_is_done_around_it_over_mcp(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    storage = AttentiveStorage(folder)
    with Memory(storage) as memory:
        play(memory, Hand(folder, random.Random(seed)), list(TOOLS), by_mcp(memory), seed)


ONTO: dict[str, tuple[str, Callable[[Memory], Result]]] = {
    "rename": ("dam", lambda memory: memory.rename("weir", "dam")),
    "rename below": ("dam/log", lambda memory: memory.rename("weir", "dam")),
    "rename_folder": ("dams/wheels", lambda memory: memory.rename_folder("mill", "dams")),
    "create": ("dam", lambda memory: memory.create("dam", "# Dam\n\nMade.\n")),
    "write": ("dam", lambda memory: memory.write("The dam is new.", "dam")),
    "append": ("dam", lambda memory: memory.write("The dam is new.", "dam", "append")),
}
"""What makes a page, and which page that is."""


def drop(folder: Path, path: str) -> None:
    file = folder / f"{path}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text("# By hand\n\nThe heron is back.\n")


@pytest.mark.parametrize("locks", [None, *range(3)])
@pytest.mark.parametrize("name", ONTO)
def test_a_page_that_is_dropped_while_another_is_put_in_its_place_stays(
    name: str, locks: int | None, tmp_path: Path
) -> None:
    storage = AttentiveStorage(tmp_path)
    path, act = ONTO[name]
    with Memory(storage) as memory:
        for page in ("weir", "weir/log", "mill/wheels"):
            memory.write("The weir was built in 1961.", page)
        memory.list_files()
        if locks is None:
            storage.dropped = path
        else:
            storage.by_hand, storage.locks_before = partial(drop, tmp_path, path), locks
        with suppress(PageExists):
            act(memory)
    if not storage.dropped and not storage.by_hand:
        assert "The heron is back." in (tmp_path / f"{path}.md").read_text()
