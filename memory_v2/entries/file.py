"""One entry as a file: Markdown with Ocean's front matter, in both of its schemas, and ours, which adds keys to it.

The header is YAML between two `---` lines, read with the line of each value, and changed by line: a header is never
written anew, a change replaces the lines of one key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime
from typing import Any, TypeAlias, get_args

from memory_v2.entries.entry import NONE, Decay, DecayKind, Entry, Provenance, Reference, Scope, Status
from memory_v2.entries.entry_paths import EntryLocation
from memory_v2.errors import NotAllowed
from memory_v2.storage.history import PageChange
from memory_v2.text.amounts import all_digits
from memory_v2.text.days import DAY
from memory_v2.tree.block import decode, encode, split_lines
from memory_v2.tree.finding import Finding
from memory_v2.tree.front_matter import BrokenYaml, compose_yaml

MAX_LINES = 200
"""Limits a header, in lines. A first line `---` with no second one in so many is a rule in the text."""
MAX_VALUES = 10_000
"""Limits the values of a header: a few lines of YAML can stand for billions."""
LONG = 16_384
"""From how many bytes on an entry is told to be long: a page is split at 10,240, and entries are short."""
RELATED = "related"
"""The relation of a reference that names none: what Ocean calls a backlink."""

NO_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
"""What YAML does not take for words."""

Written: TypeAlias = str | bool | float | Sequence[str] | None
"""What a key can be set to; `None` takes it out."""

_RULE = re.compile(r"---[ \t]*\r?\n?\Z")
_END = re.compile(r"(?:---|\.\.\.)[ \t]*\r?\n?\Z")
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]|\Z)")
_PLAIN = re.compile(r"[A-Za-z](?:[\w./@+-]|[ ](?=[\w./@+-]))*\Z")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ][\d:.]+(?:[Zz]|[+-]\d\d:\d\d)?)?\Z")


# the header


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

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts of a key; none if it is not there."""
        return self.values[key].texts if key in self.values else ()

    def text_of(self, key: str) -> str | None:
        """The only, or the first, text of a key."""
        return next(iter(self.texts(key)), None)

    def line_of(self, key: str) -> int:
        """The line of a key in the file; 0 if it is not there."""
        return self.values[key].line if key in self.values else 0


def read_header(text: str) -> Header:
    """The header of a file, and the text below it. What cannot be read is told and not guessed."""
    lines = split_lines(text.removeprefix("\ufeff"))
    if not lines or not _RULE.match(lines[0]):
        return Header(text)
    end = next((n for n, line in enumerate(lines[1:MAX_LINES], 1) if _END.match(line)), 0)
    if not end:
        return Header(text, problem="the front matter has no end: there is no second line '---'", line=1)
    below = "".join(lines[end + 1 :])
    try:
        values = _values("\n".join(line.rstrip("\r\n") for line in lines[1:end]))
    except _Broken as broken:
        return Header(below, problem=str(broken), line=broken.line, lines=end + 1)
    return Header(below, values, lines=end + 1)


class _Broken(Exception):
    """The YAML cannot be read; `line` is where, in the file."""

    def __init__(self, reason: str, line: int = 2) -> None:
        super().__init__(reason)
        self.line = line


def _values(text: str) -> dict[str, Value]:
    try:
        mapping = compose_yaml(text)
    except BrokenYaml as error:
        raise _Broken(f"the front matter is not valid YAML: {error}", error.line + 2) from error
    if mapping is None:
        return {}
    if mapping.id != "mapping":
        raise _Broken("the front matter is not a list of keys with values")
    if mapping.flow_style:  # a line that is added to `{}` would not be in it
        raise _Broken("the front matter stands in braces; write each key on a line of its own")
    if "&" in text and not _is_bounded(mapping):  # only a value with an anchor can stand for many
        raise _Broken("the front matter has too many values, or one that holds itself")
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


def _scalar(text: str) -> str:
    is_plain = (_PLAIN.match(text) and text.lower() not in NO_WORDS) or _TIME.match(text)
    return text if is_plain else json.dumps(text, ensure_ascii=False)


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


# the entry


