"""Runs a bench of this checkout with another version of the program, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent
_START = (
    "import memory_v2, runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)
"""Imports the program from the version, and only then looks for benches here."""


def run_with(version: Path, module: str, *arguments: str) -> Any:
    """What a bench prints, which is JSON, with the program of this checkout."""
    command = [sys.executable, "-c", _START, str(HERE), module, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(version)}
    done = subprocess.run(command, env=environment, cwd=version, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)
