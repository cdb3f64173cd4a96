"""Blocks are found again by their content, wherever they have moved; what cannot be told apart is not guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.tree.block import Block
from memory_v2.tree.match import BlockMatch
from tests.tree.texts import STEADY

names = st.lists(st.sampled_from("abcdef"), max_size=8)
MINE = Block("mine\n")


def blocks(text: str) -> list[Block]:
    """A block for each letter; a capital is a heading, of level 1 for H and of level 2 for S."""
    kinds = {"H": ("heading", 1), "S": ("heading", 2)}
    return [Block(f"{letter}\n\n", *kinds.get(letter, ("paragraph", 0))) for letter in text]  # type: ignore[arg-type]


def numbers(before: str, now: str) -> list[int | None]:
    match = BlockMatch(blocks(before), blocks(now))
    return [match.number(n) for n in range(1, len(before) + 1)]


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ("abc", "abc", [1, 2, 3]),
        ("abc", "xaybzc", [2, 4, 6]),
        ("abc", "axc", [1, None, 3]),
        ("abc", "cab", [2, 3, 1]),
        ("abc", "", [None, None, None]),
        ("xaxb", "xyaxb", [1, 3, 4, 5]),
        ("HxSx", "HnxSx", [1, 3, 4, 5]),
        ("xx", "xyx", [1, 3]),
        ("xxx", "xx", [1, 2, None]),
        ("axb", "axxb", [1, 2, 4]),
        ("xax", "ax", [None, 1, 2]),
        ("axbxc", "yaxzbc", [2, 3, 5, None, 6]),
    ],
)
def test_blocks_are_found_again(before: str, now: str, found: list[int | None]) -> None:
    assert numbers(before, now) == found


@STEADY
@given(names, names)
def test_a_block_is_found_as_one_block_of_its_content_or_not_at_all(before: list[str], now: list[str]) -> None:
    found = numbers("".join(before), "".join(now))
    places = [place for place in found if place is not None]
    assert len(set(places)) == len(places)
    assert all(now[place - 1] == before[n] for n, place in enumerate(found) if place is not None)


@STEADY
@given(names)
def test_on_a_page_that_nobody_changed_every_block_is_where_it_was(page: list[str]) -> None:
    assert numbers("".join(page), "".join(page)) == list(range(1, len(page) + 1))


@pytest.mark.parametrize(
    ("before", "after", "now", "place"),
    [
        ("abc", 1, "abc", 1),
        ("abc", 1, "axybc", 3),
        ("abc", 3, "abcxy", 5),
        ("abc", 0, "xabc", 1),
        ("abc", 2, "axc", None),
        ("abc", 1, "axc", 1),
        ("abc", 3, "abcxSy", 4),
        ("abc", 1, "bca", 3),
        ("", 0, "xy", 2),
    ],
)
def test_a_text_goes_behind_what_others_have_put_there(before: str, after: int, now: str, place: int | None) -> None:
    assert BlockMatch(blocks(before), blocks(now)).behind(after, MINE) == place


@pytest.mark.parametrize(("level", "place"), [(1, 4), (2, 4), (3, 2)])
def test_a_section_goes_behind_new_sections_that_it_does_not_belong_to(level: int, place: int) -> None:
    own = Block("own\n", "heading", level)
    assert BlockMatch(blocks("ab"), blocks("abSy")).behind(2, own) == place


def test_what_was_added_is_what_matches_nothing() -> None:
    assert [block.content for block in BlockMatch(blocks("abc"), blocks("xacyb")).added] == ["x", "y"]
