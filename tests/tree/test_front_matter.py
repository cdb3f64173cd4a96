"""What a page says of itself: front matter, and the lines that name a source."""

from __future__ import annotations

import sys
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.text.days import named_day
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.front_matter import FrontMatter, read_front_matter
from memory_v2.tree.page import MAX_FRONT_MATTER, Page, parse_page, sources_of
from memory_v2.tree.path import find_links
from memory_v2.tree.source import Source, covered, is_source_line, read_source_line

FRONT_MATTERS = {
    "fields": "---\ntitle: Plan\ndate: 2026-02-03\ntags: [a, b]\n---\n",
    "CRLF": "---\r\ntitle: Plan\r\ntags:\r\n  - a\r\n---\r\n",
    "trailing blanks": "---  \ntitle: Plan   \n\ntags:\t\n- a\n- b\n---\t\n",
    "closed by dots": "---\ntitle: Plan\n...\n",
    "keys given twice": "---\ntitle: Plan\ntitle: Other\n---\n",
    "tabs": "---\ntitle:\tPlan\nlist:\n\t- a\n---\n",
    "broken YAML": '---\ntitle: Plan: the second\nowner: "Ana" B\n---\n',
    "tags of Python": "---\ntitle: !!python/object/apply:os.system [ls]\n---\n",
    "folded": "---\ndescription: >\n  two\n\n  lines\n# a comment\nother: {a: 1,\n  b: 2}\n---\n",
    "unusual keys": "---\nowner: ana\nreviewed_by: [bo]\n---\n",
}
TEXTS = [
    "---\n\nSome text: it goes on.\n\n---\n",
    "---\nSome text that goes on\nfor two lines: here.\n---\n",
    "---\n- a: b\n- c\n---\n",
    "---\ntitle: never closed\n\nText.\n",
    "---\nAna: hi\n\nBo: hello\n\n---\n",
    "---\n# Heading\nkey: value\n---\n",
    "---\n---\n",
    "```\n\n---\ntitle: in a fence\n---\n```\n",
    "- item\n\n  ---\n  title: in an item\n  ---\n",
    "Text\n---\ntitle: below a heading\n---\n",
]


@pytest.mark.parametrize("shape", FRONT_MATTERS)
@pytest.mark.parametrize("before", ["", "\ufeff", "# Title\n\nText.\n\n", "- item\n\n"])
def test_front_matter_is_one_block_with_every_byte(shape: str, before: str) -> None:
    text = before + FRONT_MATTERS[shape] + "# Heading\n\nText: more.\n"
    blocks = parse_blocks(text)
    assert "".join(block.text for block in blocks) == text
    assert [block.text.removeprefix("\ufeff") for block in blocks if block.kind == "front matter"] == [
        FRONT_MATTERS[shape]
    ]


@pytest.mark.parametrize("text", TEXTS)
def test_a_rule_followed_by_text_is_no_front_matter(text: str) -> None:
    assert "front matter" not in {block.kind for block in parse_blocks(text)}
    assert read_front_matter(text) == FrontMatter()


def test_its_fields_are_read() -> None:
    text = "---\nTitle: 'The plan'\naliases: [P, The P]\ntags: '#x, y'\ndate: 2026-02-03T10:00:00Z\n---\n\ntext\n"
    assert read_front_matter(text) == FrontMatter("The plan", ("x", "y"), ("P", "The P"), date(2026, 2, 3))
    assert read_front_matter(f"\ufeff{text}") == read_front_matter(text)


@pytest.mark.parametrize(
    ("line", "day"),
    [("date: 2026-02-03", 3), ("created: 3 February 2026", 3), ("date: 2026-02", 0), ("date: 2026-02-31", 0)],
)
def test_its_date_is_a_day(line: str, day: int) -> None:
    assert read_front_matter(f"---\n{line}\n---\n").date == (date(2026, 2, day) if day else None)


def test_yaml_that_is_harmful_does_nothing() -> None:
    bomb = "".join(f"l{n}: &l{n} {{<<: [{', '.join([f'*l{n - 1}'] * 9)}]}}\n" for n in range(1, 30))
    for inside in (f"l0: &l0 {{a: b}}\n{bomb}title: x\n", f"title: {'[' * 5_000}\n", "a: &a 1\nb: &a 2\ntitle: x\n"):
        assert read_front_matter(f"---\n{inside}---\n").title in ("", "x")


def test_a_text_without_front_matter_loads_no_yaml() -> None:
    loaded = {name for name in sys.modules if name == "yaml"}
    parse_blocks("---\n\ntext\n\n---\n")
    assert {name for name in sys.modules if name == "yaml"} == loaded


