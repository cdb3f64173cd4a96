"""A real server on a free port, with a clock that can be moved."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from memory_v2.service.app import application
from memory_v2.service.issuing import create_key
from memory_v2.service.migrating import migrate
from memory_v2.service.models import NewKey
from memory_v2.service.options import ServiceOptions
from memory_v2.service.parts import Parts
from memory_v2.service.server import Server
from memory_v2.settings import S3Settings
from tests import forks

HOST = "127.0.0.1"
BASE = "/api/v1/memory"


Started = tuple[forks.Popen[str], str, str]
"""A process, its address, and its key if it made one."""


class Clock:
    """The real time, and what it was moved by."""

    def __init__(self) -> None:
        self.moved = 0.0

    def __call__(self) -> float:
        return time.time() + self.moved


@dataclass
class Running:
    """A service that runs."""

    address: str
    parts: Parts
    clock: Clock
    clients: list[httpx.Client] = field(default_factory=list)

    def key(self, source: str = "*", tenant: str = "default", tier: str = "unlimited_tier", **extra: Any) -> str:
        """A new key."""
        new = NewKey.model_validate({"sources": [source], "tier": tier, **extra})
        with self.parts.store.transaction(tenant) as transaction:
            return str(create_key(transaction, tenant, new)["key"])

    def client(self, source: str = "hawk", tenant: str = "default", **extra: Any) -> httpx.Client:
        """A client of an agent, with a key of its own; closed with the service."""
        headers = {"Authorization": f"Bearer {self.key(source, tenant, **extra)}"}
        made = httpx.Client(base_url=f"{self.address}{BASE}", headers=headers, timeout=20, trust_env=False)
        self.clients.append(made)
        return made


@contextmanager
def running(
    folder: Path, database: str = "", redis: str = "", s3: S3Settings | None = None, origins: tuple[str, ...] = ()
) -> Iterator[Running]:
    """Starts a service over a folder or a bucket, on a database or on a file in the folder, and stops it."""
    clock = Clock()
    options = ServiceOptions(folder, database=database, redis=redis, s3=s3, origins=origins)
    migrate(options.database_url)
    parts = Parts.of(options, clock)
    listening = socket.create_server((HOST, 0), backlog=512)
    config = uvicorn.Config(
        application(parts, options.origins), log_config=None, access_log=False, timeout_graceful_shutdown=5
    )
    server = Server(config, parts)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    address = f"http://{HOST}:{listening.getsockname()[1]}"
    httpx.get(f"{address}/livez", timeout=20, trust_env=False)  # the socket listens already: it waits for the start
    service = Running(address, parts, clock)
    try:
        yield service
    finally:
        for client in service.clients:
            client.close()
        server.should_exit = True
        thread.join(20)
        listening.close()
        assert not thread.is_alive()


@contextmanager
def program(folder: Path, environment: dict[str, str] | None = None, port: int = 0) -> Iterator[Started]:
    """`silica serve` as people start it."""
    command = [sys.executable, "-m", "memory_v2.cli", "serve", "--path", str(folder), "--port", str(port)]
    env = os.environ | (environment or {})
    with forks.Popen[str](command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env) as process:
        assert process.stdout is not None
        said = ""
        while "/search" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        address = re.search(r"http://[\d.:]+", said)
        key = re.search(r"dm_\w{12}_[\w-]+", said)
        assert address
        try:
            yield process, address[0], key[0] if key else ""
        finally:
            process.terminate()
            process.wait(20)
