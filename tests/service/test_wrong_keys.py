"""Mark 5: wrong keys neither slow nor lock out right ones, nor fill the memory, and are limited by address."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import httpx
import pytest

from memory_v2.service import keys, limits, tables
from tests.service.conftest import Mark
from tests.service.running import BASE, Running

ELSEWHERE = {"X-Forwarded-For": "192.0.2.7"}
"""Another address: the server believes who asks from this machine, as it does a proxy."""


def wrong_key() -> str:
    return f"dm_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"


@pytest.fixture
def stranger(shared: Running) -> Iterator[httpx.Client]:
    """Somebody with an address of his own."""
    address = f"198.51.{secrets.randbelow(250)}.{secrets.randbelow(250)}"
    with httpx.Client(
        base_url=f"{shared.address}{BASE}", headers={"X-Forwarded-For": address}, trust_env=False
    ) as made:
        yield made


def ask(client: httpx.Client, key: str) -> int:
    return client.get("/query", headers={"Authorization": f"Bearer {key}"}).status_code


def test_wrong_keys_are_limited_by_address_and_ask_the_store_no_more(
    shared: Running, stranger: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    find = shared.parts.store.find_key

    def counted(key_id: str) -> Any:
        looked.append(key_id)
        return find(key_id)

    monkeypatch.setattr(shared.parts.store, "find_key", counted)
    statuses = [ask(stranger, wrong_key()) for _ in range(3 * keys.WRONG_A_MINUTE)]
    assert statuses == [401] * keys.WRONG_A_MINUTE + [429] * 2 * keys.WRONG_A_MINUTE
    assert len(looked) == keys.WRONG_A_MINUTE
    refused = stranger.get("/query", headers={"Authorization": f"Bearer {wrong_key()}"})
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    other = stranger.get("/query", headers={"Authorization": f"Bearer {wrong_key()}", **ELSEWHERE})
    assert other.status_code == 401


def test_guessing_at_the_page_is_limited_as_in_requests(shared: Running, stranger: httpx.Client) -> None:
    def sign_in(key: str) -> httpx.Response:
        headers = {"Origin": shared.address}
        return stranger.post(f"{shared.address}/view/sign-in", data={"key": key}, headers=headers)

    statuses = [sign_in(wrong_key()).status_code for _ in range(keys.WRONG_A_MINUTE + 10)]
    assert statuses == [401] * keys.WRONG_A_MINUTE + [429] * 10
    assert ask(stranger, wrong_key()) == 429
    refused = sign_in(wrong_key())
    assert "too many wrong keys" in refused.text and 1 <= int(refused.headers["retry-after"]) <= 60
    known = shared.key(scopes=["pages:read"])
    shared.parts.keys.find(known)
    assert sign_in(known).status_code == 303


def test_a_right_key_is_not_locked_out_by_wrong_ones_from_its_address(shared: Running, stranger: httpx.Client) -> None:
    right = shared.key()
    assert ask(stranger, right) == 200
    guesses = [f"{right[:-4]}{number:04d}" for number in range(2 * keys.WRONG_A_MINUTE)]
    assert {ask(stranger, guess) for guess in guesses} == {401, 429}
    assert ask(stranger, wrong_key()) == 429
    assert ask(stranger, right) == 200
    time.sleep(keys.FRESH_SECONDS)  # it has to be read again
    assert ask(stranger, right) == 200


def test_after_a_minute_the_address_is_trusted_again(shared: Running, stranger: httpx.Client) -> None:
    assert [ask(stranger, wrong_key()) for _ in range(keys.WRONG_A_MINUTE + 1)][-1] == 429
    try:
        shared.clock.moved = limits.WINDOW + 1
        assert ask(stranger, shared.key()) == 200
    finally:
        shared.clock.moved = 0.0


def test_the_networks_of_many_strangers_take_bounded_memory(shared: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_WINDOWS", 50)
    with httpx.Client(base_url=f"{shared.address}{BASE}", trust_env=False) as client:
        seen = len(shared.parts.keys._seen)
        for number in range(200):
            headers = {"Authorization": f"Bearer {wrong_key()}", "X-Forwarded-For": f"2001:db8:{number:x}::{number:x}"}
            assert client.get("/query", headers=headers).status_code == 401
    assert len(shared.parts.keys._seen) <= seen and len(shared.parts.keys._wrong._windows) <= 51
    shared.parts.keys._wrong._windows.clear()


def test_a_key_is_found_by_its_index_among_ten_thousand(shared: Running, mark: Mark) -> None:
    store, key_id = shared.parts.store, keys.key_id_of(shared.key())

    def timed() -> float:
        """The median of a look-up, in milliseconds."""
        took = []
        for _ in range(200):
            began = time.perf_counter()
            assert store.find_key(key_id) is not None
            took.append(1000 * (time.perf_counter() - began))
        return median(took)

    alone = timed()
    row = store.find_key(key_id)
    crowd = [{**(row or {}), "id": secrets.token_hex(6), "tenant": "crowd"} for _ in range(10_000)]
    table = tables.api_keys
    try:
        with store.transaction("crowd") as transaction:
            transaction.connection.execute(table.insert(), crowd)
        beside = timed()
        explain = f"EXPLAIN {'QUERY PLAN ' if store.is_sqlite else ''}SELECT * FROM api_keys WHERE id = '{key_id}'"
        with store.engine.connect() as connection:
            plan = str(connection.exec_driver_sql(explain).all())
    finally:
        with store.transaction("crowd") as transaction:
            transaction.connection.execute(table.delete().where(table.c.tenant == "crowd"))
    assert "USING INDEX" in plan or "Index Scan" in plan
    mark(5, f"a key is found in {alone:.2f} ms, beside 10,000 others in {beside:.2f} ms")


def test_a_flood_does_not_slow_a_right_key(shared: Running, stranger: httpx.Client, mark: Mark) -> None:
    """Both ask at a rate of their own."""
    right = shared.client("hawk")
    right.post("/context", json={"session_id": "FLOOD"})
    assert [ask(stranger, wrong_key()) for _ in range(keys.WRONG_A_MINUTE + 1)][-1] == 429

    def timed() -> list[float]:
        took = []
        for _ in range(200):
            began = time.perf_counter()
            assert right.get("/context/FLOOD").status_code == 200
            took.append(1000 * (time.perf_counter() - began))
            time.sleep(0.005)
        return sorted(took)

    def flood() -> None:
        while not done.is_set():
            assert ask(stranger, wrong_key()) == 429
            sent.append(1)
            time.sleep(0.005)

    sent: list[int] = []
    alone, done = timed(), threading.Event()
    thread = threading.Thread(target=flood)
    thread.start()
    flooded = timed()
    done.set()
    thread.join()
    middle, worst = (flooded[share] / alone[share] for share in (100, 198))
    mark(5, f"beside {sum(sent)} wrong keys p50 {middle:.2f}×, p99 {worst:.2f}×")
    assert sum(sent) > 50
