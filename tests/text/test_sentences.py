"""Where sentences and clauses end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_v2.text.words import clauses, sentences


@given(st.text(max_size=200))
def test_the_sentences_of_a_text_are_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text


def test_a_sentence_ends_at_its_mark_at_a_blank_line_and_before_an_item() -> None:
    text = "Node 1.2 is “out.” It\nworks… Good!\n\nNext\n- one\n- two。三"
    assert [sentence.strip() for sentence in sentences(text)] == [
        *("Node 1.2 is “out.”", "It\nworks…", "Good!", "Next", "- one", "- two。", "三")
    ]


def test_clauses_end_at_commas_unless_told_otherwise() -> None:
    text = "Port: 80, not 443 (yet). Now – done"
    assert [clause.strip() for clause in clauses(text)] == ["Port", "80", "not 443", "yet", "Now", "done"]
    assert clauses(text, at_commas=False) == ["Port", "80, not 443 (yet)", "Now", "done"]
