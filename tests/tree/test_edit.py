"""An edit touches the blocks that it names, and no others."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from memory_v2.tree.block import parse_blocks
from memory_v2.tree.edit import PageEdit, appended, new_blocks
from memory_v2.tree.page import parse_page
from tests.tree.texts import STEADY, markdown


@STEADY
@given(markdown, markdown, st.data())
def test_blocks_that_are_not_named_keep_every_byte(text: str, put_in: str, data: st.DataObject) -> None:
    page = parse_page("a", text)
    count = len(page.blocks)
    after = data.draw(st.integers(0, count))
    removed = data.draw(st.sets(st.integers(1, count))) if count else set()
    edited = PageEdit({after: [new_blocks(put_in)]}, removed).apply(page)
    place = 0
    for number, block in enumerate(page.blocks, 1):
        if number not in removed:
            place = edited.body.index(block.text, place) + len(block.text)
    assert "".join(block.text for block in new_blocks(put_in)) in edited.body


@STEADY
@given(markdown)
@example("\ufeff")
def test_an_edit_of_nothing_changes_nothing(text: str) -> None:
    page = parse_page("a", text)
    body = page.body if page.blocks else ""  # a byte order mark alone is no text
    assert PageEdit().apply(page).body.startswith(body)
    assert not PageEdit().apply(page).body.removeprefix(body).strip("\r\n")


@STEADY
@given(markdown)
def test_removing_every_block_leaves_no_body(text: str) -> None:
    page = parse_page("a", text)
    edited = PageEdit({}, frozenset(range(1, len(page.blocks) + 1))).apply(page)
    assert edited.body == ""
    assert edited.links == page.links


@STEADY
@given(markdown, markdown)
def test_appended_text_stands_below_all_else(text: str, more: str) -> None:
    page = parse_page("a", text)
    blocks = new_blocks(more)
    edited = appended(page, [blocks] if blocks else [])
    assert edited.body.startswith(page.body)
    assert "".join(block.text for block in blocks) in edited.body
    assert (edited.links, edited.metadata) == (page.links, page.metadata)


def test_runs_are_kept_apart_where_they_would_run_together() -> None:
    page = parse_page("a", "one\n\n---\n\ntwo\n")
    edited = PageEdit({}, frozenset({2})).apply(page)
    assert [block.content for block in parse_blocks(edited.body)] == ["one", "two"]
    edited = PageEdit({1: [new_blocks("new")]}).apply(parse_page("a", "one\ntwo\n"))
    assert [block.content for block in parse_blocks(edited.body)] == ["one\ntwo", "new"]


def test_items_are_put_into_a_list_without_a_gap() -> None:
    edited = PageEdit({1: [new_blocks("- new\n")]}).apply(parse_page("a", "- one\n- two\n"))
    assert edited.body.startswith("- one\n- new\n- two\n")


def test_text_put_into_a_page_of_crlf_gets_its_line_ends_between_runs() -> None:
    edited = PageEdit({1: [new_blocks("new")]}).apply(parse_page("a", "one\r\n\r\ntwo\r\n"))
    assert edited.body == "one\r\n\r\nnew\r\n\r\ntwo\r\n\r\n"
