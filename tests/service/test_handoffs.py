from __future__ import annotations

import threading
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from memory_v2.service import tables
from tests.service.conftest import Mark
from tests.service.running import Running
from tests.service.test_contexts import code

PACKAGE = {
    "from": {"type": "chat", "id": "CHAT-1", "platform": "claude"},
    "to": {"type": "agent", "id": "owl"},
    "context": {"a": 1},
    "instructions": "Continue with implementation...",
    "priority": "immediate",
}


@pytest.fixture
def hawk(shared: Running) -> httpx.Client:
    return shared.client("hawk")


@pytest.fixture
def owl(shared: Running) -> httpx.Client:
    return shared.client("owl")


def request(client: httpx.Client, **extra: Any) -> str:
    answer = client.post("/handoff", json=PACKAGE | extra)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["handoff_id"])


def test_a_handoff_is_claimed_and_completed_with_its_history(hawk: httpx.Client, owl: httpx.Client) -> None:
    handoff = request(hawk)
    read = owl.get(f"/handoff/{handoff}").json()
    assert {name: read[name] for name in PACKAGE} == PACKAGE and read["state"] == "requested"
    assert handoff in [each["handoff_id"] for each in owl.get("/handoff?state=requested&limit=500").json()["handoffs"]]
    claimed = owl.post(f"/handoff/{handoff}/claim", json={"lease_seconds": 60}).json()
    assert (claimed["state"], claimed["claimed_by"]) == ("claimed", "owl") and claimed["claim_id"]
    assert hawk.get(f"/handoff/{handoff}").json()["claim_id"] is None
    step = {"claim_id": claimed["claim_id"], "result": {"done": True}}
    assert code(hawk.post(f"/handoff/{handoff}/complete", json=step)) == "HANDOFF_STATE"
    done = owl.post(f"/handoff/{handoff}/complete", json=step).json()
    assert done["result"] == {"done": True}
    assert [(s["state"], s["by"]) for s in done["history"]] == [
        ("requested", "hawk"),
        ("claimed", "owl"),
        ("completed", "owl"),
    ]
    assert code(hawk.post(f"/handoff/{handoff}/cancel", json={})) == "HANDOFF_STATE"


@pytest.mark.parametrize(
    "wrong",
    [
        {"to": {"type": "api", "id": "x"}},
        {"from": {"type": "chat"}},
        {"priority": "now"},
        {"expiry": "2020-01-01T00:00:00Z"},
        {"expiry": "2020-01-01T00:00:00"},
        {"expiry": "9999-12-31T23:59:59-12:00"},
    ],
)
def test_an_invalid_handoff_is_told_by_its_code(hawk: httpx.Client, wrong: dict[str, Any]) -> None:
    answer = hawk.post("/handoff", json=PACKAGE | wrong)
    assert (answer.status_code, code(answer)) == (422, "INVALID_HANDOFF")


@pytest.mark.parametrize("kind", ["chat", "agent", "function", "api"])
def test_each_kind_of_source_hands_over(hawk: httpx.Client, owl: httpx.Client, kind: str) -> None:
    given = {"type": kind, "id": "CHAT-1", "platform": "claude"}
    assert owl.get(f"/handoff/{request(hawk, **{'from': given})}").json()["from"] == given


