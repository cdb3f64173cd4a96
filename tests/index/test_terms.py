"""The words of a question: terms, forms, typing errors, days, and how much of them a text tells."""

from __future__ import annotations

import sys
import unicodedata
from datetime import UTC, date, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.index import spelling
from memory_v2.index import terms as module
from memory_v2.index.candidates import RELATED
from memory_v2.index.coverage import FLOOR
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.lookup import Days
from memory_v2.index.spelling import distance
from memory_v2.index.terms import places_of_words, terms, verbs
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.text.lists import irregular, kinds, stopwords, synonyms
from memory_v2.text.words import words
from tests.effort import effort
from tests.tree.texts import STEADY


def _odd_texts() -> st.SearchStrategy[str]:
    last_of = {unicodedata.category(chr(c)): chr(c) for c in range(sys.maxunicode + 1)}
    every_category = [last_of[category] for category in sorted(last_of.keys() - {"Cs"})]
    marks = "a1 _.'’ʼ\u0300\u0301\u0308\u200b\u200d\ufeff\0\n日é"
    return st.text(st.sampled_from([*every_category, *marks]), max_size=12)


_odd = st.deferred(_odd_texts)


def test_every_character_has_terms_alone_and_inside_a_word() -> None:
    for code in range(0, 0x10000, effort(11, 1)):
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


def told(query: str, *texts: str, pages: int = 1) -> list[float]:
    storage = VolatileStorage()
    for number in range(pages):
        storage.write(f"page-{number}", f"# Page {number}\n\nThe kiln of Ines smokes.\n\nIt is 语音识别.\n".encode())
    index = FullTextIndex(storage, None)
    index.refresh()
    return index.told(query, [(text, date(2026, 2, 3)) for text in texts])


def test_a_text_with_all_the_words_tells_all() -> None:
    assert told("Does the kiln smoke?", "the smoking kiln", "a kiln", "an oven") == pytest.approx([1, 0.5, 0])


def test_a_name_alone_tells_little() -> None:
    name, other = told("When does Ines mend the kiln?", "Ines", "the kiln")
    assert name < FLOOR < other


def test_a_word_that_the_memory_does_not_have_weighs_more() -> None:
    assert told("kiln mortgage", "kiln")[0] < 0.4


def test_a_name_that_the_memory_does_not_have_is_missing_as_any_word_is() -> None:
    assert told("the kiln of Ottavio", "the kiln") == told("the kiln of mortgage", "the kiln")


def test_each_part_of_an_identifier_that_the_memory_does_not_have_is_a_word() -> None:
    assert told("kiln_smokes", "the kiln", "the kiln smokes") == pytest.approx([0.5, 1])
    assert told("kiln_url", "the kiln")[0] < 0.5


THINGS = ("saw", "ladder", "lathe", "boat", "organ", "press", "loom", "anvil", "crane", "sledge") * 4
LONG = (
    "ok so I keep coming back to this and honestly I am not sure what the right approach is, since the team had some "
    "pushback in the review and everybody wants something different by now, but can you remind me {}?"
)


def test_a_long_question_is_answered_by_what_has_several_of_its_rare_words() -> None:
    storage = VolatileStorage()
    storage.write("things", "".join(f"- The {one} is kept in hall {n}.\n" for n, one in enumerate(THINGS)).encode())
    storage.write("kiln", b"- The kiln of Ines smokes when it rains.\n")
    index = FullTextIndex(storage, None)
    index.refresh()
    said = date(2026, 2, 3)

    def best(question: str) -> float:
        return index.told(question, [("The kiln of Ines smokes when it rains.", said)])[0]

    assert best(LONG.format("whether the kiln of Ines smokes")) >= FLOOR
    assert best(LONG.format("whether the kiln is paid")) < FLOOR
    assert best(LONG.format("whether the mortgage is paid")) < FLOOR


def test_a_pair_of_characters_is_another_word_than_each() -> None:
    assert told("语句", "语音") == [0]
    assert told("语音", "语音") == [1]


def test_a_day_asked_for_tells() -> None:
    assert told("What was on 3 February 2026?", "a saw")[0] > FLOOR
    assert told("Who won the chess tournament in February 2026?", "a saw")[0] < FLOOR


@pytest.mark.parametrize("pages", [1, 5, 40])
def test_the_size_of_the_memory_hardly_matters(pages: int) -> None:
    (share,) = told("Which mortgage has the kiln?", "the kiln", pages=pages)
    assert share == pytest.approx(0.2, abs=0.2)


_spans = st.tuples(st.integers(1, 60), st.integers(0, 9)).map(lambda span: (span[0], span[0] + span[1]))


