"""A conversation over MCP leaves the tree that it leaves through the other tools, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_v2 import Memory
from memory_v2.mcp.calls import note_operation
from tests.mcp.scenes import AGES, Mode, connected
from tests.tools.test_examples import CONVERSATION, NOW, Runner
from tests.wire.server import HOST

pytestmark = [pytest.mark.anyio, pytest.mark.allow_hosts([HOST])]


@pytest.mark.parametrize("mode", AGES)
async def test_the_same_conversation_leaves_the_same_tree_over_mcp(
    mode: Mode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = Runner(monkeypatch, capsys).run("anthropic_loop", CONVERSATION, tmp_path / "loop").tree
    monkeypatch.setenv("SILICA_MEMORY_NOW", NOW)  # the run has put the environment back
    folder = tmp_path / "mcp"
    with Memory.open(folder, on_event=note_operation) as memory:
        async with connected(memory, mode=mode) as client:
            for name, arguments in CONVERSATION:
                await client.call_tool(name, arguments)
    assert {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.md")} == expected
