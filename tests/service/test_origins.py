"""Web pages of other origins: none may use the service but those that it was started with."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from memory_v2.errors import InvalidSetting
from memory_v2.service.options import ServiceOptions
from tests.service.running import BASE, Running, running

APP = "https://app.example.org"
ASKED = "authorization,content-type,if-match,idempotency-key,x-memory-source"


def asks_first(service: Running, origin: str, method: str = "PATCH") -> httpx.Response:
    """What a browser asks before it sends a request of a page of this origin."""
    headers = {"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": ASKED}
    return httpx.options(f"{service.address}{BASE}/context/S-1", headers=headers, trust_env=False)


def test_no_other_origin_is_allowed_unless_it_is_named(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        client = service.client()
        assert not asks_first(service, APP).is_success
        answer = client.post("/context", json={"session_id": "S-1"}, headers={"Origin": APP})
        assert answer.is_success and not [name for name in answer.headers if name.startswith("access-control")]


def test_pages_of_a_named_origin_may_use_all_of_the_service(tmp_path: Path) -> None:
    with running(tmp_path, origins=(APP,)) as service:
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            allowed = asks_first(service, APP, method)
            assert allowed.is_success and allowed.headers["access-control-allow-origin"] == APP
            assert set(ASKED.split(",")) <= set(allowed.headers["access-control-allow-headers"].lower().split(","))
        client = service.client()
        answer = client.post("/context", json={"session_id": "S-1"}, headers={"Origin": APP})
        assert answer.headers["access-control-allow-origin"] == APP
        assert answer.headers["access-control-expose-headers"] == "*"  # ETag, Retry-After
        assert "access-control-allow-credentials" not in answer.headers
        refused = httpx.get(f"{service.address}{BASE}/context/S-1", headers={"Origin": APP}, trust_env=False)
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, APP)
        for other in ("https://evil.example.org", "null", "http://app.example.org", f"{APP}.evil.example"):
            assert not asks_first(service, other).is_success
            answer = client.get("/context/S-1", headers={"Origin": other})
            assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("origin", ["*", "app.example.org", "https://app.example.org/", "https://a b", "null", ""])
def test_what_is_no_origin_is_refused(tmp_path: Path, origin: str) -> None:
    with pytest.raises(InvalidSetting, match="no origin of web pages"):
        ServiceOptions(tmp_path, origins=(origin,))
