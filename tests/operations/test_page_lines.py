"""The line by which a page is listed quotes only what the page says now, whoever changes the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_v2.memory import Memory
from memory_v2.tools import dispatch
from memory_v2.tree.page import parse_page
from tests.operations.scenes import call, calls, offline, scripted

SAID, CHANGED = "Priya Nair is our SRE.", "Priya Nair has left Tidewater."


def by_hand(memory: Memory) -> None:
    stored = memory.storage.read("people")
    memory.storage.write("people", stored.data.replace(SAID.encode(), CHANGED.encode()))


def by_hand_then_listed(memory: Memory) -> None:
    by_hand(memory)
    memory.list_files()


def by_model(memory: Memory) -> None:
    other, _ = scripted(memory, calls(call("replace", page="people", blocks=[2], new_blocks=[1], reason="she left")))
    assert not other.write(CHANGED, "people").degraded


def by_undo_and_redo(memory: Memory) -> None:
    memory.write(CHANGED, "people", "replace")
    memory.undo()
    memory.undo(memory.history()[0].id)


def by_merge(memory: Memory) -> None:
    memory.write(f"# People\n\n{CHANGED}", "people/priya")
    memory.write("Nobody is listed here.", "people", "replace")
    memory.merge("people/priya")


WAYS: dict[str, Callable[[Memory], object]] = {
    "replace_text": lambda memory: memory.replace_text("people", SAID, CHANGED),
    "write replace": lambda memory: memory.write(CHANGED, "people", "replace"),
    "tool replace": lambda memory: dispatch(
        memory, "replace_in_memory", {"path": "people", "old": SAID, "new": CHANGED}
    ),
    "tool write": lambda memory: dispatch(
        memory, "write_memory", {"path": "people", "content": CHANGED, "mode": "replace"}
    ),
    "edit": lambda memory: memory.edit("people", memory.read("people").replace(SAID, CHANGED), memory.read("people")),
    "a model": by_model,
    "by hand": by_hand,
    "undo and redo": by_undo_and_redo,
    "merge": by_merge,
    "by hand, then listed": by_hand_then_listed,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_line_changes_with_what_it_quotes(way: str, tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory")
    memory.write("The harbour opens at six.")
    memory.write(SAID, "people")
    assert line(memory) == SAID
    WAYS[way](memory)
    memory.search("Priya")  # whoever looks next
    assert "SRE" not in memory.read("memory")
    assert "SRE" not in memory.context().text
    assert memory.check() == []


def line(memory: Memory, path: str = "people") -> str:
    listed = parse_page("memory", memory.read("memory")).children
    return next(child.description for child in listed if child.target == path)


def test_one_undo_takes_back_an_edit_by_hand_and_the_line_that_followed_it(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory")
    memory.write("The harbour opens at six.")
    memory.write(SAID, "people")
    before = memory.read("memory"), memory.read("people")
    by_hand(memory)
    assert memory.search("Priya")
    assert line(memory) == CHANGED
    memory.undo()
    assert (memory.read("memory"), memory.read("people")) == before
    memory.undo()  # the write before it
    assert "people" not in {page.path for page in memory.list_files()}


def test_a_line_in_words_of_its_own_stays() -> None:
    memory = offline()
    memory.write(SAID, "people")
    root = memory.storage.read("memory").data.replace(SAID.encode(), b"who works here, and as what")
    memory.storage.write("memory", root)
    memory.write(CHANGED, "people", "replace")
    assert line(memory) == "who works here, and as what"


def test_a_line_stays_while_what_it_quotes_stays() -> None:
    memory = offline()
    memory.write(f"{SAID}\n\nThe office is in Oslo.", "people")
    memory.replace_text("people", "Oslo", "Bergen")
    assert line(memory) == SAID


def test_a_line_that_quotes_what_its_page_said_once_is_found_and_mended() -> None:
    memory = offline()
    memory.write(SAID, "people")
    memory.write(CHANGED, "people", "replace")
    root = memory.storage.read("memory").data.replace(CHANGED.encode(), SAID.encode())
    memory.storage.write("memory", root)  # as a merge of two machines may leave it
    [finding] = memory.check()
    assert (finding.kind, finding.path, finding.severity) == ("outdated-line", "memory", "notice")
    assert SAID.rstrip(".") in finding.message
    assert memory.checkup(apply=True).findings == ()
    assert "has left" in line(memory)


def test_text_that_a_split_moves_below_its_page_is_still_said_there() -> None:
    memory = offline(threshold=2_048)
    memory.write(SAID, "people")
    memory.write(
        "\n\n".join(f"## Team {n}\n\n" + f"Team {n} looks after harbour number {n}. " * 9 for n in range(9)), "people"
    )
    assert memory.check() == []


TOLD = (
    "Biscuit the cat eats fish.",
    "The vet of Biscuit is in Mill Row.",
    "Rent is due on the 3rd.",
    "The vet closes at six.",
)


def at_home() -> Memory:
    memory = offline()
    for text in TOLD:
        memory.write(text, "home")
    return memory


def test_the_line_of_a_page_that_has_grown_names_what_it_holds() -> None:
    told = line(at_home(), "home")
    assert told.startswith("Biscuit; ")
    assert {"vet", "Mill", "Rent"} <= {*told.split("; ")}
    assert "3" not in told


def test_the_line_of_a_page_changes_no_oftener_than_the_page_doubles() -> None:
    memory = at_home()
    before = len(memory.history("memory"))
    for number in range(28):
        memory.write(f"Shelf {number} holds jars of the {number}th year.", "home")
    assert len(memory.history("memory")) - before <= 3
    assert memory.check() == []


def test_a_line_names_nothing_that_has_left_its_page() -> None:
    memory = at_home()
    for text in TOLD[:2]:
        memory.replace_text("home", text, "")
    assert "Biscuit" not in line(memory, "home")


def test_a_write_is_undone_although_lines_of_other_pages_have_changed_since() -> None:
    memory = at_home()
    before = memory.read("home")
    texts = [f"Crane {number} lifts {number} tons." for number in range(5)]
    written = memory.write("The harbour of Porto has a jetty.\n\n" + "\n\n".join(texts), "home")
    assert "Crane" in line(memory, "home")
    memory.write("Ines pays the boat.", "people")
    memory.undo(written.revision)
    assert memory.read("home") == before
    assert "Crane" not in line(memory, "home")
    assert line(memory) == "Ines pays the boat."
    assert memory.check() == []


def test_a_line_does_not_go_on_quoting_a_statement_that_a_newer_one_supersedes() -> None:
    memory = offline()
    memory.write("Tidewater meets at 9:30 in the Harbour room, with video.", "team")
    memory.write("Tidewater meets at 10:00 now, in the Harbour room, with video.", "team")
    assert "9:30" not in line(memory, "team")