def test_links_in_front_matter_are_text() -> None:
    block = parse_blocks("---\nup: '[[memory]]'\ntitle: x\n---\n")[0]
    assert find_links(block) == []


def test_its_title_is_the_title_of_a_page_without_a_heading() -> None:
    front = "---\ntitle: Plan\n---\n"
    assert parse_page("p", f"{front}\nText.\n").title == "Plan"
    assert parse_page("p", f"{front}\n## Section\n").title == "Plan"
    assert parse_page("p", f"{front}\n# The plan\n").title == "The plan"


def test_it_and_the_title_below_it_stay_at_the_top() -> None:
    assert parse_page("p", "---\ntitle: Plan\n---\n\n# Plan\n\nText.\n").fixed == {1, 2}
    assert parse_page("p", "---\ntitle: Plan\n---\n\n## Section\n\nText.\n").fixed == {1}
    assert parse_page("p", f"---\ntitle: {'x' * MAX_FRONT_MATTER}\n---\n\nText.\n").fixed == frozenset()


@pytest.mark.parametrize(
    ("page", "day"),
    [
        (Page("p", "text", metadata="## Metadata\n\nsource: 2025-01-01.md\ndate: 2026-02-03\n"), date(2026, 2, 3)),
        (
            Page("p", "---\ndate: 2026-02-03\n---\n", metadata="## Metadata\n\nsource: 2025-01-01.md\n"),
            date(2026, 2, 3),
        ),
        (Page("2024-01-01", "text", metadata="## Metadata\n\nsource: log/2026_02_03-standup.md\n"), date(2026, 2, 3)),
        (Page("log/2026-02-03", "text"), date(2026, 2, 3)),
        (Page("log/2026-02", "text"), None),
    ],
)
def test_a_page_knows_the_day_on_which_it_was_said(page: Page, day: date | None) -> None:
    assert page.said_on == day


DAY = date(2026, 2, 3)
NAMES = st.text(st.sampled_from("ab·*[]\\`<>&;() _-2026-02-03.,middot"), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (Source("notes.md", DAY), "*Source: notes.md · 2026-02-03*"),
        (Source("notes.md"), "*Source: notes.md*"),
        (Source(day=DAY), "*Said on 2026-02-03*"),
        (Source("[[a]] *b*"), r"*Source: \[\[a\]\] \*b\**"),
    ],
)
def test_a_source_is_one_line(source: Source, line: str) -> None:
    assert source.line == line


@given(NAMES.map(str.strip).filter(bool), st.none() | st.dates(date(1900, 1, 1), date(2999, 1, 1)))
def test_every_source_line_is_read_back(name: str, day: date | None) -> None:
    (block,) = parse_blocks(f"{Source(name, day).line}\n")
    assert read_source_line(block) == Source(name, day)


@pytest.mark.parametrize(
    "text", ["*Source: *", "Source: x", "*Source: x* and more", "*Said on Monday*", "- *Source: x*"]
)
def test_other_text_is_no_source_line(text: str) -> None:
    assert not is_source_line(parse_blocks(text)[0])


PAGE = parse_page(
    "p",
    "# Title\n\nOld.\n\nNew.\n\n*Source: a* (1 block)\n\nB1.\n\nB2.\n\n*Source: b*\n\n## Section\n\nLast.\n\n"
    "## Metadata\n\nlast_updated: 2026-02-03T00:00:00Z\nsource: page.md\ndate: 2026-01-01\n",
)


def test_a_source_line_is_for_the_text_above_it() -> None:
    of_page = Source("page.md", date(2026, 1, 1))
    said = sources_of(PAGE)
    a, b = Source("a"), Source("b")
    assert said == [of_page, of_page, a, a, b, b, b, of_page, of_page]
    assert [list(covered(PAGE.blocks, line)) for line in (4, 7)] == [[3], [5, 6]]


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("memory/2026-02-03.md", DAY),
        ("2026_02_03-standup.md", DAY),
        ("20260203.md", DAY),
        ("https://example.org/2026/02/03/post", DAY),
        ("2026-01-01/2026-02-03-a.md", DAY),
        ("2026-02-03-to-2026-02-05.md", None),
        ("2026-02-31.md", None),
        ("v1.20260203", DAY),
        ("120260203.md", None),
        ("ab20260203", None),
        ("notes.md", None),
    ],
)
def test_a_date_in_a_name_counts(name: str, day: date | None) -> None:
    assert named_day(name) == day
