"""Runs a part of these tests in a process of its own: one without threads, which may fork, and whose garbage is its."""

from __future__ import annotations

import json
from typing import Any

from tests.forks import run_module

TIMEOUT = 3_600.0
"""Seconds after which it is killed: to kill at every boundary of an operation takes minutes."""


def run_alone(module: str, *arguments: str) -> Any:
    """What `python -m` prints, which is JSON."""
    done = run_module(module, *arguments, timeout=TIMEOUT)
    if done.code:
        raise AssertionError(f"{module} ended with {done.code}:\n{done.err.decode()}")
    return json.loads(done.out)
