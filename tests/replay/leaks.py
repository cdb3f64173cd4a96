"""What no recording may hold: a key, and the machine on which it was made."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from memory_v2.text.secrets import find_secrets
from tests.replay.cassette import HEADERS, HOST, load, strings

MACHINES: Mapping[str, re.Pattern[str]] = {
    "a path of a machine": re.compile(
        r"(?<![\w.:/-])/(?:home|Users|root|tmp|var|private|mnt|opt|srv|work|workspace|builds)/[\w.]|\b[A-Za-z]:\\+Users\b"
    ),
    "the address of a machine": re.compile(r"(?i)\blocalhost:\d|\b127\.\d+\.\d+\.\d+|\b\d+\.\d+\.\d+\.\d+:\d|\[::1\]"),
}


def keys(file: Path) -> list[str]:
    """The keys in a recording, in a cassette as in a trace: where they stand, and what each looks like."""
    found = ((at, kind) for at, text in strings(_data(file)) for kind in _keys_in(text))
    return [f"{file.name}: {kind} at {at or 'the top'}" for at, kind in found]


def machines(file: Path) -> list[str]:
    """What in a cassette shows on which machine it was made, and the headers that should not be there."""
    cassette = load(file)
    found = [f"{kind} at {at or 'the top'}" for at, text in strings(cassette) for kind in _machines_in(text)]
    return [f"{file.name}: {what}" for what in (*found, *_outside(cassette))]


@cache
def _keys_in(text: str) -> tuple[str, ...]:
    return tuple(secret.kind for secret in find_secrets(text))


@cache
def _machines_in(text: str) -> tuple[str, ...]:
    return tuple(kind for kind, pattern in MACHINES.items() if pattern.search(text))


def _data(file: Path) -> Any:
    match file.suffix:
        case ".yaml":
            return load(file)
        case ".jsonl":
            return [json.loads(line) for line in file.read_bytes().splitlines()]
    return [file.read_text("utf-8")]


def _outside(cassette: Mapping[str, Any]) -> Iterator[str]:
    for number, one in enumerate(cassette["interactions"], 1):
        if not one["request"]["uri"].startswith(f"{HOST}/"):
            yield f"the host in the address of request {number}"
        for side in ("request", "response"):
            if strange := sorted(one[side]["headers"].keys() - HEADERS):
                yield f"the headers {strange} of {side} {number}"
