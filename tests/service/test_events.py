from __future__ import annotations

import json
import re
import threading
import time
import uuid
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import event
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.sync.connection import Connection

from memory_v2.service.feed import POLL_SECONDS, _envelope
from tests.service.conftest import Mark
from tests.service.own_servers import until
from tests.service.running import BASE, Running, running
from tests.service.test_contexts import JSON_PATCH


@pytest.fixture
def tenant() -> str:
    return f"tenant-{uuid.uuid4()}"


def socket(service: Running, client: httpx.Client, query: str = "cursor=") -> ClientConnection:
    """A socket with the client's key; with another query it begins where that says."""
    address = f"{service.address.replace('http', 'ws')}{BASE}/ws?{query}"
    headers = {"Authorization": client.headers["Authorization"]}
    return connect(address, additional_headers=headers, proxy=None, close_timeout=0.1)


def told(listening: Connection) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(listening.recv(timeout=10))
    return message


def test_each_kind_of_change_is_told_in_both_forms(shared: Running, tenant: str) -> None:
    hawk = shared.client("hawk", tenant)
    with socket(shared, hawk) as listening:
        assert told(listening)["event"] == "subscribed"
        hawk.post("/context", json={"session_id": "S"})
        entry = hawk.post("/entries", json={"data": {"content": {"a": 1}}}).json()
        handoff = hawk.post("/handoff", json={"from": {"id": "S"}, "to": {"type": "agent", "id": "owl"}}).json()
        hawk.post("/agent/hawk/update", json={"state": {"busy": True}})
        hawk.post("/entries", json={"data": {"content": {"text": "Leeks."}}, "level": "longterm"})
        events = [told(listening) for _ in range(5)]
    assert [each["event"] for each in events] == [
        "memory.updated",
        "memory.updated",
        "handoff.requested",
        "agent.state_changed",
        "memory.updated",
    ]
    for each in events:
        assert {"specversion", "id", "source", "type", "subject", "time", "data", "cursor", "sequence"} <= set(each)
        assert (each["specversion"], each["type"]) == ("1.0", each["event"])
    assert [each["sequence"] for each in events] == sorted(each["sequence"] for each in events)
    assert events[0]["level"] == "immediate"
    data = {"entry_id": entry["id"], "source": entry["source"], "changes": entry["data"]}
    assert (events[1]["level"], events[1]["data"]) == ("working", data)
    assert events[2]["data"] == {
        "handoff_id": handoff["handoff_id"],
        "from": handoff["from"],
        "to": handoff["to"],
        "priority": "normal",
    }
    assert events[3]["data"] == {"agent_id": "hawk", "old_state": {}, "new_state": {"busy": True}}
    assert events[4]["level"] == "longterm"


def test_after_a_hundred_disconnects_each_change_was_told_once_and_in_order(
    shared: Running, tenant: str, mark: Mark
) -> None:
    hawk = shared.client("hawk", tenant)
    hawk.post("/context", json={"session_id": "S"})
    cursor = hawk.post("/subscribe", json={}).json()["cursor"]

    def write() -> None:
        with shared.client("hawk", tenant) as client:
            for number in range(200):
                step = [{"op": "add", "path": "/context/working/key_decisions/-", "value": number}]
                assert client.patch("/context/S", json=step, headers=JSON_PATCH).status_code == 200

    writer = threading.Thread(target=write)
    writer.start()
    seen: list[int] = []
    connections = 0
    while len(seen) < 200:
        connections += 1
        with socket(shared, hawk, f"cursor={cursor}") as listening:
            assert told(listening)["event"] == "subscribed"
            for _ in range(2):
                if len(seen) < 200:
                    event = told(listening)
                    cursor = event["cursor"]
                    seen.append(event["data"]["changes"]["working"]["key_decisions"][-1])
    writer.join()
    assert connections >= 100
    assert seen == list(range(200))
    mark(6, f"over {connections} connections {len(seen)} of 200 changes told once and in order")


def test_commits_are_followed_only_while_somebody_listens_and_nobody_misses_one(tmp_path: Path) -> None:
    asked: list[str] = []

    def note(*arguments: Any) -> None:
        asked.extend(re.findall("FROM outbox", arguments[2]))

    with running(tmp_path) as service:
        hawk, feed = service.client("hawk"), service.parts.feed

        def write(number: int) -> None:
            hawk.post("/entries", json={"data": {"content": {"n": number}}})

        cursor = hawk.post("/subscribe", json={}).json()["cursor"]
        event.listen(service.parts.store.engine, "before_cursor_execute", note)
        for number in range(3):
            write(number)
        time.sleep(2 * POLL_SECONDS)
        assert asked == []
        with hawk.stream("GET", "/events", headers={"Last-Event-ID": cursor}) as answer:
            lines = islice(answer.iter_lines(), 16)
            heard = [json.loads(line[5:]) for line in lines if line.startswith("data:")]
        assert [each["data"]["changes"]["content"]["n"] for each in heard[1:]] == [0, 1, 2]
        until(lambda: not feed._listeners)
        write(3)
        with socket(service, hawk, f"cursor={heard[-1]['cursor']}") as listening:
            write(4)
            told(listening)
            assert [told(listening)["data"]["changes"]["content"]["n"] for _ in range(2)] == [3, 4]
            write(5)
            assert told(listening)["data"]["changes"]["content"]["n"] == 5


