"""`silica view` and `silica memory view` serve the page until they are stopped."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from memory_v2 import Memory
from tests import forks


@pytest.mark.parametrize("named", [True, False], ids=["memory view", "view"])
def test_the_command_prints_the_address_and_the_link_and_serves(tmp_path: Path, named: bool) -> None:
    folder = tmp_path / "memory"
    with Memory.open(folder) as memory:
        memory.write("Leeks are planted in March.")
    words = ["memory", "--path", str(folder), "view"] if named else ["view"]
    command = [sys.executable, "-m", "memory_v2.cli", *words, "--port", "0", "--json", "--notes", str(tmp_path)]
    environment = {**os.environ, "SILICA_MEMORY_PATH": str(folder), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    with forks.Popen[str](command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        with httpx.Client(trust_env=False) as client:
            assert client.get(told["link"]).status_code == 200
            assert "Leeks" in client.get(f"{told['address']}/page/memory").text
            assert tmp_path.name in client.get(f"{told['address']}/notes").text
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) in (0, 130)


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = forks.run_module("memory_v2.cli", "memory", "--path", str(tmp_path), "view", "--port", port)
    assert done.code == 2 and b"choose another --port" in done.err
