"""Taking back what stands beside edits by hand: pages that a person removed, or put there without a link."""

from __future__ import annotations

import pytest

from memory_v2.errors import NotAllowed
from memory_v2.storage.volatile import VolatileStorage
from tests.operations.scenes import offline
from tests.properties.whole import clock


def tree(storage: VolatileStorage) -> dict[str, bytes]:
    return {path: storage.read(path).data for path in storage.list_files()}


def test_a_root_that_was_made_anew_is_taken_away_again() -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write("Porto is on the Douro.", "porto")
    storage.delete("memory")
    before = tree(storage)
    memory.write("Lisbon is on the Tagus.", "memory")
    memory.undo()
    assert tree(storage) == before


def test_a_page_that_nothing_linked_to_may_be_as_it_was() -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write("Lisbon is on the Tagus.")
    storage.write("by-hand", b"# By hand\r\n\r\nMine.\r\n")
    before = tree(storage)
    memory.write("Porto is on the Douro.", "by-hand")
    moment = memory.history()[1].id
    memory.undo()
    assert tree(storage) == before
    memory.write("Faro is on the sea.", "by-hand")
    memory.restore(moment)
    assert tree(storage) == before


def test_a_link_that_led_nowhere_before_a_page_was_made_may_do_so_again() -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write("Lisbon is on the Tagus, unlike [[porto]].", "lisbon")
    memory.checkpoints.create_checkpoint("before")
    before, moment = tree(storage), memory.history()[0].id
    for make in (memory.create, lambda path, text: memory.write(text, path)):
        make("porto", "Porto is on the Douro.")
        memory.undo()
        assert tree(storage) == before
        make("porto", "Porto is on the Douro.")
        memory.restore(moment)
        assert tree(storage) == before
        make("porto", "Porto is on the Douro.")
        memory.checkpoints.restore_checkpoint("before")
        assert tree(storage) == before


def test_a_page_to_which_others_have_linked_since_is_not_taken_away() -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write("Lisbon is on the Tagus, unlike [[porto]].", "lisbon")
    memory.write("Faro is on the sea.", "faro")
    made = memory.create("porto", "Porto is on the Douro.").revision
    memory.replace_text("faro", "sea.", "sea, unlike [[porto]].")
    before = tree(storage)
    with pytest.raises(NotAllowed, match="other pages link"):
        memory.undo(made)
    assert tree(storage) == before


def test_a_page_that_others_hang_on_by_now_is_not_taken_away() -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write("Lisbon is on the Tagus.")
    memory.write("Porto is on the Douro.", "towns")
    memory.write("Faro is on the sea.", "towns/faro")
    before = tree(storage)
    with pytest.raises(NotAllowed, match="was changed after"):
        memory.undo(memory.history()[1].id)
    assert tree(storage) == before


def test_a_page_that_is_brought_back_does_not_list_what_is_not_there_any_more() -> None:
    storage = VolatileStorage(clock)
    memory = offline(storage=storage)
    memory.write("Lisbon is on the Tagus.")
    memory.write("Porto is on the Douro.", "porto")
    memory.write("Faro is on the sea.", "faro")
    moment = memory.history()[0].id
    memory.delete("porto")
    memory.restore(moment, "memory")
    assert memory.check() == []
    assert "[[faro]]" in memory.read()
