"""What a body may not have, the same on each store, and what a patch may not make of a document."""

from __future__ import annotations

import base64
import json
import uuid

import httpx
import pytest

from tests.service.running import Running
from tests.service.test_contexts import JSON_PATCH, MERGE_PATCH, code

JSON = {"Content-Type": "application/json"}
DEEP = "[" * 900 + "]" * 900


@pytest.fixture
def hawk(shared: Running) -> httpx.Client:
    return shared.client("hawk", f"tenant-{uuid.uuid4()}")


@pytest.mark.parametrize(
    "value", ['"a\\u0000b"', '"\\\\\\u0000"', '"\\ud800"', "NaN", "-Infinity", "9" * 5000, DEEP, '{"\\u0000": 1}', "é,"]
)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/entries", '{"data": {"content": {"a": %s}}}'),
        ("/context", '{"session_id": "S", "context": {"immediate": {"current_focus": {"a": %s}}}}'),
        ("/agent/hawk/update", '{"state": {"a": %s}}'),
        ("/handoff", '{"from": {"id": "S"}, "to": {"type": "agent", "id": "hawk"}, "context": {"a": %s}}'),
        ("/subscribe", '{"events": [%s]}'),
    ],
)
def test_what_cannot_be_stored_or_sent_again_is_refused(hawk: httpx.Client, path: str, body: str, value: str) -> None:
    answer = hawk.post(path, content=body % value, headers=JSON)
    assert (answer.status_code, code(answer)) == (422, "VALIDATION_FAILED")


@pytest.mark.parametrize("path", ["/query?tags=a%00b", "/query?session=%00", "/handoff?cursor=%00", "/entries/a%00b"])
def test_no_address_holds_a_null_character(hawk: httpx.Client, path: str) -> None:
    answer = hawk.get(path)
    assert (answer.status_code, code(answer)) in ((422, "VALIDATION_FAILED"), (404, "ENTRY_NOT_FOUND"))


@pytest.mark.parametrize("value", ['"\\\\u0000"', '"💐 \\ud83d\\udc90"', "[" * 100 + "]" * 100, "9" * 400, '"\\u0001"'])
def test_what_only_looks_like_it_is_kept(hawk: httpx.Client, value: str) -> None:
    made = hawk.post("/entries", content=f'{{"data": {{"content": {{"a": {value}}}}}}}', headers=JSON)
    assert made.status_code == 201
    assert hawk.get(f"/entries/{made.json()['id']}").json()["data"]["content"] == {"a": json.loads(value)}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/entries", {"data": {}, "ttl": True}),
        ("/keys", {"expires_in": True}),
        ("/search", {"query": "a", "limit": "5"}),
    ],
)
def test_true_and_a_text_are_no_whole_numbers(hawk: httpx.Client, path: str, body: dict[str, object]) -> None:
    answer = hawk.post(path, json=body)
    assert (answer.status_code, code(answer)) == (422, "VALIDATION_FAILED")


def test_a_number_that_is_too_large_is_null_wherever_it_is_sent(hawk: httpx.Client) -> None:
    state = hawk.post("/agent/hawk/update", content='{"state": {"a": 1e999}, "mode": "replace"}', headers=JSON)
    entry = hawk.post("/entries", content='{"data": {"content": {"a": 1e999}}}', headers=JSON)
    assert state.json()["state"] == entry.json()["data"]["content"] == {"a": None}


def test_copies_of_copies_fill_no_memory(hawk: httpx.Client) -> None:
    hawk.post("/context", json={"session_id": "S", "context": {"working": {"project_state": {"a": 1}}}})
    state = "/context/working/project_state"
    steps = [{"op": "copy", "from": state, "path": f"{state}/{number}"} for number in range(40)]
    answer = hawk.patch("/context/S", content=json.dumps(steps), headers=JSON_PATCH)
    assert (answer.status_code, code(answer)) == (413, "PAYLOAD_TOO_LARGE")


def test_patches_make_no_document_that_could_not_be_sent(hawk: httpx.Client) -> None:
    tag = hawk.post("/context", json={"session_id": "S"}).headers["etag"]
    large = {"metadata": {"a": "x" * 3_000_000}}
    answers = [hawk.patch("/context/S", json=large, headers=MERGE_PATCH)]
    answers.append(hawk.patch("/context/S", json={"metadata": {"b": "x" * 3_000_000}}, headers=MERGE_PATCH))
    assert [answer.status_code for answer in answers] == [200, 413]
    path = "/context/working/project_state"
    statuses = set()
    for _ in range(12):
        step = {"op": "add", "path": f"{path}/a", "value": json.loads('{"a":' * 20 + "{}" + "}" * 20)}
        statuses.add(hawk.patch("/context/S", content=json.dumps([step]), headers=JSON_PATCH).status_code)
        path += "/a" * 20
    assert statuses == {200, 422, 409}
    read = hawk.get("/context/S")
    assert read.headers["etag"] != tag
    assert hawk.put("/context/S", json=read.json(), headers={"If-Match": read.headers["etag"]}).status_code == 200


@pytest.mark.parametrize("place", ['[1,"\\ud800"]', '[1,"\\u0000"]'])
def test_a_cursor_that_was_made_up_is_refused(hawk: httpx.Client, place: str) -> None:
    answer = hawk.get("/query", params={"cursor": base64.urlsafe_b64encode(place.encode()).decode()})
    assert (answer.status_code, code(answer)) == (422, "VALIDATION_FAILED")
