"""Node, and what the clients for it need for their checks."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


def node() -> str:
    """The path of Node; in CI it is an error if there is none."""
    found = shutil.which("node")
    if found is None:
        assert not os.environ.get("CI"), "node is missing"
        pytest.skip("no node: the clients for JavaScript were not tested")
    return found


def installed(client: Path, program: str) -> Path:
    """A program that `npm ci` installs for a client; in CI it is an error if it was not run."""
    found = client / "node_modules" / program
    if not found.exists():
        assert not os.environ.get("CI"), f"{found} is missing: run npm ci in {client}"
        pytest.skip(f"npm ci was not run in {client}: {program} was not used")
    return found
