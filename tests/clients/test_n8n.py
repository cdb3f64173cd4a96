"""The nodes for n8n: n8n's own linter, and the cases played by the compiled nodes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.clients.node import installed, node
from tests.clients.stage import Stage, control

CLIENT = Path(__file__).parents[2] / "clients" / "n8n"


def test_the_linter_of_n8n_finds_nothing() -> None:
    command: list[str | Path] = [node(), installed(CLIENT, "eslint/bin/eslint.js"), "--max-warnings=0", "."]
    done = subprocess.run(command, cwd=CLIENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_compiled_nodes_play_the_cases(the_stage: Stage) -> None:
    for build in (installed(CLIENT, "typescript/bin/tsc"), CLIENT / "build.mjs"):
        subprocess.run([node(), build], cwd=CLIENT, check=True)
    with control(the_stage) as address:
        told = {"STAGE_CONTROL": address, "STAGE_ADDRESS": the_stage.address, "STAGE_KEY": the_stage.key}
        command = [node(), "--test", "--test-timeout=60000", "test/cases.test.mjs"]
        done = subprocess.run(command, cwd=CLIENT, env=os.environ | told, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
