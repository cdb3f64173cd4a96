"""Likely secrets are told, and never shown."""

from __future__ import annotations

import pytest

from memory_v2.text.secrets import find_secrets, masked

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
