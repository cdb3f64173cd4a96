"""What others do meanwhile: links and names hold, and a page dropped by hand is not written over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from memory_v2.errors import PageExists, SilicaError
from memory_v2.memory import Memory
from memory_v2.operations import commit
from memory_v2.operations.context import Freshness
from memory_v2.operations.draft import Draft
from memory_v2.storage.base import ANY, Expected
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.page import new_page
from tests.properties.whole import clock

PAGES = {
    "memory": "# M\n\n## Links\n\n- [[p]] - P\n- [[q]] - Q\n",
    "p": "# P\n\nSee [[c]].\n",
    "q": "# Q\n\nSee [[c]].\n",
    "c": "# C\n\nThe page that both lead to.\n",
}


class Contested(VolatileStorage):
    """A storage on which somebody else is faster, once, just before a commit gets the lock."""

    def __init__(self) -> None:
        super().__init__()
        self.rival: Callable[[], object] | None = None
        for path, text in PAGES.items():
            self.write(path, text.encode())

    @contextmanager
    def lock(self, wait: bool = True) -> Iterator[None]:
        rival, self.rival = self.rival, None
        if rival is not None:
            rival()
        with super().lock(wait):
            yield


def contested(path: str, text: str) -> tuple[Memory, Contested]:
    storage = Contested()
    memory = Memory(storage)
    memory.graph()
    storage.rival = lambda: storage.write(path, text.encode())
    return memory, storage


def test_a_page_of_which_two_let_go_at_once_stays_in_reach() -> None:
    memory, _ = contested("q", "# Q\n\nNo link any more.\n")
    memory.write("Nothing of it.", "p", "replace")
    assert [finding for finding in memory.check() if finding.severity == "error"] == []
    assert "Nothing of it." in memory.read("p")


def test_a_link_that_came_while_its_page_was_renamed_follows_it() -> None:
    memory, _ = contested("q", "# Q\n\nSee [[c]] and [[p]].\n")
    memory.rename("p", "people/p")
    assert "[[people/p]]" in memory.read("q")
    assert memory.check() == []


def test_a_path_that_somebody_else_took_in_another_case_is_refused() -> None:
    memory, storage = contested("Z/Foo", "# Foo\n")
    with pytest.raises(PageExists):
        memory.rename("p", "z/foo")
    assert storage.exists("p")
    assert not storage.exists("z/foo")


def notes(count: int) -> Memory:
    storage = VolatileStorage(clock)
    lines = "".join(f"- [[note-{number}]] - note {number}\n" for number in range(count))
    storage.write("memory", f"# Memory\n\n## Links\n\n{lines}".encode())
    for number in range(count):
        storage.write(f"note-{number}", f"# Note {number}\n\nThe lantern {number} is blue.\n".encode())
    memory = Memory(storage, now=clock)
    memory.search("lantern")  # takes the pages in
    return memory


def test_a_page_is_found_in_its_own_spelling_whether_it_is_stored_or_staged() -> None:
    draft = Draft(notes(2)._engine.parts)
    assert (draft.spelled("Note-1"), draft.spelled("kale")) == ("note-1", None)
    draft.put(new_page("Kale", "Kale"))
    assert (draft.spelled("kale"), draft.spelled("Note-1")) == ("Kale", "note-1")
    draft.remove("note-1")
    assert draft.spelled("note-1") is None
    draft.put(new_page("NOTE-1", "Note 1"))
    assert draft.spelled("note-1") == "NOTE-1"


def test_a_path_is_taken_by_a_page_or_a_folder_that_differs_only_in_case() -> None:
    draft = Draft(notes(2)._engine.parts)
    draft.put(new_page("Garden/kale", "Kale"))
    assert all(draft.is_taken(path) for path in ("note-1", "Note-1", "garden/kale", "garden/leeks"))
    assert not any(draft.is_taken(path) for path in ("Garden/leeks", "Garden", "note-1/more"))
    draft.remove("note-1")
    assert not draft.is_taken("note-1")


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

    def late(draft: Draft, exact: bool) -> object:
        drop(memory, "dam")
        return real(draft, exact)

    monkeypatch.setattr(commit, "commit", late)
    with pytest.raises(PageExists):
        memory.rename("weir", "dam")
    assert (Path(memory.storage.where) / "dam.md").read_text() == HAND


def test_it_is_renamed_itself(memory: Memory) -> None:
    drop(memory, "dam")
    result = memory.rename("dam", "dyke")
    assert result.revision and "The heron is back." in memory.read("dyke")
    assert not memory.storage.exists("dam")


class Watched(LocalStorage):
    """A folder in which something is done by hand right after a page was written or deleted, once."""

    after = ("", "")
    by_hand: Callable[[], object] = staticmethod(lambda: None)

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        version = super().write(path, data, expected)
        self._watch("write", path)
        return version

    def delete(self, path: str, expected: Expected = ANY) -> None:
        super().delete(path, expected)
        self._watch("delete", path)

    def _watch(self, act: str, path: str) -> None:
        if (act, path) == self.after:
            self.after = ("", "")
            self.by_hand()


@pytest.mark.parametrize(
    ("after", "act"),
    [
        (("delete", "mill/a"), lambda memory, then: memory.rename_folder("mill", "dams")),
        (("write", "dam"), lambda memory, then: memory.restore(then)),
    ],
)
def test_what_is_taken_back_keeps_what_was_typed_before_it_and_meanwhile(
    after: tuple[str, str], act: Callable[[Memory, str], object], tmp_path: Path
) -> None:
    storage = Watched(tmp_path)
    files = {path: tmp_path / f"{path}.md" for path in ("dam", "mill/a", "mill/b")}
    with Memory(storage) as memory:
        for path in files:
            memory.write(f"The first line of {path}.", path)
        then = memory.history()[0].id
        for path, file in files.items():
            file.write_text(file.read_text().replace("\n\n", f"\n\nTyped on {path}.\n\n", 1))
        memory.check()

        def edit() -> None:
            for path, file in files.items():
                file.parent.mkdir(exist_ok=True)
                with file.open("a") as opened:  # one that is gone is made anew
                    opened.write(f"\nTyped meanwhile on {path}.\n")

        storage.after, storage.by_hand = after, edit
        with suppress(SilicaError):
            act(memory, then)
        assert storage.after == ("", "")
        memory.check()
        text = "".join(file.read_text() for file in tmp_path.rglob("*.md"))
        assert [
            line for path in files for line in (f"Typed on {path}.", f"Typed meanwhile on {path}.") if line not in text
        ] == []


def test_its_folder_is_deleted_with_it_and_it_is_in_the_history(memory: Memory) -> None:
    drop(memory, "mill/dam")
    memory.delete_folder("mill")
    assert not memory.storage.exists("mill/dam")
    assert "heron" in memory.show(memory.history()[1].id)[1].diff


def test_a_memory_that_is_restored_has_only_the_pages_of_then_and_it_is_in_the_history(memory: Memory) -> None:
    drop(memory, "dam")
    memory.restore(memory.history()[0].id)
    assert not memory.storage.exists("dam")
    assert "heron" in memory.show(memory.history()[1].id)[1].diff
