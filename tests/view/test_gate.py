"""Nobody sees or changes the memory but whoever opened the link, and only from the page itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from memory_v2 import Memory
from memory_v2.view import live
from memory_v2.view import server as page_server
from memory_v2.view.app import POLICY
from memory_v2.view.server import MOST_STREAMS, PageServer

from .conftest import grown, serving

SECRET_WORDS = ("Silica is deployed", "projects/silica", "people")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PageServer]:
    with grown(tmp_path / "memory") as memory, serving(memory) as running:
        yield running


@pytest.fixture
def browser(server: PageServer) -> Iterator[httpx.Client]:
    """A client that has opened the link."""
    with httpx.Client(base_url=server.address, trust_env=False, timeout=20) as client:
        assert client.get(server.link).status_code == 200
        yield client


def form(client: httpx.Client, address: str) -> dict[str, str]:
    return dict(re.findall(r'name="(secret|revision|version)" value="(\w*)"', client.get(address).text))


def test_the_link_opens_the_page_once(server: PageServer) -> None:
    link = server.link
    with (
        httpx.Client(base_url=server.address, trust_env=False) as first,
        httpx.Client(base_url=server.address, trust_env=False) as second,
    ):
        _open_once(server, link, first, second)


def _open_once(server: PageServer, link: str, first: httpx.Client, second: httpx.Client) -> None:
    opened = first.get(link)
    cookie = opened.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert first.get("/page/people").status_code == 200
    for client, address in ((second, link), (second, "/page/people"), (first, "/?token=guessed"), (second, "/?token=")):
        refused = client.get(address)
        assert refused.status_code == 401
        assert not any(word in refused.text for word in SECRET_WORDS)
    assert first.get("/page/people").status_code == 200


def test_every_address_needs_the_session(server: PageServer) -> None:
    for address in ("/", "/page/people", "/raw/people", "/live", "/static/view.js", "/search?q=silica", "/nothing"):
        refused = httpx.get(server.address + address, trust_env=False)
        assert refused.status_code == 401 and not any(word in refused.text for word in SECRET_WORDS)
    assert httpx.post(server.address + "/undo", data={"revision": "x"}, trust_env=False).status_code == 401
    assert httpx.get(server.address, cookies={server.gate.cookie: ""}, trust_env=False).status_code == 401


def test_only_local_names_are_answered(server: PageServer, browser: httpx.Client) -> None:
    for host in ("evil.example", "127.0.0.1", f"evil.example:{server.server_address[1]}", ""):
        refused = browser.get("/page/people", headers={"Host": host})
        assert refused.status_code == 421 and "Ada" not in refused.text
    assert browser.get("/page/people", headers={"Host": f"LOCALHOST:{server.server_address[1]}"}).status_code == 200


def test_a_form_is_only_taken_from_the_page_itself(server: PageServer, browser: httpx.Client) -> None:
    memory = server.subject.memory
    revision = next(past.id for past in memory.history() if past.is_next)
    fields = form(browser, f"/history/{revision}")
    assert fields["revision"] == revision and len(fields["secret"]) == 64
    head = memory.storage.history.head
    own = {"Origin": server.address}
    for headers, sent in (
        ({}, fields),
        ({"Origin": "null"}, fields),
        ({"Origin": "http://evil.example"}, fields),
        ({"Origin": server.address + "0"}, fields),
        (own, fields | {"secret": ""}),
        (own, fields | {"secret": "0" * 64}),
        (own, {"revision": revision}),
    ):
        assert browser.post("/undo", data=sent, headers=headers).status_code == 403
    assert memory.storage.history.head == head
    assert browser.post("/undo", data=fields, headers=own).status_code == 303
    assert memory.storage.history.head != head


def test_every_answer_forbids_what_is_not_its_own(browser: httpx.Client) -> None:
    for address in ("/", "/page/people", "/raw/people", "/static/view.css", "/nothing", "/?token=wrong"):
        headers = browser.get(address).headers
        assert headers["content-security-policy"] == POLICY
        assert "unsafe" not in POLICY and "default-src 'none'" in POLICY and "frame-ancestors 'none'" in POLICY
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
    assert "no-store" in browser.get("/page/people").headers["cache-control"]


def test_no_page_has_script_or_style_of_its_own(browser: httpx.Client) -> None:
    for address in ("/", "/page/people", "/graph", "/history", "/search?q=silica"):
        text = browser.get(address).text
        assert not re.search(r"<script(?! src=)|<style|\sstyle=|\son\w+=", text)


def test_requests_that_cannot_be_read_are_refused(server: PageServer, browser: httpx.Client) -> None:
    own = {"Origin": server.address}
    assert browser.post("/undo", content=b"{}", headers=own | {"Content-Type": "application/json"}).status_code == 413
    assert browser.post("/undo", data={"revision": "x" * 8_000_000}, headers=own).status_code == 413
    assert browser.post("/undo", data={f"f{n}": "x" for n in range(200)}, headers=own).status_code == 400
    assert browser.get("/?" + "&".join(f"a{n}=1" for n in range(200))).status_code == 400
    assert browser.get("/page/%ff%fe").status_code == 404
    assert browser.get("/page/people%00").status_code == 404
    assert browser.head("/page/people").content == b""
    assert browser.request("DELETE", "/page/people").status_code == 501


def test_the_stylesheet_and_the_script_are_small_and_may_be_kept(browser: httpx.Client) -> None:
    text = browser.get("/").text
    (style,), (script,) = re.findall(r'href="(/static/[^"]+)"', text), re.findall(r'src="(/static/[^"]+)"', text)
    answers = [browser.get(address) for address in (style, script)]
    assert all("immutable" in answer.headers["cache-control"] for answer in answers)
    assert sum(len(answer.content) for answer in answers) < 150_000
    assert not re.search(r"https?://(?!www\.w3\.org)|@import|url\(", "".join(answer.text for answer in answers))


def test_a_change_of_somebody_else_is_told_as_it_happens(
    server: PageServer, browser: httpx.Client, tmp_path: Path
) -> None:
    with browser.stream("GET", "/live") as events:
        lines = events.iter_lines()
        assert next(lines).startswith("retry:")
        while next(lines) != ": listening":
            pass
        with Memory.open(tmp_path / "memory") as other:
            other.write("Kay plays the viola.", path="people")
        told = next(line for line in lines if line.startswith("data:"))
    assert '"people"' in told and '"kind": "write"' in told


def test_streams_end_with_their_readers(
    server: PageServer, browser: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (live, page_server):
        monkeypatch.setattr(module, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(live, "BEAT_SECONDS", 0.02)
    for _ in range(2 * MOST_STREAMS):
        with browser.stream("GET", "/live") as events:
            assert next(events.iter_lines()).startswith("retry:")
    assert browser.get("/").status_code == 200
