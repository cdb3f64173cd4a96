"""kill -9 of the service, of Redis and of PostgreSQL while agents work: nothing acknowledged is lost or told twice, and
what is stored is never answered as missing."""

from __future__ import annotations

import contextlib
import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests import forks
from tests.effort import effort
from tests.service.conftest import Mark
from tests.service.own_servers import OwnServer, free_port, own_postgres, own_redis, until
from tests.service.running import BASE, HOST, program
from tests.service.test_contexts import JSON_PATCH

WRITERS, READERS = 3, 2
KILLS = effort(2, 3)
BETWEEN = effort(12, 26)
"""How many writes are acknowledged before the next kill."""


@dataclass
class Agents:
    """What agents do while servers die, and what they were told. A write is sent again, with its Idempotency-Key,
    until it is acknowledged."""

    address: str
    key: str
    written: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    outages: Counter[int] = field(default_factory=Counter)
    done: threading.Event = field(default_factory=threading.Event)
    stop: threading.Event = field(default_factory=threading.Event)
    cursor: str = ""
    connections: int = 0

    def ask(self, client: httpx.Client, method: str, path: str, **extra: object) -> httpx.Response:
        """Until there is an answer that is not of an outage."""
        while True:
            with contextlib.suppress(httpx.TransportError):
                answer = client.request(method, path, **extra)  # type: ignore[arg-type]
                if answer.status_code not in (409, 503):
                    return answer
                self.outages[answer.status_code] += 1
                assert answer.headers["retry-after"] == "1", answer.text
            if self.stop.is_set():
                raise TimeoutError("the test has ended")
            time.sleep(0.05)

    def await_writes(self, count: int) -> None:
        """Until so many more writes are acknowledged."""
        wanted = len(self.written) + count
        until(lambda: len(self.written) >= wanted or bool(self.wrong))

    def end(self) -> None:
        """Lets all of them end."""
        self.done.set()
        self.stop.set()

    def client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=f"{self.address}{BASE}", headers=headers, timeout=20, trust_env=False)

    def write(self) -> None:
        """Appends to a context, over and over."""
        with self.client() as client:
            while not self.done.is_set():
                name = uuid.uuid4().hex
                steps = [
                    {"op": "add", "path": "/context/working/key_decisions/-", "value": name},
                    {"op": "add", "path": "/context/immediate/active_agents/-", "value": name},
                ]
                headers = JSON_PATCH | {"Idempotency-Key": name}
                answer = self.ask(client, "PATCH", "/context/KILL", content=json.dumps(steps), headers=headers)
                if answer.status_code == 200:
                    self.written.append(name)
                else:
                    self.wrong.append(answer.text)

    def read(self) -> None:
        """What was acknowledged before is in every answer."""
        with self.client() as client:
            while not self.done.wait(0.02):  # readers without a pause would only keep the service from its work
                before = list(self.written)
                answer = self.ask(client, "GET", "/context/KILL")
                context = answer.json().get("context") if answer.status_code == 200 else None
                if context is None:
                    self.wrong.append(answer.text)
                elif missing := set(before).difference(context["working"]["key_decisions"]):
                    self.wrong.append(f"not read: {missing}")
                elif missing := set(before).difference(context["immediate"]["active_agents"]):
                    self.wrong.append(f"not read of the immediate part: {missing}")

    def listen(self) -> None:
        """Keeps a cursor, and comes again with it wherever the stream ends."""
        with self.client() as client:
            while not self.stop.wait(0.01):
                ended = httpx.TransportError, httpx.TimeoutException
                asked = client.stream(
                    "GET", "/events", params={"cursor": self.cursor}, timeout=httpx.Timeout(20, read=1)
                )
                with contextlib.suppress(*ended), asked as stream:
                    self.connections += 1
                    for line in stream.iter_lines():
                        if line.startswith("data:") and self.hear(json.loads(line[5:])):
                            break

    def hear(self, event: dict[str, object]) -> bool:
        """Notes an event; says whether to hang up."""
        if event.get("event") == "resync_required":
            self.wrong.append("resync_required")
        if "cursor" in event:
            self.cursor = str(event["cursor"])
        if event.get("event") != "memory.updated":
            return False
        data = event["data"]
        assert isinstance(data, dict)
        self.told.append(data["changes"]["working"]["key_decisions"][-1])
        return True


@pytest.fixture(params=["service", "redis", "postgres", "embedded"])
def at_risk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Agents, Mortal]]:
    """Agents, and what is killed under them."""
    with ExitStack() as stack:
        environment, servers = {}, dict[str, OwnServer]()
        if request.param != "embedded":
            servers["postgres"], environment["DATABASE_URL"] = stack.enter_context(own_postgres())
            servers["redis"], environment["REDIS_URL"] = stack.enter_context(own_redis())
        port = free_port()
        started = stack.enter_context(program(tmp_path, environment, port))
        agents = Agents(started[1], started[2])
        mortal = Mortal(tmp_path, port, environment, started[0], servers.get(request.param), stack)
        yield agents, mortal


@dataclass
class Mortal:
    """What is killed: a store, or else the service itself."""

    folder: Path
    port: int
    environment: dict[str, str]
    service: forks.Popen[str]
    store: OwnServer | None
    stack: ExitStack

    def kill_and_start(self) -> None:
        """SIGKILL, and after a moment it is there again."""
        if self.store:
            self.store.kill()
            time.sleep(0.3)
            self.store.start()
            return
        self.service.kill()
        self.service.wait(20)
        self.service = self.stack.enter_context(program(self.folder, self.environment, self.port))[0]


def test_kill_9_under_load_loses_nothing_and_tells_nothing_twice(
    at_risk: tuple[Agents, Mortal], request: pytest.FixtureRequest, mark: Mark
) -> None:
    agents, mortal = at_risk
    with agents.client() as client:
        client.post("/context", json={"session_id": "KILL"})
        agents.cursor = client.post("/subscribe", json={}).json()["cursor"]
    work = [agents.write] * WRITERS + [agents.read] * READERS + [agents.listen]
    with ThreadPoolExecutor(len(work)) as pool:
        running = [pool.submit(each) for each in work]
        try:
            for _ in range(KILLS):
                agents.await_writes(BETWEEN)
                mortal.kill_and_start()
            agents.await_writes(BETWEEN)
            agents.done.set()
            wait(running[:-1])
            until(lambda: set(agents.written) <= set(agents.told))
        finally:
            agents.end()
        for each in running:
            each.result()
    assert agents.wrong == []
    with agents.client() as client:
        stored = agents.ask(client, "GET", "/context/KILL").json()["context"]["working"]["key_decisions"]
    assert Counter(agents.written) == Counter(stored)
    assert [name for name in stored if name in set(agents.told)] == agents.told
    assert agents.connections >= len(agents.told) >= (KILLS + 1) * BETWEEN
    assert HOST in agents.address
    killed = request.node.callspec.params["at_risk"]
    told = f"{len(agents.told)} told once over {agents.connections} connections"
    mark(3, f"{killed} killed {KILLS} times: {len(agents.written)} acknowledged, 0 lost, {told}")
