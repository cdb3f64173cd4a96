"""The server over HTTP, in a process of its own: who may reach it, and what happens when somebody leaves."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from memory_v2 import Memory
from memory_v2.errors import InvalidSetting
from memory_v2.mcp.http import check_access, is_loopback
from memory_v2.storage.base import PENDING
from tests import forks
from tests.mcp.scenes import AGES, HANGS, Mode, operation_of, pages, words
from tests.mcp.test_stdio import environment, started
from tests.wire.server import Hangs
from tests.wire.server import serving as provider_at_work

HOST = "127.0.0.1"
TOKEN = "a-token-of-twenty-four-c"
WEB = "https://notes.example"
pytestmark = [pytest.mark.anyio, pytest.mark.allow_hosts([HOST])]


@dataclass(frozen=True)
class Running:
    """A server, its address, and its process."""

    url: str
    process: forks.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1].split("/")[0])

    def post(self, headers: Mapping[str, str], host: str = "") -> tuple[int, str]:
        """The status and the body of the answer to a handshake with these headers."""
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
        own = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        own["Host"] = host or f"{HOST}:{self.port}"
        connection = http.client.HTTPConnection(HOST, self.port, timeout=30)
        try:
            connection.request("POST", "/mcp", body, {**own, **headers})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


@contextmanager
def serving(
    folder: Path, *options: str, token: str = "", env: Mapping[str, str] | None = None, first: str = ""
) -> Iterator[Running]:
    """A server on a free port, in a process that runs some code `first`."""
    command = started(folder, "--http", "--port", "0", *options)
    command[1:3] = ["-c", f"{first}from memory_v2.cli import main; main()"]
    seen = {**environment(), "SILICA_MEMORY_MCP_TOKEN": token, **(env or {})}
    process = forks.Popen[str](command, stderr=subprocess.PIPE, text=True, env=seen)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        assert "serving http://" in line, line + process.stderr.read()
        yield Running(line.split("serving ")[1].split()[0], process)
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(scope="module")
def protected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with a token, for all tests here that only knock at its door."""
    with serving(tmp_path_factory.mktemp("memory"), "--origin", WEB, token=TOKEN) as running:
        yield running


@asynccontextmanager
async def client_of(running: Running, mode: Mode = "auto", token: str = "", **options: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with anyio.fail_after(HANGS):
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as web,
            Client(streamable_http_client(running.url, http_client=web), mode=mode, **options) as client,
        ):
            yield client


@pytest.mark.parametrize("mode", AGES)
async def test_agents_write_and_find_over_http(protected: Running, mode: Mode) -> None:
    async with client_of(protected, mode, TOKEN) as client, client_of(protected, mode, TOKEN) as other:
        await client.call_tool("write_memory", {"content": f"Leeks are planted in March, says {mode}."})
        assert mode in words(await other.call_tool("search_memory", {"query": "When are leeks planted?"}))


BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    ("headers", "host", "status"),
    [
        (BEARER, "", 200),
        ({"Authorization": f"bearer  {TOKEN}"}, "", 200),
        ({}, "", 401),
        ({"Authorization": "Bearer"}, "", 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, "", 401),
        ({"Authorization": f"Basic {TOKEN}"}, "", 401),
        (BEARER | {"Origin": "http://localhost:3000"}, "", 200),
        (BEARER | {"Origin": "https://127.0.0.1:3000"}, "", 200),
        (BEARER | {"Origin": WEB}, "", 200),
        (BEARER | {"Origin": "https://evil.example"}, "", 403),
        (BEARER | {"Origin": "null"}, "", 403),
        (BEARER | {"Origin": "http://[::1"}, "", 403),
        (BEARER | {"Origin": "http://localhost.evil.example"}, "", 403),
        (BEARER, "evil.example:80", 421),
    ],
)
def test_the_door_opens_for_the_token_and_for_known_origins(
    protected: Running, headers: dict[str, str], host: str, status: int
) -> None:
    answered, body = protected.post(headers, host)
    assert answered == status, body
    assert TOKEN not in body


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "memory.example"])
def test_other_machines_need_a_token(host: str) -> None:
    with pytest.raises(InvalidSetting, match="SILICA_MEMORY_MCP_TOKEN"):
        check_access(host, "")
    check_access(host, TOKEN)


