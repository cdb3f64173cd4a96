"""What is kept of a sequence: equal items, in the order of both."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memory_v2.text.kept import kept

some_lines = st.lists(st.sampled_from("abcdefgh"), max_size=90)


@given(some_lines, some_lines)
def test_what_is_kept_is_equal_and_in_the_order_of_both(old: list[str], new: list[str]) -> None:
    pairs = kept(old, new)
    assert all(old[place] == new[new_place] for place, new_place in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


def test_all_is_kept_but_what_was_changed() -> None:
    old = [str(n) for n in range(1000)] + ["", "x"] * 500
    new = [*old[:10], "new", *old[10:500], *old[501:], "end"]
    assert len(kept(old, new)) == len(old) - 1
