"""The documents that describe the service, against what it says."""

from __future__ import annotations

import io
import json
import uuid
from typing import Any

import httpx
from jsonschema import Draft202012Validator
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memory_v2.service.asyncapi import EVENTS
from memory_v2.service.tracing import Tracing, tracing_from
from tests.service.running import BASE, Running
from tests.service.test_events import socket, told

SPAN_ID = "00f067aa0ba902b7"
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"


def fits(document: dict[str, Any], name: str, message: Any) -> None:
    """The message is as the AsyncAPI document has it."""
    payload = document["components"]["messages"][name]["payload"]
    Draft202012Validator({**payload, "components": document["components"]}).validate(message)


def test_each_message_of_the_socket_is_as_its_document_says(shared: Running) -> None:
    tenant = f"tenant-{uuid.uuid4()}"
    hawk, document = shared.client("hawk", tenant), httpx.get(f"{shared.address}/asyncapi.json", trust_env=False).json()
    seen: dict[str, Any] = {}
    with socket(shared, hawk, "cursor=") as listening:
        fits(document, "place", told(listening))
        hawk.post("/context", json={"session_id": "S"})
        hawk.post("/agent/hawk/update", json={"state": {"a": 1}})
        asked = {"from": {"id": "S"}, "to": {"type": "agent", "id": "hawk"}}
        ids = [hawk.post("/handoff", json=asked).json()["handoff_id"] for _ in range(3)]
        claim = hawk.post(f"/handoff/{ids[0]}/claim").json()["claim_id"]
        hawk.post(f"/handoff/{ids[0]}/complete", json={"claim_id": claim})
        hawk.post(f"/handoff/{ids[1]}/reject", json={})
        hawk.post(f"/handoff/{ids[2]}/cancel")
        while set(seen) != set(EVENTS):
            message = told(listening)
            seen[message["event"]] = message
            fits(document, message["event"], message)
    with socket(shared, hawk, "") as listening:
        listening.send(json.dumps({"action": "jump"}))
        fits(document, "error", told(listening))
    assert document["asyncapi"] == "3.0.0"


def test_each_read_of_a_version_says_that_it_may_be_known(shared: Running) -> None:
    document = httpx.get(f"{shared.address}/openapi.json", trust_env=False).json()
    client = shared.client("hawk", f"tenant-{uuid.uuid4()}", scopes=["admin"])
    client.post("/context", json={"session_id": "S"})
    client.post("/agent/hawk/update", json={"state": {}})
    client.put("/pages/garden", json={"text": "# Garden\n"})
    asked = {"from": {"id": "S"}, "to": {"type": "agent", "id": "hawk"}}
    ids = {
        "session_id": "S",
        "agent_id": "hawk",
        "path": "garden",
        "entry_id": client.post("/entries", json={"data": {}}).json()["id"],
        "handoff_id": client.post("/handoff", json=asked).json()["handoff_id"],
    }
    known = set()
    for route, operations in document["paths"].items():
        if "get" in operations and not route.endswith("/events"):
            answer = client.get(route.removeprefix(BASE).format(**ids), headers={"If-None-Match": "*"})
            assert str(answer.status_code) in operations["get"]["responses"], route
            told_of = "If-None-Match" in {each["name"] for each in operations["get"]["parameters"]}
            assert told_of == ("etag" in answer.headers) == (answer.status_code == 304), route
            known.add(route) if told_of else None
    assert len(known) == 5


def test_an_answer_is_as_openapi_says(shared: Running) -> None:
    document = httpx.get(f"{shared.address}/openapi.json", trust_env=False).json()
    answer = shared.client().get("/context/none")
    told_errors = document["paths"]["/api/v1/memory/context/{session_id}"]["get"]["responses"]["404"]
    schema = told_errors["content"]["application/problem+json"]["schema"]
    Draft202012Validator({**schema, "components": document["components"]}).validate(answer.json())
    assert "CONTEXT_NOT_FOUND" in told_errors["description"]


def test_a_span_says_what_was_done_and_not_what_was_stored(shared: Running, log: io.StringIO) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    client = shared.client("hawk", f"tenant-{uuid.uuid4()}")
    shared.parts.tracing = Tracing(provider)
    try:
        client.post(
            "/context",
            json={"session_id": "S", "context": {"working": {"project_state": {"secret": "marigold"}}}},
            headers={"traceparent": f"00-{TRACE_ID}-{SPAN_ID}-01"},
        )
        client.post("/search", json={"query": "marigold?"})
    finally:
        shared.parts.tracing = None
    created, searched = exporter.get_finished_spans()
    assert (created.name, searched.name) == ("context_create", "search")
    assert created.attributes is not None and created.parent is not None
    assert f"{created.parent.trace_id:032x}" == TRACE_ID
    assert created.attributes["gen_ai.operation.name"] == "create_memory"
    assert created.attributes["http.response.status_code"] == 201
    assert created.end_time and created.start_time and created.end_time >= created.start_time
    assert "marigold" not in created.to_json() + searched.to_json()


def test_nothing_is_traced_that_was_not_asked_for() -> None:
    assert tracing_from({}) is None
    asked = tracing_from({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"})
    assert asked is not None
    asked.close()
