"""Load for an HTTP server, from a process of its own: as fast as it answers, or at a rate."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Load:
    """Requests to send, over a connection for each of the `paths`; `{n}` in the body is its number. Without a `rate`,
    in requests a second over all connections, each connection asks as soon as it is answered."""

    address: str
    paths: tuple[str, ...]
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    seconds: float = 4.0
    rate: float = 0.0


@dataclass(frozen=True)
class Taken:
    """Answers a second, how long they took in milliseconds, and how many were refusals."""

    rate: float
    p50: float
    p99: float
    refused: int


def load(wanted: Load) -> Taken:
    """Runs a load in a process of its own."""
    command = [sys.executable, "-m", "bench.load"]
    done = subprocess.run(command, input=json.dumps(asdict(wanted)), capture_output=True, text=True, check=True)
    return Taken(**json.loads(done.stdout))


async def _run(wanted: Load) -> Taken:
    times: list[float] = []
    refused: list[bytes] = []
    started = time.perf_counter()
    await asyncio.gather(*(_ask(wanted, number, started, times, refused) for number in range(len(wanted.paths))))
    seconds = time.perf_counter() - started
    ordered = sorted(times)
    at = [1000 * ordered[int(len(ordered) * share)] for share in (0.5, 0.99)]
    return Taken(len(times) / seconds, at[0], at[1], len(refused))


async def _ask(wanted: Load, number: int, started: float, times: list[float], refused: list[bytes]) -> None:
    place = urlsplit(wanted.address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    lines = [f"{wanted.method} {wanted.paths[number]} HTTP/1.1", f"Host: {place.netloc}"]
    body = wanted.body.replace("{n}", str(number)).encode()
    lines += [f"{name}: {value}" for name, value in (*wanted.headers, ("Content-Length", str(len(body))))]
    request = "\r\n".join([*lines, "", ""]).encode() + body
    every = len(wanted.paths) / wanted.rate if wanted.rate else 0.0
    due = started + every * number / len(wanted.paths)
    while (now := time.perf_counter()) < started + wanted.seconds:
        if due > now:
            await asyncio.sleep(due - now)
        began = due if every else now  # what waits for its turn has waited too
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length or 0))
        times.append(time.perf_counter() - began)
        due += every
        if not head.startswith(b"HTTP/1.1 2"):
            refused.append(head)
    writer.close()


if __name__ == "__main__":
    given = json.loads(sys.stdin.read())
    print(json.dumps(asdict(asyncio.run(_run(Load(**given))))))
