"""The page about MCP names what there is."""

from __future__ import annotations

from pathlib import Path

from memory_v2.mcp.options import DEFAULT_HOST, DEFAULT_PORT, DEFAULT_WAIT, WAYS
from memory_v2.mcp.prompts import list_prompts
from memory_v2.tools import TOOLS

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")


def test_the_page_names_every_tool_prompt_and_way_of_deciding() -> None:
    named = [*(tool.name for tool in TOOLS), *(prompt.name for prompt in list_prompts().prompts), *WAYS]
    assert [name for name in named if f"`{name}`" not in PAGE] == []


def test_the_page_tells_the_defaults() -> None:
    assert f"http://{DEFAULT_HOST}:{DEFAULT_PORT}/mcp" in PAGE
    assert DEFAULT_WAIT == 5 * 60
    assert "within five minutes" in PAGE
