from __future__ import annotations

import subprocess
import time
import uuid
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory_v2 import Memory
from memory_v2.service import tables
from memory_v2.service.keys import key_id_of
from tests.service.conftest import Mark
from tests.service.running import Running
from tests.service.test_contexts import MERGE_PATCH, code

SPECIFIED = {"free_tier": (60, 100, 5), "standard_tier": (300, 1000, 50), "unlimited_tier": (0, 0, 0)}
"""Requests in a minute, megabytes and sessions; 0 is without limit."""


@pytest.fixture
def tenant() -> str:
    return f"tenant-{uuid.uuid4()}"


def entry(text: str = "", **extra: Any) -> dict[str, Any]:
    tags = extra.pop("tags", [])
    return {"data": {"content": {"text": text} if text else {}, "meta_tags": tags}, **extra}


def test_an_entry_has_the_members_of_the_specification(shared: Running) -> None:
    client = shared.client("hawk")
    given = {
        "source": {"type": "function", "id": "hawk", "session": "S-1"},
        "level": "immediate",
        "data": {"content": {"a": [1, {"b": None}]}, "meta_tags": ["TAG1", "TAG2"], "references": ["ref_id1"]},
        "ttl": 3600,
        "visibility": "private",
    }
    made = client.post("/entries", json=given)
    body = made.json()
    assert made.status_code == 201
    assert str(uuid.UUID(body.pop("id"))) and datetime.fromisoformat(body.pop("timestamp")) <= datetime.now(UTC)
    assert body == given | {"authorized_agents": []}
    assert client.get(made.headers["location"].removeprefix("/api/v1/memory")).json()["data"] == given["data"]


@pytest.mark.parametrize("kind", ["chat", "agent", "function", "api"])
def test_what_each_kind_of_source_writes_the_others_read_and_build_on(shared: Running, tenant: str, kind: str) -> None:
    hawk, owl = shared.client("hawk", tenant), shared.client("owl", tenant)
    made = hawk.post("/entries", json=entry("a", source={"type": kind})).json()
    assert made["source"] == {"type": kind, "id": "hawk", "session": None}
    assert owl.get(f"/entries/{made['id']}").json() == made
    answer = owl.post("/entries", json={"data": {"references": [made["id"]]}, "source": {"type": kind}})
    assert hawk.get("/query").json()["entries"] == [made, answer.json()]


@pytest.mark.parametrize(("level", "ttl"), [("immediate", None), ("working", None), ("immediate", 3600)])
def test_an_entry_ends_when_its_time_is_over(shared: Running, tenant: str, level: str, ttl: int | None) -> None:
    client = shared.client("hawk", tenant)
    entry_id = client.post("/entries", json=entry("x", level=level, ttl=ttl, tags=["T"])).json()["id"]
    seconds = ttl or {"immediate": 86_400, "working": 604_800}[level]
    try:
        shared.clock.moved = seconds - 60
        assert client.get(f"/entries/{entry_id}").status_code == 200
        shared.clock.moved = seconds + 1
        assert client.get(f"/entries/{entry_id}").status_code == 404
        assert client.get("/query", params={"tags": "T"}).json()["entries"] == []
        assert client.patch(f"/entries/{entry_id}", json={}, headers=MERGE_PATCH).status_code == 404
        assert client.delete(f"/entries/{entry_id}").status_code == 404
    finally:
        shared.clock.moved = 0.0


def test_queries_by_tags_level_and_time(shared: Running, tenant: str) -> None:
    client = shared.client("hawk", tenant)
    source = {"session": "S-1"}
    batch = [entry("a", tags=["A"]), entry("b", tags=["B"], level="immediate", source=source)]
    batch.append(entry("ab", tags=["A", "B"]))
    made = client.post("/entries/batch", json={"entries": batch})
    assert made.status_code == 201 and len(made.json()["entries"]) == 3

    def texts(**asked: str) -> list[str]:
        found = client.get("/query", params=asked).json()["entries"]
        return sorted(each["data"]["content"]["text"] for each in found)

    assert texts() == ["a", "ab", "b"]
    assert texts(tags="A") == ["a", "ab"]
    assert texts(tags="A,B") == ["a", "ab", "b"]
    assert texts(tags="A,B", match="all") == ["ab"]
    assert texts(tags="a") == []
    assert texts(level="immediate") == texts(session="S-1") == ["b"]
    assert texts(since="2025-07-30T05:40:00Z") == ["a", "ab", "b"]
    assert texts(since="2099-01-01T00:00:00Z") == []


