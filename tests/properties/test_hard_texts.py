"""Any text is found to the letter, is found by a search, and is undone. `bench.texts` tries thousands."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.hard_texts import STRUCTURES, dates, scripts, texts
from bench.trial import Trial, is_refused, smallest
from memory_v2 import Memory
from tests.effort import effort

KINDS = STRUCTURES | {"any script": scripts, "a day": dates, "surrogates": st.text(st.characters(categories=["Cs"]))}
STANDING = 20
"""Lines that are in the memory beforehand: few, so that a text takes a few milliseconds."""


@settings(max_examples=effort(40, 500))
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


@pytest.mark.parametrize(
    ("method", "broken", "told"),
    [
        ("write", lambda memory, text, write=Memory.write: write(memory, text.replace("  ", " ")), "not to the letter"),
        ("write", lambda memory, text, write=Memory.write: write(memory, text[:-9]), "not to the letter"),
        ("search", lambda memory, query: [], "not found"),
        ("undo", lambda memory: None, "not undone"),
    ],
)
def test_what_is_not_kept_found_or_undone_is_told(
    monkeypatch: pytest.MonkeyPatch, method: str, broken: Callable[..., object], told: str
) -> None:
    trial = Trial(standing=3)
    monkeypatch.setattr(Memory, method, broken)
    assert trial.problem("# Tea\n\nAda likes  Assam.\n\nBob does too.").startswith(told)


def test_a_failing_text_is_reduced_to_what_fails() -> None:
    assert smallest("many words, a flaw, and more words", lambda part: "flaw" in part, 200) == "flaw"


trial = Trial(STANDING)
