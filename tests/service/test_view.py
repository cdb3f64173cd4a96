"""The page at the service: for keys that may read pages, by sign-in, and never more than the key may see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.service.running import Running, running


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path) as started:
        memory = started.parts.memories.of("default")
        memory.write("Leeks are planted in March.", path="garden")
        memory.entries.capture("A private observation about leeks.", agent="hawk")
        memory.entries.pick_up()
        yield started


def signed_in(service: Running, *scopes: str, tenant: str = "default") -> httpx.Client:
    """A browser that has signed in with a key of these scopes."""
    client = httpx.Client(base_url=service.address, trust_env=False, timeout=20)
    service.clients.append(client)
    key = service.key(tenant=tenant, scopes=list(scopes))
    answer = client.post("/view/sign-in", data={"key": key}, headers={"Origin": service.address})
    assert (answer.status_code, answer.headers["location"]) == (303, "/view/"), answer.text
    assert "HttpOnly; SameSite=Strict" in answer.headers["set-cookie"]
    return client


def test_without_a_sign_in_there_is_only_the_form(service: Running) -> None:
    for address in ("/view", "/view/", "/view/page/garden", "/view/live", "/view/raw/garden"):
        answer = httpx.get(service.address + address, trust_env=False)
        assert answer.status_code == 401 and "Your key" in answer.text and "eeks" not in answer.text
        assert answer.headers["x-frame-options"] == "DENY"
    assert httpx.get(service.address + "/view/static/view.css", trust_env=False).status_code == 200


def test_a_key_needs_the_scope_and_the_form_must_be_our_own(service: Running) -> None:
    own = {"Origin": service.address}
    for key, headers in (
        ("dm_000000000000_wrong", own),
        (service.key(scopes=["memory:read"]), own),
        (service.key(scopes=["pages:read"]), {"Origin": "http://evil.example"}),
        (service.key(scopes=["pages:read"]), {}),
    ):
        answer = httpx.post(service.address + "/view/sign-in", data={"key": key}, headers=headers, trust_env=False)
        assert answer.status_code == 401 and "set-cookie" not in answer.headers


def test_a_change_names_the_source_of_the_request(service: Running) -> None:
    hawk = service.client("hawk", scopes=["pages:write"])
    assert hawk.post("/pages", json={"text": "Leeks need sand.", "path": "garden"}).status_code == 201
    assert "by hawk" in signed_in(service, "pages:read").get("/view/history").text


def test_a_key_that_reads_pages_sees_pages_and_nothing_else(service: Running) -> None:
    client = signed_in(service, "pages:read")
    assert "Leeks are planted" in client.get("/view/page/garden").text
    seen = [client.get(f"/view/{at}").text for at in ("", "history", "search?q=leeks", "graph", "lines/garden")]
    assert not any("private observation" in text or "obs-" in text or "/edit/" in text for text in seen)
    assert not any(str(service.parts.memories.of("default").storage.where) in text for text in seen)
    for address in ("entries", "traces", "entry/hawk/obs-2026-01-01-001"):
        answer = client.get(f"/view/{address}")
        assert answer.status_code == 409 and "scope admin" in answer.text
    secret = re.findall(r'name="secret" value="(\w+)"', client.get("/view/").text)[0]
    head = service.parts.memories.of("default").history("garden")[0].id
    refused = client.post("/view/undo", data={"secret": secret, "revision": head}, headers={"Origin": service.address})
    assert refused.status_code == 403 and "pages:write" in refused.text


def test_an_admin_sees_entries_too(service: Running) -> None:
    client = signed_in(service, "admin")
    assert "private observation" in client.get("/view/entries").text
    assert "private observation" in client.get("/view/search?q=leeks").text


def test_a_change_on_the_page_is_told_to_those_who_listen(service: Running) -> None:
    client = signed_in(service, "pages:read", "pages:write")
    form = client.get("/view/edit/garden").text
    fields = dict(re.findall(r'name="(secret|version)" value="(\w+)"', form))
    text = service.parts.memories.of("default").read("garden").replace("March", "April")
    answer = client.post("/view/edit/garden", data=fields | {"text": text}, headers={"Origin": service.address})
    assert (answer.status_code, answer.headers["location"]) == (303, "/view/page/garden")
    assert "planted in April" in client.get("/view/page/garden").text
    with service.parts.store.transaction("default", writes=False):
        events = service.parts.store.events_after(0)
    assert "page/garden" in {event.subject for event in events}


def test_changes_are_seen_as_they_happen_but_not_those_of_entries(service: Running) -> None:
    client = signed_in(service, "pages:read")
    memory = service.parts.memories.of("default")
    with client.stream("GET", "/view/live") as events:
        lines = events.iter_lines()
        while next(lines) != ": listening":
            pass
        memory.entries.capture("Another private observation.", agent="hawk")
        memory.entries.pick_up()
        memory.write("Kale too.", path="garden")
        line = next(line for line in lines if line.startswith("data:"))
    assert '"garden"' in line and "obs-" not in line


def test_a_session_ends_with_its_key_and_by_signing_out(service: Running) -> None:
    client = signed_in(service, "pages:read")
    secret = re.findall(r'name="secret" value="(\w+)"', client.get("/view/").text)[0]
    assert client.post("/view/leave", data={"secret": secret}, headers={"Origin": "null"}).status_code == 403
    assert client.post("/view/leave", data={"secret": secret}, headers={"Origin": service.address}).status_code == 303
    assert client.get("/view/").status_code == 401
    client = signed_in(service, "pages:read")
    service.clock.moved += 43_300
    assert client.get("/view/").status_code == 401


def test_tenants_see_their_own_memory(service: Running) -> None:
    client = signed_in(service, "pages:read", tenant="acme")
    assert "eeks" not in client.get("/view/").text
    assert client.get("/view/page/garden").status_code == 404