def test_pages_of_a_query_have_each_entry_once(shared: Running, tenant: str) -> None:
    client = shared.client("hawk", tenant)
    client.post("/entries/batch", json={"entries": [entry(str(number)) for number in range(7)]})
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        answer = client.get("/query", params={"limit": 3, "cursor": cursor}).json()
        seen += [each["id"] for each in answer["entries"]]
        cursor = answer["next_cursor"]
    assert len(seen) == len(set(seen)) == 7
    assert client.get("/query", params={"cursor": "nonsense"}).status_code == 422


def test_a_batch_is_stored_as_a_whole_or_not_at_all(shared: Running, tenant: str) -> None:
    client = shared.client("hawk", tenant)
    foreign = entry("b", source={"id": "owl"})
    assert code(client.post("/entries/batch", json={"entries": [entry("a"), foreign]})) == "PERMISSION_DENIED"
    assert client.get("/query").json()["entries"] == []


def test_what_is_promoted_is_an_entry_of_the_memory_and_stays(shared: Running, tenant: str) -> None:
    client = shared.client("hawk", tenant)
    made = client.post("/entries", json=entry("The leeks are planted in March.", tags=["GARDEN"])).json()
    done = client.patch(f"/entries/{made['id']}", json={"level": "longterm"}, headers=MERGE_PATCH)
    assert done.status_code == 200 and done.json()["ttl"] is None
    [captured] = shared.parts.memories.of(tenant).entries.list_entries()
    assert (captured.text.strip(), captured.tags) == ("The leeks are planted in March.", ("GARDEN",))
    assert captured.id.startswith("hawk/")
    found = client.post("/search", json={"query": "When are leeks planted?"}).json()
    assert found["answered"] and found["results"][0]["entry"] == captured.id
    changed = client.patch(f"/entries/{made['id']}", json={"data": {"content": {}}}, headers=MERGE_PATCH)
    assert changed.status_code == 200  # a merge of nothing
    changed = client.patch(f"/entries/{made['id']}", json={"data": {"content": {"text": "x"}}}, headers=MERGE_PATCH)
    assert changed.status_code == 422
    try:
        shared.clock.moved = 30 * 86_400
        assert client.get(f"/entries/{made['id']}").status_code == 200
    finally:
        shared.clock.moved = 0.0


def test_search_hides_what_the_caller_may_not_read(shared: Running, tenant: str) -> None:
    hawk, owl = shared.client("hawk", tenant), shared.client("owl", tenant)
    secret = entry("The vault opens with marigold.", level="longterm", visibility="private")
    entry_id = hawk.post("/entries", json=secret).json()["id"]
    asked = {"query": "What does the vault open with?"}
    assert "marigold" in hawk.post("/search", json=asked).text
    assert "marigold" not in owl.post("/search", json=asked).text
    assert hawk.delete(f"/entries/{entry_id}").status_code == 204
    assert "marigold" not in owl.post("/search", json=asked).text


