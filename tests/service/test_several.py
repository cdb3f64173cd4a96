"""Four processes of the service over one folder, one PostgreSQL and one Redis."""

from __future__ import annotations

import contextlib
import json
import signal
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import forks
from tests.service.conftest import Mark, database
from tests.service.running import BASE, program
from tests.service.test_contexts import JSON_PATCH, code

COUNT = 4


@dataclass
class Cluster:
    """The processes, their addresses, and a key for everything."""

    folder: Path
    environment: dict[str, str]
    processes: list[forks.Popen[str]]
    addresses: list[str]
    key: str
    stack: ExitStack

    def start(self) -> None:
        """One process more."""
        process, address, key = self.stack.enter_context(program(self.folder, self.environment))
        self.processes.append(process)
        self.addresses.append(address)
        self.key = self.key or key

    def client(self, number: int = 0, key: str = "", source: str = "hawk") -> httpx.Client:
        """A client of the process with this number."""
        headers = {"Authorization": f"Bearer {key or self.key}", "X-Memory-Source": source}
        base = f"{self.addresses[number % len(self.addresses)]}{BASE}"
        return self.stack.enter_context(httpx.Client(base_url=base, headers=headers, timeout=30, trust_env=False))

    def at_once(self, calls: int, work: Callable[[int], httpx.Response]) -> list[httpx.Response]:
        """What many threads are answered; each is given its number."""
        with ThreadPoolExecutor(16) as pool:
            return list(pool.map(work, range(calls)))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, redis_address: str) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("several")
    with database() as address, ExitStack() as stack:
        environment = {"DATABASE_URL": address.replace("+psycopg", ""), "REDIS_URL": redis_address}
        cluster = Cluster(folder, environment, [], [], "", stack)
        cluster.start()
        with ThreadPoolExecutor(COUNT) as pool:
            list(pool.map(lambda _: cluster.start(), range(COUNT - 1)))
        yield cluster


def test_not_one_request_over_the_limit_is_admitted(cluster: Cluster, mark: Mark) -> None:
    made = cluster.client().post("/keys", json={"name": "n", "tier": "free_tier", "sources": ["hawk"]}).json()
    clients = [cluster.client(number, made["key"]) for number in range(COUNT)]
    answers = cluster.at_once(120, lambda number: clients[number % COUNT].get("/query"))
    assert Counter(answer.status_code for answer in answers) == {200: 60, 429: 60}
    mark(9, f"of {len(answers)} requests to {COUNT} processes 60 admitted, 60 the limit")


def test_no_concurrent_change_is_lost(cluster: Cluster) -> None:
    clients = [cluster.client(number) for number in range(COUNT)]
    clients[0].post("/context", json={"session_id": "LIST", "context": {"immediate": {"active_agents": []}}})

    def append(number: int) -> httpx.Response:
        step = [{"op": "add", "path": "/context/immediate/active_agents/-", "value": f"agent{number}"}]
        while True:
            answer = clients[number % COUNT].patch("/context/LIST", content=json.dumps(step), headers=JSON_PATCH)
            if answer.status_code != 503:  # on a slow machine the queue for the row may be too long: it is told so
                return answer
            time.sleep(int(answer.headers["retry-after"]))

    answers = cluster.at_once(200, append)
    assert {answer.status_code for answer in answers} == {200}
    agents = clients[1].get("/context/LIST").json()["context"]["immediate"]["active_agents"]
    assert sorted(agents) == sorted(f"agent{number}" for number in range(200))


def test_a_query_is_never_an_old_answer(cluster: Cluster) -> None:
    """Queries are not cached: each process answers with what any of them has acknowledged."""
    clients = [cluster.client(number) for number in range(COUNT)]
    for number in range(20):
        asked = {"tags": f"Q{number}"}
        assert {len(client.get("/query", params=asked).json()["entries"]) for client in clients} == {0}
        made = clients[number % COUNT].post("/entries", json={"data": {"meta_tags": [f"Q{number}"]}}).json()
        assert [client.get("/query", params=asked).json()["entries"] for client in clients] == [[made]] * COUNT


def test_a_request_that_is_sent_fifty_times_happens_once(cluster: Cluster) -> None:
    clients = [cluster.client(number) for number in range(COUNT)]
    cursor = clients[0].post("/subscribe", json={}).json()["cursor"]
    again = {"Idempotency-Key": str(uuid.uuid4())}

    def write(number: int) -> httpx.Response:
        while True:
            answer = clients[number % COUNT].post("/entries", json={"data": {"content": {"a": 1}}}, headers=again)
            if answer.status_code != 409:
                return answer
            assert code(answer) == "IDEMPOTENCY_KEY_IN_PROGRESS"
            time.sleep(0.01)

    answers = cluster.at_once(50, write)
    assert {answer.status_code for answer in answers} == {201} and len({answer.text for answer in answers}) == 1
    assert len(events(clients[2], cursor, 1)) == 1


