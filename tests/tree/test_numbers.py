"""Numbers of blocks, and which texts are alike."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.errors import ToolProblem
from memory_v2.tree.alike import Cluster, alike
from memory_v2.tree.edit import parse_numbers, show_numbers
from tests.tree.texts import STEADY


@pytest.mark.parametrize(
    ("given_", "prefix", "expected"),
    [
        (3, "", [3]),
        ("3", "", [3]),
        ("3-5, 8", "", [3, 4, 5, 8]),
        ("[3]", "", [3]),
        ("[3]-[5]", "", [3, 4, 5]),
        ("3 - 5; 8", "", [3, 4, 5, 8]),
        ("3–5", "", [3, 4, 5]),
        ("3 to 5", "", [3, 4, 5]),
        ("3..5", "", [3, 4, 5]),
        ([1, "4-6"], "", [1, 4, 5, 6]),
        ("n1-n3", "n", [1, 2, 3]),
        ("N1-3", "n", [1, 2, 3]),
        ("2", "n", [2]),
        ("L2-L3", "l", [2, 3]),
        ("9, 1", "", [9, 1]),
    ],
)
def test_numbers_are_read_in_every_way_they_are_written(
    given_: int | str | list[int | str], prefix: str, expected: list[int]
) -> None:
    assert parse_numbers(given_, 9, prefix) == expected


@pytest.mark.parametrize(
    ("given_", "prefix"),
    [
        (0, ""),
        (10, ""),
        (-1, ""),
        (10**30, ""),
        ("5-3", ""),
        ("8-12", ""),
        ("1, 1", ""),
        ("1-3, 2", ""),
        ("", ""),
        (" , ;", ""),
        ([], ""),
        ("all", ""),
        ("n1", ""),
        ("p1", "n"),
        ("1.5", ""),
        ("1-", ""),
        ("-1", ""),
        ("1-2-3", ""),
        ("²", ""),
        ("1e3", ""),
        ("\0", ""),
        ("{{ 1 }}", ""),
    ],
)
def test_numbers_that_are_no_blocks_are_sent_back(given_: int | str | list[int | str], prefix: str) -> None:
    with pytest.raises(ToolProblem):
        parse_numbers(given_, 9, prefix)


@STEADY
@given(st.lists(st.integers(1, 60), unique=True, min_size=1), st.sampled_from(["", "n", "l"]))
def test_numbers_that_are_shown_are_read_again(numbers: list[int], prefix: str) -> None:
    assert parse_numbers(show_numbers(numbers, prefix), 60, prefix) == numbers


@STEADY
@given(
    st.one_of(st.integers(), st.text(max_size=20), st.lists(st.one_of(st.integers(), st.text(max_size=6)), max_size=4))
)
def test_whatever_is_given_numbers_or_a_problem_come_of_it(given_: int | str | list[int | str]) -> None:
    try:
        numbers = parse_numbers(given_, 5)
    except ToolProblem:
        return
    assert numbers
    assert len(set(numbers)) == len(numbers)
    assert set(numbers) <= set(range(1, 6))


def test_a_flood_of_ranges_is_refused_before_it_fills_the_memory() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ToolProblem):
            parse_numbers(["1-5000"] * 500, 5_000)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


TEXT = "Leeks are planted in March with a spade from the shed, ten in a row, and watered each evening until June."


def test_copies_are_found_whatever_their_length_and_dress() -> None:
    assert alike(["- One", "two", "**one**", "One."]) == [Cluster((0, 2, 3), 1.0)]


def test_a_copy_that_was_changed_a_little_is_found() -> None:
    (group,) = alike(["Something else altogether, about beans.", TEXT, TEXT.replace("ten", "twelve"), TEXT])
    assert group.members == (1, 2, 3)
    assert 0.8 <= group.share < 1


def test_what_has_half_of_its_words_in_common_is_not_alike() -> None:
    half = " ".join(TEXT.split()[:10])
    assert alike([TEXT, half + " and then something else comes along here, of which the first knows nothing"]) == []


def test_short_texts_are_alike_only_if_they_are_the_same() -> None:
    assert alike(["red green blue black", "red green blue black white"]) == []


def test_blanks_are_no_text() -> None:
    assert alike(["", " \n", ""]) == []


def test_many_texts_of_one_form_are_one_group() -> None:
    (group,) = alike([f"{TEXT} {number}" for number in range(500)])
    assert len(group.members) == 500
