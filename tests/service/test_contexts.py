from __future__ import annotations

import threading
import uuid
from typing import Any

import httpx
import pytest
from sqlalchemy import Table

from memory_v2.service.store import Transaction
from tests.service.conftest import Mark
from tests.service.running import Running

EXAMPLE = {
    "session_id": "CHAT-2025-07-30-002",
    "context": {
        "immediate": {"current_focus": {}, "working_set": {}, "active_agents": []},
        "working": {"project_state": {}, "discovered_patterns": [], "key_decisions": []},
        "references": {"files": [], "previous_sessions": [], "related_agents": []},
    },
    "metadata": {"platform": "claude", "window_usage": "moderate", "last_checkpoint": "timestamp"},
}
"""The package of the specification, to the letter."""
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture
def session() -> str:
    return f"CHAT-{uuid.uuid4()}"


@pytest.fixture
def hawk(shared: Running) -> httpx.Client:
    return shared.client("hawk")


def code(answer: httpx.Response) -> str:
    """The error's code, after a look at the whole form of it."""
    body = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["status"] == answer.status_code
    assert set(body["error"]) == {"code", "message", "details"}
    assert str(uuid.UUID(body["request_id"])) == answer.headers["x-request-id"]
    return str(body["error"]["code"])


def test_the_package_of_the_specification_is_stored_as_it_is(shared: Running) -> None:
    with shared.client("hawk", tenant=str(uuid.uuid4())) as client:
        made = client.post("/context", json=EXAMPLE)
        read = client.get("/context/CHAT-2025-07-30-002")
    assert made.status_code == 201 and made.headers["location"] == "/api/v1/memory/context/CHAT-2025-07-30-002"
    assert read.json() == EXAMPLE | {"visibility": "shared", "authorized_agents": []}
    assert read.headers["etag"] == made.headers["etag"]


def test_what_a_package_has_besides_is_kept(hawk: httpx.Client, session: str) -> None:
    context = {"immediate": {"current_focus": {"π": ["ü", 1.5, None]}, "mood": "good"}, "working": {"more": 1}}
    hawk.post("/context", json={"session_id": session, "context": context, "metadata": {"model": "x"}})
    read = hawk.get(f"/context/{session}").json()
    assert read["context"]["immediate"]["current_focus"] == {"π": ["ü", 1.5, None]}
    assert (read["context"]["immediate"]["mood"], read["context"]["working"]["more"]) == ("good", 1)
    assert read["metadata"]["model"] == "x"


def test_the_session_may_be_named_by_the_header(hawk: httpx.Client, session: str) -> None:
    assert hawk.post("/context", json={}, headers={"X-Memory-Session": session}).json()["session_id"] == session
    assert code(hawk.post("/context", json={})) == "VALIDATION_FAILED"


def test_a_missing_context_is_told_as_in_the_specification(hawk: httpx.Client, session: str) -> None:
    for answer in (
        hawk.get(f"/context/{session}"),
        hawk.put(f"/context/{session}", json={}),
        hawk.patch(f"/context/{session}", json={}, headers=MERGE_PATCH),
        hawk.delete(f"/context/{session}"),
    ):
        assert (answer.status_code, code(answer)) == (404, "CONTEXT_NOT_FOUND")
        details = {"session_id": session, "suggestion": "Initialize context first"}
        assert answer.json()["error"]["details"] == details


def test_a_context_is_replaced_only_by_who_has_seen_it(hawk: httpx.Client, session: str) -> None:
    first = hawk.post("/context", json={"session_id": session}).headers["etag"]
    assert code(hawk.post("/context", json={"session_id": session})) == "CONTEXT_EXISTS"
    change = {"context": {"working": {"project_state": {"step": 2}}}}
    assert (hawk.put(f"/context/{session}", json=change).status_code) == 428
    done = hawk.put(f"/context/{session}", json=change, headers={"If-Match": first})
    assert done.status_code == 200 and done.headers["etag"] != first
    stale = hawk.put(f"/context/{session}", json=change, headers={"If-Match": first})
    assert (stale.status_code, code(stale)) == (412, "VERSION_CONFLICT")
    assert stale.headers["etag"] == done.headers["etag"]
    assert hawk.put(f"/context/{session}", json={}, headers={"If-Match": "*"}).status_code == 200
    assert hawk.delete(f"/context/{session}", headers={"If-Match": done.headers["etag"]}).status_code == 412
    assert hawk.delete(f"/context/{session}").status_code == 204
    assert hawk.get(f"/context/{session}").status_code == 404


