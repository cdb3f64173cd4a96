"""What is forgotten is found however it is written, and likely secrets are known and masked."""

from __future__ import annotations

import json

import pytest

from memory_v2.text.redaction import LineRedaction, TextRedaction, redacted_json
from memory_v2.text.secrets import find_secrets, masked

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


LETTERS = "Ab3dEf6hIj9lMn2pQr5tUv8xYz1Bc4Ef7Hi0Kl3No6Qr9Tu2"
SECRETS = {
    "Anthropic API key": f"sk-ant-{LETTERS}",
    "OpenAI API key": f"sk-proj-{LETTERS}",
    "AWS access key": "AKIA" + "Q3RT7YUI9OPA2SDF",
    "GitHub token": f"ghp_{LETTERS[:36]}",
    "GitLab token": f"glpat-{LETTERS[:20]}",
    "Google API key": f"AIza{LETTERS[:35]}",
    "Slack token": "xoxb" + "-1234567890-abcdefghij",
    "Stripe key": f"sk_live_{LETTERS[:24]}",
    "Telegram bot token": f"123456789:AA{LETTERS[:33]}",
    "Hugging Face token": f"hf_{LETTERS[:34]}",
    "JSON web token": f"eyJ{LETTERS[:20]}.eyJ{LETTERS[:20]}.{LETTERS[:20]}",
}


@pytest.mark.parametrize(("kind", "value"), SECRETS.items(), ids=SECRETS)
def test_a_key_is_known_by_its_form(kind: str, value: str) -> None:
    (found,) = find_secrets(f"# Keys\n\nThe key is {value}, keep it.\n")
    assert (found.kind, found.line, found.shown) == (kind, 3, f"{value[:4]}…")


@pytest.mark.parametrize(
    "line",
    [
        "password: hunter2!",
        "- **Password:** hunter2!",
        'DB_PASSWORD="hunter2!"',
        "export GITLAB_TOKEN=hunter2!",
        "The password is hunter2!",
        "api_key = 'hunter2!'",
        "Passwort: hunter2!",
        "postgres://ada:hunter2!@db.internal:5432/app",
    ],
)
def test_a_password_is_known_by_its_name(line: str) -> None:
    (found,) = find_secrets(f"one\r\n\r\n{line}\r\n")
    assert found.line == 3
    assert "unter" not in masked(line)


@pytest.mark.parametrize(
    "line",
    [
        "password: see the safe",
        "The password is in the safe.",
        "api_key: YOUR_API_KEY",
        "api_key = os.environ['KEY1']",
        "token: ${GITHUB_TOKEN}",
        "password: <password1>",
        "password: ********",
        "Tokens: 1,200 in, 88 out",
        "max_tokens: 200000",
        "The token budget is 12000 tokens.",
        "secret: null",
        "https://example.org/a:b@c",
        "ask-me-about-the-long-garden-path-behind-the-house",
    ],
)
def test_words_about_a_secret_are_none(line: str) -> None:
    assert find_secrets(line) == []


def test_a_private_key_is_masked_to_its_end() -> None:
    kind = "PRIVATE KEY"
    text = f"a\n-----BEGIN RSA {kind}-----\n{LETTERS}\n{LETTERS}\n-----END RSA {kind}-----\nb\n"
    (found,) = find_secrets(text)
    assert (found.kind, found.line) == ("private key", 2)
    assert LETTERS[:8] not in masked(text)
    assert masked(text).startswith("a\n")
    assert masked(text).endswith("b\n")


def test_nothing_of_a_short_secret_is_told_beyond_a_quarter() -> None:
    assert masked("password: a1b2c3") == "password: a…"
