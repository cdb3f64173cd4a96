"""The service against floors of ours, and against peers that run: `python -m bench.service --rounds 5`.

A floor (`bench.service_floor`) is the least that such a service can be: values in one store and nothing else. A peer is
given as `--peer langgraph http://127.0.0.1:8000 PID`, with one of the names in `bench.service_peers`. Ours has
everything on: keys, limits that count, quotas, events; and what it acknowledges is on the disk. Each round asks all of
them in turn; the figures are medians of the rounds. Each connection has a session of its own. CPU is that of the
server's process alone, for one request, in milliseconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import websockets
from sqlalchemy import create_engine, text

from bench.load import Load, Taken, load
from bench.service_peers import PEERS, TEXT, Asked
from bench.tables import Figures, Rows, parser, report
from memory_v2.service.issuing import create_key
from memory_v2.service.models import NewKey
from memory_v2.service.options import ServiceOptions
from memory_v2.service.server import add_key
from memory_v2.service.store import Store

HOST = "127.0.0.1"
BASE = "/api/v1/memory"
POSTGRES = os.environ.get("SILICA_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
REDIS = os.environ.get("SILICA_TEST_REDIS", "redis://127.0.0.1:6379")
CONNECTIONS, SECONDS = 8, 3.0
OFFERED = 100.0
"""Requests a second at which p99 is compared: what all of them can do on two cores."""
KEYS = 10_000
STOP_SECONDS = 5.0
"""How long a server may take to end; then it is killed."""
LISTENERS, EVENTS, EVERY = 50, 250, 0.02
"""Sockets on two processes together; events, and seconds between two of them."""
UNLIMITED = """
from memory_v2.service import access
access.TIERS["standard_tier"] = access.Tier(10**9, 10**6, 10**6)
from memory_v2.cli import main
main()
"""
"""`silica serve` with limits that are counted and never reached."""
PACKAGE: dict[str, Any] = {
    "context": {
        "immediate": {"current_focus": {"primary": TEXT}, "active_agents": ["planner", "coder"]},
        "working": {"project_state": {"step": 3}, "key_decisions": ["fake clock"]},
    },
    "metadata": {"platform": "claude"},
}
KINDS = (("GET/s", "GET", 0.0), ("PUT/s", "PUT", 0.0), ("GET p99 ms", "GET", OFFERED), ("PUT p99 ms", "PUT", OFFERED))


@dataclass(frozen=True)
class Target:
    """A server that runs, and how it is asked."""

    address: str
    asked: Asked
    process: int
    key: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """What each request has."""
        return {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", "If-Match": "*"}

    def ask(self, method: str, rate: float = 0.0) -> tuple[Taken, float]:
        """Asks for some seconds. Returns the CPU that one request took beside."""
        asked, given = self.asked, tuple(self.headers.items())
        if method == "PUT":
            paths, body = asked.write_paths or asked.paths, json.dumps(asked.body)
            wanted = Load(self.address, paths, "PUT", given, body, SECONDS, rate)
        else:
            given = tuple((name, value) for name, value in given if name != "If-Match")
            wanted = Load(self.address, asked.paths, "GET", given, "", SECONDS, rate)
        before = self._cpu()
        taken = load(wanted)
        return taken, 1000 * (self._cpu() - before) / (taken.rate * SECONDS)

    def _cpu(self) -> float:
        """Seconds that the process has computed, on Linux."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Prints the tables. Exits with status 1 if a request was refused."""
    arguments = parser("The service against floors, and peers that run.")
    words, names = ("NAME", "ADDRESS", "PID"), ", ".join(PEERS)
    arguments.add_argument("--peer", nargs=3, metavar=words, action="append", default=[], help=f"one of {names}")
    arguments.add_argument("--rounds", type=int, default=5)
    chosen = arguments.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        embedded, servers = ServiceOptions(folder / "embedded"), stack.enter_context(on_servers(folder / "servers"))
        targets = {
            "embedded": stack.enter_context(ours(embedded)),
            "PostgreSQL and Redis": stack.enter_context(ours(servers)),
            "floor on SQLite": stack.enter_context(floor(str(folder / "floor.sqlite"))),
            "floor on PostgreSQL": stack.enter_context(floor(servers.database)),
            "floor on Redis": stack.enter_context(floor(REDIS)),
        }
        for name, address, process in chosen.peer:
            targets[name] = Target(address, PEERS[name](address, CONNECTIONS), int(process))
            targets[name].ask("PUT")
        crowded = ServiceOptions(folder / "crowded")
        beside = stack.enter_context(ours(crowded))
        add_keys(crowded)
        rows, refused = compared(targets, chosen.rounds)
        keys = many_keys(targets["embedded"], beside, chosen.rounds)
        second, other = stack.enter_context(ours(servers)), stack.enter_context(floor(REDIS))
        sockets = {
            "PostgreSQL and Redis": asyncio.run(fan_out([targets["PostgreSQL and Redis"], second], "entries")),
            "floor on Redis": asyncio.run(fan_out([targets["floor on Redis"], other], "context/S0")),
        }
    tables: dict[str, Rows] = {
        f"as fast as it answers; p99 at {OFFERED:.0f}/s": rows,
        f"{KEYS:,} keys": {"embedded": keys},
    }
    report(tables | {f"{LISTENERS} sockets, two processes, {1 / EVERY:.0f} events/s": sockets}, chosen.json)
    sys.exit(refused > 0)


