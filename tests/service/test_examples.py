"""The examples of the specification by curl: its documents to the letter, with one value where it lists several, and
without the ids and moments that the service gives."""

from __future__ import annotations

import json
import shutil
import subprocess
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from demo.service import story
from tests.service.running import BASE, Running
from tests.service.test_contexts import EXAMPLE

pytestmark = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
SESSION = "CHAT-2025-07-30-002"
ENTRY = """{
  "source": {
    "type": "chat",
    "id": "source_identifier",
    "session": "session_id"
  },
  "level": "%s",
  "data": {
    "content": {},
    "meta_tags": ["TAG1", "TAG2"],
    "references": ["ref_id1", "ref_id2"]
  },
  "ttl": 3600,
  "visibility": "%s"
}"""
HANDOFF = """{
  "from": {
    "type": "chat",
    "id": "session_id",
    "platform": "claude"
  },
  "to": {
    "type": "%s",
    "id": "target_id"
  },
  "context": {},
  "instructions": "Continue with implementation...",
  "priority": "%s",
  "expiry": "2099-07-30T05:40:00Z"
}"""
FOCUS = {"primary": "New focus area"}
Curl = Callable[..., tuple[int, Any]]


@pytest.fixture
def curl(shared: Running) -> Curl:
    """Asks with the three headers of the specification; answers with status and document."""
    key = shared.key("source_identifier", f"tenant-{uuid.uuid4()}")
    headers = [f"Authorization: Bearer {key}", f"X-Memory-Session: {SESSION}", "X-Memory-Source: source_identifier"]

    def ask(method: str, path: str, body: str | None = None, *more: str) -> tuple[int, Any]:
        command = ["curl", "--silent", "--noproxy", "*", "--write-out", "\n%{http_code}", "-X", method]
        given = [*headers, *more, *(["Content-Type: application/json"] if body and not more else [])]
        command += [word for header in given for word in ("-H", header)]
        done = subprocess.run(
            [*command, *(["-d", body] if body else []), f"{shared.address}{BASE}{path}"],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
        document, _, status = done.stdout.rpartition("\n")
        return int(status), json.loads(document or "null")

    return ask


def test_context_operations(curl: Curl) -> None:
    assert curl("POST", "/context", json.dumps(EXAMPLE))[0] == 201
    status, read = curl("GET", f"/context/{SESSION}")
    assert (status, {name: read[name] for name in EXAMPLE}) == (200, EXAMPLE)
    assert curl("PUT", f"/context/{SESSION}", json.dumps(EXAMPLE))[0] == 428
    kind = "Content-Type: application/json"
    assert curl("PUT", f"/context/{SESSION}", json.dumps(EXAMPLE), kind, "If-Match: *")[0] == 200
    patch = json.dumps([{"op": "replace", "path": "/context/immediate/current_focus", "value": FOCUS}])
    status, changed = curl("PATCH", f"/context/{SESSION}", patch, "Content-Type: application/json-patch+json")
    assert (status, changed["context"]["immediate"]["current_focus"]) == (200, FOCUS)
    assert curl("DELETE", f"/context/{SESSION}") == (204, None)


def test_the_error_response(curl: Curl) -> None:
    status, body = curl("GET", f"/context/{SESSION}")
    assert status == 404
    assert body["error"] == {
        "code": "CONTEXT_NOT_FOUND",
        "message": "Context for session not found",
        "details": {"session_id": SESSION, "suggestion": "Initialize context first"},
    }
    assert str(uuid.UUID(body["request_id"])) == body["request_id"]


@pytest.mark.parametrize("level", ["immediate", "working", "longterm"])
@pytest.mark.parametrize("visibility", ["private", "shared", "public"])
def test_memory_entries_and_queries(curl: Curl, level: str, visibility: str) -> None:
    example = json.loads(ENTRY % (level, visibility))
    status, made = curl("POST", "/entries", ENTRY % (level, visibility))
    assert status == 201
    assert {name: made[name] for name in example} == example | ({"ttl": None} if level == "longterm" else {})
    since = "2025-07-30T05:40:00Z"
    status, found = curl("GET", f"/query?tags=TAG1,TAG2&level={level}&since={since}")
    assert (status, [entry["id"] for entry in found["entries"]]) == (200, [made["id"]])
    assert curl("POST", "/search", '{"query": "TAG1"}')[0] == 200


@pytest.mark.parametrize("target", ["agent", "chat", "function"])
@pytest.mark.parametrize("priority", ["immediate", "normal", "background"])
def test_handoff_operations(curl: Curl, target: str, priority: str) -> None:
    example = json.loads(HANDOFF % (target, priority))
    status, made = curl("POST", "/handoff", HANDOFF % (target, priority))
    assert status == 201 and str(uuid.UUID(made["handoff_id"])) == made["handoff_id"]
    status, read = curl("GET", f"/handoff/{made['handoff_id']}")
    assert (status, {name: read[name] for name in example} | {"expiry": example["expiry"]}) == (200, example)
    assert read["expiry"].startswith("2099-07-30T05:40:00")


def test_agent_and_subscription_operations(curl: Curl) -> None:
    state = {"state": {"focus": FOCUS}}
    assert curl("POST", "/agent/source_identifier/update", json.dumps(state))[0] == 200
    assert curl("GET", "/agent/source_identifier/state")[1]["state"] == state["state"]
    assert [one["state"] for one in curl("GET", "/agent/source_identifier/history")[1]["history"]] == [state["state"]]
    status, made = curl("POST", "/subscribe", '{"events": ["memory.updated"]}')
    assert status == 201
    listed = curl("GET", "/subscriptions")[1]["subscriptions"]
    assert [one["subscription_id"] for one in listed] == [made["subscription_id"]]
    assert curl("DELETE", f"/subscribe/{made['subscription_id']}") == (204, None)


def test_two_agents_share_hand_over_and_go_on_in_twenty_lines(
    shared: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    """`make demo-service`."""
    story(shared.address, shared.key(tenant=f"tenant-{uuid.uuid4()}"))
    lines = capsys.readouterr().out.splitlines()
    assert 10 < len(lines) <= 20
    assert lines[-2:] == [
        "coder:   completes the handoff: requested → claimed → completed.",
        "planner: reads on: test with a fake clock.",
    ]
