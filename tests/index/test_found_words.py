"""Where the words of a question stand in a text."""

from __future__ import annotations

import pytest

from memory_v2.index.terms import places_of_words


@pytest.mark.parametrize(
    ("text", "question", "found"),
    [
        ("- Silica uses pytest for tests", "How is it tested?", ["tests"]),
        ("语音识别 - 使用Google在线API", "语音识别依赖哪个在线API？", ["语音识别", "在线"]),
        ("A café, foo_bar", "cafe foo_bar", ["café", "foo", "bar"]),
        ("to be or not", "to be", ["to", "be"]),
        ("Ana has a dog, and bought a picture", "pets, photos, purchases", ["dog", "bought", "picture"]),
        ("nothing", "else", []),
    ],
)
def test_the_words_of_a_question_are_found_in_any_form(text: str, question: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in places_of_words(text, question)] == found