@given(st.lists(_spans), _spans)
def test_a_place_is_on_a_day_asked_for_as_if_each_span_were_compared(
    spans: list[tuple[int, int]], place: tuple[int, int]
) -> None:
    days, (since, until) = Days(tuple(spans)), place
    on_them = [span for span in spans if since <= span[1] and span[0] <= until]
    assert days.include(since, until) == bool(on_them)
    assert days.named(since, until) == (on_them[0] if on_them else None)


@pytest.mark.parametrize("of_any_year", [False, True])
def test_what_is_said_of_a_year_is_not_said_of_a_month_of_any_year(of_any_year: bool) -> None:
    days = Days(((182, 212),), of_any_year)
    assert days.include(1, 365) != of_any_year
    assert (days.named(1, 365) is None) == of_any_year
    assert days.include(190, 220)


@given(st.lists(_spans))
def test_merged_days_are_the_same_days_apart_and_in_order(spans: list[tuple[int, int]]) -> None:
    merged = Days(tuple(spans)).merged
    assert {day for first, last in merged for day in range(first, last + 1)} == {
        day for first, last in spans for day in range(first, last + 1)
    }
    assert all(before[1] + 1 < after[0] for before, after in pairwise(merged))


def _index() -> FullTextIndex:
    storage = VolatileStorage(lambda: datetime(2026, 1, 1, tzinfo=UTC))
    log = "".join(f"- fact {n} ({date(1965 + n % 60, n % 12 + 1, n % 28 + 1)})\n" for n in range(300))
    storage.write("log", f"# Log\n\n{log}".encode())
    return FullTextIndex(storage, None)


def test_a_question_may_name_any_number_of_days() -> None:
    asked = ", ".join(f"{month} {day}" for month in ("May", "June", "October") for day in range(1, 29, 2))
    hits = _index().search(f"fact, other words: {asked}")
    assert hits
    assert all(hit.date and hit.date.month in (5, 6, 10) and hit.date.day % 2 for hit in hits)


def test_a_question_may_quote_and_name_any_number_of_phrases_and_people() -> None:
    quoted = " ".join(f'"fact {number}"' for number in range(5_000))
    assert len(_index().search(quoted)) == 10
    storage = VolatileStorage()
    names = [
        f"{first}{last}" for first in ("An", "Be", "Cor", "Dor") for last in map(chr, range(ord("a"), ord("z") + 1))
    ]
    storage.write("talk", "".join(f"- {name}: Hello, how are you?\n" for name in names * 2).encode())
    assert len(FullTextIndex(storage, None).search(f"What did {' and '.join(names)} say: hello?")) == 10


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


TEXT = """# Moltbook

- The posts were published in March
- Arguments win, mice do not
- a key: deadbeef
- we deploy at noon with parse_invoice and readOrders
- 番
"""


@pytest.fixture
def index() -> FullTextIndex:
    storage = VolatileStorage()
    storage.write("memory", TEXT.encode())
    index = FullTextIndex(storage, None)
    index.refresh()
    return index


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("publihsed", "published"),
        ("argumnets", "arguments"),
        ("moltbok", "moltbook"),
        ("argumnet", "arguments"),
        ("deplyo", "deploy"),
    ],
)
def test_a_typing_error_is_recognised(index: FullTextIndex, typed: str, meant: str) -> None:
    assert index.respelled(f"{typed} and a zeppelin") == {typed.lower(): meant}


@pytest.mark.parametrize(
    "query",
    [
        "published post",
        "posts",
        "rice",
        "bosts",
        "posted",
        "posta",
        "mooch",
        "12345678",
        "deadbeaf1",
        "番茄",
        "zeppelin",
        "parse_invoicee",
        "",
    ],
)
def test_what_is_there_or_like_nothing_stays_as_it_is(index: FullTextIndex, query: str) -> None:
    assert index.respelled(query) == {}


def test_in_a_large_memory_a_word_begins_with_one_of_the_first_letters_that_were_typed(
    index: FullTextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert index.respelled("rguments") == {"rguments": "arguments"}
    monkeypatch.setattr(spelling, "SCANNED", 0)
    assert index.respelled("rguments") == {}
    assert index.respelled("raguments or moltbok") == {"raguments": "arguments", "moltbok": "moltbook"}


@given(st.text("abc", max_size=6), st.text("abc", max_size=6), st.integers(0, 3))
def test_a_distance_is_the_same_both_ways_and_told_up_to_a_limit(one: str, other: str, most: int) -> None:
    far = distance(one, other, 10)
    assert far == distance(other, one, 10)
    assert (far == 0) == (one == other)
    assert min(distance(one, other, most), most + 1) == min(far, most + 1)


def test_two_letters_swapped_are_one_error() -> None:
    assert distance("mulhc", "mulch", 2) == 1
