"""One entry as a file: Markdown with Ocean's front matter, in both of its schemas, and ours, which adds keys to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, get_args

from memory_v2.entries.entry import NONE, Decay, DecayKind, Entry, Reference, Scope, Source, Status
from memory_v2.entries.header import Header, Value, Written, header_line, read_header
from memory_v2.entries.places import Place
from memory_v2.operations.results import Finding
from memory_v2.text.calendar import DAY
from memory_v2.tree.block import decode, encode

LONG = 16_384
"""From how many bytes on an entry is told to be long: a page is split at 10,240, and entries are short."""
RELATED = "related"
"""The relation of a reference that names none: what Ocean calls a backlink."""

_DECAY = re.compile(r"(linear|exponential|ttl)-(\d+(?:\.\d+)?)d?", re.I)
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*d?(?:ays?)?", re.I)
_FOREVER = ("none", "permanent", "never")


@dataclass(frozen=True, slots=True)
class EntryFile:
    """An entry as it was read: `None` if the file does not say what an entry must, which `findings` tell."""

    path: str
    entry: Entry | None
    findings: tuple[Finding, ...] = ()


@dataclass
class _Reader:
    """Reads the values of a header, and gathers what is wrong with them."""

    path: str
    header: Header
    findings: list[Finding] = field(default_factory=list)

    def tell(self, kind: str, line: int, message: str, is_error: bool = True) -> None:
        self.findings.append(Finding(kind, "error" if is_error else "notice", self.path, line, message))

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.header.values.get(key)
        return value.texts if value else ()

    def text(self, key: str) -> str | None:
        return next(iter(self.texts(key)), None)

    def line(self, key: str) -> int:
        value: Value | None = self.header.values.get(key)
        return value.line if value else 0

    def read(self, key: str, convert: Callable[[str], Any], rule: str) -> Any:
        """The value of a key; `None` if it is not there, or not as the rule says, which is told."""
        if (raw := self.text(key)) is None:
            return None
        try:
            return convert(raw)
        except ValueError:
            self.tell("bad-value", self.line(key), f"{key} is {rule}, not {raw!r}")
            return None


def read_entry(place: Place, data: bytes) -> EntryFile:
    """The entry in a file, and what is wrong with it, with lines."""
    text = decode(data)
    header = read_header(text)
    reader = _Reader(place.path, header)
    _tell_bytes(reader, text, len(data))
    if header.problem:
        reader.tell("broken-header", header.line, header.problem)
    observed = _observed(reader, place)
    if observed is None:
        reader.tell("no-day", 0, "neither the file's name nor 'created' says on which day it was observed")
        return EntryFile(place.path, None, tuple(reader.findings))
    entry = Entry(
        id=place.id,
        text=header.text,
        observed_at=observed,
        recorded_at=reader.read("recorded", aware_moment, "a moment such as 2026-02-15T09:30:00Z"),
        kind=reader.text("kind") or "observation",
        home=reader.text("home"),
        tags=reader.texts("tags"),
        source=Source(**{key: reader.text(name) for key, name in _SOURCE}),
        confidence=reader.read("confidence", share, "a number from 0 to 1"),
        importance=reader.read("importance", share, "a number from 0 to 1"),
        decay=_read_decay(reader),
        status=reader.read("status", one_of(Status), "open or closed") or "open",
        superseded_by=reader.text("superseded_by"),
        retracted=reader.text("retracted"),
        verified=bool(reader.read("verified", truth, "true or false")),
        verified_by=reader.texts("verified_by"),
        references=tuple(_references(reader)),
        derived_from=reader.texts("derived_from"),
        consolidated_into=reader.texts("consolidated_into"),
        promoted_from=reader.text("promoted_from"),
        promoted_at=reader.read("promoted_at", aware_moment, "a moment such as 2026-02-15T09:30:00Z"),
        promoted_version=reader.text("promoted_version"),
        promoted_to=reader.texts("promoted_to"),
        scope=reader.read("scope", one_of(Scope), "agent or user") or "agent",
        archived=place.archived,
    )
    return EntryFile(place.path, entry, tuple(reader.findings))


_SOURCE = (("author", "source"), ("channel", "channel"), ("session", "session"), ("location", "location"))


def text_line(entry: Entry, data: bytes) -> int:
    """The line of an entry's file at which its text begins."""
    return data.count(b"\n", 0, len(data) - len(encode(entry.text))) + 1


def entry_data(entry: Entry) -> bytes:
    """A new file for an entry: what it does not say is left out. A text gets a final line end."""
    lines = (header_line(key, value) for key, value in _header(entry) if value not in (None, (), ""))
    end = "" if entry.text.endswith(("\n", "\r")) else "\n"
    return encode("\n".join(["---", *lines, "---", ""]) + entry.text + end)