@pytest.mark.parametrize("token", ["short", "with a blank in between", "línea-con-acentos-y-más", "a" * 20 + "\n"])
def test_a_token_that_is_easy_to_guess_or_cannot_be_sent_is_refused(token: str) -> None:
    with pytest.raises(InvalidSetting, match="16 ASCII characters"):
        check_access(HOST, token)


def test_loopback_is_this_machine_only() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost", "LOCALHOST")))
    assert not any(map(is_loopback, ("", "0.0.0.0", "::", "10.0.0.1", "localhost.example", "127.0.0.1.example")))


def test_a_program_gets_the_address_as_a_document(tmp_path: Path) -> None:
    command = started(tmp_path, "--http", "--port", "0", "--json")
    with forks.Popen[str](command, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["address"].endswith("/mcp")
        process.terminate()
    done = forks.run_module(*started(tmp_path, "--json")[2:], env=environment())
    assert done.code == 2
    assert "--http" in json.loads(done.out)["error"]["message"]


def test_a_port_that_is_taken_is_a_usage_error(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = str(taken.getsockname()[1])
        done = forks.run_module(*started(tmp_path, "--http", "--port", port)[2:], env=environment())
    assert done.code == 2
    assert b"--port" in done.err


def test_a_client_that_does_not_send_its_request_in_time_is_hung_up_on(tmp_path: Path) -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 100\r\n".encode()
    with serving(tmp_path, first="import memory_v2.mcp.http as http; http.REQUEST_SECONDS = 0.5; ") as running:
        for begun in (b"", head[:30], head, head + b"\r\n{"):
            with socket.create_connection((HOST, running.port), timeout=10) as connection:
                connection.sendall(begun)
                while connection.recv(4_096):
                    pass
        assert running.post({})[0] == 200


@pytest.mark.parametrize("mode", AGES)
async def test_a_call_that_is_cancelled_halfway_changes_nothing(tmp_path: Path, mode: Mode) -> None:
    """Older clients send a notification, newer ones hang up."""
    memory = Memory.open(tmp_path)
    memory.write("# Garden\n\nTwo beds.", "garden")
    before = pages(memory)
    with provider_at_work() as provider:
        provider.script = lambda _: Hangs()
        env = {"OPENAI_BASE_URL": f"{provider.url}/v1", "OPENAI_API_KEY": "k" * 20, "NO_PROXY": HOST}
        with serving(tmp_path, env=env | {"SILICA_MEMORY_MODEL": "openai:nobody"}) as running:
            async with client_of(running, mode) as client:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(client.call_tool, "write_memory", {"content": "Leeks are planted in March."})
                    while not provider.requests:
                        await anyio.sleep(0.01)
                    tasks.cancel_scope.cancel()
                while memory.storage.state.names(PENDING):
                    await anyio.sleep(0.01)
    assert pages(memory) == before


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
async def test_a_server_that_is_stopped_files_what_waits(tmp_path: Path, by: signal.Signals) -> None:
    Memory.open(tmp_path).write("# Garden\n\nTwo beds.", "garden")
    with serving(tmp_path, "--decide", "host") as running:
        async with client_of(running) as client:
            assert operation_of(words(await client.call_tool("write_memory", {"content": "Leeks are for March."})))
            os.kill(running.process.pid, by)
            while running.process.poll() is None:
                await anyio.sleep(0.01)
    memory = Memory.open(tmp_path)
    assert memory.recover() == []
    assert "Leeks" in "".join(pages(memory).values())
