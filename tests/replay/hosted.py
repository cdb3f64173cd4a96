"""A coding agent that decides itself where texts go and how a page is divided: it is connected over MCP to a server
that runs as a host starts it, with `--decide host`, and there is no other model and no key."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
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
from tests.replay.scenario import Scenario

NAME = "an-agent"
PATIENCE = "3600"
"""Seconds that a text waits for the agent: a live reader behind an endpoint may take its time."""

SESSIONS: tuple[tuple[datetime, tuple[str, ...]], ...] = (
    (
        datetime(2026, 6, 1, 9, 0, tzinfo=UTC),
        (
            """\
we start on the controls of the Fernhill greenhouses today. please keep what I tell you for later sessions, as it is,
all of it on one page called fernhill; it may be divided when it gets too long. first the houses:

- Fernhill has four houses: A and B are glass from 1998, C and D are polytunnels from 2021.
- Each house has one controller, a Brix 220 with firmware 3.4.1; the one in house C was replaced on 2026-05-12, after
  water got in.
- Vents open at 24 °C and close at 19 °C; in house D they open at 28 °C, because of the peppers.
- Misting runs at 06:30 and at 14:00 for four minutes, never below 15 °C outside.
- The spare controller is in the blue cabinet in the pump room; Oona keeps the key.
- The doors have contacts since April; while a door is open, the heating of that house stays off.
- Shade screens exist in A and B only; they close at 700 W/m² and never while the vents move.
""",
            """\
next, the people there:

- Oona Byrne runs Fernhill; she decides on money, and reads mail only after 18:00.
- Tam Adeyemi is the head grower; he may change set points by himself, and wants to know of each update a day before.
- Vents that are stuck go to Priya Nair, the fitter, +44 1632 960417, from 07:00 to 16:00.
- Nobody is on site from Saturday noon to Sunday evening; a neighbour, Mr Colm, has the keys to the gate.
- Jana and Emre pick from 06:00 to 10:00; no vent is moved for a test in that time, the draught blows the labels off.
- The electrician is Voss & Daughter in the village; they answer by text message only, within a day.
- Luis Prado wrote the old scripts in 2019; he answers questions, for a coffee.
""",
            """\
and the network:

- The controllers speak Modbus TCP on port 502, house A is 10.40.1.11, then B, C and D up to .14.
- The gateway is a small computer in the pump room, `fern-gw`; its disk was changed in February 2026.
- Polling is every 30 seconds; faster than 10 seconds makes the Brix 220 restart.
- Data go to `fern-db` as `climate.<house>.<sensor>`; raw data are kept for 90 days, hourly means for five years.
- House D drops out of the network when it rains; the cable to it has a bad joint behind the water tank.
- `fern-gw` is reached by ssh from the office only, user `climate`, with a key per person; Luis's was removed in May.
- The line to the internet is LTE, 20 GB a month; backups therefore run over the night from Sunday to Monday.
""",
            """\
last bit for today, what was agreed:

- The contract is from 2026-05-20: 38 days of work until 2026-09-30, invoices at the end of each month.
- First goal: the vents of all houses by one rule set, on 2026-07-10; Tam accepts it after one week of sun.
- Second goal: misting by vapour pressure deficit instead of the clock, on 2026-08-21.
- Not in it: the boiler, the shop's till, and everything about house E, which is only planned.
- Each week a list of changes goes to Tam on Monday, one line each, and to Oona once a month with the costs.
- Whatever moves a motor is tried first on the spare controller, on the bench in the pump room, for a day.
- Updates of the controllers only on Tuesdays and Wednesdays, because of the weekend market.
""",
        ),
    ),
    (
        datetime(2026, 6, 9, 12, 0, tzinfo=UTC),
        (
            "it's 26 °C in Fernhill's house D at noon and the vents are still shut. a fault? and whom do I call if "
            "they are really stuck?",
            "how often do we poll the controllers, and is there something to look out for if I make it faster?",
        ),
    ),
)


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
        with Memory(LocalStorage(Path(folder))) as memory:
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
    said = (block.content for text in SESSIONS[0][1] for block in parse_blocks(text))
    assert missing((one for one in said if one.startswith("- ")), texts) == [], "as it is, the user said"
    assert {who for _, who in decided.changes} <= {f"host:{NAME}", ""}
    assert {who for kind, who in decided.changes if kind == "split"} == {f"host:{NAME}"}
    assert len(decided.pages) >= 3
    vents, polling = desk.answers[-2:]
    assert "28" in vents and "Priya" in vents and "960417" in vents
    assert "30" in polling and "10" in polling


SCENARIO = Scenario(
    "host-decides", "an agent that decides where texts go, over MCP", act, judge, ("agent-anthropic",), Desk
)
