"""Folders that many tests begin with: each is made once by these tests, and copied for every test."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path


def copied_from(make: Callable[[Path], object], folder: Path) -> Path:
    """The folder, with a copy of what a function makes in a new one. The function is called once, and closes what it
    opens."""
    shutil.copytree(_template(make).name, folder, symlinks=True, dirs_exist_ok=True)
    return folder


@cache
def _template(make: Callable[[Path], object]) -> tempfile.TemporaryDirectory[str]:
    made = tempfile.TemporaryDirectory(prefix="silica-tests-")
    make(Path(made.name))
    return made
