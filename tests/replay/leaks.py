"""What no recording may tell: a key, and the machine on which it was made."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.replay.cassette import HEADERS, HOST, load, strings

KEYS: Mapping[str, re.Pattern[str]] = {
    "a provider's key": re.compile(r"\b[spr]k-[A-Za-z0-9_-]{16,}"),
    "a bearer token": re.compile(r"(?i)\bbearer\s+(?=\S*\d)[\w.~+/=-]{8,}"),
    "a JSON web token": re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+"),
    "a key of AWS": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "a key of Google": re.compile(r"\bAIza[\w-]{35}"),
    "a token of GitHub": re.compile(r"\b(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}"),
    "a token of Slack": re.compile(r"\bxox[abeoprs]-[\w-]{10,}"),
    "a token of Hugging Face": re.compile(r"\bhf_[A-Za-z0-9]{20,}"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a header that carries a key": re.compile(
        r"(?i)\bx-api-key\b|^(?:(?:proxy-)?authorization|api-key|(?:set-)?cookie|(?:openai|anthropic)-organization.*)$"
    ),
}
MACHINES: Mapping[str, re.Pattern[str]] = {
    "a path of a machine": re.compile(
        r"(?<![\w.:/-])/(?:home|Users|root|tmp|var|private|mnt|opt|srv|work|workspace|builds)/[\w.]|\b[A-Za-z]:\\+Users\b"
    ),
    "the address of a machine": re.compile(r"(?i)\blocalhost:\d|\b127\.\d+\.\d+\.\d+|\b\d+\.\d+\.\d+\.\d+:\d|\[::1\]"),
}


def keys(file: Path) -> list[str]:
    """The keys in a recording, in a cassette as in a trace: where they stand, and what each looks like."""
    return list(_found(file, KEYS))


def machines(file: Path) -> list[str]:
    """What in a cassette tells of the machine on which it was made, and the headers that should not be there."""
    return [*_found(file, MACHINES), *_outside(file)]


def name(file: Path) -> str:
    """A recording as it is told of."""
    return f"{file.parent.name}/{file.name}"


def _found(file: Path, kinds: Mapping[str, re.Pattern[str]]) -> Iterator[str]:
    for at, text in strings(_data(file)):
        for kind, pattern in kinds.items():
            if pattern.search(text):
                yield f"{name(file)}: {kind} at {at or 'the top'}"


def _data(file: Path) -> Any:
    match file.suffix:
        case ".yaml":
            return load(file)
        case ".jsonl":
            return [json.loads(line) for line in file.read_bytes().splitlines()]
    return [file.read_text("utf-8")]


def _outside(file: Path) -> Iterator[str]:
    for number, one in enumerate(load(file)["interactions"], 1):
        if not one["request"]["uri"].startswith(f"{HOST}/"):
            yield f"{name(file)}: the host in the address of request {number}"
        for side in ("request", "response"):
            if strange := sorted(one[side]["headers"].keys() - HEADERS):
                yield f"{name(file)}: the headers {strange} of {side} {number}"