def test_a_condition_of_a_write_counts_wherever_there_is_a_version(shared: Running, session: str) -> None:
    client = shared.client("hawk", f"tenant-{session}", scopes=["admin"])
    asked = {"from": {"id": session}, "to": {"type": "agent", "id": "hawk"}}
    handoff = f"/handoff/{client.post('/handoff', json=asked).json()['handoff_id']}"
    entry = f"/entries/{client.post('/entries', json={'data': {}}).json()['id']}"
    client.post("/context", json={"session_id": session})
    client.post("/agent/hawk/update", json={"state": {}})
    assert client.put("/pages/garden", json={"text": "# Garden\n"}, headers={"If-None-Match": "*"}).status_code == 201
    for method, path, read, body in (
        ("PUT", f"/context/{session}", f"/context/{session}", {}),
        ("PATCH", f"/context/{session}", f"/context/{session}", {"metadata": {"a": 1}}),
        ("DELETE", f"/context/{session}", f"/context/{session}", None),
        ("PATCH", entry, entry, {"level": "immediate"}),
        ("DELETE", entry, entry, None),
        ("PUT", "/pages/garden", "/pages/garden", {"text": "# Weeds\n"}),
        ("POST", "/agent/hawk/update", "/agent/hawk/state", {"state": {"a": 1}}),
        ("POST", f"{handoff}/claim", handoff, {}),
        ("POST", f"{handoff}/cancel", handoff, {}),
    ):
        seen = client.get(read)
        tag = seen.headers["etag"]
        for conditions in (
            [("If-None-Match", "*")],
            [("If-Match", "*"), ("If-None-Match", f'"other", W/{tag}')],
            [("If-Match", f"W/{tag}")],
            [("If-Match", '"one"'), ("If-Match", '"other"')],
        ):
            answer = client.request(method, path, json=body, headers=conditions)
            assert (answer.status_code, code(answer)) == (412, "VERSION_CONFLICT"), (method, path, conditions)
            assert client.get(read).json() == seen.json()
    both = [("If-Match", '"one"'), ("If-Match", tag), ("If-None-Match", '"other"')]
    assert client.post(f"{handoff}/cancel", json={}, headers=both).status_code == 200


