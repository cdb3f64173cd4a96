"""What is a link, where exactly it stands, and what is text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.tree.block import Block, parse_blocks
from memory_v2.tree.link import Link, find_links, link_key
from memory_v2.tree.page import Page, parse_page
from tests.tree.texts import STEADY, markdown


def targets(text: str) -> list[str]:
    return [link.target for block in parse_blocks(text) for link in find_links(block)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see [[a]] and [[b/c|words]]\n", ["a", "b/c"]),
        ("# About [[a#part]]\n", ["a"]),
        ("- item [[a]]\n  - nested [[b]]\n", ["a", "b"]),
        ("> quoted [[a]]\n", ["a"]),
        ("| x | [[a\\|words]] |\n|---|---|\n| 1 | [[b]] |\n", ["a", "b"]),
        ("`[[a]]` [[b]]\n", ["b"]),
        ("``a ` [[a]]`` [[b]]\n", ["b"]),
        ("` open [[a]]\n", ["a"]),
        ("\\[[a]] [[b]]\n", ["b"]),
        ("```\n[[a]]\n```\n", []),
        ("    [[a]]\n", []),
        ("<div>\n[[a]]\n</div>\n", []),
        ("- item\n\n  ```\n  [[a]]\n  ```\n\n  [[b]]\n", ["b"]),
        ("> ```\n> [[a]]\n> ```\n> [[b]]\n", ["b"]),
        ("[[[a]]] [[]] [[ ]] [[a\nb]]\n", ["a", " "]),
        ("[[a]][[b]]\n", ["a", "b"]),
        ("[[a|`code`]] [[b]]\n", ["a", "b"]),
        ("[x]([[a]])\n", ["a"]),
        ("[[日本語]] [[e\u0301]]\r\n", ["日本語", "e\u0301"]),
    ],
)
def test_links_are_found_in_prose_and_not_in_code(text: str, expected: list[str]) -> None:
    assert targets(text) == expected


@STEADY
@given(markdown)
def test_a_link_stands_where_it_says(text: str) -> None:
    for block in parse_blocks(text):
        for link in find_links(block):
            assert block.text[link.start : link.end] == f"[[{link.target}{link.heading}{link.words}]]"


@STEADY
@given(markdown)
def test_a_link_of_a_page_stands_where_it_says(text: str) -> None:
    page = parse_page("x", text)
    for link, _ in page.found_links:
        assert page.text[link.start : link.end] == f"[[{link.target}{link.heading}{link.words}]]"


@STEADY
@given(markdown, st.sampled_from(["b", "a/much-longer-name", "日本"]))
def test_turning_links_changes_nothing_else(text: str, new: str) -> None:
    page = parse_page("x", text)
    turned = page.map_links(lambda link: link.to(new))
    back = list(turned.found_links)
    assert len(back) == len(page.found_links)
    assert all(link.target == new for link, _ in back)
    assert around_links(page) == around_links(turned)


def around_links(page: Page) -> list[str]:
    end, parts = 0, []
    for link, _ in page.found_links:
        parts.append(page.text[end : link.start])
        end = link.end
    return [*parts, page.text[end:]]


def test_the_words_of_a_link_are_left_when_its_page_is_gone() -> None:
    link = Link("a/b", 0, 0)
    assert link.unlinked() == "a/b"
    assert Link("a", 0, 0, words="|the words").unlinked() == "the words"
    assert Link("a", 0, 0, words="\\|in a table").unlinked() == "in a table"


@pytest.mark.parametrize(
    ("target", "key"),
    [
        ("Projects/Silica", "projects/silica"),
        (" a ", "a"),
        ("a.md", "a"),
        ("A.MD", "a"),
        ("e\u0301", "\u00e9"),
        ("../x", None),
        ("/x", None),
        ("", None),
        ("https://x.org", None),
        ("CON", None),
    ],
)
def test_a_link_names_a_page_as_a_person_would_write_it(target: str, key: str | None) -> None:
    assert link_key(target) == key


ONE_LINE = ["see {}", "- see {}", "  12) see {} ", "-     {}", "-     see {}", "    see {}", "- # see {}", "- - see {}"]
ONE_LINE += [
    "- ```{}",
    "- <p>{}",
    "- [see]: {}",
    "1.     see {}",
    "- 1.      see {}",
    "\tsee {}",
    "- see `{}`",
    "- > {}",
]


@pytest.mark.parametrize("end", ["", "\n", "\r\n\r\n", "\r\r", "\n \t\n"])
@pytest.mark.parametrize("line", ONE_LINE)
def test_one_line_has_the_links_that_it_has_when_it_is_parsed(
    line: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = Block(line.format("[[a/b|words]]") + end, "item")
    links = find_links(block)
    monkeypatch.setattr("memory_v2.tree.link._PLAIN", re.compile(r"(?!)"))
    assert find_links(block) == links
