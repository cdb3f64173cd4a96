"""What the benches of search rest on: which text a hit shows and what they compare with."""

from __future__ import annotations

import pytest

from bench.consolidation import Facts, measure
from bench.notes import flat_search
from bench.searching import Passages, full_text, grep, new_memory
from memory_v2 import Memory

TEXTS = [
    "# Ferry\n\n## Notes\n\nThe ferry leaves from the new pier.\n",
    "# Cellar\n\n## Notes\n\nThe cellar is damp in autumn.\n\n## Links to read\n\nNone yet.\n",
    "The lantern hangs in the hall, where it was in the old house for many long years, and it is never lit.",
]


@pytest.fixture
def memory() -> Memory:
    memory = new_memory()
    for text in TEXTS:
        memory.write(text)
    return memory


def test_a_hit_shows_the_text_whose_line_it_has(memory: Memory) -> None:
    passages = Passages(memory, TEXTS)
    assert passages.lost() == 0
    for text, question in enumerate(("pier of the ferry", "damp in autumn", "where does the lantern hang")):
        assert text in {*passages.shown_by(memory.search(question, 1)[0])}


def test_a_line_that_two_texts_have_is_of_the_text_around_it(memory: Memory) -> None:
    passages = Passages(memory, TEXTS)
    found = memory.search("Notes$", 10, regex=True)
    assert sorted(text for result in found for text in passages.shown_by(result)) == [0, 1]


def test_a_text_that_was_never_written_is_lost(memory: Memory) -> None:
    assert Passages(memory, [*TEXTS, "Nobody wrote this."]).lost() == 1


@pytest.mark.parametrize("baseline", [full_text, grep])
def test_a_baseline_finds_the_text_with_most_words_of_the_question_and_nothing_for_stopwords(baseline: object) -> None:
    assert callable(baseline)
    search = baseline(TEXTS)
    assert search("Where is the cellar damp?", 3)[0] == 1
    assert search("the of and", 3) == []


def test_an_older_fact_that_says_another_word_of_the_same_is_the_one_that_was_overridden() -> None:
    given = Facts(
        "made up",
        ("0. The ferry leaves from pier one.", "1. The lantern is blue.", "2. The ferry leaves from pier two."),
        (("Where does the ferry leave from?", ("two",)), ("What is the lantern?", ("blue",))),
    )
    both = measure(given, lambda _: [given.facts[2], given.facts[0]])
    assert both == {"newest first": 0.5, "old": 1.0, "questions": 2, "with old": 1}
    assert measure(given, lambda _: [given.facts[2]])["old"] == 0.0


def test_a_fence_left_open_does_not_swallow_the_notes_after_it_in_a_flat_list() -> None:
    ferry = b"# Ferry\n\nAll is well.\n\n## Piers\n\nThe ferry leaves from the new pier.\n"
    pages = {"a": b"# Setup\n\n```\nmake", "b": ferry}
    [best, *_] = flat_search(pages)("Where does the ferry leave from?").found
    assert (best.path, best.first, best.last, best.shown) == ("b", 7, 7, "The ferry leaves from the new pier.")