def test_of_fifty_claimers_one_wins(shared: Running, hawk: httpx.Client, mark: Mark) -> None:
    handoff = request(hawk, to={"type": "agent", "id": "*"})
    clients = [shared.client(f"worker{number}") for number in range(50)]
    answers: list[httpx.Response] = []
    threads = [
        threading.Thread(target=lambda c=client: answers.append(c.post(f"/handoff/{handoff}/claim")))
        for client in clients
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 49
    assert {code(answer) for answer in answers if answer.status_code == 409} == {"HANDOFF_ALREADY_CLAIMED"}
    mark(8, f"1 of {len(answers)} claimers")


def test_a_dead_claimer_loses_its_claim(shared: Running, hawk: httpx.Client, owl: httpx.Client) -> None:
    handoff = request(hawk)
    first = owl.post(f"/handoff/{handoff}/claim", json={"lease_seconds": 60}).json()
    try:
        shared.clock.moved = 50
        renewed = owl.post(
            f"/handoff/{handoff}/renew", params={"claim_id": first["claim_id"]}, json={"lease_seconds": 60}
        )
        assert renewed.status_code == 200
        shared.clock.moved = 100
        assert owl.post(f"/handoff/{handoff}/claim").status_code == 409
        shared.clock.moved = 120
        assert hawk.get(f"/handoff/{handoff}").json()["state"] == "requested"
        second = owl.post(f"/handoff/{handoff}/claim").json()
        late = owl.post(f"/handoff/{handoff}/complete", json={"claim_id": first["claim_id"]})
        assert code(late) == "HANDOFF_STATE"
        done = owl.post(f"/handoff/{handoff}/complete", json={"claim_id": second["claim_id"]}).json()
        states = [each["state"] for each in done["history"]]
        assert states == ["requested", "claimed", "requested", "claimed", "completed"]
        assert done["history"][2]["reason"] == "the lease ended"
    finally:
        shared.clock.moved = 0.0


def test_an_expired_handoff_is_never_claimed(shared: Running, hawk: httpx.Client, owl: httpx.Client) -> None:
    handoff = request(hawk, expiry=(datetime.now(UTC) + timedelta(seconds=60)).isoformat())
    try:
        shared.clock.moved = 61
        assert owl.get(f"/handoff/{handoff}").json()["state"] == "expired"
        answer = owl.post(f"/handoff/{handoff}/claim")
        assert (answer.status_code, code(answer)) == (410, "HANDOFF_EXPIRED")
    finally:
        shared.clock.moved = 0.0


def test_a_handoff_is_rejected_by_its_target_and_cancelled_by_its_source(hawk: httpx.Client, owl: httpx.Client) -> None:
    rejected, cancelled = request(hawk), request(hawk)
    assert owl.post(f"/handoff/{rejected}/reject", json={"reason": "busy"}).json()["state"] == "rejected"
    assert code(owl.post(f"/handoff/{cancelled}/cancel")) == "PERMISSION_DENIED"
    assert hawk.post(f"/handoff/{cancelled}/cancel").json()["state"] == "cancelled"
    assert code(owl.post(f"/handoff/{cancelled}/claim")) == "HANDOFF_STATE"


def test_others_do_not_see_it(shared: Running, hawk: httpx.Client) -> None:
    handoff = request(hawk)
    crow = shared.client("crow")
    for answer in (crow.get(f"/handoff/{handoff}"), crow.post(f"/handoff/{handoff}/claim")):
        assert (answer.status_code, code(answer)) == (404, "HANDOFF_NOT_FOUND")


def test_who_takes_over_may_go_on_with_the_context(shared: Running, hawk: httpx.Client, owl: httpx.Client) -> None:
    session = f"CHAT-{uuid.uuid4()}"
    hawk.post("/context", json={"session_id": session, "authorized_agents": ["robin"]})
    assert owl.get(f"/context/{session}").status_code == 404
    handoff = request(hawk, **{"from": {"type": "chat", "id": session}})
    owl.post(f"/handoff/{handoff}/claim")
    tag = owl.get(f"/context/{session}").headers["etag"]
    package = owl.get(f"/context/{session}").json()
    assert owl.put(f"/context/{session}", json=package, headers={"If-Match": tag}).status_code == 200
    assert shared.client("crow").get(f"/context/{session}").status_code == 404


def test_a_handoff_gives_nobody_a_context_that_its_source_may_not_use(shared: Running, hawk: httpx.Client) -> None:
    session, crow = f"CHAT-{uuid.uuid4()}", shared.client("crow")
    hawk.post("/context", json={"session_id": session, "authorized_agents": ["robin"]})
    for target in ("crow", "*"):
        handoff = request(crow, **{"from": {"type": "chat", "id": session}, "to": {"type": "agent", "id": target}})
        assert crow.post(f"/handoff/{handoff}/claim").status_code == 200
        assert crow.get(f"/context/{session}").status_code == 404
    handoff = request(shared.client("robin"), **{"from": {"type": "chat", "id": session}})
    assert shared.client("owl").post(f"/handoff/{handoff}/claim").status_code == 200
    assert shared.client("owl").get(f"/context/{session}").status_code == 200


def test_handoffs_are_listed_by_their_state_now_however_many_there_were(shared: Running) -> None:
    tenant = f"tenant-{uuid.uuid4()}"
    hawk, owl = shared.client("hawk", tenant), shared.client("owl", tenant)
    soon = (datetime.now(UTC) + timedelta(seconds=60)).isoformat()
    old, leased, ends = (request(hawk, **extra) for extra in ({}, {}, {"expiry": soon}))
    owl.post(f"/handoff/{old}/reject", json={})
    owl.post(f"/handoff/{leased}/claim", json={"lease_seconds": 30})
    with shared.parts.store.transaction(tenant) as transaction:
        row = transaction.get(tables.handoffs, old)
        assert row is not None
        for number in range(1_000):
            transaction.insert(tables.handoffs, f"old-{number}", row | {"id": f"old-{number}"})
    new = request(hawk)

    def listed(state: str) -> list[str]:
        found = owl.get("/handoff", params={"state": state, "limit": 5}).json()["handoffs"]
        assert {each["state"] for each in found} <= {state}
        return [each["handoff_id"] for each in found]

    assert (listed("requested"), listed("claimed"), listed("expired")) == ([ends, new], [leased], [])
    try:
        shared.clock.moved = 61
        assert (listed("requested"), listed("claimed"), listed("expired")) == ([leased, new], [], [ends])
    finally:
        shared.clock.moved = 0.0


def parts(client: httpx.Client, path: str, name: str) -> list[list[Any]]:
    """A list, two at a time."""
    found: list[list[Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        answer = client.get(path, params={"limit": 2, "cursor": cursor}).json()
        found.append(answer[name])
        cursor = answer["next_cursor"]
    return found


def test_handoffs_are_listed_in_parts(shared: Running) -> None:
    client = shared.client("hawk", f"tenant-{uuid.uuid4()}")
    asked = [request(client) for _ in range(5)]
    listed = parts(client, "/handoff", "handoffs")
    assert [[one["handoff_id"] for one in part] for part in listed] == [asked[:2], asked[2:4], asked[4:]]
    assert code(client.get("/handoff", params={"cursor": "x"})) == "VALIDATION_FAILED"


def test_subscriptions_are_listed_in_parts(shared: Running) -> None:
    client = shared.client("hawk", f"tenant-{uuid.uuid4()}")
    made = [client.post("/subscribe", json={}).json()["subscription_id"] for _ in range(3)]
    listed = parts(client, "/subscriptions", "subscriptions")
    assert [[one["subscription_id"] for one in part] for part in listed] == [made[:2], made[2:]]


def test_an_agents_state_and_its_past(shared: Running) -> None:
    name = f"agent-{uuid.uuid4()}"
    client, owl = shared.client(name), shared.client("owl")
    assert code(owl.get(f"/agent/{name}/state")) == code(owl.get(f"/agent/{name}/history")) == "AGENT_NOT_FOUND"
    missing = client.post(f"/agent/{name}/update", json={"state": {}}, headers={"If-Match": "*"})
    assert (missing.status_code, code(missing)) == (412, "VERSION_CONFLICT")
    client.post(f"/agent/{name}/update", json={"state": {"status": "busy", "task": 1}})
    done = client.post(f"/agent/{name}/update", json={"state": {"status": None, "task": 2}})
    assert done.json()["state"] == {"task": 2}
    assert owl.get(f"/agent/{name}/state").json() == done.json()
    stale = client.post(f"/agent/{name}/update", json={"state": {}}, headers={"If-Match": '"old"'})
    assert code(stale) == "VERSION_CONFLICT"
    client.post(f"/agent/{name}/update", json={"state": {"new": 1}, "mode": "replace"})
    history = owl.get(f"/agent/{name}/history").json()["history"]
    assert [each["state"] for each in history] == [{"new": 1}, {"task": 2}, {"status": "busy", "task": 1}]
    assert parts(owl, f"/agent/{name}/history", "history") == [history[:2], history[2:]]
    assert code(owl.post(f"/agent/{name}/update", json={"state": {}})) == "PERMISSION_DENIED"
    try:
        shared.clock.moved = 86_401
        assert client.get(f"/agent/{name}/state").status_code == 404
        assert client.get(f"/agent/{name}/history").status_code == 200
    finally:
        shared.clock.moved = 0.0
