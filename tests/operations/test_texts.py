"""Texts that cannot be stored are refused with what is wrong with them."""

from __future__ import annotations

import pytest

from memory_v2.errors import InvalidText
from memory_v2.operations.texts import MAX_TEXT, check_text


@pytest.mark.parametrize(
    ("text", "told"),
    [("a\udcff", "character 1 is the byte 0xFF; convert it to UTF-8"), ("a\ud83d", "character 1 is half of a pair")],
)
def test_a_byte_that_is_not_utf_8_is_told_apart_from_half_of_a_pair(text: str, told: str) -> None:
    with pytest.raises(InvalidText, match=told):
        check_text(text, "a text")


def test_a_text_too_large_to_be_divided_at_once_is_refused_by_its_bytes() -> None:
    check_text("é" * (MAX_TEXT // 2), "a text")
    with pytest.raises(InvalidText, match="at most 1,000,000 bytes, not 1,000,002; bring it in by parts"):
        check_text("é" * (MAX_TEXT // 2 + 1), "a text")
