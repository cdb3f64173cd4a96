"""What a provider sends is read to the letter; keys are left out of what is kept of it, because some repeat them."""

from __future__ import annotations

import pytest

from memory_v2.models.base import hidden, keys_sent, long_enough
from memory_v2.models.provider import read_json


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_what_was_sent_is_read_to_the_letter(encoding: str) -> None:
    body = '{"text": "your key is sk-secret, and grüße"}'.encode(encoding)
    assert read_json(body) == {"text": "your key is sk-secret, and grüße"}


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        read_json(b'{"text": "\xff"}')


def test_keys_are_hidden_wherever_they_stand_in_a_record() -> None:
    told = {"text": "sk-secret-more, sk-secret", "calls": [{"sk-secret": 1}, ("sk-secret", None)]}
    keys = long_enough(["sk-secret", "sk-secret-more", None, ""])
    assert hidden(told, keys) == {"text": "…, …", "calls": [{"…": 1}, ["…", None]]}


@pytest.mark.parametrize("key", ["ollama", "x", "none", "key", "1234567"])
def test_a_placeholder_of_a_local_server_is_no_key(key: str) -> None:
    assert keys_sent({"authorization": f"Bearer {key}", "x-api-key": key}) == long_enough([key]) == ()
