"""A note is cut into items that can be found again: bullets, paragraphs, rows, each with its headings and its day."""

from __future__ import annotations

import time
from datetime import date
from pathlib import Path

import pytest

from memory_v2.files.listing import LeftOut
from memory_v2.notes.extract import extracted
from memory_v2.notes.note import Item, Note
from memory_v2.notes.parsing import MARK, read_note
from tests.notes.folder import notes_of, reopened

TABLE = "| bed | rows |\n|---|---|\n| a | 3 |\n"


def note(text: str | bytes, name: str = "notes.md") -> Note:
    read = read_note(name, text if isinstance(text, bytes) else text.encode())
    assert isinstance(read, Note)
    return read


def items(text: str, name: str = "notes.md") -> list[Item]:
    return list(note(text, name).items)


def shown(text: str) -> list[tuple[str, str, int, int]]:
    return [(item.kind, item.text, item.first_line, item.last_line) for item in items(text)]


def test_each_bullet_paragraph_and_row_is_an_item_with_its_lines() -> None:
    text = "# Leeks\n\nThey grow\nslowly.\n\n- one\n  goes on\n  - [x] nested\n2. two\n\n" + TABLE
    assert shown(text) == [
        ("paragraph", "They grow\nslowly.", 3, 4),
        ("bullet", "one\ngoes on", 6, 7),
        ("bullet", "nested", 8, 8),
        ("bullet", "two", 9, 9),
        ("row", "| a | 3 |", 13, 13),
    ]


def test_code_and_quotes_are_known_as_such() -> None:
    text = "> said Ada\n\n```\n# no heading\n- no item\n```\n\n- an item\n\n      its code\n"
    assert [(kind, first) for kind, _, first, _ in shown(text)] == [
        ("quote", 1),
        ("code", 3),
        ("bullet", 8),
        ("code", 10),
    ]


def test_an_underlined_line_is_no_heading_and_one_underlined_twice_is() -> None:
    read = note("Title\n=====\n\ntext\n---\nmore\n")
    assert [section.heading for section in read.sections] == ["Title"]
    assert [item.text for item in read.items] == ["text", "more"]


def test_lines_of_a_log_are_items_of_their_own_and_soft_wrapped_lines_are_not() -> None:
    log = "2026-02-11T03:29Z pump stopped\n2026-02-12 pump repaired\nand cleaned\n⚠️ filter is old\n**Next**: buy one\n"
    assert [item.text for item in items(log)] == [
        "2026-02-11T03:29Z pump stopped",
        "2026-02-12 pump repaired\nand cleaned",
        "⚠️ filter is old",
        "**Next**: buy one",
    ]
    assert [item.day for item in items(log)][:2] == [date(2026, 2, 11), date(2026, 2, 12)]


def test_what_introduces_a_list_or_a_table_is_told_with_its_items() -> None:
    text = "Still open:\n\n- water\n- beds:\n  - dig\n\nText.\n\n- other\n\n" + TABLE
    assert [(item.text, item.leads) for item in items(text)] == [
        ("Still open:", ()),
        ("water", ("Still open:",)),
        ("beds:", ("Still open:",)),
        ("dig", ("Still open:", "beds:")),
        ("Text.", ()),
        ("other", ()),
        ("| a | 3 |", ("| bed | rows |",)),
    ]


@pytest.mark.parametrize(
    ("name", "text", "day", "by"),
    [
        ("a/2026-02-03.md", "- dug (2026-02-01)\n", date(2026, 2, 1), "own"),
        ("a/2026-02-03.md", "## 2026-02-02\n- dug\n", date(2026, 2, 2), "section"),
        ("a/2026-02-03.md", "---\ndate: 2026-02-04\n---\n- dug\n", date(2026, 2, 4), "front matter"),
        ("a/2026-02-03-beds.md", "- dug\n", date(2026, 2, 3), "file name"),
        ("2026-02-03/beds.md", "- dug\n", date(2026, 2, 3), "file name"),
        ("beds.md", "- dug\n", None, ""),
        ("beds.md", "- pay until the deadline 2026-02-09\n", None, ""),
    ],
)
def test_the_day_is_the_lines_own_else_the_sections_else_the_front_matters_else_the_names(
    name: str, text: str, day: date | None, by: str
) -> None:
    last = items(text, name)[-1]
    assert (last.day, last.dated_by) == (day, by)


