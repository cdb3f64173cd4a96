"""Chat completions are read whichever way a server writes them, or refused as unreadable."""

from __future__ import annotations

from typing import Any

import pytest

from memory_v2.errors import ModelError
from memory_v2.models.chat import read_chat


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
