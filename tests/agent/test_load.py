"""A model by its name: what names none is told with those there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_v2.agent.load import load_model
from memory_v2.errors import InvalidSetting


@pytest.mark.parametrize("name", ["anthropic", "anthropic:", "openai: ", "litellm:", "claude", "", ":x", "OpenAI:x"])
def test_a_name_that_is_none_is_answered_with_those_there_are(name: str) -> None:
    with pytest.raises(InvalidSetting, match=r"use one of: offline, anthropic:<model>, openai:<model>"):
        load_model(name)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "are not JSON"),
        (b"{", "are not JSON"),
        (b"\xff", "are not JSON"),
        (b"[]", "are malformed"),
        (b'{"models": {"x": {"input": 1}}}', "models.x.output"),
        (b'{"models": {"x": {"input": -1, "output": 1}}}', "models.x.input"),
        (b'{"models": {"x": {"input": 1, "output": NaN}}}', "models.x.output"),
        (b'{"models": {"x": {"input": 1, "output": 1, "per_call": 1}}}', "models.x.per_call"),
    ],
    ids=repr,
)
def test_prices_that_mean_nothing_are_told(content: bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_bytes(content)
    with pytest.raises(InvalidSetting, match=said.replace(".", r"\.")):
        load_model("openai:gpt-x", file)
    with pytest.raises(InvalidSetting, match=r"cannot read the prices in .*none\.json: No such file"):
        load_model("openai:gpt-x", tmp_path / "none.json")
