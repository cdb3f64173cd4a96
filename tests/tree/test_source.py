"""Sources: the lines by which a person and the program can tell where a text came from."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.text.calendar import named_day
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.page import parse_page, source_of
from memory_v2.tree.source import Source, covered, is_source_line, read_source_line

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
    said = [source_of(PAGE, number) for number in range(1, len(PAGE.blocks) + 1)]
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