def _header(entry: Entry) -> Iterator[tuple[str, Written]]:
    yield "tags", entry.tags
    yield "confidence", entry.confidence
    yield "importance", entry.importance
    yield "created", entry.observed_at.isoformat()
    yield "recorded", written_moment(entry.recorded_at)
    yield "decay", None if entry.decay == NONE else str(entry.decay)
    for key, name in _SOURCE:
        yield name, getattr(entry.source, key)
    yield "kind", None if entry.kind == "observation" else entry.kind
    yield "home", entry.home
    yield "scope", None if entry.scope == "agent" else entry.scope
    yield "status", None if entry.status == "open" else entry.status
    yield "superseded_by", entry.superseded_by
    yield "retracted", entry.retracted
    yield "backlinks", tuple(one.target for one in entry.references if one.relation == RELATED)
    yield "references", tuple(f"{one.relation} {one.target}" for one in entry.references if one.relation != RELATED)
    yield "verified", entry.verified or None
    for key in ("verified_by", "derived_from", "consolidated_into", "promoted_from"):
        yield key, getattr(entry, key)
    yield "promoted_at", written_moment(entry.promoted_at)
    for key in ("promoted_version", "promoted_to"):
        yield key, getattr(entry, key)


def written_moment(moment: datetime | None) -> str | None:
    """A moment as a header has it: `2026-02-15T09:30:00Z`."""
    return None if moment is None else f"{moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()}Z"


def _tell_bytes(reader: _Reader, text: str, size: int) -> None:
    if wrong := re.search("[\udc80-\udcff]", text):
        line = 1 + text.count("\n", 0, wrong.start())
        reader.tell("not-utf8", line, f"the byte 0x{ord(wrong[0]) - 0xDC00:02x} is not UTF-8; it is kept", False)
    if size > LONG:
        message = f"{size:,} bytes are much for an entry; 'silica memory write' makes a page of a long text"
        reader.tell("long", 0, message, False)


def _observed(reader: _Reader, place: Place) -> date | datetime | None:
    """The day or the moment of an observation: what `created` says, else the day in the name of the file."""
    raw = reader.text("created")
    if raw is None:
        return place.day
    try:
        observed = day_or_moment(raw)
    except ValueError:
        instead = f"; the day in its name, {place.day}, counts" if place.day else ""
        message = f"created is a day such as 2026-02-15, or a moment with its time zone, not {raw!r}{instead}"
        reader.tell("bad-date", reader.line("created"), message)
        return place.day
    if isinstance(observed, datetime) and observed.tzinfo is None:
        reader.tell("no-zone", reader.line("created"), f"{raw} has no time zone, so only its day counts", False)
        return observed.date()
    return observed


def day_or_moment(raw: str) -> date | datetime:
    """A day or a moment, as ISO 8601 writes them. Raises `ValueError`."""
    if re.fullmatch(DAY, raw.strip()):
        return date.fromisoformat(raw.strip())
    return datetime.fromisoformat(raw.strip())


def aware_moment(raw: str) -> datetime:
    """A moment with its time zone, in UTC. Raises `ValueError`."""
    moment = datetime.fromisoformat(raw)
    if moment.tzinfo is None:
        raise ValueError("it has no time zone")
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("it is outside of the calendar") from error


def share(raw: str | float) -> float:
    """A number from 0 to 1. Raises `ValueError`."""
    number = float(raw)
    if not 0 <= number <= 1:
        raise ValueError("it is not from 0 to 1")
    return number


def truth(raw: str) -> bool:
    """True or false, as YAML 1.1 and 1.2 spell them. Raises `ValueError`."""
    if raw.lower() not in ("true", "yes", "on", "false", "no", "off"):
        raise ValueError("it is neither")
    return raw.lower() in ("true", "yes", "on")


def one_of(choices: Any) -> Callable[[str], Any]:
    """What raises `ValueError` unless a text is one of the choices of a `Literal`."""

    def convert(raw: str) -> str:
        if raw not in get_args(choices):
            raise ValueError("it is none of them")
        return raw

    return convert


def read_decay(raw: str) -> Decay:
    """`linear-30d`, `exponential-14d`, `ttl-7d` or `none`. Raises `ValueError`."""
    if raw.strip().lower() in _FOREVER:
        return NONE
    found = _DECAY.fullmatch(raw.strip())
    if not found or not float(found[2]):
        raise ValueError("it is no decay")
    kind: DecayKind = next(kind for kind in get_args(DecayKind) if kind == found[1].lower())
    return Decay(kind, float(found[2]))


def _read_decay(reader: _Reader) -> Decay:
    if decay := reader.read("decay", read_decay, "linear-30d, exponential-30d, ttl-30d or none"):
        return Decay(decay.kind, decay.days)
    return reader.read("max_age", _max_age, "a number of days such as 180d") or NONE


def _max_age(raw: str) -> Decay:
    if raw.strip().lower() in _FOREVER:
        return NONE
    found = _AGE.fullmatch(raw.strip())
    if not found or not float(found[1]):
        raise ValueError("it is no age")
    return Decay("ttl", float(found[1]))


def _references(reader: _Reader) -> Iterator[Reference]:
    for target in reader.texts("backlinks"):
        yield Reference(RELATED, target)
    for raw in reader.texts("references"):
        relation, blank, target = raw.strip().partition(" ")
        yield Reference(relation, target.strip()) if blank else Reference(RELATED, relation)
    if any(not raw.replace(".", "").isdigit() for raw in reader.texts("refs")):  # a number only counts them
        yield from (Reference(RELATED, target) for target in reader.texts("refs"))
