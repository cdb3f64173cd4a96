"""Two writers whose changes do not touch the same page, and would break the tree together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from memory_v2.errors import PageExists
from memory_v2.memory import Memory
from memory_v2.storage.volatile import VolatileStorage

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
