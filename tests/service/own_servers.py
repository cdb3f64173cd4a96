"""PostgreSQL and Redis of a test's own, which it may kill: the binaries of this machine, on free ports."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.service.running import HOST

START_SECONDS = 60.0
POSTGRES_USER = "postgres"


@dataclass
class OwnServer:
    """A server that keeps its port and its folder when it is killed and started again."""

    command: list[str]
    port: int
    as_user: str | None = None
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, and waits until it takes connections."""
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(
            self.command, stdout=quiet, stderr=quiet, user=self.as_user, start_new_session=True
        )
        until = time.monotonic() + START_SECONDS
        while not _listens(self.port):
            assert time.monotonic() < until, self.command
            time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL to the server and its children."""
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(20)


@contextmanager
def own_redis() -> Iterator[tuple[OwnServer, str]]:
    """A Redis that has each write on its disk before it answers, and its address."""
    program, port = binary("redis-server"), free_port()
    with tempfile.TemporaryDirectory() as folder:
        options = f"--bind {HOST} --port {port} --dir {folder} --save '' --appendonly yes --appendfsync always"
        with _kept(OwnServer([program, *options.replace("''", "").split()], port)) as server:
            yield server, f"redis://{HOST}:{port}"


@contextmanager
def own_postgres() -> Iterator[tuple[OwnServer, str]]:
    """A PostgreSQL as it is installed, and its address."""
    program, port = binary("postgres"), free_port()
    user = POSTGRES_USER if os.geteuid() == 0 else None  # it refuses to run as root
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        subprocess.run(["cp", "-a", Path(_new_cluster(user).name) / "data", data], check=True)
        if user:
            shutil.chown(folder, user)
        started = [program, "-D", str(data), "-h", HOST, "-p", str(port), "-k", folder]
        with _kept(OwnServer(started, port, user)) as server:
            yield server, f"postgresql://{POSTGRES_USER}@{HOST}:{port}/postgres"


@cache
def _new_cluster(user: str | None) -> tempfile.TemporaryDirectory[str]:
    """A folder with the `data` of a PostgreSQL that was never started."""
    made = tempfile.TemporaryDirectory()
    if user:
        shutil.chown(made.name, user)
    command = [binary("initdb"), "-D", f"{made.name}/data", "-U", POSTGRES_USER, "-A", "trust", "-E", "UTF8"]
    subprocess.run([*command, "--no-sync"], check=True, user=user, stdout=subprocess.DEVNULL)
    return made


@contextmanager
def _kept(server: OwnServer) -> Iterator[OwnServer]:
    server.start()
    try:
        yield server
    finally:
        server.kill()


def binary(name: str) -> str:
    """Where a program is; without it the test is skipped, in CI it fails."""
    found = shutil.which(name)
    if found is None:
        if os.environ.get("CI"):
            raise FileNotFoundError(name)
        pytest.skip(f"{name} is not installed: killing it was not tested")
    return found


def free_port() -> int:
    """A free port."""
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def until(is_so: Callable[[], bool], seconds: float = START_SECONDS) -> None:
    """Waits."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)
