"""What an audit finds: the table of codes, from which the help, the reports and the docs are made, and a finding with
its place and fingerprint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from memory_v2.errors import UsageError
from memory_v2.notes.note import Item, Note
from memory_v2.text.secrets import masked

Severity: TypeAlias = Literal["error", "warning", "notice"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "notice")
"""From the gravest down."""


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding: its stable name, how grave it is, what it means, and what to do."""

    name: str
    severity: Severity
    meaning: str
    advice: str


TABLE: tuple[Code, ...] = (
    Code("secret", "error", "a key, a token or a password", "take it out, and change it where it is used"),
    Code(
        "contradiction",
        "warning",
        "two notes say different things about one subject",
        "keep what holds, and say since when",
    ),
    Code(
        "metric-drift",
        "warning",
        "a number in a lasting note is not what a newer log says",
        "update it, or say of which day it is",
    ),
    Code("superseded", "warning", "what was replaced is still cited or repeated", "point to what replaces it"),
    Code("stale", "warning", "it was said as of a day that is long past, or has expired", "check it, and date it anew"),
    Code("broken-link", "warning", "a link leads to no file and no heading", "mend the link, or write the note"),
    Code("over-budget", "warning", "an index file is longer than agents load", "move details into notes of their own"),
    Code("not-utf8", "warning", "bytes that are not UTF-8", "write the file again as UTF-8"),
    Code("dark", "warning", "a search for its own rarest words does not find it", "move it below a heading of its own"),
    Code("duplicate", "notice", "two notes say the same", "keep it in one place, and link to it"),
    Code("not-curated", "notice", "no lasting note has this decision or lesson of a log", "add it if it is to last"),
    Code("unfinished", "notice", "it has been open for long", "do it, close it, or say that it is dropped"),
    Code("unmentioned", "notice", "an index names what no log has named for long", "check whether it is still so"),
    Code("ambiguous-link", "notice", "a link fits several notes", "write the path in the link"),
    Code("orphan", "notice", "nothing links to this note or names it", "link it from the index, or archive it"),
    Code("byte-order-mark", "notice", "an invisible mark stands before the text", "save the file without it"),
    Code("mixed-line-ends", "notice", "the lines end in different ways", "save the file with one kind of line end"),
)
CODES = {code.name: code for code in TABLE}


def checked_codes(names: Collection[str]) -> Collection[str]:
    """The names, all of which are in the table. Raises `UsageError`."""
    for name in names:
        if name not in CODES:
            raise UsageError(f"there is no code {name!r}; the codes are {', '.join(CODES)}")
    return names


def at_least(severity: Severity) -> Sequence[Severity]:
    """The severities that are as grave, or graver."""
    return SEVERITIES[: SEVERITIES.index(severity) + 1]


FINGERPRINT_LENGTH = 16
"""Hexadecimal digits of a fingerprint."""


@dataclass(frozen=True, slots=True)
class NoteFinding:
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


def about_item(code: str, note: Note, item: Item, message: str, *also: str, day: date | None = None) -> NoteFinding:
    """A finding about an item of a note."""
    return NoteFinding(code, note.name, item.first_line, message, item.id, also, day or item.day)


def settled(found: Iterable[NoteFinding]) -> Iterator[NoteFinding]:
    """The findings with their fingerprints, in the order of their places; secrets in them are masked."""
    seen: Counter[str] = Counter()
    for one in sorted(found, key=lambda one: (one.path, one.line, one.code, one.message)):
        key = "\0".join((one.code, one.path, one.about))
        seen[key] += 1
        fingerprint = sha256(f"{key}\0{seen[key]}".encode("utf-8", "surrogateescape")).hexdigest()[:FINGERPRINT_LENGTH]
        yield replace(one, message=masked(one.message), fingerprint=fingerprint)
