"""An edit of a page in an editor: stored as it is, undone as a whole, and never over what somebody else has written."""

from __future__ import annotations

import pytest

from memory_v2.errors import InvalidText, PageNotFound, StorageConflict
from tests.operations.scenes import SMALL, offline


def test_an_edit_of_what_somebody_else_has_changed_is_a_conflict_and_stores_nothing() -> None:
    memory = offline()
    memory.write("One.", "garden", "append")
    was = memory.read("garden")
    memory.write("Two.", "garden", "append")
    now = memory.read("garden")
    with pytest.raises(StorageConflict):
        memory.edit("garden", was.replace("One", "Ten"), was)
    assert memory.read("garden") == now


def test_an_edit_that_breaks_the_page_leaves_a_whole_tree() -> None:
    memory = offline(threshold=SMALL)
    memory.write("About tulips.", "garden/tulips", "append")
    was = memory.read()
    text = "# Mine\n\n## Links\n\n## Metadata\n\nbelow it all\n" + "- a line of text\n\n" * 200
    memory.edit("memory", text, was)
    assert memory.check() == []
    assert memory.read().count("## Links") == 2  # that of the edit is text
    assert any("below it all" in memory.read(page.path) for page in memory.list_files())
    assert "garden/tulips" in {page.path for page in memory.list_files()}


def test_an_edit_to_nothing_or_of_no_page_is_refused() -> None:
    memory = offline()
    memory.write("One.", "garden", "append")
    was = memory.read("garden")
    for text in ("", " \n", "\ud800"):
        with pytest.raises(InvalidText):
            memory.edit("garden", text, was)
    with pytest.raises(PageNotFound):
        memory.edit("nowhere", "text", "")
    assert memory.read("garden") == was