@dataclass(frozen=True, slots=True)
class EntryFile:
    """The file of an entry as it was read, and the entry in it: `None` if it does not say what an entry must, which
    `findings` tell."""

    path: str
    data: bytes
    entry: Entry | None
    findings: tuple[Finding, ...] = ()

    @property
    def has_header(self) -> bool:
        """Whether its header can be read, and so be changed."""
        return not any(finding.kind == "broken-header" for finding in self.findings)

    @property
    def first_line(self) -> int:
        """The line at which the text of the entry begins."""
        text = encode(self.entry.text) if self.entry else b""
        return self.data.count(b"\n", 0, len(self.data) - len(text)) + 1

    def changed(self, keys: Mapping[str, Written]) -> bytes:
        """Its bytes with these keys set. Raises `NotAllowed`."""
        return encode(changed_header(decode(self.data), keys)) if keys else self.data

    def with_header(self, **keys: Written) -> PageChange:
        """The change that sets these keys in its header. Raises `NotAllowed`."""
        return PageChange(self.path, self.data, self.changed(keys))

    def moved(self, path: str, **keys: Written) -> tuple[PageChange, PageChange]:
        """The changes that move it to a path, where there is no file, and set these keys in its header."""
        return PageChange(path, None, self.changed(keys)), PageChange(self.path, self.data, None)


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


_DECAY = re.compile(r"(linear|exponential|ttl)-(\d+(?:\.\d+)?)d?", re.I)
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*d?(?:ays?)?", re.I)
_FOREVER = ("none", "permanent", "never")


def read_decay(raw: str) -> Decay:
    """`linear-30d`, `exponential-14d`, `ttl-7d` or `none`; of Ocean's `max_age`, a number of days such as `180d`.
    Raises `ValueError`."""
    if raw.strip().lower() in _FOREVER:
        return NONE
    found = _DECAY.fullmatch(raw.strip())
    if not found or not float(found[2]):
        raise ValueError("it is no decay")
    kind: DecayKind = next(kind for kind in get_args(DecayKind) if kind == found[1].lower())
    return Decay(kind, float(found[2]))


def _max_age(raw: str) -> Decay:
    found = _AGE.fullmatch(raw.strip())
    return read_decay(f"ttl-{found[1]}" if found else raw)


CHECKED: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "confidence": (share, "a number from 0 to 1"),
    "importance": (share, "a number from 0 to 1"),
    "recorded": (aware_moment, "a moment such as 2026-02-15T09:30:00Z"),
    "decay": (read_decay, "linear-30d, exponential-30d, ttl-30d or none"),
    "max_age": (_max_age, "a number of days such as 180d"),
    "status": (one_of(Status), "open or closed"),
    "scope": (one_of(Scope), "agent or user"),
    "verified": (truth, "true or false"),
    "promoted_at": (aware_moment, "a moment such as 2026-02-15T09:30:00Z"),
}
"""The keys of which not every text is a value: how one is read, and what it has to be."""
_LISTS = frozenset({"tags", "verified_by", "derived_from", "consolidated_into", "promoted_to"})
_TEXTS = frozenset({"kind", "home", "superseded_by", "retracted", "promoted_from", "promoted_version"})
_SOURCE = {"source": "author", "channel": "channel", "session": "session", "location": "location"}
_FIELDS = {"created": "observed_at", "recorded": "recorded_at"}
"""The fields of an entry whose keys are not called like them."""
_ORDER = (
    *("tags", "confidence", "importance", "created", "recorded", "decay", *_SOURCE, "kind", "home", "scope", "status"),
    *("superseded_by", "retracted", "backlinks", "references", "verified", "verified_by", "derived_from"),
    *("consolidated_into", "promoted_from", "promoted_at", "promoted_version", "promoted_to"),
)
"""The keys of a new file, in their order."""


