"""Peers of the service, each as it is asked for one value of each session, with its authentication off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

TEXT = "The login page: tokens expire too early. The planner and the coder work on a.py and b.py with a fake clock."
VALUE: Mapping[str, Any] = {"step": 3, "text": TEXT, "agents": ["planner", "coder"], "decisions": ["fake clock"]}


@dataclass(frozen=True, slots=True)
class Asked:
    """Where the value of each session is read and written, and what is written; `{n}` in it is the session's number."""

    paths: tuple[str, ...]
    body: Mapping[str, Any]
    write_paths: tuple[str, ...] = ()
    """Where it is written, if that is another place."""


def langgraph(address: str, sessions: int) -> Asked:
    """LangGraph's server, as its command line starts it: an item of its store, which is in memory."""
    reads = tuple(f"/store/items?namespace=bench&key=S{number}" for number in range(sessions))
    body = {"namespace": ["bench"], "key": "S{n}", "value": VALUE}
    return Asked(reads, body, ("/store/items",) * sessions)


def mcp_memory_service(address: str, sessions: int) -> Asked:
    """mcp-memory-service: what is told of a memory in its table in SQLite; its vector stays, and is not made again."""
    paths = []
    for number in range(sessions):
        answer = httpx.post(f"{address}/api/memories", json={"content": f"{TEXT} {number}"}, trust_env=False)
        paths.append(f"/api/memories/{answer.raise_for_status().json()['content_hash']}")
    return Asked(tuple(paths), {"metadata": VALUE})


PEERS: Mapping[str, Callable[[str, int], Asked]] = {"langgraph": langgraph, "mcp-memory-service": mcp_memory_service}
