"""Changing a table in a text of TOML: comments, layout and everything else in it stay."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from memory_v2.hosts.files import Unclear
from memory_v2.hosts.json_text import nested

Keys = Sequence[str]
Value = str | int | list[str]


def with_object(text: str, keys: Keys, values: Mapping[str, Value]) -> str:
    """The text with these values in the table under these keys; other keys in it stay. Raises `Unclear`."""
    inner = expected = _parsed(text)
    for key in keys:
        inner = inner.setdefault(key, {})
        if not isinstance(inner, dict):
            raise Unclear(f"{key} is not a table")
    if not inner:
        newline = "\r\n" if "\r\n" in text else "\n"
        gap = newline if text.strip() else ""
        ended = text if not text or text.endswith("\n") else text + newline
        after = ended + gap + tomlkit.dumps(nested(keys, dict(values))).replace("\n", newline)
    else:
        document = tomlkit.parse(text)
        table = _inner(document, keys)
        for key, value in values.items():
            if table is not None and table.get(key) != value:
                table[key] = value
        after = tomlkit.dumps(document)
    inner.update(values)
    return _checked(after, expected)


def value_at(text: str, keys: Keys) -> dict[str, Any] | None:
    """The table under these keys; `None` if there is none. Raises `Unclear`."""
    table: dict[str, Any] | None = _inner(_parsed(text), keys)
    return table


def without(text: str, keys: Keys) -> str:
    """The text without the table under these keys. Raises `Unclear`."""
    expected = _parsed(text)
    table, outer = _inner(expected, keys), _inner(expected, keys[:-1])
    if table is None or outer is None:
        return text
    del outer[keys[-1]]
    document = tomlkit.parse(text)
    above = _inner(document, keys[:-1])
    found = above[keys[-1]]
    if isinstance(found, Table) and not found.is_super_table() and text.count(found.as_string()) == 1:
        after = _without_lines(text, found.as_string())
    else:
        del above[keys[-1]]
        after = tomlkit.dumps(document)
    is_empty = outer == {} and _inner(_parsed(after), keys[:-1]) is None  # the table above was there only by ours
    return after if is_empty else _checked(after, expected)


def _without_lines(text: str, body: str) -> str:
    """The text without a table, its header and the empty line above; comments at its end are about the next table."""
    at = text.index(body)
    lines, start = text.splitlines(keepends=True), text.count("\n", 0, at) - 1
    end = start + 1 + len(body.splitlines())
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    if start and not lines[start - 1].strip():
        start -= 1
    return "".join(lines[:start] + lines[end:])


def _parsed(text: str) -> dict[str, Any]:
    try:
        tomlkit.parse(text)
        return tomllib.loads(text)
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise Unclear(f"it is not TOML: {error}") from error


def _checked(text: str, expected: Mapping[str, Any]) -> str:
    try:
        if tomllib.loads(text) == expected:
            return text
    except tomllib.TOMLDecodeError:
        pass
    raise Unclear("it cannot be changed without changing something else")


def _inner(document: Any, keys: Keys) -> Any:
    """The table under these keys, which can be changed; `None` if there is none."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else None
