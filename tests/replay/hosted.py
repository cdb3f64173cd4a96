"""A coding agent that decides itself where texts go and how a page is divided: it is connected over MCP to a server
that runs as a host starts it, with `--decide host`, and there is no other model and no key."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import Implementation, TextContent

from memory_v2.memory import Memory
from memory_v2.models.base import ToolCall
from memory_v2.settings import MIN_THRESHOLD
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.tree.block import decode, parse_blocks
from memory_v2.tree.page import Page
from tests.properties.whole import faults, missing, pages_of
from tests.replay.agents import AGENT, Desk
from tests.replay.scenario import Scenario, data

NAME = "an-agent"
PATIENCE = "3600"
"""Seconds that a text waits for the agent: a live reader behind an endpoint may take its time."""

SESSIONS = [(datetime.fromisoformat(one["at"]), one["said"]) for one in data("hosted")]
"""What a user says, session by session, and when."""


@dataclass(frozen=True)
class Decided:
    """What came of it: the pages, what the agent wrote, and each change, oldest first: its kind and who decided, which
    is nobody if the agent named page and mode."""

    pages: dict[str, Page]
    written: Sequence[str]
    changes: Sequence[tuple[str, str]]


def act(desk: Desk) -> Decided:
    with tempfile.TemporaryDirectory() as folder:
        for now, said in SESSIONS:
            with served(folder, now) as host:
                system = AGENT.format(day=f"{now:%A, %Y-%m-%d}", more=host.instructions)
                desk.session(system, host.tools, said, host.carry_out)
        with Memory(LocalStorage(Path(folder)), dense=False) as memory:
            changes = [
                (one.kind, one.decided_by) for past in reversed(memory.history()) for one in reversed(past.revisions)
            ]
            pages = pages_of(memory.storage)
    written = [call.arguments["content"] for calls in desk.calls for call in calls if call.name == "write_memory"]
    return Decided(pages, written, changes)


class Host:
    """What a host does: it shows an agent what the server tells, and carries its calls to the server."""

    def __init__(self, client: Client, portal: Any) -> None:
        self._client = client
        self._portal = portal
        self.instructions = client.instructions or ""

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """The server's tools, as Anthropic's API takes them."""
        listed = self._portal.call(self._client.list_tools).tools
        return [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema} for tool in listed
        ]

    def carry_out(self, call: ToolCall) -> tuple[str, bool]:
        """Has the server run a call."""
        result = self._portal.call(self._client.call_tool, call.name, dict(call.arguments))
        (content,) = result.content
        assert isinstance(content, TextContent)
        return content.text, bool(result.is_error)


@contextmanager
def served(folder: str, now: datetime) -> Iterator[Host]:
    """A host, with a server that it has started."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tests.replay.counted", "memory", "--path", folder, "mcp", "--decide", "host", "--wait", PATIENCE],
        env={
            "PATH": os.environ["PATH"],
            "SILICA_MEMORY_DENSE": "off",  # whatever is installed here
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "HOME": folder,
            "XDG_CONFIG_HOME": folder,
            "SILICA_MEMORY_NOW": now.isoformat(),
            "SILICA_MEMORY_SIZE_THRESHOLD": str(MIN_THRESHOLD),
        },
    )
    client = Client(stdio_client(parameters), client_info=Implementation(name=NAME, version="1"))
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client) as connected:
        yield Host(connected, portal)


def judge(desk: Desk, decided: Decided) -> None:
    assert faults(decided.pages, MIN_THRESHOLD) == []
    texts = [decode(page.data) for page in decided.pages.values()]
    assert missing((block.words for text in decided.written for block in parse_blocks(text)), texts) == []
    said = (one_line(block.content) for text in SESSIONS[0][1] for block in parse_blocks(text))
    lines = list(map(one_line, texts))
    assert missing((one for one in said if one.startswith("- ")), lines) == [], "as it is, the user said"
    assert {who for _, who in decided.changes} <= {f"host:{NAME}", ""}
    assert {who for kind, who in decided.changes if kind == "split"} == {f"host:{NAME}"}
    assert len(decided.pages) >= 3
    vents, polling = desk.answers[-2:]
    assert "28" in vents and "Priya" in vents and "960417" in vents
    assert "30" in polling and "10" in polling


def one_line(text: str) -> str:
    """A text without its line breaks: where a sentence is wrapped says nothing."""
    return " ".join(text.split())


SCENARIO = Scenario(
    "host-decides", "an agent that decides where texts go, over MCP", act, judge, ("agent-anthropic",), Desk
)