def test_an_event_is_written_once_for_all_who_listen(shared: Running, tenant: str) -> None:
    hawk = shared.client("hawk", tenant)
    with socket(shared, hawk) as one, socket(shared, hawk) as two, socket(shared, hawk) as three:
        for listening in (one, two, three):
            assert told(listening)["event"] == "subscribed"
        before = _envelope.cache_info()
        hawk.post("/entries", json={"data": {"content": {"n": 1}}})
        assert len({three.recv(timeout=10), two.recv(timeout=10), one.recv(timeout=10)}) == 1
        after = _envelope.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (1, 2)


def test_nobody_is_told_what_he_may_not_read(shared: Running, tenant: str) -> None:
    hawk, owl = shared.client("hawk", tenant), shared.client("owl", tenant)
    with socket(shared, owl) as listening, socket(shared, shared.client("hawk", f"{tenant}-2")) as elsewhere:
        told(listening), told(elsewhere)
        hawk.post("/entries", json={"data": {"content": {"n": 1}}, "visibility": "private"})
        hawk.post("/entries", json={"data": {"content": {"n": 2}}, "authorized_agents": ["crow"]})
        hawk.post("/entries", json={"data": {"content": {"n": 3}}})
        assert told(listening)["data"]["changes"]["content"] == {"n": 3}
        with pytest.raises(TimeoutError):
            elsewhere.recv(timeout=0)


def test_a_subscription_tells_what_it_is_for(shared: Running, tenant: str) -> None:
    hawk = shared.client("hawk", tenant)
    wish = {"events": ["memory.updated"], "levels": ["immediate"], "sessions": ["S-1"]}
    made = hawk.post("/subscribe", json=wish).json()
    assert [s["subscription_id"] for s in hawk.get("/subscriptions").json()["subscriptions"]] == [
        made["subscription_id"]
    ]
    with socket(shared, hawk, f"subscription={made['subscription_id']}") as listening:
        told(listening)
        hawk.post("/agent/hawk/update", json={"state": {}})
        for level, session in (("working", "S-1"), ("immediate", "S-2"), ("immediate", "S-1")):
            hawk.post("/entries", json={"data": {}, "level": level, "source": {"session": session}})
        assert (told(listening)["data"]["source"]["session"]) == "S-1"
        with pytest.raises(TimeoutError):
            listening.recv(timeout=0)
    assert hawk.delete(f"/subscribe/{made['subscription_id']}").status_code == 204
    with socket(shared, hawk, f"subscription={made['subscription_id']}") as listening:
        assert told(listening)["error"]["code"] == "SUBSCRIPTION_NOT_FOUND"


def test_a_first_message_subscribes_too(shared: Running, tenant: str) -> None:
    hawk = shared.client("hawk", tenant)
    with socket(shared, hawk, "") as listening:
        listening.send(json.dumps({"action": "subscribe", "events": ["agent.state_changed"]}))
        told(listening)
        hawk.post("/entries", json={"data": {}})
        hawk.post("/agent/hawk/update", json={"state": {}})
        assert told(listening)["event"] == "agent.state_changed"
    for wrong in ("nonsense", b"bytes", '{"subscription_id": "\\u0000"}'):
        with socket(shared, hawk, "") as listening:
            listening.send(wrong)
            assert told(listening)["error"]["code"] == "VALIDATION_FAILED"


@pytest.mark.parametrize("query", ["ticket=%00.a", "ticket=a.%00", "subscription=%00", "cursor=%00"])
def test_no_address_of_a_socket_holds_a_null_character(shared: Running, tenant: str, query: str) -> None:
    with socket(shared, shared.client("hawk", tenant), query) as listening:
        assert told(listening)["error"]["code"] == "VALIDATION_FAILED"


@pytest.mark.parametrize("cursor", ["00000000-1", "nonsense", "FUTURE"])
def test_a_cursor_of_another_history_has_to_load_the_state_again(shared: Running, tenant: str, cursor: str) -> None:
    hawk = shared.client("hawk", tenant)
    cursor = cursor.replace("FUTURE", f"{shared.parts.store.epoch}-999999999")
    with socket(shared, hawk, f"cursor={cursor}") as listening:
        assert told(listening)["event"] == "resync_required"
        assert told(listening)["event"] == "subscribed"
        hawk.post("/entries", json={"data": {}})
        assert told(listening)["event"] == "memory.updated"


def test_a_cursor_before_what_is_kept_has_to_load_the_state_again(shared: Running, tenant: str) -> None:
    hawk = shared.client("hawk", tenant)
    cursor = hawk.post("/subscribe", json={}).json()["cursor"]
    hawk.post("/entries", json={"data": {}})
    try:
        shared.clock.moved = 1000
        shared.parts.store.sweep(keep_events=500)
    finally:
        shared.clock.moved = 0.0
    with socket(shared, hawk, f"cursor={cursor}") as listening:
        assert told(listening)["event"] == "resync_required"


