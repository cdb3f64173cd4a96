"""The tree as one operation sees it: what is staged goes before what is stored."""

from __future__ import annotations

import pytest

from memory_v2.memory import Memory
from memory_v2.operations.draft import Draft, known_page
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.page import new_page
from memory_v2.tree.path import TakenPaths
from tests.properties.whole import clock


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


def test_a_page_is_found_without_going_through_the_paths_of_all_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    draft = Draft(notes(60)._engine.parts)
    looked_at: list[str] = []
    monkeypatch.setattr(TakenPaths, "add", lambda self, path: looked_at.append(path))
    assert known_page(draft, " Note-8 ").path == "note-8"
    assert not looked_at
