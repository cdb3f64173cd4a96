"""The server as a host starts it: a process that speaks the protocol on its standard streams, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from memory_v2 import Memory
from memory_v2.storage.base import PENDING
from tests import forks
from tests.mcp.scenes import AGES, Mode, operation_of, pages, words

pytestmark = pytest.mark.anyio
PROJECT = Path(__file__).parents[2]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}

WRITE = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "write_memory", "arguments": {"content": "Leeks are planted in March."}},
}


def started(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "memory_v2.cli", "memory", "--path", str(folder), "mcp", *options]


def environment() -> dict[str, str]:
    return {"PYTHONPATH": str(PROJECT), "PATH": os.environ["PATH"]}


@asynccontextmanager
async def hosted(folder: Path, *options: str, mode: Mode = "auto") -> AsyncIterator[Client]:
    command, *arguments = started(folder, *options)
    parameters = StdioServerParameters(command=command, args=arguments, env=environment())
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


@pytest.mark.parametrize("mode", AGES)
async def test_a_host_starts_it_and_everything_works(tmp_path: Path, mode: Mode) -> None:
    async with hosted(tmp_path, mode=mode) as client:
        await client.call_tool("write_memory", {"content": "Leeks are planted in March."})
        assert "March" in words(await client.call_tool("search_memory", {"query": "When are leeks planted?"}))
        assert "Leeks" in words(await client.call_tool("read_memory", {}))
        assert not (await client.call_tool("split_memory", {})).is_error
        await client.call_tool("undo_memory", {})
    assert "Leeks" not in "".join(pages(Memory.open(tmp_path)).values())


@contextmanager
def a_text_waits(folder: Path) -> Iterator[forks.Popen[bytes]]:
    """A server whose agent was asked about a text, and has not answered yet."""
    Memory.open(folder).write("# Garden\n\nTwo beds.", "garden")
    command = started(folder, "--decide", "host")
    with forks.Popen[bytes](command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in (INITIALIZE, WRITE):
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
        assert operation_of(answer["result"]["content"][0]["text"])
        yield process


def test_a_server_that_is_killed_loses_no_text_that_waits_for_a_decision(tmp_path: Path) -> None:
    with a_text_waits(tmp_path) as process:
        process.kill()
    memory = Memory.open(tmp_path)
    assert memory.storage.state.names(PENDING)
    assert "March" in memory.search("When are leeks planted?")[0].excerpt


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_stopped_files_the_text_first(tmp_path: Path, by: signal.Signals) -> None:
    with a_text_waits(tmp_path) as process:
        process.send_signal(by)
        assert process.wait(60) == -by
    memory = Memory.open(tmp_path)
    assert not memory.storage.state.names(PENDING)
    assert "March" in memory.search("When are leeks planted?")[0].excerpt


def test_nothing_but_the_protocol_is_on_standard_output(tmp_path: Path) -> None:
    lines = b"this is no message\n" + json.dumps(INITIALIZE).encode() + b"\n"
    done = forks.run_module(*started(tmp_path)[2:], stdin=lines, env=environment())
    (answer,) = [json.loads(line) for line in done.out.splitlines()]
    assert answer["result"]["serverInfo"]["name"] == "silica-memory"
    assert answer["result"]["protocolVersion"] == "2025-06-18"
    assert done.code == 0


@pytest.mark.parametrize("way", ["model", "host"])
def test_a_write_that_is_under_way_when_the_host_leaves_is_finished(tmp_path: Path, way: str) -> None:
    Memory.open(tmp_path).write("# Garden\n\nTwo beds.", "garden")
    lines = "".join(json.dumps(message) + "\n" for message in (INITIALIZE, WRITE))
    forks.run_module(*started(tmp_path, "--decide", way)[2:], stdin=lines.encode(), env=environment())
    folder = Memory.open(tmp_path)
    assert not folder.storage.state.names(PENDING)
    assert "Leeks" in "".join(pages(folder).values())


def test_without_the_extra_an_error_says_how_to_install_it(tmp_path: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None; from memory_v2.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "memory", "--path", str(tmp_path), "mcp"],
        capture_output=True,
        text=True,
        env=environment(),
    )
    assert done.returncode == 2
    assert "pip install 'silica-memory[mcp]'" in done.stderr
    assert not done.stdout


def test_a_host_that_hears_nothing_any_more_is_no_fault(tmp_path: Path) -> None:
    process = forks.Popen[bytes](
        started(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stdin is not None
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    process.stdin.close()
    assert process.stderr is not None
    with process.stderr as said:
        assert b"Traceback" not in said.read()
    assert process.wait(60) == 0


def test_a_request_that_cannot_be_read_is_answered(tmp_path: Path) -> None:
    half_an_emoji = json.dumps(WRITE).replace("Leeks", r"\ud83d")
    no_request = json.dumps({**WRITE, "params": [1]})
    no_id = json.dumps({**WRITE, "id": "\ud83d"})  # half an emoji too: no answer can name it
    with forks.Popen[bytes](
        started(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers = []
        no_answers = "[" * 100_000 + "\n" + no_id + "\n"
        for lines in (json.dumps(INITIALIZE), half_an_emoji, no_answers + no_request, json.dumps(WRITE)):
            process.stdin.write(lines.encode() + b"\n")
            process.stdin.flush()
            answers.append(json.loads(process.stdout.readline()))
    _, unreadable, unknown, written = answers
    assert [answer["id"] for answer in answers] == [1, 2, 2, 2]
    assert "cannot be read" in unreadable["error"]["message"]
    assert "no request of the protocol" in unknown["error"]["message"]
    assert not written["result"]["isError"]
    assert "Leeks" in Memory.open(tmp_path).read()


def test_a_request_with_an_id_that_no_answer_can_have_ends_no_server(tmp_path: Path) -> None:
    unanswerable = ("true", r'"\ud83d"', "null", "1.5", "9" * 5_000)
    odd = ['{"jsonrpc": "2.0", "id": ' + one + ', "method": "ping", "params": 5}' for one in unanswerable]
    batch = json.dumps([{**WRITE, "id": 7}, {"jsonrpc": "2.0", "method": "notifications/x"}, {**WRITE, "id": 8}])
    lines = (json.dumps(INITIALIZE), *odd, batch, json.dumps({**WRITE, "method": "ping"}))
    with forks.Popen[bytes](
        started(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(f"{line}\n" for line in lines).encode())
        process.stdin.flush()
        told = [process.stdout.readline() for _ in range(4)]
        process.stdin.close()
    answers = {answer["id"]: answer for answer in map(json.loads, told)}
    assert process.returncode == 0
    assert answers.keys() == {1, 7, 8, 2}
    assert "one by one" in answers[8]["error"]["message"]
    assert answers[2]["result"] == {}
