"""What an audit finds: a value with a stable code, a place and a fingerprint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from typing import Any

from memory_v2.notes.audit.codes import CODES, Severity
from memory_v2.notes.note import Item, Note
from memory_v2.text.secrets import masked

FINGERPRINT_LENGTH = 16
"""Hexadecimal digits of a fingerprint."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a note that deserves a look. `line` is 1 if it is about the whole file. `also` are the other places
    that it is about, and `day` the newest day that it speaks from. `about` is what its fingerprint is made of: words
    and ids, never lines, so that it stays the same when lines move."""

    code: str
    path: str
    line: int
    message: str
    about: str
    also: tuple[str, ...] = ()
    day: date | None = None
    fingerprint: str = field(default="", compare=False)

    @property
    def severity(self) -> Severity:
        """How grave it is."""
        return CODES[self.code].severity

    @property
    def advice(self) -> str:
        """What to do."""
        return CODES[self.code].advice

    @property
    def place(self) -> str:
        """Where it is: `memory/2026-02-09.md:12`."""
        return f"{self.path}:{self.line}"

    def to_dict(self) -> dict[str, Any]:
        """As a document, with what its code says of it."""
        own = {"code": self.code, "severity": self.severity, "path": self.path, "line": self.line}
        told = {"message": self.message, "advice": self.advice, "also": self.also, "day": self.day}
        return {**own, **told, "fingerprint": self.fingerprint}


def about_item(code: str, note: Note, item: Item, message: str, *also: str, day: date | None = None) -> Finding:
    """A finding about an item of a note."""
    return Finding(code, note.name, item.first_line, message, item.id, also, day or item.day)


def settled(found: Iterable[Finding]) -> Iterator[Finding]:
    """The findings with their fingerprints, in the order of their places; secrets in them are masked."""
    seen: Counter[str] = Counter()
    for one in sorted(found, key=lambda one: (one.path, one.line, one.code, one.message)):
        key = "\0".join((one.code, one.path, one.about))
        seen[key] += 1
        fingerprint = sha256(f"{key}\0{seen[key]}".encode("utf-8", "surrogateescape")).hexdigest()[:FINGERPRINT_LENGTH]
        yield replace(one, message=masked(one.message), fingerprint=fingerprint)
