"""What is wrong with a file as such: its bytes, its length, and secrets in it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from memory_v2.notes.audit.finding import Finding
from memory_v2.notes.audit.material import Material, stem_of
from memory_v2.text.secrets import find_secrets

LOADED = frozenset(["memory", "claude", "agents"])
"""The names of files that agents load whole when they start, in lower case."""

_LINE = re.compile(rb"[^\r\n]*(\r\n|\r|\n)")
_WRITTEN = {b"\r\n": "CRLF", b"\n": "LF", b"\r": "CR"}


def encodings(material: Material) -> Iterator[Finding]:
    """Bytes that are not UTF-8, byte order marks, and line ends of several kinds."""
    for note in material.notes:
        data = material.data.get(note.name, b"")
        broken = [number for number, line in enumerate(data.split(b"\n"), 1) if not _is_utf8(line)]
        if note.trouble and broken:
            message = "; ".join(note.trouble)
            yield Finding("not-utf8", note.name, broken[0], message, "", day=note.day)
        elif data.startswith(codecs.BOM_UTF8):
            message = "the file begins with a byte order mark"
            yield Finding("byte-order-mark", note.name, 1, message, "", day=note.day)
        ends = [found[1] for found in _LINE.finditer(data)]
        if not note.trouble and len(kinds := sorted(set(ends), key=ends.count)) > 1:
            counts = " and ".join(f"{ends.count(kind):,} in {_WRITTEN[kind]}" for kind in reversed(kinds))
            message = f"of its lines, {counts}; the first in {_WRITTEN[kinds[0]]} is this one"
            yield Finding("mixed-line-ends", note.name, ends.index(kinds[0]) + 1, message, "", day=note.day)


def secrets(material: Material) -> Iterator[Finding]:
    """Likely secrets, masked."""
    for note in material.notes:
        for secret in find_secrets(material.texts.get(note.name, "")):
            message = f"this looks like a {secret.kind}: {secret.shown}"
            yield Finding("secret", note.name, secret.line, message, secret.kind, day=note.day)


def budgets(material: Material) -> Iterator[Finding]:
    """Index files that are longer than what agents load of them."""
    policy = material.policy
    for note in material.notes:
        if stem_of(note.name).casefold() not in LOADED:
            continue
        data = material.data.get(note.name, b"")
        lines = len(data.splitlines())
        if lines > policy.index_lines or len(data) > policy.index_bytes:
            line = min(policy.index_lines, 1 + data[: policy.index_bytes].count(b"\n")) if lines > 1 else 1
            message = f"{lines:,} lines and {len(data):,} bytes; agents load {policy.index_lines:,} lines and "
            yield Finding(
                "over-budget", note.name, line, f"{message}{policy.index_bytes:,} bytes, up to here", "", day=note.day
            )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
