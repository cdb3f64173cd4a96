"""Taking a text out of texts: where it is found, and where not."""

from __future__ import annotations

import json

import pytest

from memory_v2.text.redaction import LineRedaction, TextRedaction, redacted_json

KEY = "sk-live 4711/zulu"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The key is sk-live 4711/zulu.", "The key is (forgotten)."),
        ("sk-live 4711/zulusk-live 4711/zulu", "(forgotten)(forgotten)"),
        ("> The key is sk-live\n> 4711/zulu.", "> The key is (forgotten)."),
        ("- sk-live\r\n  4711/zulu\r\n", "- (forgotten)\r\n"),
        ("[[people/sk-live 4711/zulu|she]]", "[[people/(forgotten)|she]]"),
        ("The key is sk-live 47…", "The key is (forgotten)…"),
        ("SK-LIVE 4711/zulu, sk-live  4711/zulu, 4711/zulu", None),
        ("The key is sk-…", None),
    ],
)
def test_a_text_is_found_to_the_letter_also_broken_and_cut(text: str, left: str | None) -> None:
    redaction = TextRedaction(KEY)
    assert redaction.text(text) == (text if left is None else left)
    assert redaction.text(redaction.text(text)) == redaction.text(text)


def test_a_text_of_several_lines_is_found_on_one_line_and_quoted() -> None:
    redaction = TextRedaction("First line.\n\nSecond line.\n")
    for text in ("First line.\n\nSecond line.", "First line. Second line.", "> First line.\n> \n> Second line."):
        assert redaction.text(text).removeprefix("> ") == "(forgotten)"
    assert redaction.text("First line.") == "First line."


def test_a_text_is_found_without_its_markdown_and_as_json_escapes_it() -> None:
    redaction = TextRedaction('the `key` "é"\t4711')
    assert redaction.text('write: the key "é" 4711 is new') == "write: (forgotten) is new"
    for is_ascii in (True, False):
        assert redaction.text(json.dumps('the `key` "é"\t4711', ensure_ascii=is_ascii)) == '"(forgotten)"'


def test_what_is_left_does_not_hold_the_text_again() -> None:
    assert ")x" not in TextRedaction(")x").text("a)xx)xxx")
    assert not TextRedaction("gotten").is_possible


def test_a_long_run_of_blank_lines_takes_no_time() -> None:
    text = "a" + "\r\n \t" * 20_000 + "b"
    assert TextRedaction("a c").text(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Her phone is 555-1234.", "(forgotten)"),
        ("> - [ ] Her phone is 555-1234. \n- tea", "> - [ ] (forgotten) \n- tea"),
        ("[3] ## Her phone is 555-1234.\r\n", "[3] ## (forgotten)\r\n"),
        ("- [[people/ada]] - Her phone is 555-1234.", "- [[people/ada]] - (forgotten)"),
        ("- [[people/ada]] - Her phone is 555-12…", "- [[people/ada]] - (forgotten)"),
        ('- block 2 of ada was taken out, "Her phone is 555-1234.", because: old',
         '- block 2 of ada was taken out, "(forgotten)", because: old'),
        ("I know: Her phone is 555-1234.", None),
        ("Her phone is 555-1234. And more.", None),
        ("Tea…", None),
    ],
)  # fmt: skip
def test_lines_are_found_as_whole_lines(text: str, left: str | None) -> None:
    redaction = LineRedaction(["- Her phone is 555-1234.\n", "", "- \n"])
    assert redaction.text(text) == (text if left is None else left)


def test_lines_are_found_in_the_middle_of_a_summary() -> None:
    redaction = LineRedaction(["Her *phone* is 555-1234.", "tea"])
    for text, left in (
        ("She is Ada. Her phone is 555-1234. Tea", "She is Ada. (forgotten) Tea"),
        ("She is Ada. Her phone is 55…", "She is Ada. (forgotten)"),
        ("- [[people/ada]] - Ada: Her phone is 5…", "- [[people/ada]] - Ada: (forgotten)"),
        ("tea", "(forgotten)"),
        ("tea and more", "tea and more"),
    ):
        assert redaction.summary(text) == redaction.summary(left) == left


def test_json_is_searched_to_its_innermost_string() -> None:
    call = {"arguments": json.dumps({"text": f"é {KEY}", "n": [1, None]})}
    left = redacted_json({"raw": [call, KEY], KEY: 2.5}, TextRedaction(KEY))
    assert left == {
        "raw": [{"arguments": '{"text": "é (forgotten)", "n": [1, null]}'}, "(forgotten)"],
        "(forgotten)": 2.5,
    }
    assert redacted_json({"a": '{"b": 1}'}, TextRedaction(KEY)) == {"a": '{"b": 1}'}
