"""A word that no page has is taken for the most like it that some page has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.index import spelling
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.spelling import distance
from memory_v2.storage.volatile import VolatileStorage

TEXT = """# Moltbook

- The posts were published in March
- Arguments win, mice do not
- a key: deadbeef
- we deploy at noon with parse_invoice and readOrders
- 番
"""


@pytest.fixture
def index() -> FullTextIndex:
    storage = VolatileStorage()
    storage.write("memory", TEXT.encode())
    index = FullTextIndex(storage, None)
    index.refresh()
    return index


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("publihsed", "published"),
        ("argumnets", "arguments"),
        ("moltbok", "moltbook"),
        ("argumnet", "arguments"),
        ("deplyo", "deploy"),
    ],
)
def test_a_typing_error_is_recognised(index: FullTextIndex, typed: str, meant: str) -> None:
    assert index.respelled(f"{typed} and a zeppelin") == {typed.lower(): meant}


@pytest.mark.parametrize(
    "query",
    [
        "published post",
        "posts",
        "rice",
        "bosts",
        "posted",
        "posta",
        "mooch",
        "12345678",
        "deadbeaf1",
        "番茄",
        "zeppelin",
        "parse_invoicee",
        "",
    ],
)
def test_what_is_there_or_like_nothing_stays_as_it_is(index: FullTextIndex, query: str) -> None:
    assert index.respelled(query) == {}


def test_in_a_large_memory_a_word_begins_with_one_of_the_first_letters_that_were_typed(
    index: FullTextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert index.respelled("rguments") == {"rguments": "arguments"}
    monkeypatch.setattr(spelling, "SCANNED", 0)
    assert index.respelled("rguments") == {}
    assert index.respelled("raguments or moltbok") == {"raguments": "arguments", "moltbok": "moltbook"}


@given(st.text("abc", max_size=6), st.text("abc", max_size=6), st.integers(0, 3))
def test_a_distance_is_the_same_both_ways_and_told_up_to_a_limit(one: str, other: str, most: int) -> None:
    far = distance(one, other, 10)
    assert far == distance(other, one, 10)
    assert (far == 0) == (one == other)
    assert min(distance(one, other, most), most + 1) == min(far, most + 1)


def test_two_letters_swapped_are_one_error() -> None:
    assert distance("mulhc", "mulch", 2) == 1