def test_what_is_nested_in_a_dated_line_has_its_day() -> None:
    assert [item.day for item in items("- 2026-02-01: dug\n  - deep\n")] == [date(2026, 2, 1)] * 2


def test_an_id_stays_when_lines_above_change_and_two_equal_lines_have_two() -> None:
    before = items("# Beds\n\n- dig\n- dig\n")
    after = items("Intro.\n\n# Beds\n\nNew text.\n\n- *dig*\n- dig\n")
    assert [item.id for item in before] == [item.id for item in after[-2:]]
    assert before[0].id != before[1].id


def test_bytes_that_are_not_utf_8_are_told_and_the_rest_is_read() -> None:
    read = note(b"- caf\xe9 is open\n- tea\n")
    assert [item.text for item in read.items] == ["caf\ufffd is open", "tea"]
    assert read.trouble


@pytest.mark.parametrize("data", [b"", b" \n", b"a\0b", f"{MARK} digest -->\n\n- dig\n".encode()])
def test_what_is_no_note_is_left_out(data: bytes) -> None:
    assert isinstance(read_note("a.md", data), LeftOut)


def test_lists_deeper_than_anybody_writes_are_read_block_by_block() -> None:
    deep = "".join(f"{'  ' * level}- level {level}\n" for level in range(200))
    read = items(f"# Deep\n\n{deep}\nafter\n")
    assert read
    assert read[-1].text == "after"


@pytest.mark.parametrize("shape", [">", "> ", "- - ", "*", "**", "|", "`", "[", "~~", "# a\n", "- a\n", "a\n\n", "9,"])
def test_the_work_grows_with_the_length_of_a_note_and_no_faster(shape: str) -> None:
    def seconds(length: int) -> float:
        text = (shape * length)[:length] + "\nend\n"
        times = []
        for _ in range(3):
            start = time.process_time()
            list(extracted(note(text)))
            times.append(time.process_time() - start)
        return min(times)

    seconds(100)
    assert seconds(8_000) < 8 * max(seconds(2_000), 0.02), "four times as long, and not sixteen"


def test_a_note_survives_being_kept(tmp_path: Path) -> None:
    text = "---\ntags: [garden]\n---\n# Beds (2026-02-03)\n\n- [ ] dig #soon\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    notes_of(tmp_path, {"notes.md": text}).refresh()
    assert list(reopened(tmp_path / "notes").all()) == [note(text)]


def test_a_title_tags_its_section_too() -> None:
    (section,) = note("## Decisions\n\n- The gateway stays local\n").sections
    assert section.tags == ("decisions",)


@pytest.mark.parametrize("line", ["Moltbook: 19 posts, ~35 karma", "karma: 35", "Karma rose to 35 (from 26)"])
def test_a_section_with_a_number_that_is_counted_is_tagged_metrics(line: str) -> None:
    assert "metrics" in note(f"## Today\n\n- {line}\n").sections[0].tags
    assert "metrics" not in note("## Today\n\n- Ada came with 2 friends\n").sections[0].tags


def test_a_section_with_money_is_tagged_financial() -> None:
    assert "financial" in note("## Today\n\n- Paid $40 for the domain\n").sections[0].tags


def test_a_section_has_a_summary_tags_and_names() -> None:
    (section,) = note("## Pump\n\n- The pump failed. [[people/ada]] asked @bob about `pump.py` #water\n").sections
    assert section.summary == "The pump failed."
    assert {"issues", "water", "person"} <= set(section.tags)
    assert {"people/ada", "@bob", "pump.py"} <= set(section.entities)
