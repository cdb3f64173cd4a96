"""How much of what a question asks for a text tells: by words, whatever the size of the memory."""

from __future__ import annotations

from datetime import date

import pytest

from memory_v2.index.coverage import FLOOR
from memory_v2.index.full_text import FullTextIndex
from memory_v2.storage.volatile import VolatileStorage


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
