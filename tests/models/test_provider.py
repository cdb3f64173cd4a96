"""What a provider sends is read without our keys, which some repeat: it is kept in traces."""

from __future__ import annotations

import pytest

from memory_v2.models.provider import read_json


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_keys_are_cut_out_of_what_was_sent(encoding: str) -> None:
    body = '{"text": "your key is sk-secret, and grüße", "arguments": {"page": "sk-secret"}}'.encode(encoding)
    assert read_json(body, "sk-secret", None) == {"text": "your key is …, and grüße", "arguments": {"page": "…"}}


def test_what_is_no_text_is_not_read() -> None:
    with pytest.raises(ValueError, match="codec"):
        read_json(b'{"text": "\xff"}')
