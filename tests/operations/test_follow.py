"""Children that a split lists on a new page follow it, with the pages below them and the links to them."""

from __future__ import annotations

from memory_v2.memory import Memory
from tests.operations.scenes import SMALL, call, calls, offline, scripted
from tests.properties.whole import faults, pages_of

LINKED = "# Memory\n\nAsk [[alice|her]] and [[alice/bees]].\n\n" + 2 * ("The boats lie in the harbour. " * 30 + "\n\n")


def club() -> Memory:
    """A root that lists three pages, of which one has a page below it."""
    memory = offline()
    memory.write(LINKED, None, "replace")
    for path in ("alice", "alice/bees", "robert", "harbour"):
        memory.write(f"{path.title()} is a member of the club. See [[robert]].", path)
    return memory


def split(memory: Memory, name: str = "people", links: str = "L1-L2") -> Memory:
    """The memory after a model has moved these links, and the boats, to new pages."""
    people = {"name": name, "title": "Alice and Robert", "description": "Alice, Robert, members", "links": links}
    boats = {"name": "boats", "title": "Boats", "description": "The boats lie in the harbour", "blocks": "3-4"}
    reply = calls(call("split_page", strategy="topic", children=[people, boats]))
    memory, _ = scripted(memory, reply, threshold=SMALL)
    assert memory.split().decided_by == "scripted"
    return memory


def test_children_follow_their_new_parent_with_all_links_to_them() -> None:
    before = club()
    old = {path: page.data for path, page in pages_of(before.storage).items()}
    memory = split(before)
    pages = pages_of(memory.storage)
    assert {"people", "people/alice", "people/alice/bees", "people/robert", "harbour", "boats"} <= pages.keys()
    assert not {"alice", "alice/bees", "robert"} & pages.keys()
    assert "[[people/alice|her]]" in pages["memory"].body
    assert "[[people/alice/bees]]" in pages["memory"].body
    assert "[[people/robert]]" in pages["harbour"].body
    assert faults(pages, SMALL) == []
    assert memory.check() == []
    memory.undo()
    assert {path: page.data for path, page in pages_of(memory.storage).items()} == old


def test_a_child_keeps_its_path_where_the_new_one_is_taken() -> None:
    before = club()
    before.write("Alice of the people.", "people/alice")
    memory = split(before)
    assert {"alice", "people/alice", "people/robert"} <= pages_of(memory.storage).keys()
    assert memory.check() == []


def test_a_child_with_a_source_of_its_own_keeps_its_path() -> None:
    before = club()
    page = pages_of(before.storage)["robert"]
    before.storage.write("robert", page.text.replace("## Metadata\n\n", "## Metadata\n\nsource: robert.md\n").encode())
    memory = split(before)
    assert {"robert", "people/alice"} <= pages_of(memory.storage).keys()
    assert memory.check() == []


def test_a_child_in_the_folder_of_another_page_keeps_its_path() -> None:
    before = club()
    before.rename("robert", "staff/robert")
    memory = split(before)
    assert {"staff/robert", "people/alice"} <= pages_of(memory.storage).keys()