def test_who_has_the_present_version_is_told_so(hawk: httpx.Client, session: str) -> None:
    tag = hawk.post("/context", json={"session_id": session}).headers["etag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}'):
        assert hawk.get(f"/context/{session}", headers={"If-None-Match": known}).status_code == 304
    assert hawk.get(f"/context/{session}", headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_context_that_was_read_is_answered_without_its_tables(
    shared: Running, hawk: httpx.Client, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    get = Transaction.get

    def note(transaction: Transaction, table: Table, *about: Any, **more: Any) -> Any:
        asked.append(table.name)
        return get(transaction, table, *about, **more)

    hawk.post("/context", json={"session_id": session})
    before = hawk.get(f"/context/{session}")
    monkeypatch.setattr(Transaction, "get", note)
    again = hawk.get(f"/context/{session}")
    assert (again.content, asked) == (before.content, [])
    hawk.patch(f"/context/{session}", json={"metadata": {"platform": "other"}}, headers=MERGE_PATCH)
    assert asked == ["contexts"]
    assert hawk.get(f"/context/{session}").json()["metadata"]["platform"] == "other"


def test_patches_of_both_kinds(hawk: httpx.Client, session: str) -> None:
    hawk.post("/context", json={"session_id": session, "context": {"working": {"project_state": {"a": 1, "b": 2}}}})
    merge = {"context": {"working": {"project_state": {"a": None, "c": 3}}}}
    done = hawk.patch(f"/context/{session}", json=merge, headers=MERGE_PATCH).json()
    assert done["context"]["working"]["project_state"] == {"b": 2, "c": 3}
    path = "/context/working/project_state"
    steps = [{"op": "test", "path": f"{path}/b", "value": 2}, {"op": "replace", "path": f"{path}/b", "value": 5}]
    done = hawk.patch(f"/context/{session}", json=steps, headers=JSON_PATCH).json()
    assert done["context"]["working"]["project_state"] == {"b": 5, "c": 3}
    again = hawk.patch(f"/context/{session}", json=steps, headers=JSON_PATCH)
    assert (again.status_code, code(again)) == (409, "PATCH_CONFLICT")


@pytest.mark.parametrize(
    ("patch", "kind", "expected"),
    [
        ([{"op": "remove", "path": "/nothing"}], JSON_PATCH, 409),
        ([{"op": "jump", "path": "/context"}], JSON_PATCH, 422),
        ([{"op": "add", "path": "/x", "value": 1}], JSON_PATCH, 422),
        ([{"op": "replace", "path": "/session_id", "value": "other"}], JSON_PATCH, 422),
        ([{"op": "test", "path": "/context", "value": {}}] * 101, JSON_PATCH, 422),
        ("text", MERGE_PATCH, 422),
        ({}, {"Content-Type": "application/strange+json"}, 415),
    ],
)
def test_a_patch_that_does_not_fit_changes_nothing(
    hawk: httpx.Client, session: str, patch: object, kind: dict[str, str], expected: int
) -> None:
    tag = hawk.post("/context", json={"session_id": session}).headers["etag"]
    assert hawk.patch(f"/context/{session}", json=patch, headers=kind).status_code == expected
    assert hawk.get(f"/context/{session}").headers["etag"] == tag


@pytest.mark.parametrize(
    ("patch", "kind"),
    [([], MERGE_PATCH), (["text"], JSON_PATCH), ([{"op": "jump", "path": "/context"}], JSON_PATCH), ({}, JSON_PATCH)],
)
def test_what_is_no_patch_is_told_as_that_whatever_the_version(
    hawk: httpx.Client, session: str, patch: object, kind: dict[str, str]
) -> None:
    hawk.post("/context", json={"session_id": session})
    entry = hawk.post("/entries", json={"data": {}}).json()["id"]
    for place in (f"/context/{session}", f"/entries/{entry}"):
        refused = hawk.patch(place, json=patch, headers=kind | {"If-Match": '"another"'})
        assert (refused.status_code, code(refused)) == (422, "VALIDATION_FAILED")


def test_two_hundred_concurrent_changes_are_all_kept(shared: Running, session: str, mark: Mark) -> None:
    shared.client("hawk").post("/context", json={"session_id": session})

    def append(name: str) -> None:
        with shared.client(name) as client:
            for number in range(25):
                step = [{"op": "add", "path": "/context/working/key_decisions/-", "value": f"{name}{number}"}]
                assert client.patch(f"/context/{session}", json=step, headers=JSON_PATCH).status_code == 200

    threads = [threading.Thread(target=append, args=(f"agent{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = shared.client("hawk").get(f"/context/{session}").json()["context"]["working"]["key_decisions"]
    assert len(kept) == len(set(kept)) == 200
    mark(2, f"{len(kept)} of 200 changes by 8 agents kept")


def test_the_focus_ends_after_a_day_and_the_rest_after_a_week(
    shared: Running, hawk: httpx.Client, session: str
) -> None:
    context = {"immediate": {"current_focus": {"on": 1}}, "working": {"project_state": {"step": 1}}}
    tag = hawk.post("/context", json={"session_id": session, "context": context}).headers["etag"]
    client = shared.client("hawk")
    try:
        shared.clock.moved += 86_401
        read = client.get(f"/context/{session}")
        assert read.json()["context"]["immediate"] == {"current_focus": {}, "working_set": {}, "active_agents": []}
        assert read.json()["context"]["working"]["project_state"] == {"step": 1}
        assert read.headers["etag"] != tag
        shared.clock.moved += 6 * 86_400
        assert client.get(f"/context/{session}").status_code == 404
        assert client.post("/context", json={"session_id": session}).status_code == 201
    finally:
        shared.clock.moved = 0.0


def test_a_request_is_carried_out_once(shared: Running, session: str, mark: Mark) -> None:
    body = {"from": {"id": session}, "to": {"type": "agent", "id": "owl"}}
    before = shared.parts.store.event_bounds()[1]
    answers: list[httpx.Response] = []
    client = shared.client("hawk")

    def ask() -> None:
        headers = {"Authorization": client.headers["Authorization"], "Idempotency-Key": f'"{session}"'}
        with httpx.Client(base_url=client.base_url, headers=headers, trust_env=False, timeout=20) as own:
            while (answer := own.post("/handoff", json=body)).status_code == 409:
                assert code(answer) == "IDEMPOTENCY_KEY_IN_PROGRESS"
        answers.append(answer)

    threads = [threading.Thread(target=ask) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert sum("idempotent-replayed" not in answer.headers for answer in answers) == 1
    assert len(shared.parts.store.events_after(before)) == 1
    other = client.post("/handoff", json=body | {"instructions": "x"}, headers={"Idempotency-Key": session})
    assert (other.status_code, code(other)) == (422, "IDEMPOTENCY_KEY_REUSED")
    mark(7, f"{len(answers)} equal requests: 1 row, 1 event, 1 answer")


def test_an_idempotency_key_is_for_one_source_and_one_query(shared: Running) -> None:
    tenant, again = f"tenant-{uuid.uuid4()}", {"Idempotency-Key": "one"}
    client = shared.client("*", tenant)
    first = client.post("/entries", json={"data": {}}, headers=again | {"X-Memory-Source": "hawk"})
    other = client.post("/entries", json={"data": {}}, headers=again | {"X-Memory-Source": "owl"})
    assert (first.status_code, code(other)) == (201, "IDEMPOTENCY_KEY_REUSED")
    asked = {"from": {"id": "S"}, "to": {"type": "agent", "id": "*"}}
    handoff = client.post("/handoff", json=asked).json()["handoff_id"]
    claim = client.post(f"/handoff/{handoff}/claim").json()["claim_id"]
    renewed, wrong = (
        client.post(f"/handoff/{handoff}/renew", params={"claim_id": name}, headers={"Idempotency-Key": "two"})
        for name in (claim, "another")
    )
    assert (renewed.status_code, code(wrong)) == (200, "IDEMPOTENCY_KEY_REUSED")
