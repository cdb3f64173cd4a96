"""Any text is found to the letter, is found by a search, and is undone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_v2 import Memory
from memory_v2.storage.base import MemoryStorage
from memory_v2.tree.page import Page
from tests.effort import effort
from tests.properties.hard_texts import STRUCTURES, dates, scripts, texts
from tests.properties.trial import Trial, is_refused
from tests.properties.whole import clock, pages_of

KINDS = STRUCTURES | {"any script": scripts, "a day": dates, "surrogates": st.text(st.characters(categories=["Cs"]))}
DATED = 20
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
    trial = Trial(3)
    monkeypatch.setattr(Memory, method, broken)
    assert trial.problem("# Tea\n\nAda likes  Assam.\n\nBob does too.").startswith(told)


SECTIONS = "# Tea\n\n" + "".join(
    f"## {name}\n\n{f'A line about {name} of Ada. ' * 200}\n\n---\n\n"
    for name in ("Assam", "Ceylon", "Darjeeling", "Oolong")
)


def test_a_heading_that_became_a_title_and_the_rules_of_a_page_are_there() -> None:
    assert not trial.problem(SECTIONS)


@pytest.mark.parametrize(
    ("key", "value", "lost"), [("title_level", "", "## "), ("title_level", "3", "## "), ("rules_below", "", "---")]
)
def test_a_heading_or_a_rule_that_no_page_notes_is_missing(
    monkeypatch: pytest.MonkeyPatch, key: str, value: str, lost: str
) -> None:
    def tampered(storage: MemoryStorage) -> dict[str, Page]:
        pages = pages_of(storage)
        return {
            p: page.stamped(clock(), **{key: value}) if key in page.properties else page for p, page in pages.items()
        }

    monkeypatch.setattr("tests.properties.trial.pages_of", tampered)
    monkeypatch.setattr("tests.properties.trial.missing", lambda contents, texts: [])
    assert trial.problem(SECTIONS).startswith(f"missing, or fewer than were written: '{lost}")


trial = Trial(DATED)