@pytest.mark.parametrize("suffix", ["", ".example.org"])
def test_a_ticket_opens_one_socket(shared: Running, tenant: str, suffix: str) -> None:
    hawk = shared.client("hawk", tenant + suffix)
    ticket = hawk.post("/ticket").json()["ticket"]
    address = f"{shared.address.replace('http', 'ws')}{BASE}/ws?cursor=&ticket={ticket}"
    with connect(address, proxy=None) as listening:
        assert told(listening)["event"] == "subscribed"
    with connect(address, proxy=None) as listening:
        assert told(listening)["error"]["code"] == "UNAUTHENTICATED"
        with pytest.raises(ConnectionClosed) as closed:
            listening.recv(timeout=5)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 4401


def test_a_revoked_key_closes_its_sockets_within_two_seconds(shared: Running, tenant: str, mark: Mark) -> None:
    hawk, admin = shared.client("hawk", tenant), shared.client("root", tenant, scopes=["admin"])
    with socket(shared, hawk) as listening:
        told(listening)
        admin.delete(f"/keys/{hawk.headers['Authorization'].split('_')[1]}")
        began = time.monotonic()
        message = json.loads(listening.recv(timeout=2))
        assert message["error"]["code"] == "UNAUTHENTICATED"
    mark(5, f"the socket of a revoked key ended in {time.monotonic() - began:.1f} s")


def test_server_sent_events_go_on_after_the_last_id(shared: Running, tenant: str) -> None:
    hawk = shared.client("hawk", tenant)
    cursor = hawk.post("/subscribe", json={}).json()["cursor"]
    for number in range(3):
        hawk.post("/entries", json={"data": {"content": {"n": number}}})

    def read(count: int, **headers: str) -> list[dict[str, str]]:
        events: list[dict[str, str]] = []
        with hawk.stream("GET", "/events", headers=headers) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines: dict[str, str] = {}
            for line in answer.iter_lines():
                if not line:
                    events.append(lines)
                    lines = {}
                    if len(events) == count:
                        return events
                else:
                    name, _, value = line.partition(": ")
                    lines[name] = value
        return events

    first = read(2, **{"Last-Event-ID": cursor})
    assert [each["event"] for each in first] == ["subscribed", "memory.updated"]
    rest = read(3, **{"Last-Event-ID": first[-1]["id"]})[1:]
    assert [json.loads(each["data"])["data"]["changes"]["content"]["n"] for each in rest] == [1, 2]


def test_a_socket_that_does_not_read_delays_nobody(shared: Running, tenant: str, mark: Mark) -> None:
    hawk = shared.client("hawk", tenant)
    big = {"data": {"content": {"text": "x" * 200_000}}}
    with socket(shared, hawk) as stalled, socket(shared, hawk) as listening:
        told(stalled), told(listening)
        for _ in range(40):
            hawk.post("/entries", json=big)
            assert told(listening)["event"] == "memory.updated"
        mark(6, "40 changes of 200 kB told beside a socket that read none of them")
        for _ in range(40):
            assert told(stalled)["event"] == "memory.updated"


def test_another_tenants_subscription_is_that_of_nobody(shared: Running, tenant: str) -> None:
    """By socket, whether it is named in the address or in the first message, and by SSE."""
    mine, other = shared.client("hawk", tenant), shared.client("hawk", f"{tenant}-2", scopes=["admin"])
    theirs = mine.post("/subscribe", json={}).json()["subscription_id"]
    nobodys = str(uuid.uuid4())

    def refusals(subscription: str) -> list[str]:
        with socket(shared, other, f"subscription={subscription}") as listening:
            told_at_once = told(listening), closed_with(listening)
        with socket(shared, other, "") as listening:
            listening.send(json.dumps({"action": "subscribe", "subscription_id": subscription}))
            told_later = told(listening), closed_with(listening)
        by_sse = other.get("/events", params={"subscription": subscription})
        answers = [*told_at_once, *told_later, by_sse.status_code, by_sse.json()]
        for answer in answers:
            if isinstance(answer, dict):
                answer.pop("request_id")
        return [str(answer).replace(subscription, "ID") for answer in answers]

    answers = refusals(theirs)
    assert answers == refusals(nobodys) and [answers[1], answers[3], answers[4]] == ["4404", "4404", "404"]


def closed_with(listening: Connection) -> int:
    with pytest.raises(ConnectionClosed) as closed:
        listening.recv(timeout=5)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


def test_another_tenants_cursor_tells_nothing_of_its_changes(shared: Running, tenant: str) -> None:
    mine, other = shared.client("hawk", tenant), shared.client("hawk", f"{tenant}-2", scopes=["admin"])
    cursor = mine.post("/subscribe", json={}).json()["cursor"]
    mine.post("/entries", json={"data": {"content": {"secret": 1}}, "visibility": "public"})
    seen = other.post("/entries", json={"data": {}}).json()["id"]
    with socket(shared, other, f"cursor={cursor}") as listening:
        assert told(listening)["event"] == "subscribed"
        assert told(listening)["data"]["entry_id"] == seen
