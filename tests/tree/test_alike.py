"""Copies, and copies that were changed a little."""

from __future__ import annotations

from memory_v2.tree.alike import Group, alike

TEXT = "Leeks are planted in March with a spade from the shed, ten in a row, and watered each evening until June."


def test_copies_are_found_whatever_their_length_and_dress() -> None:
    assert alike(["- One", "two", "**one**", "One."]) == [Group((0, 2, 3), 1.0)]


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
