"""The client for JavaScript: its own tests, started against the stage, and its types."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from distributed_memory import MemoryClient, is_pending
from tests.clients.node import installed, node
from tests.clients.stage import Stage, control
from tests.clients.test_python import QUICK

CLIENT = Path(__file__).parents[2] / "clients" / "js"


@pytest.fixture
def waiting(the_stage: Stage, tmp_path: Path) -> Path:
    """An offline folder in which the Python client has left a write."""
    the_stage.do({"begin": "waiting"})
    the_stage.shut()
    with MemoryClient(the_stage.key, the_stage.address, source="hawk", offline=tmp_path, retry=QUICK) as client:
        assert is_pending(client.create_entry({"n": 1}, tags=[f"python-{tmp_path.name}"]))
    the_stage.open()
    return tmp_path


def test_the_cases_and_the_outbox(the_stage: Stage, waiting: Path) -> None:
    with control(the_stage) as address:
        told = {"STAGE_CONTROL": address, "STAGE_ADDRESS": the_stage.address, "STAGE_KEY": the_stage.key}
        environment = os.environ | told | {"PYTHON_FOLDER": str(waiting)}
        command = [
            node(),
            "--test",
            "--test-timeout=240000",
            "--test-concurrency=1",
            "test/cases.test.js",
            "test/store.test.js",
        ]
        done = subprocess.run(command, cwd=CLIENT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_types_are_those_of_the_sources(tmp_path: Path) -> None:
    compiler = installed(CLIENT, "typescript/bin/tsc")
    subprocess.run([node(), compiler, "--outDir", tmp_path], cwd=CLIENT, check=True)
    shown = {path.name: path.read_text("utf-8") for path in (CLIENT / "types").iterdir()}
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == shown, "run: npm run types"