def read_entry(place: EntryLocation, data: bytes) -> EntryFile:
    """The entry in a file, and what is wrong with it, with lines."""
    text = decode(data)
    header = read_header(text)
    findings: list[Finding] = []

    def tell(kind: str, line: int, message: str, is_error: bool = True) -> None:
        findings.append(Finding(kind, "error" if is_error else "notice", place.path, line, message))

    if wrong := re.search("[\udc80-\udcff]", text):
        line = 1 + text.count("\n", 0, wrong.start())
        tell("not-utf8", line, f"the byte 0x{ord(wrong[0]) - 0xDC00:02x} is not UTF-8; it is kept", False)
    if len(data) > LONG:
        message = f"{len(data):,} bytes are much for an entry; 'silica memory write' makes a page of a long text"
        tell("long", 0, message, False)
    if header.problem:
        tell("broken-header", header.line, header.problem)
    observed = _observed(header, place, tell)
    if observed is None:
        tell("no-day", 0, "neither the file's name nor 'created' says on which day it was observed")
        return EntryFile(place.path, data, None, tuple(findings))
    said: dict[str, Any] = {}
    for key, value in header.values.items():
        if key in _LISTS:
            said[key] = value.texts
        elif key in _TEXTS and value.texts:
            said[key] = value.texts[0]
        elif key in CHECKED and value.texts:
            convert, rule = CHECKED[key]
            try:
                said[_FIELDS.get(key, key)] = convert(value.texts[0])
            except ValueError:
                tell("bad-value", value.line, f"{key} is {rule}, not {value.texts[0]!r}")
    lifetime = said.pop("max_age", NONE)
    entry = Entry(
        id=place.id,
        text=header.text,
        observed_at=observed,
        source=Provenance(**{name: header.text_of(key) for key, name in _SOURCE.items()}),
        references=tuple(_references(header)),
        archived=place.archived,
        **{"decay": lifetime} | said,
    )
    return EntryFile(place.path, data, entry, tuple(findings))


def _observed(header: Header, place: EntryLocation, tell: Callable[..., None]) -> date | datetime | None:
    """The day or the moment of an observation: what `created` says, else the day in the name of the file."""
    raw = header.text_of("created")
    if raw is None:
        return place.day
    try:
        observed = day_or_moment(raw)
    except ValueError:
        instead = f"; the day in its name, {place.day}, counts" if place.day else ""
        message = f"created is a day such as 2026-02-15, or a moment with its time zone, not {raw!r}{instead}"
        tell("bad-date", header.line_of("created"), message)
        return place.day
    if isinstance(observed, datetime) and observed.tzinfo is None:
        tell("no-zone", header.line_of("created"), f"{raw} has no time zone, so only its day counts", False)
        return observed.date()
    return observed


def _references(header: Header) -> Iterator[Reference]:
    yield from (Reference(RELATED, target) for target in header.texts("backlinks"))
    yield from map(read_reference, header.texts("references"))
    if any(not raw.replace(".", "").isdigit() for raw in header.texts("refs")):  # a number only counts them
        yield from (Reference(RELATED, target) for target in header.texts("refs"))


def read_reference(raw: str) -> Reference:
    """A reference as it is written: its relation, if there is one, and its target."""
    relation, blank, target = raw.strip().partition(" ")
    return Reference(relation, target.strip()) if blank else Reference(RELATED, relation)


def entry_data(entry: Entry) -> bytes:
    """A new file for an entry: what it does not say is left out. A text gets a final line end."""
    defaults = {one.name: one.default for one in fields(Entry)}
    others = [one for one in entry.references if one.relation != RELATED]
    own: dict[str, Written] = {key: getattr(entry.source, name) for key, name in _SOURCE.items()} | {
        "created": entry.observed_at.isoformat(),
        "backlinks": tuple(one.target for one in entry.references if one.relation == RELATED),
        "references": tuple(f"{one.relation} {one.target}" for one in others),
    }
    lines = ["---"]
    for key in _ORDER:
        name = _FIELDS.get(key, key)
        value = own[key] if key in own else _written(getattr(entry, name), defaults[name])
        if value not in (None, (), ""):
            lines.append(header_line(key, value))
    end = "" if entry.text.endswith(("\n", "\r")) else "\n"
    return encode("\n".join([*lines, "---", ""]) + entry.text + end)


def _written(value: Any, default: Any) -> Written:
    """A value of an entry as a header has it; `None` for its default, which needs no line."""
    if value == default:
        return None
    if isinstance(value, datetime):
        return written_moment(value)
    said: Written = str(value) if isinstance(value, Decay) else value
    return said


def written_moment(moment: datetime) -> str:
    """A moment as a header has it: `2026-02-15T09:30:00Z`."""
    return f"{moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()}Z"