def test_pages_are_for_keys_that_may_read_and_write_them(shared: Running, tenant: str) -> None:
    client = shared.client("hawk", tenant, scopes=["memory:read", "pages:read", "pages:write"])
    made = client.put("/pages/garden", json={"text": "# Garden\n\nThe leeks are planted in March.\n"})
    assert made.status_code == 201
    page = client.get("/pages/garden")
    assert "leeks" in page.json()["text"]
    text = page.json()["text"].replace("March", "April")
    assert client.put("/pages/garden", json={"text": text}).status_code == 428
    assert (
        client.put("/pages/garden", json={"text": text}, headers={"If-Match": page.headers["etag"]}).status_code == 200
    )
    stale = client.put("/pages/garden", json={"text": text}, headers={"If-Match": page.headers["etag"]})
    assert stale.status_code == 412
    assert client.post("/pages", json={"text": "Kale is sown in June.", "path": "garden"}).status_code == 201
    for version in (page.headers["etag"], "*"):  # any version is not none
        made = client.put("/pages/gone", json={"text": "# Gone\n"}, headers={"If-Match": version})
        assert (made.status_code, code(client.get("/pages/gone"))) == (412, "PAGE_NOT_FOUND")
    assert client.get("/pages/garden", headers={"If-None-Match": "*"}).status_code == 304
    other = shared.client("owl", tenant, scopes=["memory:read"])
    for asked, told in (({}, "pages were not searched"), ({"only": "entries"}, "")):
        answer = other.post("/search", json={"query": "leeks", **asked}).json()
        assert (
            answer["results"] == [] and answer["degraded"].startswith(told) and bool(answer["degraded"]) == bool(told)
        )
    assert "garden" in [each["path"] for each in client.get("/pages").json()["pages"]]
    assert code(client.get("/pages/nothing")) == "PAGE_NOT_FOUND"
    made = client.put("/pages/plantes-💐", json={"text": "# Plantes\n\nDes poireaux.\n"})
    assert made.status_code == 201
    assert "poireaux" in client.get(made.headers["location"].removeprefix("/api/v1/memory")).text
    assert "April" in client.post("/search", json={"query": "When are leeks planted?"}).text
    other = shared.client("owl", tenant)
    assert "April" not in other.post("/search", json={"query": "When are leeks planted?"}).text
    for answer in (other.get("/pages"), other.get("/pages/garden"), other.post("/pages", json={"text": "x"})):
        assert (answer.status_code, code(answer)) == (403, "PERMISSION_DENIED")


def fill(shared: Running, tenant: str, count: int) -> None:
    """Has so many bytes stored, for ever."""
    with shared.parts.store.transaction(tenant) as transaction:
        transaction.insert(tables.immediate, "filler", {"value": "", "expires_at": None, "bytes": count})


def test_a_full_quota_refuses_and_what_ends_gives_it_back(shared: Running, tenant: str) -> None:
    client = shared.client("hawk", tenant, tier="free_tier")
    big = entry("x" * 3_900_000, level="immediate")
    fill(shared, tenant, 96_000_000)  # of a hundred
    answers = [client.post("/entries", json=big) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 403]
    assert code(answers[-1]) == "MEMORY_LIMIT_EXCEEDED"
    assert len(client.get("/query", params={"limit": 1}).json()["entries"]) == 1
    try:
        shared.clock.moved = 86_401
        assert client.post("/entries", json=big).status_code == 201
    finally:
        shared.clock.moved = 0.0


