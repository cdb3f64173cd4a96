"""Benchmark data: the texts beside this file, and public ones that are not ours to ship (`SILICA_BENCH_DATA`)."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
VARIABLE = "SILICA_BENCH_DATA"
DEFAULT = HERE / ".." / "shared" / "data"


_SUBJECTS = "the harbour|the night train|Ines|the third release|our auditor|the old index|Fjordbank|the kitchen"
_VERBS = "waits for|was moved by|depends on|is paid by|replaces|asked about|knows|closes before"
_OBJECTS = "the spring sale|a signed contract|staging|two engineers|Porto|the blue key|the May review|nobody"


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


def sentence(chance: random.Random) -> str:
    """A short sentence, made of the same words again and again."""
    return " ".join(chance.choice(words.split("|")) for words in (_SUBJECTS, _VERBS, _OBJECTS))