def compared(targets: dict[str, Target], rounds: int) -> tuple[Rows, int]:
    """A row for each target, and how many requests were refused."""
    taken: dict[tuple[str, str], list[tuple[Taken, float]]] = {}
    for _ in range(rounds):
        for kind, method, rate in KINDS:
            for name, target in targets.items():
                taken.setdefault((name, kind), []).append(target.ask(method, rate))

    rows: dict[str, dict[str, float]] = {name: {} for name in targets}
    for (name, kind), rounds_of in taken.items():
        rows[name][kind] = median(each.p99 if "p99" in kind else each.rate for each, _ in rounds_of)
        if "p99" not in kind:
            rows[name][kind.replace("/s", " CPU")] = median(cpu for _, cpu in rounds_of)
    return rows, sum(each.refused for rounds_of in taken.values() for each, _ in rounds_of)


def add_keys(options: ServiceOptions) -> None:
    """Ten thousand keys beside the one that asks."""
    store = Store(options.database_url, time.time)
    with store.transaction("default") as transaction:
        for _ in range(KEYS):
            create_key(transaction, "default", NewKey())
    store.close()


def many_keys(alone: Target, beside: Target, rounds: int) -> Figures:
    """The rates of a key that is nearly alone and of one beside ten thousand, asked in turn."""
    taken = [(alone.ask("GET")[0].rate, beside.ask("GET")[0].rate) for _ in range(rounds)]
    rates = [median(column) for column in zip(*taken, strict=True)]
    ratio = median(other / one for one, other in taken)
    return {"GET/s alone": rates[0], "GET/s beside them": rates[1], "ratio": ratio}


async def fan_out(targets: list[Target], path: str) -> Figures:
    """How long an event takes from its writer, at the first process, to sockets at both."""
    took: list[float] = []
    prefix = BASE if path == "entries" else ""
    async with httpx.AsyncClient(trust_env=False, headers=targets[0].headers) as client:
        ready = asyncio.Semaphore(0)
        listening = [
            asyncio.create_task(_listen(targets[number % 2], prefix, ready, took)) for number in range(LISTENERS)
        ]
        for _ in range(LISTENERS):
            await ready.acquire()
        for _ in range(EVENTS):
            body = json.dumps({"data": {"content": {"at": time.time()}}})
            write = client.post if path == "entries" else client.put
            sending = asyncio.create_task(write(f"{targets[0].address}{prefix}/{path}", content=body))
            await asyncio.sleep(EVERY)
            (await sending).raise_for_status()
        await asyncio.wait_for(asyncio.gather(*listening), 30)
    ordered = sorted(took)
    lost = LISTENERS * EVENTS - len(took)
    return {"p50 ms": ordered[len(took) // 2], "p99 ms": ordered[int(len(took) * 0.99)], "lost": lost}


async def _listen(target: Target, prefix: str, ready: asyncio.Semaphore, took: list[float]) -> None:
    address = f"{target.address.replace('http', 'ws')}{prefix}/ws?cursor="
    async with websockets.connect(address, additional_headers=target.headers, proxy=None) as opened:
        await opened.recv()
        ready.release()
        count = 0
        while count < EVENTS:
            message = json.loads(await opened.recv())
            if at := _written_at(message):
                took.append(1000 * (time.time() - at))
                count += 1


def _written_at(message: dict[str, Any]) -> float | None:
    data = message.get("data", {})
    at: float | None = data.get("changes", data).get("content", {}).get("at")
    return at


@contextmanager
def on_servers(folder: Path) -> Iterator[ServiceOptions]:
    """Options with a database of PostgreSQL that is made and dropped again."""
    name, address = f"bench_{uuid.uuid4().hex}", POSTGRES.rpartition("/")[0]
    engine = create_engine(POSTGRES.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
        try:
            yield ServiceOptions(folder, database=f"{address}/{name}", redis=REDIS)
        finally:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@contextmanager
def ours(options: ServiceOptions) -> Iterator[Target]:
    """The service as `silica serve` starts it, with a key whose requests are counted, and the sessions of the bench."""
    key = add_key(options, {"name": "bench", "tier": "standard_tier"})
    environment = {"DATABASE_URL": options.database, "REDIS_URL": options.redis}
    command = [sys.executable, "-c", UNLIMITED, "serve", "--path", str(options.folder), "--port"]
    with _running(command, environment) as (at, process):
        target = Target(at, _sessions(f"{BASE}/context/"), process, key)
        for number in range(CONNECTIONS):
            package = PACKAGE | {"session_id": f"S{number}"}
            httpx.post(f"{at}{BASE}/context", json=package, headers=target.headers, trust_env=False)
        yield target


@contextmanager
def floor(store: str) -> Iterator[Target]:
    """A floor on this store, in a process of its own."""
    key = uuid.uuid4().hex
    with _running([sys.executable, "-m", "bench.service_floor", store, key], {}) as (at, process):
        target = Target(at, _sessions("/context/"), process, key)
        target.ask("PUT")
        yield target


def _sessions(above: str) -> Asked:
    return Asked(tuple(f"{above}S{number}" for number in range(CONNECTIONS)), PACKAGE)


@contextmanager
def _running(command: list[str], environment: dict[str, str]) -> Iterator[tuple[str, int]]:
    """The address and the process of a server that listens at the port that is the last word of its command."""
    with socket.create_server((HOST, 0)) as probe:
        port = probe.getsockname()[1]
    quiet = subprocess.DEVNULL
    with subprocess.Popen([*command, str(port)], stdout=quiet, stderr=quiet, env=os.environ | environment) as process:
        try:
            _await_port(port)
            yield f"http://{HOST}:{port}", process.pid
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:  # it waits for its sockets
                process.kill()


def _await_port(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with suppress(OSError):
            return socket.create_connection((HOST, port), timeout=1).close()
        time.sleep(0.1)
    raise TimeoutError(f"no server listens at port {port}")


if __name__ == "__main__":
    main()
