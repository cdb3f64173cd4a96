"""Runs a part of these tests in a process of its own: one without threads, which may fork, and whose garbage is its."""

from __future__ import annotations

import json
from typing import Any

from tests.forks import run_module


def run_alone(module: str, *arguments: str) -> Any:
    """What `python -m` prints, which is JSON."""
    done = run_module(module, *arguments)
    if done.code:
        raise AssertionError(f"{module} ended with {done.code}:\n{done.err.decode()}")
    return json.loads(done.out)
