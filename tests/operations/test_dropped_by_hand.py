"""A page that was dropped into the folder a moment ago, before the index has looked: it is never overwritten or passed
over with success told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_v2.errors import PageExists
from memory_v2.memory import Memory
from memory_v2.operations import commit
from memory_v2.operations.context import Freshness
from memory_v2.operations.draft import Draft
from memory_v2.storage.local.storage import LocalStorage

HAND = "# By hand\n\nThe heron is back.\n"


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """An open memory whose last look at all pages was just now, and is not due again."""
    with Memory(LocalStorage(tmp_path)) as memory:
        memory.write("The weir was built in 1961.", "weir")
        memory.write("The mill has two wheels.", "mill/wheels")
        memory.list_files()
        monkeypatch.setattr(Freshness, "_is_due", lambda *_: False)
        yield memory


def drop(memory: Memory, path: str) -> Path:
    file = Path(memory.storage.where) / f"{path}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(HAND)
    return file


@pytest.mark.parametrize(
    "act",
    [
        lambda memory: memory.rename("weir", "dam"),
        lambda memory: memory.rename_folder("mill", "dams"),
        lambda memory: memory.create("dam", "Mine."),
    ],
)
def test_no_page_is_moved_or_created_onto_it(memory: Memory, act: Callable[[Memory], object]) -> None:
    files = [drop(memory, "dam"), drop(memory, "dams/wheels")]
    with pytest.raises(PageExists):
        act(memory)
    assert [file.read_text() for file in files] == [HAND, HAND]


def test_a_page_that_appears_while_a_rename_is_stored_stops_it(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    real = commit.commit

    def late(draft: Draft) -> object:
        drop(memory, "dam")
        return real(draft)

    monkeypatch.setattr(commit, "commit", late)
    with pytest.raises(PageExists):
        memory.rename("weir", "dam")
    assert (Path(memory.storage.where) / "dam.md").read_text() == HAND


def test_it_is_renamed_itself(memory: Memory) -> None:
    drop(memory, "dam")
    result = memory.rename("dam", "dyke")
    assert result.revision and "The heron is back." in memory.read("dyke")
    assert not memory.storage.exists("dam")
