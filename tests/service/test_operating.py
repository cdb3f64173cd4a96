from __future__ import annotations

import io
import json
import os
import signal
import threading
import time
import uuid
from pathlib import Path
from socket import create_connection

import httpx
import pytest
from click.testing import CliRunner

from memory_v2.cli.app import silica
from memory_v2.service.problem import STATUSES
from memory_v2.serving import listen
from tests.service.conftest import Mark
from tests.service.running import BASE, HOST, Running, program, running
from tests.service.test_contexts import code
from tests.service.test_events import socket, told


def test_one_command_serves_and_prints_a_key_once(tmp_path: Path) -> None:
    with program(tmp_path) as (process, address, key):
        headers = {"Authorization": f"Bearer {key}"}
        made = httpx.post(f"{address}{BASE}/context", json={"session_id": "S"}, headers=headers, trust_env=False)
        assert made.status_code == 201
        [listed] = httpx.get(f"{address}{BASE}/keys", headers=headers, trust_env=False).json()["keys"]
        assert listed["tier"] == "unlimited_tier" and "admin" in listed["scopes"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    with program(tmp_path) as (process, address, again):
        assert again == ""
        assert httpx.get(f"{address}{BASE}/context/S", headers=headers, trust_env=False).status_code == 200
        process.kill()


def test_what_was_acknowledged_is_there_after_kill_9(tmp_path: Path) -> None:
    with program(tmp_path) as (process, address, key):
        headers = {"Authorization": f"Bearer {key}"}
        acknowledged: list[str] = []

        def write() -> None:
            with httpx.Client(base_url=f"{address}{BASE}", headers=headers, trust_env=False) as client:
                try:
                    while True:
                        answer = client.post("/entries", json={"data": {"content": {"n": len(acknowledged)}}})
                        acknowledged.append(answer.json()["id"])
                except httpx.TransportError:
                    pass

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        while len(acknowledged) < 100:
            threads[0].join(0.01)
        process.kill()
        for thread in threads:
            thread.join()
    with program(tmp_path) as (process, address, _):
        stored: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            params = {"limit": "500", "cursor": cursor}
            answer = httpx.get(f"{address}{BASE}/query", params=params, headers=headers, trust_env=False).json()
            stored += [each["id"] for each in answer["entries"]]
            cursor = answer["next_cursor"]
    assert set(acknowledged) <= set(stored) and len(stored) == len(set(stored))


@pytest.mark.parametrize("on", ["embedded", "servers"])
def test_sigterm_lets_requests_end_and_closes_streams(
    tmp_path: Path, on: str, request: pytest.FixtureRequest, mark: Mark
) -> None:
    names = {"DATABASE_URL": "new_database", "REDIS_URL": "redis_address"} if on == "servers" else {}
    environment = {name: request.getfixturevalue(each).replace("+psycopg", "") for name, each in names.items()}
    body = b'{"session_id": "S"}'
    with program(tmp_path, environment) as (process, address, key):
        headers = {"Authorization": f"Bearer {key}"}
        port = int(address.rpartition(":")[2])
        with (
            httpx.Client(headers=headers, trust_env=False, timeout=20) as client,
            client.stream("GET", f"{address}{BASE}/events") as answer,
            create_connection((HOST, port), timeout=20) as slow,
        ):
            told = headers | {"Host": HOST, "Content-Type": "application/json", "Content-Length": str(len(body))}
            head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
            slow.sendall(f"POST {BASE}/context HTTP/1.1\r\n{head}\r\n".encode() + body[:5])
            lines = answer.iter_lines()
            next(lines)
            process.send_signal(signal.SIGTERM)
            list(lines)  # it ends, whole
            slow.sendall(body[5:])
            assert slow.recv(65_536).startswith(b"HTTP/1.1 201 ")
        assert process.wait(10) == 0
    mark(10, "SIGTERM: the stream ended whole, a request that was half sent was answered")


def test_an_outage_is_told_as_one(tmp_path: Path, mark: Mark) -> None:
    """The file of the store is away for a while, and so is the folder of the pages."""
    folder = tmp_path / "memory"
    with running(folder) as service:
        client = service.client("hawk", scopes=["memory:read", "memory:write", "pages:read"])
        client.post("/context", json={"session_id": "S"})
        store = service.parts.store
        service.parts.store.engine.dispose()
        (folder / ".service").rename(folder / "away")
        try:
            answers = [
                client.get("/context/S"),
                client.get("/query"),
                client.post("/context", json={"session_id": "T"}),
                client.get("/agent/hawk/state"),
                client.get("/handoff"),
            ]
            for answer in answers:
                assert (answer.status_code, code(answer)) == (503, "BACKEND_UNAVAILABLE")
                assert answer.headers["retry-after"] == "1"
            assert httpx.get(f"{service.address}/livez", trust_env=False).status_code == 200
            started = time.monotonic()
            ready = httpx.get(f"{service.address}/readyz", trust_env=False)
            assert ready.status_code == 503 and time.monotonic() - started < 1
        finally:
            (folder / "away").rename(folder / ".service")
        assert store.epoch
        assert client.get("/context/S").status_code == 200
        client.post("/entries", json={"data": {}})
        ready = httpx.get(f"{service.address}/readyz", trust_env=False)
        assert ready.json()["checks"]["store"] == "ok"
        mark(1, f"{len(answers)} of {len(answers)} requests answered 503")


def test_a_backup_is_restored_with_everything(tmp_path: Path) -> None:
    folder, file, new = tmp_path / "memory", tmp_path / "backup.tar.gz", tmp_path / "new"
    with running(folder) as service:
        client = service.client("hawk")
        long = {"data": {"content": {"text": "Leeks are planted in March."}}, "level": "longterm"}
        entry = client.post("/entries", json=long).json()["id"]
        old = client.post("/subscribe", json={}).json()["cursor"]
        key = client.headers["Authorization"]
        done = CliRunner().invoke(silica, ["serve", "--path", str(folder), "backup", str(file)])
        assert done.exit_code == 0, done.output
    done = CliRunner().invoke(silica, ["serve", "--path", str(new), "restore", str(file)])
    assert done.exit_code == 0, done.output
    with running(new) as service:
        headers = {"Authorization": key}
        read = httpx.get(f"{service.address}{BASE}/entries/{entry}", headers=headers, trust_env=False)
        assert read.json()["data"] == long["data"] | {"meta_tags": [], "references": []}  # type: ignore[operator]
        asked = {"query": "When are leeks planted?"}
        found = httpx.post(f"{service.address}{BASE}/search", json=asked, headers=headers, trust_env=False)
        assert "March" in found.text
        assert not old.startswith(service.parts.store.epoch)
    again = CliRunner().invoke(silica, ["serve", "--path", str(new), "restore", str(file)])
    assert again.exit_code == 2 and "not empty" in again.output
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    damaged = CliRunner().invoke(silica, ["serve", "--path", str(tmp_path / "third"), "restore", str(file)])
    assert damaged.exit_code == 4 and not (tmp_path / "third").exists()


def test_keys_are_made_from_the_shell(tmp_path: Path) -> None:
    command = ["serve", "--path", str(tmp_path), "keys", "--tenant", "acme", "--source", "hawk"]
    made = CliRunner().invoke(silica, command)
    assert "tenant acme" in made.stderr and "memory:read" in made.stderr
    token = made.stdout.strip()
    with running(tmp_path) as service:
        caller = service.parts.keys.find(token)
    assert (caller.tenant, caller.source, caller.is_admin) == ("acme", "hawk", False)
    wrong = CliRunner().invoke(silica, [*command, "--tier", "gold"])
    assert wrong.exit_code == 2 and "tier" in wrong.output
    unknown = CliRunner().invoke(silica, [*command, "--scope", "gold"])
    assert unknown.exit_code == 2 and "pages:read" in unknown.output


def test_a_start_on_a_port_that_is_taken_makes_no_key_that_nobody_sees(tmp_path: Path) -> None:
    with listen(HOST, 0) as taken:
        port = str(taken.getsockname()[1])
        refused = CliRunner().invoke(silica, ["serve", "--path", str(tmp_path), "--port", port])
    assert refused.exit_code == 2 and "choose another --port" in refused.output
    with program(tmp_path) as (_, _, key):
        assert key


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_only_its_owner_reads_what_the_service_keeps(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with program(tmp_path):
        kept = [tmp_path / ".service", *(tmp_path / ".service").iterdir()]
        assert [path.name for path in kept if path.stat().st_mode & 0o077] == []


def test_the_metrics_of_the_specification_say_what_has_happened(shared: Running) -> None:
    client, session = shared.client("hawk"), f"CHAT-{uuid.uuid4()}"

    def metrics() -> dict[str, float]:
        lines = httpx.get(f"{shared.address}/metrics", trust_env=False).text.splitlines()
        return {name: float(value) for name, _, value in (each.rpartition(" ") for each in lines if each[0] != "#")}

    before = metrics()
    with socket(shared, client) as listening:
        told(listening)
        assert client.get(f"/context/{session}").status_code == 404
        client.post("/context", json={"session_id": session})
        client.post("/entries", json={"data": {"content": {"a": 1}}})
        asked = {"from": {"id": session}, "to": {"type": "agent", "id": "hawk"}}
        handoff = client.post("/handoff", json=asked).json()["handoff_id"]
        client.post(f"/handoff/{handoff}/reject", json={})
        for _ in range(4):
            told(listening)
        after = metrics()
    for name, by in {
        'memory_operations_total{operation="context_load",outcome="refused"}': 1,
        'memory_operations_total{operation="entry_create",outcome="success"}': 1,
        "context_reconstruction_duration_seconds_count": 1,
        'handoffs_total{outcome="rejected"}': 1,
        "active_sessions": 1,
        "websocket_connections": 1,
        "event_delivery_lag_seconds_count": 4,
    }.items():
        assert after[name] - before.get(name, 0) == by, name
    assert after['storage_usage_bytes{level="working"}'] > before.get('storage_usage_bytes{level="working"}', 0)


def test_each_request_is_a_line_of_the_log(shared: Running, log: io.StringIO) -> None:
    client = shared.client("hawk")
    for session, status in (("LOGGED", "refused"), ("LOGGED", "success")):
        answer = client.get(f"/context/{session}")
        lines = [json.loads(line) for line in log.getvalue().splitlines()]
        [line] = [each for each in lines if each["request_id"] == answer.headers["x-request-id"]]
        assert (line["level"], line["service"], line["operation"]) == ("INFO", "memory-api", "context_load")
        assert (line["session_id"], line["status"]) == (session, status)
        assert line["duration_ms"] > 0 and line["timestamp"].endswith("Z")
        client.post("/context", json={"session_id": session})


def test_every_operation_documents_every_error(shared: Running, mark: Mark) -> None:
    document = httpx.get(f"{shared.address}/openapi.json", trust_env=False).json()
    assert document["openapi"].startswith("3.1")
    statuses = {str(status) for status, _ in STATUSES.values()}
    operations = [op for path in document["paths"].values() for op in path.values()]
    assert len(operations) >= 34
    assert all(statuses <= set(operation["responses"]) for operation in operations)
    assert all(operation["security"] for operation in operations)
    mark(10, f"{len(operations)} operations document {len(statuses)} statuses of errors")


@pytest.mark.parametrize(
    "operation",
    """GET /context/{session_id}
    POST /context
    PUT /context/{session_id}
    DELETE /context/{session_id}
    GET /query
    POST /search
    POST /handoff
    GET /handoff/{handoff_id}
    GET /agent/{agent_id}/state
    POST /agent/{agent_id}/update
    GET /agent/{agent_id}/history
    POST /subscribe
    DELETE /subscribe/{subscription_id}
    GET /subscriptions""".splitlines(),
)
def test_the_endpoints_of_the_specification_are_there(shared: Running, operation: str) -> None:
    method, path = operation.split()
    document = httpx.get(f"{shared.address}/openapi.json", trust_env=False).json()
    assert method.lower() in document["paths"][f"{BASE}{path}"]


def test_a_large_answer_is_compressed(shared: Running) -> None:
    client = shared.client("hawk")
    made = client.post("/entries", json={"data": {"content": {"text": "leek " * 2_000}}}).json()
    answer = client.get(f"/entries/{made['id']}")
    assert answer.headers["content-encoding"] == "gzip" and answer.json() == made
    assert int(answer.headers["content-length"]) < 1_000
