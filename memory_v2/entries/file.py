"""One entry as a file: Markdown with Ocean's front matter, in both of its schemas, and ours, which adds keys to it.

The header is YAML between two `---` lines, read with the line of each value, and changed by line. Most are plain lines,
`key: value` or `key: [a, b]`, and are read as such: a YAML parser takes fifty times as long. What is not as plain goes
to the parser. A header is never written anew: a change replaces the lines of one key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, TypeAlias, get_args

from memory_v2.entries.entry import NONE, Decay, DecayKind, Entry, Reference, Scope, Source, Status
from memory_v2.entries.places import Place
from memory_v2.errors import NotAllowed
from memory_v2.operations.results import Finding
from memory_v2.text.amounts import all_digits
from memory_v2.text.calendar import DAY
from memory_v2.tree.block import decode, encode, split_lines

MAX_LINES = 200
"""Limits a header, in lines. A first line `---` with no second one in so many is a rule in the text."""
MAX_VALUES = 10_000
"""Limits the values of a header: a few lines of YAML can stand for billions."""

Written: TypeAlias = str | bool | float | Sequence[str] | None
"""What a key can be set to; `None` takes it out."""

_RULE = re.compile(r"---[ \t]*\r?\n?\Z")
_END = re.compile(r"(?:---|\.\.\.)[ \t]*\r?\n?\Z")
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?\Z")
_BARE = r"[^\W_][^\s\[\]{},:#\"'&*!|>%@`\\]*(?:[ \t]+[^\s\[\]{},:#\"'&*!|>%@`\\]+)*"
_TIME = r"\d{4}-\d\d-\d\d[Tt ][\d:.]+(?:[Zz]|[+-]\d\d:\d\d)?"
_QUOTED = r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"'
_SCALAR = re.compile(rf"(?:{_TIME}|{_BARE}|{_QUOTED})\Z")
_ITEM = re.compile(rf"[ \t]*({_TIME}|{_BARE}|{_QUOTED})[ \t]*(,|\Z)")
_PLAIN = re.compile(r"[A-Za-z](?:[\w./@+-]|[ ](?=[\w./@+-]))*\Z")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a key: its texts, one for each item of a list, and its line in the file."""

    texts: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a file: its values by key, and the text below it, to the letter. `problem` says why it cannot be
    read, and `line` where."""

    text: str
    values: Mapping[str, Value] = field(default_factory=dict)
    problem: str = ""
    line: int = 0
    lines: int = 0
    """How many lines it has, both `---` lines included; 0 if the file has none."""


def read_header(text: str) -> Header:
    """The header of a file, and the text below it. What cannot be read is told and not guessed."""
    lines = split_lines(text.removeprefix("\ufeff"))
    if not lines or not _RULE.match(lines[0]):
        return Header(text)
    end = next((n for n, line in enumerate(lines[1:MAX_LINES], 1) if _END.match(line)), 0)
    if not end:
        return Header(text, problem="the front matter has no end: there is no second line '---'", line=1)
    inside = [line.rstrip("\r\n") for line in lines[1:end]]
    below = "".join(lines[end + 1 :])
    values = _plain_values(inside)
    if values is not None:
        return Header(below, values, lines=end + 1)
    try:
        return Header(below, _parsed_values(inside), lines=end + 1)
    except _Broken as broken:
        return Header(below, problem=str(broken), line=broken.line, lines=end + 1)


def header_line(key: str, value: Written) -> str:
    """A key with its value, as a line of YAML."""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, int | float):
        text = all_digits(value)
    elif isinstance(value, str):
        text = _scalar(value)
    else:
        text = f"[{', '.join(map(_scalar, value or ()))}]"
    return f"{key}: {text}"


def changed_header(text: str, changes: Mapping[str, Written]) -> str:
    """The file with these keys set, every other line to the byte. Raises `NotAllowed` for a header that cannot be
    read, or would not be read as it was meant."""
    header = read_header(text)
    if header.problem:
        raise NotAllowed(f"line {header.line}: {header.problem}; correct it first")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    lines = split_lines(text.removeprefix(mark))
    newline = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    if not header.lines:
        lines, header = [f"---{newline}", f"---{newline}", *lines], Header(text, lines=2)
    inside, rest = lines[1 : header.lines - 1], lines[header.lines - 1 :]
    for key, value in changes.items():
        inside = list(_set(inside, key, value, newline))
    changed = mark + "".join([lines[0], *inside, *rest])
    after = read_header(changed)
    if after.problem or any(value is not None and key not in after.values for key, value in changes.items()):
        raise NotAllowed(
            f"{', '.join(changes)} cannot be set in this front matter; write each key on a line of its own"
        )
    return changed


def _set(inside: Sequence[str], key: str, value: Written, newline: str) -> Iterator[str]:
    """The lines with those of a key replaced, or with a line for it at the end."""
    line = [] if value is None else [header_line(key, value) + newline]
    is_of_key = False
    for one in inside:
        if found := _KEY.match(one.rstrip("\r\n")):
            is_of_key = found[1] == key
            if is_of_key:
                yield from line
                line = []
        elif is_of_key and not one.startswith((" ", "\t", "-", "]", "}")):
            is_of_key = False  # a comment or a blank line
        if not is_of_key:
            yield one
    yield from line


def _scalar(text: str) -> str:
    is_plain = _PLAIN.match(text) is not None or re.fullmatch(rf"\d{{4}}-\d\d-\d\d|{_TIME}", text) is not None
    return text if is_plain and text.lower() not in _WORDS else json.dumps(text, ensure_ascii=False)


def _plain_values(inside: Sequence[str]) -> dict[str, Value] | None:
    """The values, if every line is as plain as those that this program writes."""
    values: dict[str, Value] = {}
    for number, line in enumerate(inside, 2):
        found = _KEY.match(line)
        if found is None or found[1] in values:
            return None
        raw = (found[2] or "").strip()
        if raw.startswith("[") and raw.endswith("]"):
            texts = _items(raw[1:-1])
        elif not raw:
            texts = ()
        else:
            texts = (_unquoted(raw),) if _SCALAR.match(raw) else None
        if texts is None or (not raw and _has_more(inside, number - 1)):
            return None
        values[found[1]] = Value(tuple(text for text in texts if text not in ("null", "~")), number)
    return values


def _has_more(inside: Sequence[str], number: int) -> bool:
    return number < len(inside) and not _KEY.match(inside[number])


def _items(raw: str) -> tuple[str, ...] | None:
    texts, place = [], 0
    while place < len(raw) and raw[place:].strip():
        found = _ITEM.match(raw, place)
        if found is None:
            return None
        texts.append(_unquoted(found[1]))
        place = found.end()
    return tuple(texts)


def _unquoted(raw: str) -> str:
    return str(json.loads(raw)) if raw.startswith('"') else raw


class _Broken(Exception):
    """The YAML cannot be read; `line` is where, in the file."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def _parsed_values(inside: Iterable[str]) -> dict[str, Value]:
    """The values by a YAML parser. Only its nodes are made, never objects, so that nothing in it can do harm."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    parser = YAML(typ="safe", pure=True)
    parser.composer.warn_double_anchors = False
    try:
        mapping = parser.compose("\n".join(inside))
    except (YAMLError, ValueError, RecursionError) as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        reason = (error.problem if isinstance(error, MarkedYAMLError) else None) or "it is not YAML"
        raise _Broken(f"the front matter is not valid YAML: {reason}", mark.line + 2 if mark else 2) from error
    if mapping is None:
        return {}
    if not hasattr(mapping, "value") or mapping.id != "mapping":
        raise _Broken("the front matter is not a list of keys with values", 2)
    if mapping.flow_style:  # a line that is added to `{}` would not be in it
        raise _Broken("the front matter stands in braces; write each key on a line of its own", 2)
    if not _is_bounded(mapping):
        raise _Broken("the front matter has too many values, or one that holds itself", 2)
    values: dict[str, Value] = {}
    for key, value in mapping.value:
        if key.id != "scalar":  # no key of ours
            continue
        if key.value in values:
            raise _Broken(f"the front matter has {key.value!r} twice", key.start_mark.line + 2)
        values[str(key.value)] = Value(tuple(_texts(value)), key.start_mark.line + 2)
    return values


def _is_bounded(node: Any) -> bool:
    """Whether the values are few, those that an alias repeats counted each time."""
    waiting, seen = [node], 0
    while waiting and seen <= MAX_VALUES:
        one = waiting.pop()
        seen += 1
        if one.id == "sequence":
            waiting += one.value
        elif one.id == "mapping":
            waiting += (part for pair in one.value for part in pair)
    return not waiting


def _texts(node: Any) -> Iterator[str]:
    if node.id == "scalar":
        if node.value not in ("", "~", "null"):
            yield str(node.value)
    elif node.id == "sequence":
        for one in node.value:
            yield from _texts(one)
    else:
        for key, value in node.value:
            yield f"{', '.join(_texts(key))}: {', '.join(_texts(value))}"


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
    yield "backlinks", tuple(reference.target for reference in entry.references if reference.relation == RELATED)
    yield (
        "references",
        tuple(
            f"{reference.relation} {reference.target}"
            for reference in entry.references
            if reference.relation != RELATED
        ),
    )
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
