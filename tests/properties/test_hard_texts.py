"""Any text is found to the letter, is found by a search, and is undone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import effort
from tests.properties.hard_texts import STRUCTURES, dates, scripts, texts
from tests.properties.trial import Trial, is_refused

KINDS = STRUCTURES | {"any script": scripts, "a day": dates, "surrogates": st.text(st.characters(categories=["Cs"]))}
DATED = 20
"""Lines that are in the memory beforehand: few, so that a text takes a few milliseconds."""


@settings(max_examples=effort(20, 500))
@given(texts)
def test_any_text_is_kept_found_and_undone(text: str) -> None:
    assert not trial.problem(text)


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_of_each_kind_is_kept_found_and_undone(kind: str) -> None:
    @settings(max_examples=effort(2, 50))
    @given(KINDS[kind])
    def tried(text: str) -> None:
        assert not trial.problem(text)

    tried()


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\ufeff", "a\ud800", "\x00\x0c"])
def test_empty_texts_and_halves_of_pairs_are_refused(text: str) -> None:
    assert is_refused(text)
    assert not trial.problem(text)


SECTIONS = "# Tea\n\n" + "".join(
    f"## {name}\n\n{f'A line about {name} of Ada. ' * 200}\n\n---\n\n"
    for name in ("Assam", "Ceylon", "Darjeeling", "Oolong")
)


def test_a_heading_that_became_a_title_and_the_rules_of_a_page_are_there() -> None:
    assert not trial.problem(SECTIONS)


trial = Trial(DATED)
