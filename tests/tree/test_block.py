"""Blocks are the text, and an edit changes no other byte."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_v2.tree.block import (
    Block,
    close_block,
    decode,
    encode,
    join_runs,
    line_end,
    new_blocks,
    parse_blocks,
    split_lines,
    take_runs,
)
from memory_v2.tree.edit import PageEdit, appended
from memory_v2.tree.page import parse_page
from tests.tree.texts import EXAMPLES, STEADY, markdown


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_the_blocks_of_an_example_are_its_text(text: str) -> None:
    assert "".join(block.text for block in parse_blocks(text)) == text


@STEADY
@given(markdown)
def test_the_blocks_of_any_text_are_the_text(text: str) -> None:
    blocks = parse_blocks(text)
    assert "".join(block.text for block in blocks) == text
    assert all(block.text for block in blocks)


@STEADY
@given(markdown)
def test_lines_joined_are_the_text(text: str) -> None:
    assert "".join(split_lines(text)) == text


@STEADY
@given(markdown)
def test_a_blocks_content_stands_in_its_text(text: str) -> None:
    for block in parse_blocks(text):
        assert block.content in block.text
        assert block.text.replace("\ufeff", "").strip(" \t\r\n") == block.content.replace("\ufeff", "").strip(" \t\r\n")


SIMPLE = (
    *("a", "b c", "é", "日本", "a:", "text | b", "a\\", "word  ", "A\t", "x- [[a]]", "\n", "\n\n"),
    *("- a", "- b\n", "* x", "+ y", "- a\tb", "- 1", "- 12 a", "- 1a. b", "- 日本", "-", "+ "),
    *("1. a", "2. b", "10) c", "1) d", "01. z", "0. q", "123456789. a", "1. 1"),
    *("# h", "## h", "# h #", "# 1", "#", "##  "),
)


@STEADY
@given(st.lists(st.sampled_from(SIMPLE)).map("\n".join))
def test_simple_lines_are_the_blocks_that_the_parser_finds(text: str) -> None:
    text = f"a\n{text}\n\n"
    assert parse_blocks(text) == parse_blocks(f"{text}---\n")[:-1]  # a rule is not simple, and changes no block above


def test_any_bytes_are_kept() -> None:
    every = bytes(range(256)) * 2
    assert encode(decode(every)) == every
    assert encode("".join(block.text for block in parse_blocks(decode(every)))) == every


def kinds(text: str) -> list[str]:
    return [block.kind for block in parse_blocks(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n\ntext\n", ["heading", "paragraph"]),
        ("Title\n===\ntext\n", ["heading", "paragraph"]),
        ("- a\n  - b\n\n  c\n- d\n", ["item", "item"]),
        ("1. a\n2. b\n", ["item", "item"]),
        ("```\n# a\n\n- b\n```\n", ["fence"]),
        ("```\nopen\n\n# a\n", ["fence"]),
        ("| a |\n|---|\n| b |\n", ["table"]),
        ("> a\n> b\n", ["quote"]),
        ("a\n\n    code\n", ["paragraph", "code"]),
        ("---\n", ["rule"]),
        ("<div>\na\n</div>\n", ["html"]),
        ("[a]: /x\n\ntext\n", ["paragraph", "paragraph"]),
        ("\ufeff# A\n", ["heading"]),
        ("- a\r\n- b\r\n", ["item", "item"]),
        ("a\r\rb", ["paragraph", "paragraph"]),
    ],
)
def test_each_kind_of_block_is_told(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize(
    ("text", "words", "level"),
    [
        ("Many words\nof a title\n===\n", "Many words of a title", 1),
        ("Before\x0cand after\r\n---\r\n", "Before and after", 2),
        ("# Before\x0cand after\n", "Before and after", 1),
        ("Title #\n===\n", "Title #", 1),
        ("# A\n", "A", 1),
        ("###   A b  ##  \n\n", "A b", 3),
        ("# C#\n", "C#", 1),
        ("Title\n---\n", "Title", 2),
        ("#\n", "", 1),
        ("\ufeff# A\n", "A", 1),
    ],
)
def test_a_headings_words_and_level_are_told(text: str, words: str, level: int) -> None:
    block = parse_blocks(text)[0]
    assert (block.words.removeprefix("\ufeff# "), block.level) == (words, level)


def test_a_deep_nesting_is_still_cut_into_whole_lines() -> None:
    text = "".join("  " * i + f"- level {i}\n" for i in range(200)) + "\nafter\n"
    assert "".join(block.text for block in parse_blocks(text)) == text


@STEADY
@given(markdown)
def test_blocks_taken_as_one_run_are_joined_without_a_byte_added(text: str) -> None:
    blocks = parse_blocks(text)
    assert join_runs(take_runs(blocks, range(1, len(blocks) + 1))) == text


@STEADY
@given(markdown, markdown)
def test_two_texts_put_together_keep_their_bytes(one: str, other: str) -> None:
    first, second = new_blocks(one), new_blocks(other)
    joined = join_runs([first, second])
    assert joined.startswith("".join(block.text for block in first))
    assert joined.endswith("".join(block.text for block in second))


@STEADY
@given(markdown.filter(lambda text: bool(text.strip("\ufeff \t\r\n"))))
def test_what_stands_behind_new_text_is_not_swallowed_by_it(text: str) -> None:
    follower = Block("## Here we are\n", "heading", 2)
    joined = join_runs([new_blocks(text), (follower,)])
    assert parse_blocks(joined)[-1].text == follower.text


OPEN = {
    "fence": ("```python\ncode\n", "```"),
    "longer fence": ("`````\n```\n", "`````"),
    "tilde fence": ("~~~\ncode", "~~~"),
    "indented fence": ("   ```\ncode\n", "```"),
    "comment": ("<!-- a\n\nb\n", "-->"),
    "script": ("<script>\nx\n", "</script>"),
    "SCRIPT": ("<SCRIPT>\nx\n", "</script>"),
    "pre": ("<pre>\n\nx\n", "</pre>"),
    "processing": ("<?php\n\nx\n", "?>"),
    "cdata": ("<![CDATA[\n\nx\n", "]]>"),
    "declaration": ("<!DOCTYPE\n\nx\n", ">"),
    "BOM and a fence": ("\ufeff```\ncode\n", "```"),
}


@pytest.mark.parametrize(("text", "ending"), OPEN.values(), ids=OPEN.keys())
def test_what_is_left_open_is_closed(text: str, ending: str) -> None:
    new = new_blocks(text)
    joined = "".join(block.text for block in new)
    assert joined.startswith(text.removeprefix("\ufeff"))
    assert joined.rstrip().casefold().endswith(ending)
    assert parse_blocks(f"{joined}\n# After\n")[-1].kind == "heading"


@pytest.mark.parametrize(
    "text", ["```\ncode\n```\n", "~~~\ncode\n~~~~~   \n", "<!-- a -->\n", "<pre>x</PRE>\n", "text", "- ```\n  open\n"]
)
def test_what_is_closed_is_left_as_it_is(text: str) -> None:
    assert "".join(block.text for block in new_blocks(text)) == text


def test_an_open_fence_is_closed_with_the_texts_own_line_end() -> None:
    assert close_block(parse_blocks("```\r\ncode\r\n")[0], "\r\n").text == "```\r\ncode\r\n```\r\n"


@pytest.mark.parametrize(
    ("text", "end"), [("a\nb\n", "\n"), ("a\r\nb\r\n", "\r\n"), ("a", "\n"), ("a\r\nb\nc\n", "\n"), ("a\rb\r", "\n")]
)
def test_the_line_end_that_is_used_most_is_told(text: str, end: str) -> None:
    assert line_end(text) == end


def test_a_text_nested_too_deep_leaves_the_blocks_beside_it_as_they_are() -> None:
    fence, deep = "```py\n# one\n\n- two\n```\n\n", "> - " * 40 + "deep\n\n"
    blocks = parse_blocks(fence + deep + fence)
    assert [(block.kind, block.text) for block in blocks] == [("fence", fence), ("paragraph", deep), ("fence", fence)]


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