def test_of_fifty_claimers_one_wins(cluster: Cluster, mark: Mark) -> None:
    asked = {"from": {"id": "S"}, "to": {"type": "agent", "id": "*"}}
    handoff = cluster.client().post("/handoff", json=asked).json()["handoff_id"]
    clients = [cluster.client(number, source=f"worker{number}") for number in range(50)]
    answers = cluster.at_once(50, lambda number: clients[number].post(f"/handoff/{handoff}/claim"))
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 49}
    mark(8, f"1 of {len(answers)} claimers at {COUNT} processes")


def test_a_revoked_key_is_refused_everywhere_within_two_seconds(cluster: Cluster, mark: Mark) -> None:
    admin = cluster.client()
    made = admin.post("/keys", json={"name": "n", "sources": ["hawk"]}).json()
    clients = [cluster.client(number, made["key"]) for number in range(COUNT)]
    assert {client.get("/query").status_code for client in clients} == {200}
    with clients[3].stream("GET", "/events") as stream:
        lines = stream.iter_lines()
        next(lines)
        assert admin.delete(f"/keys/{made['id']}").status_code == 204
        time.sleep(2)
        assert {client.get("/query").status_code for client in clients} == {401}
        list(lines)  # the stream ends
    mark(5, f"a revoked key refused by {COUNT} of {COUNT} processes after 2 s")


def events(client: httpx.Client, cursor: str, count: int) -> list[dict[str, Any]]:
    """So many events after a cursor, and those that come within half a second more."""
    seen: list[dict[str, Any]] = []
    timeout = httpx.Timeout(30, read=0.5)
    asked = client.stream("GET", "/events", params={"cursor": cursor}, timeout=timeout)
    with contextlib.suppress(httpx.ReadTimeout), asked as stream:
        for line in stream.iter_lines():
            if line.startswith("data:") and "specversion" in line:
                seen.append(json.loads(line[5:]))
    assert len(seen) >= count
    return seen


def test_who_listens_elsewhere_is_told_everything_once_in_order_past_a_kill(cluster: Cluster) -> None:
    """The writers' processes are killed and started anew while they write; the listener's too."""
    cluster.start()
    cluster.start()
    listener = cluster.client(COUNT)
    cursor = listener.post("/subscribe", json={"sessions": ["KILL"]}).json()["cursor"]
    acknowledged: list[str] = []

    def write(number: int) -> None:
        client = cluster.client(COUNT + 1)
        with contextlib.suppress(httpx.TransportError):
            while len(acknowledged) < 60:
                body = {"data": {"content": {"n": number}}, "source": {"session": "KILL"}}
                acknowledged.append(client.post("/entries", json=body).json()["id"])
                if len(acknowledged) == 30:
                    cluster.processes[COUNT + 1].kill()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cluster.processes[COUNT].kill()
    reader = cluster.client(0)
    seen = [
        each["data"]["entry_id"] for each in events(reader, cursor, 1) if each["data"]["source"]["session"] == "KILL"
    ]
    assert len(seen) == len(set(seen)) and set(acknowledged) <= set(seen)
    order = [each for each in seen if each in acknowledged]
    assert len(order) == len(acknowledged) >= 30
    for process in cluster.processes[COUNT:]:
        process.wait(20)
    del cluster.processes[COUNT:], cluster.addresses[COUNT:]


def test_a_rolling_restart_fails_no_request(cluster: Cluster, mark: Mark) -> None:
    """Requests are given to processes that say they are ready, as a load balancer does; not one may fail."""
    failed: list[str] = []
    done = threading.Event()
    answered = [0]
    ready = list(cluster.addresses)

    def look() -> None:
        while not done.is_set():
            ready[:] = [address for address in list(cluster.addresses) if is_ready(address)]
            time.sleep(0.1)

    def is_ready(address: str) -> bool:
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{address}/readyz", timeout=5, trust_env=False).status_code == 200
        return False

    def ask(number: int) -> None:
        while not done.wait(0.02):
            number += 1
            now = list(ready)
            headers = {"Authorization": f"Bearer {cluster.key}", "Connection": "close"}
            url = f"{now[number % len(now)]}{BASE}/query?limit=1"
            try:
                answer = httpx.get(url, headers=headers, timeout=20, trust_env=False)
            except httpx.TransportError as error:
                failed.append(repr(error))
            else:
                answered[0] += 1
                if answer.status_code != 200:
                    failed.append(answer.text)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    threads.append(threading.Thread(target=look))
    for thread in threads:
        thread.start()
    for _ in range(2):
        cluster.start()
        old = cluster.processes.pop(0)
        old.send_signal(signal.SIGTERM)
        assert old.wait(20) == 0
        cluster.addresses.pop(0)
    done.set()
    for thread in threads:
        thread.join()
    assert failed == [] and answered[0] > 20
    mark(10, f"rolling restart: {answered[0]} requests, {len(failed)} failed")
