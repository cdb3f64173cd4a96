"""What is answered while PostgreSQL or Redis is away, or does not answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from sqlalchemy.engine import make_url

from tests.service.conftest import Mark
from tests.service.gate import Gate, gate
from tests.service.running import HOST, Running, running
from tests.service.test_contexts import code

BOUND_SECONDS = 10.0
"""How long an answer may take while a store does not answer, in seconds."""


@pytest.fixture
def gates(new_database: str, redis_address: str) -> Iterator[dict[str, Gate]]:
    with ExitStack() as stack:
        yield {
            "postgres": stack.enter_context(gate(HOST, make_url(new_database).port or 5432)),
            "redis": stack.enter_context(gate(HOST, make_url(redis_address).port or 6379)),
        }


@pytest.fixture
def service(tmp_path: Path, new_database: str, redis_address: str, gates: dict[str, Gate]) -> Iterator[Running]:
    database = make_url(new_database).set(host=HOST, port=gates["postgres"].port)
    redis = make_url(redis_address).set(host=HOST, port=gates["redis"].port)
    address = database.render_as_string(hide_password=False)
    with running(tmp_path, address, redis.render_as_string(hide_password=False)) as service:
        yield service


@pytest.mark.parametrize("how", ["shut", "freeze"])
@pytest.mark.parametrize("store", ["postgres", "redis"])
def test_an_outage_is_never_told_as_absence(
    service: Running, gates: dict[str, Gate], store: str, how: str, mark: Mark
) -> None:
    client = service.client("hawk", tier="standard_tier")
    document = {"session_id": "S", "context": {"immediate": {"current_focus": {"task": "leeks"}}}}
    stored = client.post("/context", json=document).json()
    getattr(gates[store], how)()
    try:
        started = time.monotonic()
        answers = [client.get("/context/S"), client.get("/agent/hawk/state"), client.get("/query")]
        longest = max(answer.elapsed.total_seconds() for answer in answers)
        assert time.monotonic() - started < len(answers) * BOUND_SECONDS
        for answer in answers:
            assert (answer.status_code, code(answer)) == (503, "BACKEND_UNAVAILABLE")
            assert answer.headers["retry-after"] == "1"
        assert httpx.get(f"{service.address}/livez", trust_env=False).status_code == 200
        started = time.monotonic()
        ready = httpx.get(f"{service.address}/readyz", trust_env=False)
        assert ready.status_code == 503 and time.monotonic() - started < 1
    finally:
        gates[store].reopen()
    started = time.monotonic()
    while (answer := client.get("/context/S")).status_code != 200:
        assert answer.status_code == 503 and time.monotonic() - started < BOUND_SECONDS
        time.sleep(0.05)
    assert answer.json() == stored
    mark(1, f"{store} {how}: 503 within {longest:.1f} s, back in {time.monotonic() - started:.1f} s")