def test_pages_are_files_that_other_programs_carry_and_change(shared: Running, tenant: str, tmp_path: Path) -> None:
    """As one that syncs the folder with another machine, and git."""
    client = shared.client("hawk", tenant, scopes=["memory:read", "pages:read", "pages:write"])
    text = client.put("/pages/garden", json={"text": "# Garden\n\nThe leeks are planted in March.\n"}).json()["text"]
    folder = Path(str(shared.parts.memories.of(tenant).storage.where))
    assert (folder / "garden.md").read_text("utf-8") == text
    (folder / "garden.md").write_text(text.replace("March", "April"), "utf-8")
    assert "April" in client.get("/pages/garden").json()["text"]
    assert "April" in client.post("/search", json={"query": "When are leeks planted?"}).text
    commit = ["-c", "user.name=hawk", "-c", "user.email=hawk@example.org", "commit", "--quiet", "-m", "The garden"]
    for words in (["init", "--quiet"], ["add", "--all"], commit, ["clone", "--quiet", ".", str(tmp_path / "clone")]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    with closing(Memory.open(tmp_path / "clone")) as memory:
        assert "April" in memory.read("garden") and memory.check() == []


def test_a_body_that_is_too_large_is_refused(shared: Running) -> None:
    answer = shared.client().post("/entries", content=b" " * 4_100_000, headers={"Content-Type": "application/json"})
    assert (answer.status_code, code(answer)) == (413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize("tier", ["free_tier", "standard_tier"])
def test_a_number_of_sessions_is_a_quota_too(shared: Running, tenant: str, tier: str) -> None:
    client, most = shared.client("hawk", tenant, tier=tier), SPECIFIED[tier][2]
    statuses = [client.post("/context", json={"session_id": f"S-{n}"}).status_code for n in range(most + 1)]
    assert statuses == [201] * most + [403]


def test_the_unlimited_tier_counts_neither_requests_nor_sessions(shared: Running, tenant: str) -> None:
    client = shared.client("hawk", tenant, tier="unlimited_tier")
    answers = [client.post("/context", json={"session_id": f"S-{number}"}) for number in range(301)]
    assert {answer.status_code for answer in answers} == {201} and "ratelimit" not in answers[-1].headers


@pytest.mark.parametrize("tier", SPECIFIED)
def test_the_storage_of_a_tier(shared: Running, tenant: str, tier: str) -> None:
    client, megabytes = shared.client("hawk", tenant, tier=tier), SPECIFIED[tier][1]
    fill(shared, tenant, (1_000_000 * megabytes or 2_000_000_000) - 5_000)
    assert client.post("/entries", json=entry("x" * 1_000)).status_code == 201
    full = client.post("/entries", json=entry("x" * 5_000))
    assert full.status_code == (403 if megabytes else 201)


@pytest.mark.parametrize("tier", ["free_tier", "standard_tier"])
def test_no_request_above_the_limit_is_admitted(shared: Running, tenant: str, tier: str, mark: Mark) -> None:
    client, most = shared.client("hawk", tenant, tier=tier), SPECIFIED[tier][0]
    answers = [client.get("/subscriptions") for _ in range(most + 2)]
    assert [answer.status_code for answer in answers] == [200] * most + [429] * 2
    mark(9, f"of {len(answers)} requests {most} admitted, {most} the limit")
    assert answers[0].headers["ratelimit-policy"] == f'"minute";q={most};w=60'
    assert answers[0].headers["ratelimit"].startswith(f'"minute";r={most - 1};t=')
    assert code(answers[-1]) == "RATE_LIMIT_EXCEEDED" and 1 <= int(answers[-1].headers["retry-after"]) <= 60
    if shared.parts.redis:  # it has a clock of its own
        [name] = shared.parts.redis.client.keys(f"*:requests:{key_id_of(client.headers['Authorization'][7:])}")
        shared.parts.redis.client.pexpire(name, 1)
        time.sleep(0.01)
    try:
        shared.clock.moved = 61
        assert client.get("/subscriptions").status_code == 200
    finally:
        shared.clock.moved = 0.0


def test_malformed_requests_are_told_in_one_form(shared: Running) -> None:
    client: httpx.Client = shared.client()
    for answer in (
        client.post("/entries", content="{", headers={"Content-Type": "application/json"}),
        client.post("/entries", json={"data": {"content": []}}),
        client.post("/entries", json=entry("x", level="forever")),
        client.get("/query", params={"since": "yesterday"}),
        client.get("/query", params={"since": "0.5"}),
        client.get("/query", params={"level": "none"}),
    ):
        assert (answer.status_code, code(answer)) == (422, "VALIDATION_FAILED")
    assert code(client.get("/nothing")) == "NOT_FOUND"
    assert code(client.put("/search")) == "METHOD_NOT_ALLOWED"
    assert client.request("OPTIONS", "/context/S").headers["allow"] == "DELETE, GET, PATCH, PUT"
    assert client.request("OPTIONS", "/entries/batch").headers["allow"] == "POST"
