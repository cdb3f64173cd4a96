"""Benchmark data: the texts beside this file, and public ones that are not ours to ship (`SILICA_BENCH_DATA`)."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
VARIABLE = "SILICA_BENCH_DATA"
DEFAULT = HERE / ".." / "shared" / "data"


def data_folder() -> Path:
    """The folder of the public data, whether it is there or not."""
    return Path(os.environ.get(VARIABLE) or DEFAULT)


def data_file(name: str) -> Path:
    """A file of the public data. Exits with status 2, naming the file, if it is missing."""
    file = data_folder() / name
    if not file.is_file():
        print(f"missing: {file}\nset {VARIABLE} to the folder that holds {name}", file=sys.stderr)
        raise SystemExit(2)
    return file


def load(name: str) -> Any:
    """A JSON file of the public data."""
    return json.loads(data_file(name).read_text("utf-8"))


def own_texts(name: str) -> Any:
    """A JSON file of `bench/texts`: notes and questions that were written for a bench."""
    return json.loads((Path(__file__).parent / "texts" / f"{name}.json").read_text("utf-8"))
