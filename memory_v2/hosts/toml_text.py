"""Changing a table in a text of TOML: every other byte stays as it is."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from memory_v2.hosts.files import Unclear

Keys = Sequence[str]
Value = str | int | list[str]


def with_table(text: str, keys: Keys, values: Mapping[str, Value]) -> str:
    """The text with these values in the table under these keys; other keys in it stay. Raises `Unclear`."""
    before = _parsed(text)
    table = _inner(before, keys)
    newline = "\r\n" if "\r\n" in text else "\n"
    if table is None:
        gap = newline if text.strip() else ""
        ended = text if not text or text.endswith("\n") else text + newline
        lines = [_header(keys), *(f"{key} = {_dumped(value)}" for key, value in values.items())]
        after = ended + gap + newline.join(lines) + newline
    else:
        after = text
        for key, value in values.items():
            if table.get(key) != value:
                after = _with_value(after, keys, key, f"{key} = {_dumped(value)}", newline)
    expected: Any = copy.deepcopy(before)
    inner = expected
    for key in keys:
        inner = inner.setdefault(key, {})
        if not isinstance(inner, dict):
            raise Unclear(f"{key} is not a table")
    inner.update(values)
    return _checked(after, expected)


def table_at(text: str, keys: Keys) -> dict[str, Any] | None:
    """The table under these keys; `None` if there is none. Raises `Unclear`."""
    return _inner(_parsed(text), keys)


def without_table(text: str, keys: Keys) -> str:
    """The text without the table under these keys. Raises `Unclear`."""
    before = _parsed(text)
    if _inner(before, keys) is None:
        return text
    lines = text.splitlines(keepends=True)
    start, end = _extent(lines, keys)
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1  # what stands above the next table is about that
    if start and not lines[start - 1].strip():
        start -= 1
    expected = copy.deepcopy(before)
    outer = _inner(expected, keys[:-1])
    if outer is not None:
        del outer[keys[-1]]
    after = "".join(lines[:start] + lines[end:])
    is_empty = outer == {} and _inner(_parsed(after), keys[:-1]) is None  # the table above was there only by ours
    return after if is_empty else _checked(after, expected)


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unclear(f"it is not TOML: {error}") from error


def _checked(text: str, expected: Mapping[str, Any]) -> str:
    try:
        if tomllib.loads(text) == expected:
            return text
    except tomllib.TOMLDecodeError:
        pass
    raise Unclear("it cannot be changed without changing something else")


def _inner(document: Any, keys: Keys) -> dict[str, Any] | None:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else None


def _header(keys: Keys) -> str:
    return "[" + ".".join(key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key) for key in keys) + "]"


def _dumped(value: Value) -> str:
    """The value in TOML; what JSON writes of texts, numbers and lists of texts is TOML too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _extent(lines: Sequence[str], keys: Keys) -> tuple[int, int]:
    """The lines of a table, from its header to the next. Raises `Unclear` if it has no header of its own."""
    header = re.compile(r"\s*\[\s*" + r"\s*\.\s*".join(rf"[\"']?{re.escape(key)}[\"']?" for key in keys) + r"\s*\]")
    start = next((number for number, line in enumerate(lines) if header.match(line)), None)
    if start is None:
        raise Unclear(f"{'.'.join(keys)} is not written as a table of its own")
    end = next((n for n in range(start + 1, len(lines)) if re.match(r"\s*\[{1,2}\s*[\w\"']", lines[n])), len(lines))
    return start, end


def _with_value(text: str, keys: Keys, key: str, written: str, newline: str) -> str:
    """The text with one line, or the lines of a longer value, replaced; or added below the header."""
    lines = text.splitlines(keepends=True)
    start, end = _extent(lines, keys)
    first = next(
        (n for n in range(start + 1, end) if re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", lines[n])), None
    )
    if first is None:
        return "".join([*lines[: start + 1], written + newline, *lines[start + 1 :]])
    last = first + 1
    while last < end and not _is_whole("".join(lines[first:last])):
        last += 1
    return "".join([*lines[:first], written + newline, *lines[last:]])


def _is_whole(lines: str) -> bool:
    try:
        tomllib.loads(lines)
    except tomllib.TOMLDecodeError:
        return False
    return True
