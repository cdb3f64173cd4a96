"""What a provider is sent and how a model of a provider is read."""

from __future__ import annotations

from typing import Any

import pytest

from memory_v2.errors import ModelError
from memory_v2.models.base import hidden, keys_sent, long_enough
from memory_v2.models.chat import read_chat
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


def completion(content: object) -> dict[str, Any]:
    return {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": content}}]}


@pytest.mark.parametrize(
    "content", ["Two beds.", [{"type": "thinking", "thinking": []}, {"type": "text", "text": "Two beds."}]]
)
def test_an_answer_in_parts_has_the_words_of_its_parts(content: object) -> None:
    assert read_chat(completion(content), (), lambda usage: None).text == "Two beds."


@pytest.mark.parametrize("content", [7, {"text": "x"}, ["x"], [{"type": "text"}], [{"type": "text", "text": 7}]])
def test_content_of_another_shape_is_unreadable(content: object) -> None:
    with pytest.raises(ModelError, match="unreadable"):
        read_chat(completion(content), (), lambda usage: None)
