"""Listing a server in a text of YAML, where servers are a list of mappings that have a name: every other byte stays."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from memory_v2.hosts.files import Unclear

Keys = Sequence[str]
_HEAD = r"(?m)^{}:[ \t]*(?:#.*)?\r?\n"


def value_at(text: str, keys: Keys) -> Any:
    """The server of a name in a list, without the name; `None` if there is none. Raises `Unclear`."""
    key, name = keys
    for item in _servers(text, key):
        if isinstance(item, dict) and item.get("name") == name:
            return {field: value for field, value in item.items() if field != "name"}
    return None


def with_object(text: str, keys: Keys, value: Mapping[str, Any]) -> str:
    """The text with a server in the list: in the place of the one of its name, else as the first. Raises `Unclear`."""
    key, name = keys
    if not text.strip():  # what the host needs in it beside, only the host knows
        raise Unclear("there is no such file yet: start the host once, and run this again")
    if value_at(text, keys) is not None:
        if value_at(text, keys) == value:
            return text
        text = without(text, keys)
    newline = "\r\n" if "\r\n" in text else "\n"
    head = re.search(_HEAD.format(key), text)
    first = re.compile(r"(?:[ \t]*(?:#.*)?\r?\n)*([ \t]*)- ").match(text, head.end()) if head else None
    indent = first[1] if first else "  "
    fields = {"name": name, **value}
    lines = [f"{field}: {json.dumps(one, ensure_ascii=False)}" for field, one in fields.items()]
    item = "".join(f"{indent}{'  ' if number else '- '}{line}{newline}" for number, line in enumerate(lines))
    if head:
        after = text[: head.end()] + item + text[head.end() :]
    else:
        gap = newline if text and not text.endswith("\n") else ""
        after = f"{text}{gap}{key}:{newline}{item}"
    return _checked(after, key, [fields, *_servers(text, key)], text)


def without(text: str, keys: Keys) -> str:
    """The text without the server of a name. Raises `Unclear`."""
    key, name = keys
    rest = [item for item in _servers(text, key) if not (isinstance(item, dict) and item.get("name") == name)]
    head = re.search(_HEAD.format(key), text)
    item = rf"(?m)^([ \t]*)- name: [\"']?{re.escape(name)}[\"']?[ \t]*\r?\n(?:\1[ \t]+.*(?:\r?\n|\Z))*"
    found = re.compile(item).search(text, head.end()) if head else None
    if found is None:
        raise Unclear(f"the server {name!r} in it is not written as a block; take it out yourself")
    after = text[: found.start()] + text[found.end() :]
    if not rest:
        after = re.sub(rf"(?m)^{key}:[ \t]*\r?\n", "", after)
    return _checked(after, key, rest, text)


def _servers(text: str, key: str) -> list[Any]:
    servers = _parsed(text).get(key)
    if servers is not None and not isinstance(servers, list):
        raise Unclear(f"{key} is not a list")
    return servers or []


def _checked(after: str, key: str, servers: Sequence[Any], before: str) -> str:
    """The changed text, if it holds these servers and else what was there before. Raises `Unclear`."""
    expected = _parsed(before)
    expected.pop(key, None)
    found = _parsed(after)
    if (found.pop(key, None) or []) != [*servers] or found != expected:
        raise Unclear("it cannot be changed without changing something else")
    return after


def _parsed(text: str) -> dict[str, Any]:
    from yaml import YAMLError, safe_load

    try:
        value = safe_load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        raise Unclear(f"it is not YAML: {error}") from error
    if value is not None and not isinstance(value, dict):
        raise Unclear("the whole is not a mapping")
    return value or {}
