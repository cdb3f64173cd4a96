"""The header of an entry's file: YAML between two `---` lines, read with the line of each value, and changed by line.

Most headers are plain lines, `key: value` or `key: [a, b]`, and are read as such: a YAML parser takes fifty times as
long. What is not as plain goes to the parser. A header is never written anew: a change replaces the lines of one key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from memory_v2.errors import NotAllowed
from memory_v2.text.amounts import all_digits
from memory_v2.tree.block import split_lines

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
