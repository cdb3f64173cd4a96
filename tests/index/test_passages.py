"""What of a page is one findable place."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given

from memory_v2.index.passages import LINE_BYTES, PASSAGE_BYTES, Passage, passages
from memory_v2.text.dates import Span
from memory_v2.tree.block import readable, split_lines
from memory_v2.tree.page import Piece, parse_page, piece_page
from tests.tree.texts import EXAMPLES, STEADY, markdown

TALK = """# Talk

## 8 May 2023, 1:56 pm

- Ann: Hey Bob! How have you been?
- Bob: I was ill, but I am well now. And you?
- Ann: I went to a concert yesterday.
- Bob: Which one was it?
"""


def found(text: str, path: str = "page") -> list[Passage]:
    return passages(parse_page(path, text))


def texts(text: str, path: str = "page") -> list[str]:
    return [passage.text for passage in found(text, path)]


def signs(text: str) -> str:
    """The letters and digits of a text, and its signs beyond ASCII."""
    return "".join(sign for sign in text if sign.isalnum() or not (sign.isascii() or sign.isspace()))


def day(year: int, month: int, number: int) -> Span:
    return Span(date(year, month, number), date(year, month, number))


def assert_verbatim(text: str) -> None:
    page = parse_page("page", text)
    lines = split_lines(readable(page.text))
    for passage in passages(page):
        named = "".join(lines[passage.first_line - 1 : passage.last_line])
        assert passage.text in named
        assert passage.text.strip()
        if len(passage.text) < PASSAGE_BYTES // 4:
            assert passage.text.removeprefix("\ufeff") == named.rstrip("\r\n").removeprefix("\ufeff")
        if passage.kind != "child link":
            assert passage.text in readable(page.blocks[passage.block - 1].text)


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES)
def test_each_passage_is_the_text_of_the_lines_it_names(text: str) -> None:
    assert_verbatim(text)


@STEADY
@given(markdown)
def test_passages_of_any_text_are_verbatim(text: str) -> None:
    assert_verbatim(text)


@STEADY
@given(markdown)
def test_every_word_of_the_body_but_headings_is_in_a_passage(text: str) -> None:
    page = parse_page("page", text)
    spoken = "".join(signs(passage.text) for passage in passages(page) if passage.kind == "text")
    for block in page.blocks:
        if block.kind not in ("heading", "rule"):
            assert signs(readable(block.text)) in spoken


def test_each_item_is_a_passage_under_its_headings() -> None:
    [first, second] = found("# Silica\n\n## Testing\n\n- uses pytest\n- uses ruff\n")
    assert (first.text, first.block, first.first_line, first.last_line) == ("- uses pytest", 3, 5, 5)
    assert (second.text, second.section) == ("- uses ruff", ("Silica", "Testing"))
    assert first.run == second.run


def test_a_heading_is_found_itself_only_where_nothing_stands_below_it() -> None:
    [bare, below, alone] = found("# A\n\n## Empty\n\n## Full\n\ntext\n\n# Last\n")
    assert (bare.kind, bare.text, bare.section) == ("heading", "## Empty", ("A",))
    assert (below.kind, below.section) == ("text", ("A", "Full"))
    assert (alone.text, alone.section) == ("# Last", ())


def test_every_line_of_a_heading_is_found_above_its_text() -> None:
    [passage] = found("Many words\nof a title\n===\n\ntext\n")
    assert (passage.text, passage.section) == ("text", ("Many words of a title",))


@pytest.mark.parametrize("below", ["##\n", "---\n", "##\n\n---\n\n###\n", "\u2028\n", "- \n-\n", "- [ ]\n\n...\n"])
def test_a_heading_is_found_if_nothing_below_it_has_words(below: str) -> None:
    assert "# A" in texts(f"# A\n\n{below}\n# Last\n")
    assert "# A" not in texts(f"# A\n\n{below}\n## B\n\n# Last\n")


def test_a_marker_or_signs_alone_are_no_passage() -> None:
    assert texts("# A\n\n- oars\n-\n- [ ]\n- \U0001f44d\n\n===\n\n...\n") == ["- oars", "- \U0001f44d"]


def test_a_long_block_of_lines_is_cut_at_its_lines() -> None:
    text = "".join(f"line {number} of a long paragraph\n" for number in range(60))
    parts = found(text)
    assert len(parts) > 3
    assert all(len(part.text) <= PASSAGE_BYTES for part in parts)
    assert "\n".join(part.text for part in parts) + "\n" == text
    assert [part.first_line for part in parts][1:] == [part.last_line + 1 for part in parts][:-1]


def test_a_very_long_line_is_cut_at_the_ends_of_sentences() -> None:
    text = " ".join(f"This is sentence {number} of one endless line." for number in range(100))
    parts = found(text)
    assert all(part.text.endswith(".") and len(part.text) <= PASSAGE_BYTES for part in parts)
    assert {(part.first_line, part.last_line) for part in parts} == {(1, 1)}
    assert " ".join(part.text for part in parts) == text


def test_a_line_without_sentences_or_blanks_is_cut_all_the_same() -> None:
    parts = texts("x" * 10 * LINE_BYTES)
    assert all(len(part) <= LINE_BYTES for part in parts)
    assert "".join(parts) == "x" * 10 * LINE_BYTES


def test_talk_is_a_passage_for_each_turn_with_its_speaker_and_day() -> None:
    parts = found(TALK)
    assert [part.speaker for part in parts] == ["Ann", "Bob", "Ann", "Bob"]
    assert {part.date for part in parts} == {day(2023, 5, 8)}
    assert [part.question for part in parts] == [True, True, False, True]


def test_a_date_at_the_end_of_what_is_said_is_not_when_it_was_said() -> None:
    parts = found(TALK.replace("concert yesterday.", "concert on 3 May 2022."))
    assert {part.date for part in parts} == {day(2023, 5, 8)}


def test_talk_in_one_paragraph_is_cut_at_its_turns() -> None:
    parts = found(TALK.replace("- ", ""))
    assert [(part.speaker, part.first_line) for part in parts] == [("Ann", 5), ("Bob", 6), ("Ann", 7), ("Bob", 8)]


def test_notes_with_labels_are_nobodys_talk() -> None:
    parts = found("- Status: done\n- Owner: the platform team\n- Status: open\n- Owner: nobody\n")
    assert {part.speaker for part in parts} == {None}


def test_a_passage_has_its_own_day_before_that_of_its_heading() -> None:
    [own, last, heading] = found("# Log 2023-05-01\n\n- 2023-05-03: tried it\n- it works (2023-05-04)\n- done\n")
    assert (own.date, last.date) == (day(2023, 5, 3), day(2023, 5, 4))
    # A run of dated blocks hands its day on.
    assert heading.date == day(2023, 5, 4)


def test_the_day_of_the_nearest_heading_above_counts() -> None:
    [first, second] = found("# 2023\n\n## 2023-05-01\n\n### Morning\n\nslept\n\n## 2023-05-02\n\nworked\n")
    assert (first.date, second.date) == (day(2023, 5, 1), day(2023, 5, 2))


def test_the_name_of_the_page_dates_what_has_no_date() -> None:
    [passage] = found("# Log\n\nslept\n", "logs/2023-05")
    assert passage.date == Span(date(2023, 5, 1), date(2023, 5, 31))


def test_what_has_no_date_anywhere_has_none() -> None:
    assert [passage.date for passage in found("# Log\n\nslept\n")] == [None]


def test_one_dated_item_does_not_date_the_others() -> None:
    parts = found("- 2023-05-03: tried it\n- likes tea\n- likes milk\n- likes water\n")
    assert [part.date for part in parts] == [day(2023, 5, 3), None, None, None]


def test_what_the_program_wrote_is_set_apart() -> None:
    text = "# A\n\ntext\n\n## Links\n\n- [[b]] - all of b\n\n## Metadata\n\nlast_updated: 2023-01-01T00:00:00Z\n"
    [body, entry] = found(text)
    assert body.kind == "text"
    assert (entry.kind, entry.text, entry.block, entry.first_line) == ("child link", "- [[b]] - all of b", 0, 7)
    assert entry.run != body.run


_SECTIONS = "## Links\n\n- [[b]] - all of b\n\n## Metadata\n\nlast_updated: 2023-01-01T00:00:00Z\nsize_bytes: 1\n"


@pytest.mark.parametrize(
    ("below", "expected", "line"),
    [
        ("Buy milk.\n", "Buy milk.", 13),
        ("\nBuy milk.\n", "Buy milk.", 14),
        ("todo: buy milk\n", "todo: buy milk", 13),
        ("\ntodo: buy milk\n\nMore.\n", "todo: buy milk", 14),
    ],
)
def test_what_a_person_wrote_among_and_below_the_metadata_is_a_passage(below: str, expected: str, line: int) -> None:
    parts = found(f"# A\n\ntext\n\n{_SECTIONS}{below}")
    [part] = [part for part in parts if "milk" in part.text]
    assert (part.kind, part.text, part.first_line, part.last_line) == ("text", expected, line, line)
    assert not any("last_updated" in part.text for part in parts)
    assert [part.text for part in parts if part.kind == "child link"] == ["- [[b]] - all of b"]


def test_what_a_person_wrote_below_the_links_is_a_passage() -> None:
    parts = found("# A\n\ntext\n\n## Links\n\n- [[b]] - all of b\nBuy milk.\n")
    assert [(part.kind, part.text, part.first_line) for part in parts] == [
        ("text", "text", 3),
        ("text", "Buy milk.", 8),
        ("child link", "- [[b]] - all of b", 7),
    ]


def test_what_a_person_wrote_below_a_piece_is_on_its_line() -> None:
    data = "".join(f"line {number}\n" for number in range(5)).encode()
    page = piece_page("long-1", "Long", data, Piece(1, 2, len(data), "fence"))
    text = page.text.replace("line 4", "line 4, longer").replace("## Metadata", "- by a person\n\n## Metadata")
    *_, last = passages(parse_page("long-1", text))
    assert (last.first_line, last.text) == (split_lines(text).index("- by a person\n") + 1, "- by a person")
