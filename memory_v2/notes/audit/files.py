"""What is wrong with a file as such: its bytes, its length, and secrets in it."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator

from memory_v2.notes.audit.context import AuditContext, stem_of
from memory_v2.notes.audit.findings import NoteFinding
from memory_v2.notes.note import Note
from memory_v2.text.secrets import find_secrets

LOADED = frozenset(["memory", "claude", "agents"])
"""The names of files that agents load whole when they start, in lower case."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_WRITTEN = {b"\r\n": "CRLF", b"\n": "LF", b"\r": "CR"}


def own(context: AuditContext) -> Iterator[NoteFinding]:
    """What is found in each note by itself: secrets, and bytes that are no text. They are kept until the note changes;
    what cannot be read is looked at again."""

    def check(note: Note) -> list[NoteFinding] | None:
        data = context.data.get(note.name)
        return None if data is None else [*_secrets(note, context.texts.get(note.name, "")), *_encodings(note, data)]

    findings = context.cache.results("checked", NoteFinding, check)
    return (finding for finding in findings if finding.path in context.files)


def _encodings(note: Note, data: bytes) -> Iterator[NoteFinding]:
    """Bytes that are not UTF-8, byte order marks, and line ends of several kinds."""
    if note.trouble and (line := _first_broken(data)):
        yield NoteFinding("not-utf8", note.name, line, "; ".join(note.trouble), "", day=note.day)
    elif data.startswith(codecs.BOM_UTF8):
        message = "the file begins with a byte order mark"
        yield NoteFinding("byte-order-mark", note.name, 1, message, "", day=note.day)
    ends = _LINE_END.findall(data)
    if not note.trouble and len(kinds := Counter(ends).most_common()) > 1:
        rarest, _ = kinds[-1]
        counts = " and ".join(f"{count:,} in {_WRITTEN[kind]}" for kind, count in kinds)
        message = f"of its lines, {counts}; the first in {_WRITTEN[rarest]} is this one"
        yield NoteFinding("mixed-line-ends", note.name, ends.index(rarest) + 1, message, "", day=note.day)


def _secrets(note: Note, text: str) -> Iterator[NoteFinding]:
    """Likely secrets, masked."""
    for secret in find_secrets(text):
        message = f"this looks like a {secret.kind}: {secret.shown}"
        yield NoteFinding("secret", note.name, secret.line, message, secret.kind, day=note.day)


def budgets(context: AuditContext) -> Iterator[NoteFinding]:
    """Index files that are longer than what agents load of them."""
    policy = context.policy
    for note in context.notes:
        if stem_of(note.name).casefold() not in LOADED:
            continue
        data = context.data.get(note.name, b"")
        lines = len(data.splitlines())
        if lines > policy.index_lines or len(data) > policy.index_bytes:
            line = min(policy.index_lines, 1 + data[: policy.index_bytes].count(b"\n")) if lines > 1 else 1
            message = f"{lines:,} lines and {len(data):,} bytes; agents load {policy.index_lines:,} lines and "
            yield NoteFinding(
                "over-budget", note.name, line, f"{message}{policy.index_bytes:,} bytes, up to here", "", day=note.day
            )


def _first_broken(data: bytes) -> int:
    """The first line with bytes that are not UTF-8; 0 if there is none."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return 1 + len(_LINE_END.findall(data[: error.start]))
    return 0
