"""Runs a part of these tests in a process of its own: one without threads, which may fork, and whose garbage is its."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def run_alone(module: str, *arguments: str) -> Any:
    """What `python -m` prints, which is JSON."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    if done.returncode:
        raise AssertionError(f"{module} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)
