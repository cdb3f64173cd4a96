"""Exact changes: text that is created, inserted or replaced to the letter, in an editor too."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_v2.errors import InvalidPath, InvalidText, NotAllowed, PageExists, PageNotFound, StorageConflict
from memory_v2.memory import Memory
from memory_v2.operations.results import Result
from memory_v2.tools import dispatch
from memory_v2.tools.memory_commands import answer_memory_command
from memory_v2.tree.edit import text_of
from memory_v2.tree.page import parse_page
from tests.effort import effort
from tests.operations.scenes import SMALL, offline
from tests.properties.whole import clock, faults, pages_of


def text(memory: Memory, path: str) -> str:
    return text_of(parse_page(path, memory.read(path)))


def is_whole(memory: Memory) -> bool:
    return not faults(pages_of(memory.storage), memory.threshold)


@pytest.mark.parametrize(
    "given",
    [
        "one\ntwo\n",
        "# Silica\n\n- pytest\n",
        "one\n\n\n\n",
        "\n\none\n",
        "one\r\ntwo\r\n",
        "---\ntitle: T\n---\n\ntext\n",
        "# T\n\n## Links\n\n- [[x]] - y\n\n## Metadata\n\nlast_updated: never\n",
        "```\nnever closed\n",
        "",
    ],
)
def test_a_page_has_exactly_the_text_that_it_was_created_with(given: str) -> None:
    memory = offline()
    memory.create("projects/silica", given)
    assert text(memory, "projects/silica") == given
    assert is_whole(memory)
    assert memory.graph().breadcrumb("projects/silica") == ("memory", "projects/silica")
    memory.create("garden", "leeks\n")
    assert text(memory, "projects/silica") == given


@given(st.text(st.sampled_from("ab \n\t#-`[]:>|*1.\r"), max_size=60))
@example("a\n\n## Metadata\n\nx: y\n\n")
@example("## Links\n\n- [[a]]\n")
def test_any_text_stands_on_its_page_to_the_character(given: str) -> None:
    memory = offline()
    memory.create("a", given)
    assert text(memory, "a") in (given, given + "\n", given + "\r\n")
    assert is_whole(memory)


def test_a_page_that_exists_is_not_created_again() -> None:
    memory = offline()
    memory.create("Silica", "one\n")
    for path in ("Silica", "silica", "SILICA"):
        with pytest.raises(PageExists):
            memory.create(path, "two\n")
    assert text(memory, "Silica") == "one\n"


def test_a_root_without_a_text_can_be_created_and_keeps_its_links() -> None:
    memory = offline()
    memory.create("silica", "one\n")
    memory.create("memory", "what this memory is about\n")
    assert text(memory, "memory") == "what this memory is about\n"
    assert is_whole(memory)
    with pytest.raises(PageExists):
        memory.create("memory", "again\n")


def test_what_cannot_be_stored_is_refused() -> None:
    memory = offline()
    with pytest.raises(InvalidText):
        memory.create("a", "\ud800")
    with pytest.raises(InvalidPath):
        memory.create("../a", "text")
    assert not memory.storage.list_files()


def test_a_text_is_inserted_after_a_line_and_nowhere_else() -> None:
    memory = offline()
    memory.create("log", "one\nthree\n")
    memory.insert("log", 1, "two\n")
    memory.insert("log", 0, "zero")
    memory.insert("log", 4, "four")
    assert text(memory, "log") == "zero\none\ntwo\nthree\nfour\n"
    for line in (-1, 6):
        with pytest.raises(NotAllowed):
            memory.insert("log", line, "x")
    with pytest.raises(PageNotFound):
        memory.insert("nowhere", 0, "x")


def test_a_part_is_replaced_if_it_occurs_once() -> None:
    memory = offline()
    memory.create("log", "one two two\n")
    memory.replace_text("log", "one ", "")
    assert text(memory, "log") == "two two\n"
    for part in ("two", "three"):
        with pytest.raises(NotAllowed):
            memory.replace_text("log", part, "x")
    assert text(memory, "log") == "two two\n"


@pytest.mark.parametrize("tool", ["replace_text", "str_replace", "replace_in_memory"])
def test_lines_that_end_as_on_windows_are_replaced_by_whoever_leaves_the_carriage_returns_out(tool: str) -> None:
    memory = offline()
    memory.create("list", "one\r\ntwo\r\nthree\r\n")
    old, new = "one\ntwo\n", "one\n2\n"
    if tool == "replace_text":
        memory.replace_text("list", old, new)
    elif tool == "str_replace":
        command = {"command": tool, "path": "/memories/list.md", "old_str": old, "new_str": new}
        assert not answer_memory_command(memory, command).is_error
    else:
        assert not dispatch(memory, tool, {"path": "list", "old": old, "new": new}).is_error
    assert text(memory, "list") == "one\r\n2\r\nthree\r\n"
    with pytest.raises(NotAllowed, match="0 times"):
        memory.replace_text("list", "one\nthree", "x")


def test_new_words_on_a_page_from_a_source_are_said_today_or_as_they_say() -> None:
    memory = offline()
    memory.write("Silica deploys on Tuesdays.\n\nAda signs.", "silica", source="handbook.md", date="2020-01-02")
    memory.replace_text("silica", "Tuesdays", "Fridays")
    [deploys] = memory.search("silica deploys fridays", 1)
    [signs] = memory.search("who signs", 1)
    assert (deploys.date, deploys.source) == (clock().date(), "")
    assert (str(signs.date), signs.source) == ("2020-01-02", "handbook.md")
    memory.replace_text("silica", "Fridays", "Mondays", source="chat with Bo", date="2021-03-04")
    [deploys] = memory.search("silica deploys mondays", 1)
    assert (str(deploys.date), deploys.source) == ("2021-03-04", "chat with Bo")
    memory.insert("silica", 0, "Kilns burn clay.")
    [kilns] = memory.search("kilns burn", 1)
    assert (kilns.date, kilns.source) == (clock().date(), "")


def test_links_that_an_edit_takes_away_leave_no_page_out_of_reach() -> None:
    memory = offline()
    memory.create("garden", "See [[garden/leeks]].\n")
    memory.create("garden/leeks", "In March.\n")
    memory.replace_text("garden", "See [[garden/leeks]].", "Nothing.")
    assert is_whole(memory)


def test_a_line_that_lists_a_page_changes_with_it() -> None:
    memory = offline()
    memory.create("garden", "# Garden\n\nLeeks are planted in March.\n")
    memory.replace_text("garden", "Leeks are planted in March.", "The kiln burns clay.")
    assert "- [[garden]] - The kiln burns clay." in memory.read()


def test_each_exact_change_is_one_operation_that_is_undone() -> None:
    memory = offline()
    memory.create("a/b", "one\n")
    memory.create("a/c", "see [[a/b]]\n")
    changes: list[Callable[[], Result]] = [
        lambda: memory.create("new", "text\n"),
        lambda: memory.insert("a/b", 0, "zero"),
        lambda: memory.replace_text("a/b", "one", "1"),
        lambda: memory.delete_folder("a"),
        lambda: memory.rename_folder("a", "z"),
    ]
    for change in changes:
        before = pages_of(memory.storage)
        result = change()
        assert pages_of(memory.storage) != before
        assert is_whole(memory)
        memory.undo(result.revision)
        assert pages_of(memory.storage) == before


def test_exact_changes_are_replayed_from_their_traces(tmp_path: Path) -> None:
    memory = offline(traces_in=tmp_path)
    for result in (
        memory.create("a/b", "one\n"),
        memory.insert("a/b", 0, "zero"),
        memory.replace_text("a/b", "one", "1"),
        memory.rename_folder("a", "z"),
        memory.delete_folder("z"),
    ):
        assert memory.replay(result.trace).agrees


def test_a_page_that_grows_too_large_is_split_and_keeps_every_line() -> None:
    memory = offline(threshold=SMALL)
    lines = [f"- Fact {number} of the harbour is paid by Ines in Porto." for number in range(60)]
    result = memory.create("harbour", "\n".join(lines) + "\n")
    assert len(result.changed_pages) > 2
    assert is_whole(memory)
    stored = "".join(page.body for page in pages_of(memory.storage).values())
    assert all(line in stored for line in lines)


def test_a_folder_moves_with_its_links_and_its_page_stays() -> None:
    memory = offline()
    memory.create("a", "see [[a/b]] and [[a/c/d]]\n")
    memory.create("a/b", "see [[a/c/d|there]]\n")
    memory.create("a/c/d", "text\n")
    memory.rename_folder("a", "z/y")
    assert sorted(memory.storage.list_files()) == ["a", "memory", "z/y/b", "z/y/c/d"]
    assert text(memory, "a") == "see [[z/y/b]] and [[z/y/c/d]]\n"
    assert text(memory, "z/y/b") == "see [[z/y/c/d|there]]\n"
    assert is_whole(memory)


def test_a_folder_does_not_move_onto_pages_or_into_itself() -> None:
    memory = offline()
    for path in ("a/b", "z/b", "a/c"):
        memory.create(path, "text\n")
    before = pages_of(memory.storage)
    for new, error in (("z", PageExists), ("a/c", NotAllowed), ("a", PageExists)):
        with pytest.raises(error):
            memory.rename_folder("a", new)
    with pytest.raises(PageNotFound):
        memory.rename_folder("nowhere", "x")
    assert pages_of(memory.storage) == before


def test_a_folder_is_deleted_with_all_that_is_in_it_and_nothing_else() -> None:
    memory = offline()
    for path in ("a", "a/b", "a/c/d", "ab"):
        memory.create(path, f"{path}, see [[a/b]]\n")
    memory.delete_folder("a")
    assert sorted(memory.storage.list_files()) == ["a", "ab", "memory"]
    assert text(memory, "ab") == "ab, see a/b\n"
    assert is_whole(memory)
    with pytest.raises(PageNotFound):
        memory.delete_folder("a")


def test_inserts_by_eight_at_once_all_survive(tmp_path: Path) -> None:
    each = effort(5, 50)
    with Memory.open(tmp_path) as memory:
        memory.create("log", "begin\n")

    def insert(writer: int) -> None:
        with Memory.open(tmp_path) as memory:
            for number in range(each):
                memory.insert("log", 0, f"writer {writer} number {number}")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(insert, range(8)))
    with Memory.open(tmp_path) as memory:
        lines = text(memory, "log").splitlines()
    assert sorted(lines) == sorted(["begin", *(f"writer {w} number {n}" for w in range(8) for n in range(each))])


def test_words_of_a_line_that_names_a_source_are_replaced_and_no_second_line_comes() -> None:
    memory = offline()
    memory.write("Priya Nair is our SRE.", "people", source="standup", date="2026-01-15")
    memory.write("Ines pays the boat.", "people", source="dinner", date="2026-02-15")
    memory.replace_text("people", "*Source: dinner", "*Source: lunch")
    assert text(memory, "people").count("*Source:") == 1
    [boat] = memory.search("who pays the boat", 1)
    assert (boat.source, str(boat.date)) == ("lunch", "2026-02-15")


@pytest.mark.parametrize(("old", "why"), [("is our SRE", "'people/priya' is listed"), ("size_bytes", "metadata")])
def test_what_only_the_program_writes_is_not_replaced_and_the_error_says_what_it_is(old: str, why: str) -> None:
    memory = offline()
    memory.write("Priya Nair is our SRE.", "people/priya")
    with pytest.raises(NotAllowed, match=why):
        memory.replace_text("memory", old, "x")


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
