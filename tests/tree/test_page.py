"""A page is its body, its links and its metadata; put together again they are the same bytes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.tree.block import parse_blocks
from memory_v2.tree.page import Page, new_page, parse_page, piece_page, read_page
from memory_v2.tree.page import Piece as PagePiece
from tests.tree.texts import STEADY, markdown

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
TAILS = "## Links\n\n- [[a/b]] - what is in it\n- [[c]]\n\n## Metadata\n\nlast_updated: 2026-01-01T00:00:00Z\n"


@STEADY
@given(markdown)
def test_any_parsed_text_is_the_text(text: str) -> None:
    page = parse_page("a", text)
    assert page.text == text
    assert "".join(block.text for block in page.blocks) == page.body.removeprefix("\ufeff")


@STEADY
@given(st.binary(max_size=80))
def test_any_read_bytes_are_the_bytes(data: bytes) -> None:
    assert read_page("a", data).data == data


@STEADY
@given(markdown)
def test_any_text_with_its_sections_below_is_the_text(text: str) -> None:
    page = parse_page("a", f"{text}\n\n{TAILS}")
    assert page.text == f"{text}\n\n{TAILS}"
    assert page.metadata.startswith("## Metadata")
    assert [entry.target for entry in page.children][-2:] == ["a/b", "c"]


def test_the_sections_of_the_program_are_told_from_the_body() -> None:
    page = parse_page("a", f"# A\n\ntext\n\n{TAILS}")
    assert page.body == "# A\n\ntext\n\n"
    assert [(entry.target, entry.description) for entry in page.children] == [("a/b", "what is in it"), ("c", "")]
    assert page.properties["last_updated"] == "2026-01-01T00:00:00Z"
    assert page.last_updated == datetime(2026, 1, 1, tzinfo=UTC)


BODY_ONLY = {
    "links with a sentence": "# A\n\n## Links\n\nsee below\n\n- [[a]]\n",
    "links of the web": "# A\n\n## Links\n\n- https://example.org\n",
    "links without one": "# A\n\n## Links\n",
    "links and text after": "# A\n\n## Links\n\n- [[a]]\n\ntext\n",
    "metadata of somebody else": "# A\n\n## Metadata\n\nauthor: Ana\n",
    "metadata with a sentence": "# A\n\n## Metadata\n\nlast_updated: x\nthis is text\n",
    "metadata without keys": "# A\n\n## Metadata\n",
    "another level": "# A\n\n### Links\n\n- [[a]]\n",
    "another case": "# A\n\n## links\n\n- [[a]]\n",
}


@pytest.mark.parametrize("text", BODY_ONLY.values(), ids=BODY_ONLY.keys())
def test_a_persons_section_of_that_name_is_body(text: str) -> None:
    page = parse_page("a", text)
    assert (page.body, page.links, page.metadata) == (text, "", "")


def test_only_the_last_sections_are_the_programs() -> None:
    text = f"# A\n\n{TAILS}\n{TAILS}"
    page = parse_page("a", text)
    assert page.body == f"# A\n\n{TAILS}\n"
    assert page.links + page.metadata == TAILS


LISTED = "## Links\n\n- [[a]] - all of a\n"
NOTED = "## Metadata\n\nlast_updated: 2026-01-01T00:00:00Z\nsize_bytes: 1\n"
WRITTEN_BELOW = {
    "the metadata": f"# M\n\nFirst.\n\n{LISTED}\n{NOTED}\nBy hand.\n",
    "right below the metadata": f"# M\n\nFirst.\n\n{LISTED}\n{NOTED}By hand.\n",
    "the links": f"# M\n\nFirst.\n\n{LISTED}\nBy hand.\n\n{NOTED}",
    "right below the links": f"# M\n\nFirst.\n\n{LISTED}By hand.\n{NOTED}",
    "the links, and no metadata": f"# M\n\nFirst.\n\n{LISTED}\nBy hand.\n",
    "right below the links, and no metadata": f"# M\n\nFirst.\n\n{LISTED}By hand.\n",
    "both": f"# M\n\nFirst.\n\n{LISTED}\nBy\n\n{NOTED}\nhand.\n",
}


@pytest.mark.parametrize("text", WRITTEN_BELOW.values(), ids=WRITTEN_BELOW)
def test_a_page_on_which_a_person_wrote_below_the_sections_keeps_its_children(text: str) -> None:
    page = parse_page("m", text)
    assert page.text == text
    assert [(child.target, child.description) for child in page.children] == [("a", "all of a")]
    assert [(link.target, child) for link, child in page.found_links] == [("a", True)]
    gathered = parse_page("m", page.gathered().text)
    assert gathered == page.gathered()
    assert gathered.gathered() is gathered
    assert " ".join(gathered.body.split()) == "# M First. By hand."
    assert gathered.links.rstrip() == LISTED.rstrip()
    assert gathered.metadata in (NOTED, "")


NOT_MISPLACED = {
    "in a fence": f"# M\n\n```\n{LISTED}\n{NOTED}```\n\ntext\n",
    "links in a fence": f"# M\n\n```\n{LISTED}```\n\ntext\n\n{NOTED}",
    "a section among others": f"# M\n\n{LISTED}\n## Notes\n\ntext\n",
    "a section among others, with metadata": f"# M\n\n{LISTED}\n## Notes\n\ntext\n\n{NOTED}",
    "links without descriptions": f"# M\n\n## Links\n\n- [[a]]\n\ntext\n\n{NOTED}",
    "above the program's own": f"# M\n\n{LISTED}\ntext\n\n{LISTED}\n{NOTED}",
}


@pytest.mark.parametrize("text", NOT_MISPLACED.values(), ids=NOT_MISPLACED)
def test_a_persons_own_section_stays_where_it_is(text: str) -> None:
    page = parse_page("m", text)
    assert page.gathered() is page


@pytest.mark.parametrize("text", [*WRITTEN_BELOW.values(), *NOT_MISPLACED.values()])
def test_a_text_that_looks_like_sections_stays_as_it_is_when_the_program_stores_it(text: str) -> None:
    page = new_page("x", "X", [parse_blocks(text + "\nend\n")]).told_apart(NOW).stamped(NOW)
    stored = parse_page("x", page.text)
    assert text in stored.body
    assert stored.gathered() is stored
    assert stored.children == ()


@STEADY
@given(
    st.lists(st.sampled_from([LISTED, NOTED, "By hand.\n", "\n", "todo: tea\n", "```\n", "## Notes\n", "- [[b]]\n"]))
)
def test_gathering_loses_no_line(lines: list[str]) -> None:
    page = parse_page("m", "# M\n\n" + "".join(lines))
    gathered = page.gathered()
    assert sorted(filter(str.strip, gathered.text.splitlines())) == sorted(filter(str.strip, page.text.splitlines()))
    told = gathered.told_apart(NOW)
    assert told.gathered() is told


def test_stamping_keeps_keys_it_does_not_know_and_their_order() -> None:
    page = parse_page("a", "# A\n\n## Metadata\n\nowner: Ana\nlast_updated: x\ntags: b\n")
    stamped = page.stamped(NOW, split_from="memory")
    assert stamped.metadata == (
        "## Metadata\n\nowner: Ana\nlast_updated: 2026-03-04T05:06:07Z\ntags: b\nsize_bytes: 5\nsplit_from: memory\n"
    )
    assert parse_page("a", stamped.text).metadata == stamped.metadata


def test_the_size_in_the_metadata_is_the_bytes_above_it() -> None:
    stamped = parse_page("a", "# Ä\n\ntext 🧠").stamped(NOW)
    above = stamped.text[: stamped.text.index("## Metadata")]
    assert stamped.properties["size_bytes"] == str(len(above.encode()))


def test_an_empty_value_takes_a_key_out() -> None:
    page = parse_page("a", "# A\n\n## Metadata\n\nlast_updated: x\nsplit_from: memory\n")
    assert "split_from" not in page.stamped(NOW, split_from="").text


@STEADY
@given(markdown)
def test_a_stamped_page_has_the_body_and_the_links_it_had(text: str) -> None:
    page = parse_page("a", text)
    stamped = parse_page("a", page.stamped(NOW).text)
    assert stamped.body + stamped.links == (page.stamped(NOW).body + page.links)
    assert stamped.body.startswith(page.body)
    assert not stamped.body.removeprefix(page.body).strip("\r\n")
    assert stamped.links == page.links
    assert stamped.properties.keys() >= {"last_updated", "size_bytes"}
    assert stamped.stamped(NOW).text == stamped.text


@STEADY
@given(markdown)
def test_a_new_page_of_any_text_keeps_it_as_body(text: str) -> None:
    page = new_page("a", "A title", [parse_blocks(text)] if text else [])
    assert text in page.body
    stored = parse_page("a", page.told_apart(NOW).stamped(NOW).text)
    assert text in stored.body
    assert stored.properties["last_updated"] == "2026-03-04T05:06:07Z"


@STEADY
@given(
    markdown,
    st.sampled_from(["a", "projects/silica", "Größe/日本語", "it`s"]),
    st.sampled_from(["", "who, what - when"]),
)
def test_an_entry_that_is_listed_is_found_again(text: str, target: str, description: str) -> None:
    before = parse_page("x", text).stamped(NOW)
    page = parse_page("x", before.with_child(target, description).text)
    assert page.children[-1].target == target
    assert page.children[-1].description == description
    assert page.body == before.body
    assert any(child and link.target == target for link, child in page.found_links)
    without = parse_page("x", page.without_children(lambda entry: entry.target == target).text)
    assert target not in [entry.target for entry in without.children]
    assert without.body == before.body


def test_text_that_reads_like_a_section_stays_body_when_a_page_is_made_of_it() -> None:
    page = new_page("a", "A", [parse_blocks("text\n\n## Links\n\n- [[ghost]] - boo\n")])
    stored = parse_page("a", page.told_apart(NOW).stamped(NOW).text)
    assert stored.children == ()
    assert "- [[ghost]] - boo" in stored.body


def test_a_page_lists_its_children_in_order_and_on_lines_of_their_own() -> None:
    page = parse_page("x", "# X\r\n\r\ntext\r\n").with_child("a", "one").with_child("b", "")
    assert page.links == "## Links\r\n\r\n- [[a]] - one\r\n- [[b]]\r\n\r\n"


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("a/b", "# Silica #\n", "Silica"),
        ("a/b", "text\n", "b"),
        ("memory", "", "Memory"),
        ("a/b", "#\n\ntext\n", "b"),
        ("a/b", "Title\n===\n", "Title"),
    ],
)
def test_a_pages_title_is_its_heading_or_its_name(path: str, text: str, title: str) -> None:
    assert parse_page(path, text).title == title


def test_lines_are_counted_as_an_editor_counts_them() -> None:
    page = parse_page("a", "one\r\ntwo\rthree\nfour")
    assert [page.line_of(page.text.index(word)) for word in ("one", "two", "three", "four")] == [1, 2, 3, 4]


PIECES = {
    "text": b"word word\n",
    "starts with a line end": b"\n\nword",
    "ends with a lone CR": b"word\r",
    "not UTF-8": b"\xff\xfe\n",
    "half of a fence": b"```\n# no heading\n",
    "reads like a section": b"text\n\n## Links\n\n- [[ghost]]\n",
    "reads like metadata": b"text\n\n## Metadata\n\nlast_updated: 2001-01-01T00:00:00Z\n",
}


@pytest.mark.parametrize("data", PIECES.values(), ids=PIECES.keys())
def test_a_stored_piece_gives_back_its_bytes(data: bytes) -> None:
    made = piece_page("x/part-1", "X 1/2", data, PagePiece(1, 2, len(data), "fence"))
    stored = read_page("x/part-1", made.told_apart(NOW).stamped(NOW).data)
    assert stored.piece == PagePiece(1, 2, len(data), "fence")
    assert stored.piece_data == data
    assert "".join(block.text for block in stored.blocks) == stored.body


def test_a_piece_that_was_edited_by_hand_ends_where_a_line_does_and_no_character_is_lost() -> None:
    data = "one\n花盆在阳台上。\n".encode()
    made = piece_page("x/part-1", "X 1/2", data, PagePiece(1, 2, len(data), "fence")).stamped(NOW)
    for added in range(1, 24):
        edited = read_page("x/part-1", made.data.replace(b"one", b"o" * added))
        assert "".join(block.text for block in edited.blocks) == edited.body
        assert "花盆在阳台上。" in [line for block in edited.blocks for line in block.text.splitlines()]


def test_a_page_with_another_body_keeps_its_sections_apart() -> None:
    page = parse_page("a", f"# A\n\n{TAILS}").with_body([parse_blocks("no line end")])
    assert parse_page("a", page.text).children == parse_page("a", f"# A\n\n{TAILS}").children
    assert isinstance(page, Page)
