"""Every block of every document is in the tree, or it is said why not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory_v2.files.left_out import LeftOut
from memory_v2.memory import Memory
from memory_v2.migrate.source import Scan
from memory_v2.migrate.verify import Passage, Verification, verify
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.storage.history import Revision
from tests.migrate.brought import brought, brought_one, document, last_operation, scan_of
from tests.operations.scenes import SMALL, call, calls, offline, scripted
from tests.tree.texts import EXAMPLES

GARDEN = "# Garden\n\nLeeks are planted in March.\n\n## Tools\n\n- a spade\n- a rake\n\n---\n\nThe end.\n"
HARD = {name: text for name, text in EXAMPLES.items() if text.strip("\ufeff \t\n")}
LONG = "# Log\n\n" + "".join(f"## Day {n}\n\nOn day {n} the {n}th leek was planted.\n\n" for n in range(200))


def verified(memory: Memory, scan: Scan) -> Verification:
    return verify(memory, scan, brought(memory, scan))


def skipping(name: str, reason: str) -> Plan:
    """A plan that skips a document."""
    return Plan("import", steps=(Step(SKIP, name, reason=reason),))


def test_each_block_of_a_document_is_found_with_its_lines_and_its_page() -> None:
    memory, scan = offline(), scan_of(document("notes/garden.md", GARDEN))
    found = verified(memory, scan)
    assert found.passages == tuple(
        Passage("notes/garden.md", (line, line), "there", "notes/garden") for line in (1, 3, 5, 7, 8, 12)
    )
    assert (found.is_complete, found.blocks, found.documents) == (True, 6, 1)


@pytest.mark.parametrize(
    ("text", "pages"), [(LONG, 4), (LONG.replace("\n", "\r\n"), 4), ("# One\n\n" + 30_000 * "A long line. ", 1)]
)
def test_a_document_that_was_divided_is_found_on_all_its_pages(text: str, pages: int) -> None:
    memory, scan = offline(SMALL), scan_of(document("log.md", text))
    found = verified(memory, scan)
    assert found.is_complete
    assert found.count("there") == found.blocks
    assert len({passage.page for passage in found.passages}) >= pages


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_hard_texts_are_found(text: str) -> None:
    memory, scan = offline(), scan_of(document("hard.md", text), document("other.md", GARDEN))
    assert verified(memory, scan).is_complete


def test_a_heading_that_became_a_title_or_was_repeated_is_there() -> None:
    memory, scan = offline(), scan_of(document("garden.md", "# Garden\n\n## Tools\n\n- a spade\n"))
    imported = brought(memory, scan)
    memory.create("tools", "# Tools\n\n- a spade\n")
    memory.write("# Garden\n\nNothing.", path="garden", mode="replace")
    assert verify(memory, scan, imported).is_complete


def test_a_text_of_two_documents_must_stand_twice() -> None:
    memory = offline()
    scan = scan_of(document("a.md", "# A\n\nThe same words."), document("b.md", "# B\n\nThe same words."))
    imported = brought(memory, scan)
    assert verify(memory, scan, imported).is_complete
    memory.storage.write("b", b"# B\n")
    found = verify(memory, scan, imported)
    assert [(one.name, one.state) for one in found.passages if one.state != "there"] == [("b.md", "changed")]


def test_a_text_that_stands_twice_in_a_document_must_stand_twice() -> None:
    memory = offline()
    imported = brought(memory, scan_of(document("a.md", "# A\n\nOne.\n\nOne.\n")))
    found = verify(memory, scan_of(document("a.md", "# A\n\nOne.\n\nOne.\n\nOne.\n")), imported)
    assert [(one.state, one.lines) for one in found.passages] == [
        ("there", (1, 1)),
        ("there", (3, 3)),
        ("there", (5, 5)),
        ("missing", (7, 7)),
    ]


def test_what_was_changed_since_is_told_with_the_operation() -> None:
    memory, scan = offline(), scan_of(document("garden.md", GARDEN))
    imported = brought(memory, scan)
    memory.replace_text("garden", "in March", "in April")
    found = verify(memory, scan, imported)
    (changed,) = (one for one in found.passages if one.state == "changed")
    assert found.is_complete
    assert changed.lines == (3, 3)
    assert changed.operation == memory.history()[0].id
    assert "Leeks are planted in March" in changed.opening


def test_an_edit_by_hand_is_an_operation_too() -> None:
    memory, scan = offline(), scan_of(document("garden.md", GARDEN))
    imported = brought(memory, scan)
    memory.storage.write("garden", b"# Garden\n\nEmpty now.\n")
    found = verify(memory, scan, imported)
    assert found.is_complete
    assert {one.operation for one in found.passages if one.state == "changed"} == {memory.history()[0].first.id[:12]}
    assert memory.history()[0].first.kind == "outside"


def test_each_change_accounts_for_as_many_blocks_as_it_took() -> None:
    memory = offline()
    scan = scan_of(document("a.md", "# A\n\nThe same words."), document("b.md", "# B\n\nThe same words."))
    imported = brought(memory, scan)
    memory.delete("b")
    three = scan_of(*scan.documents, document("c.md", "# B\n\nThe same words."))
    found = verify(memory, three, {**imported, "c.md": replace(imported["b.md"])})
    assert [one.state for one in found.passages if one.state != "there"] == ["changed"] * 2 + ["missing"] * 2


def test_a_split_is_no_reason_for_a_block_to_be_gone() -> None:
    memory, scan = offline(), scan_of(document("garden.md", GARDEN))
    imported = brought(memory, scan)
    history = memory.storage.history
    lossy = b"# Garden\n\nLeeks are planted in March.\n"
    memory.storage.write("garden", lossy)
    history.record({"garden": lossy}, Revision("split", "a split that loses text", "0123456789"))
    found = verify(memory, scan, imported)
    assert not found.is_complete
    assert found.count("missing") == 4


def test_a_document_that_was_not_brought_in_is_missing_unless_there_is_a_reason() -> None:
    memory = offline()
    scan = scan_of(
        document("a.md", GARDEN), document("b.md", GARDEN), left_out=[LeftOut("c.json", "no reader for JSON")]
    )
    imported = {"a.md": brought_one(memory, scan.documents[0])}
    assert verify(memory, scan, imported).count("missing") == 6
    found = verify(memory, scan, imported, skipping("b.md", "a.md has the same text"))
    assert found.is_complete
    assert found.passages[-1] == Passage("b.md", (12, 12), "there", "a", reason="a.md has the same text")
    assert found.left_out == (LeftOut("c.json", "no reader for JSON"),)
    other = scan_of(scan.documents[0], document("b.md", "# Beans\n\nThey climb.\n\nThe end.\n"))
    found = verify(memory, other, imported, skipping("b.md", "nobody wanted it"))
    assert found.is_complete
    assert (found.count("there"), found.count("left out"), found.blocks) == (7, 2, 9)


def test_a_source_that_has_changed_since_is_missing_until_it_is_imported_again() -> None:
    memory = offline()
    imported = brought(memory, scan_of(document("a.md", GARDEN)))
    changed = scan_of(document("a.md", GARDEN + "\nA new line.\n"))
    found = verify(memory, changed, imported)
    assert [one.reason for one in found.passages if one.state == "missing"] == [
        "it has changed in the source since it was imported"
    ]
    assert verify(memory, changed, imported, skipping("a.md", "changed on both sides")).is_complete


def test_what_was_forgotten_is_told_as_forgotten() -> None:
    memory = offline()
    scan = scan_of(document("a.md", "# A\n\nThe key is hunter22.\n"), document("b.md", "# B\n\nAll of this goes.\n"))
    imported = brought(memory, scan)
    memory.forget("hunter22", apply=True)
    memory.forget(path="b", apply=True)
    found = verify(memory, scan, imported)
    assert found.is_complete
    assert {(one.reason, one.opening) for one in found.passages if one.state == "changed"} == {("forgotten", "")}


def test_what_a_model_told_in_other_words_is_in_the_history() -> None:
    text = "The leeks of the garden are planted in the month of March 2026."
    memory = offline()
    memory.write("# Garden\n\nBeans.", path="garden", mode="replace")
    told, _ = scripted(
        memory, calls(call("insert_words", page="garden", after=2, text="Leeks: planted in March 2026.", covers="n1"))
    )
    told.write(text, path="garden")
    imported = {"a.md": replace(brought_one(offline(), document("a.md", text)), page="garden")}
    imported["a.md"] = replace(imported["a.md"], operation=last_operation(memory))
    found = verify(memory, scan_of(document("a.md", text)), imported)
    assert found.is_complete


def test_a_fence_that_was_closed_is_there() -> None:
    memory, scan = offline(), scan_of(document("a.md", "# A\n\n```\nx = 1\n"))
    imported = brought(memory, scan)
    memory.write("More.", path="a", mode="append")
    found = verify(memory, scan, imported)
    assert found.passages == (Passage("a.md", (1, 1), "there", "a"), Passage("a.md", (3, 4), "there", "a"))


def test_code_that_belongs_to_an_item_where_it_came_to_stand_is_there() -> None:
    memory = offline()
    scan = scan_of(document("a.md", "    indented = True\n"))
    imported = brought(memory, scan)
    memory.storage.write("a", b"# A\n\n- an item\n\n    indented = True\n")
    found = verify(memory, scan, imported)
    assert [(one.state, one.page) for one in found.passages] == [("there", "a")]
