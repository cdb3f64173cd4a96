"""Names for pages: always paths that a page may have, and told from names that say nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.text.slug import is_meaningful, slug
from memory_v2.tree.path import is_page_path

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=120)


@given(ANY_TEXT, st.integers(-5, 300))
def test_a_slug_is_empty_or_a_path_in_one_part(words: str, limit: int) -> None:
    name = slug(words, limit)
    assert name == "" or (is_page_path(name) and "/" not in name)


@given(ANY_TEXT)
def test_the_slug_of_a_slug_is_itself(words: str) -> None:
    assert slug(slug(words)) == slug(words)


@given(ANY_TEXT, st.integers(12, 100))
def test_a_slug_keeps_to_its_limit(words: str, limit: int) -> None:
    assert len(slug(words, limit).encode()) <= limit


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Silica: testing & CI", "silica-testing-ci"),
        ("Caroline's adoption plans", "carolines-adoption-plans"),
        ("Configuración de Modelos", "configuración-de-modelos"),
        ("脉星 记忆日志 2026", "脉星-记忆日志-2026"),
        ("हिन्दी में", "हिन्दी-में"),
        ("⚡️ Fast ⚡️", "fast"),
        ("v0.1.0 / Python 3.12", "v0-1-0-python-3-12"),
        ("CON", "con-notes"),
        ("lpt1", "lpt1-notes"),
        ("…", ""),
        ("\ud800", ""),
    ],
)
def test_a_slug_keeps_letters_and_digits_of_every_script(words: str, name: str) -> None:
    assert slug(words) == name


def test_a_long_name_is_cut_between_words() -> None:
    assert slug("one two three four", 10) == "one-two"
    assert slug("one two three four", 7) == "one-two"
    assert slug("a pneumonoultramicroscopic word", 12) == "a-pneumonoul"
    assert slug("记忆" * 30, 8) == "记忆"


SAY_NOTHING = """
    misc Miscellaneous other others various stuff things general untitled unnamed page section part chunk block new
    temp tmp contents page_1 section3 part-2 part2 other-stuff new-page-2 17 007 1-2 2026-99 --- otros varios
    sin-título sección-2 divers autres sans-titre sonstiges verschiedenes teil-3 abschnitt outros geral seção-1
    其他 部分2 第3节 その他
"""
SAY_SOMETHING = """
    test-plan testing partners silica 2026 2026-03 2026-03-01 08-02-2026 20260208 2023-2024 page-2026-03 q1 v2
    other-half newsletter pagerank general-relativity gpt-4 记忆 2026年2月 ノート術 diversity
"""


def test_names_that_say_nothing_are_told() -> None:
    assert [name for name in SAY_NOTHING.split() if is_meaningful(name)] == []


def test_names_that_say_something_are_left_alone() -> None:
    assert [name for name in SAY_SOMETHING.split() if not is_meaningful(name)] == []


@given(ANY_TEXT)
def test_any_name_can_be_asked_about(name: str) -> None:
    assert is_meaningful(name) in (True, False)


def test_an_empty_name_says_nothing() -> None:
    assert not is_meaningful("")
