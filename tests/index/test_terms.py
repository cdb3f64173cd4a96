"""Any text has terms under which it is found."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Set

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.index import terms as module
from memory_v2.index.coverage import RELATED
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.rows import IncomingPage, prepare_page
from memory_v2.index.terms import _stems, terms, verbs
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.text.lists import irregular, kinds, stopwords, synonyms
from memory_v2.text.words import words
from memory_v2.tree.page import parse_page
from tests.properties.whole import clock
from tests.tree.texts import STEADY

_EVERY_CATEGORY = [
    next(chr(c) for c in range(sys.maxunicode, -1, -1) if unicodedata.category(chr(c)) == category)
    for category in sorted({unicodedata.category(chr(c)) for c in range(0x30000)} - {"Cs"})
]
_odd = st.text(st.sampled_from([*_EVERY_CATEGORY, *"a1 _.'’ʼ\u0300\u0301\u0308\u200b\u200d\ufeff\0\n日é"]), max_size=12)


def test_every_character_has_terms_alone_and_inside_a_word() -> None:
    for code in range(0x10000):
        if not 0xD800 <= code < 0xE000:
            for text in (chr(code), f"a{chr(code)}b"):
                assert all(terms(text)), f"U+{code:04X}"


@STEADY
@given(_odd)
def test_any_text_is_indexed_and_a_word_beside_it_is_found(text: str) -> None:
    storage = VolatileStorage()
    storage.write("page", f"# {text}\n\n- {text} zebra\n\n{text}\n".encode())
    index = FullTextIndex(storage, None)
    assert any("zebra" in hit.text for hit in index.search("zebra"))
    index.search(text)
    index.same([text])


def test_the_new_words_of_a_page_are_stemmed_together() -> None:
    page = parse_page("a", "".join(f"new{number}a and new{number}b\n\n" for number in range(50)))
    asked: list[str] = []
    _stems()._tables.set_trace_callback(asked.append)
    prepare_page(IncomingPage(page, page.size, "", clock()))
    _stems()._tables.set_trace_callback(None)
    assert sum(statement.startswith("SELECT") for statement in asked) == 1


def test_a_word_has_the_same_stem_whatever_new_words_stand_beside_it() -> None:
    found = ["\u0301", "boats", "\u0bcd\u0301", "caf\u00e9s", "tests", "\u90e8\u5206", "\U0001d7ce", "c++", "a_b.c"]
    alone = {word: module._Stems().of({word})[word] for word in found}
    assert module._Stems().of(set(found)) == alone
    assert alone["boats"] == "boat"


def test_an_accent_on_nothing_is_found() -> None:
    storage = VolatileStorage()
    storage.write("page", "the mark _\u25cc\u0301_ is an accent\n".encode())
    index = FullTextIndex(storage, None)
    assert [hit.path for hit in index.search("\u0301")] == ["page"]
    assert [hit.path for hit in index.search("accent")] == ["page"]


def test_the_first_search_of_a_process_asks_the_stemmer_a_few_times_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Set[str]] = []

    class Counting(module._Stems):
        def of(self, found: Set[str]) -> dict[str, str]:
            asked.append(found)
            return super().of(found)

    stems = Counting()
    monkeypatch.setattr(module, "_stems", lambda: stems)
    module._function_words.cache_clear()
    module._in_terms.cache_clear()
    storage = VolatileStorage()
    storage.write("page", b"The zebra eats leeks.\n\nThe zebra eats peas.\n")
    assert len(FullTextIndex(storage, None).search("zebra")) == 2
    assert len(asked) < 10


@pytest.mark.parametrize(
    ("query", "line"), [("What did Ana buy?", "Ana bought a boat."), ("boats bought", "We buy a boat.")]
)
def test_an_irregular_form_is_found_by_its_verb_and_the_other_way_round(query: str, line: str) -> None:
    storage = VolatileStorage()
    storage.write("page", f"# Harbour\n\n{line}\n\nAna painted a boat.\n".encode())
    index = FullTextIndex(storage, None)
    assert index.search(query)[0].text == line
    [tells, less] = index.told("bought", [(line, None), ("Ana painted a boat.", None)])
    assert tells > less


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("Where are the photos?", "The pictures are upstairs."),
        ("When did we purchase it?", "We bought it in May."),
        ("Which pets does Ana have?", "Ana has a dog."),
        ("What instruments does Ana play?", "Ana has a violin."),
    ],
)
def test_a_word_finds_another_for_the_same_and_a_kind_finds_what_is_of_it(query: str, line: str) -> None:
    storage = VolatileStorage()
    storage.write("page", f"# Harbour\n\n{line}\n\nAna painted a boat.\n".encode())
    index = FullTextIndex(storage, None)
    assert index.search(query)[0].text == line
    [tells, less] = index.told(query, [(line, None), ("It is painted.", None)])
    assert tells > less


def test_the_word_itself_comes_before_a_related_one_and_tells_more() -> None:
    storage = VolatileStorage()
    storage.write("page", b"# Harbour\n\nThe dog is here.\n\nThe pet is here.\n\nThe boat is here.\n")
    index = FullTextIndex(storage, None)
    assert [hit.text for hit in index.search("pets")] == ["The pet is here.", "The dog is here."]
    assert index.told("pets", [("a pet", None), ("a dog", None), ("a boat", None)]) == pytest.approx([1, RELATED, 0])


def test_what_only_has_a_common_related_word_does_not_keep_away_what_has_the_word() -> None:
    storage = VolatileStorage()
    storage.write("page", "".join(f"- Club {number} plays tennis\n" for number in range(1000)).encode())
    storage.write("other", b"- The sport of Ana is secret\n")
    assert FullTextIndex(storage, None).search("Which sport is Ana's?")[0].text == "- The sport of Ana is secret"


def test_each_related_word_is_a_word_that_says_something() -> None:
    groups = [*synonyms(), *(named for kind in kinds() for named in kind)]
    assert [word for group in groups for word in group if words(word) != [word] or word in stopwords()] == []
    assert [group for group in groups if len({*group}) < len(group)] == []
    assert [group for group in synonyms() if len(group) < 2] == []
    assert len(names := [name for named, _ in kinds() for name in named]) == len({*names})


def test_no_irregular_form_has_the_stem_of_another_verb_or_of_a_function_word() -> None:
    forms = irregular()
    assert len(verbs()) == len(forms)
    assert not verbs().keys() & {*verbs().values()}
    assert not any(map(module.is_empty, {*verbs().keys(), *verbs().values()}))
