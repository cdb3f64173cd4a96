"""Changing a value in a text of JSON, with comments and trailing commas: every other byte stays as it is."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs lack it
from typing import Any, NoReturn

from memory_v2.hosts.files import Unclear

Keys = Sequence[str]
_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\r\n]*|/\*.*?\*/)*", re.S)
_LINE_REST = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*.*?\*/))*", re.S)
_EMPTY = re.compile(r"\s*\{\s*\}\s*")
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A value and its place in the text. `parts` are the places of what it consists of, each with its key, if it is an
    object or an array; `comma` is the end of a comma after the last."""

    start: int
    end: int
    value: Any
    parts: tuple[tuple[str, int, JsonNode], ...] = ()
    comma: int | None = None

    def find(self, key: str) -> JsonNode | None:
        """The value of a key; of several, the last, which is the one that counts."""
        return next((node for name, _, node in reversed(self.parts) if name == key), None)


def parse(text: str) -> JsonNode:
    """The value that a text holds. Raises `Unclear`."""
    try:
        node = _Parser(text).value(_blank(text, 0))
    except RecursionError as error:
        raise Unclear("it is nested too deep") from error
    rest = _blank(text, node.end)
    return node if rest == len(text) else _refuse(text, rest)


def value_at(text: str, keys: Keys) -> Any:
    """The value under these keys; `None` if there is none. Raises `Unclear`."""
    node = _at(text, keys)
    return node and node.value


def _at(text: str, keys: Keys) -> JsonNode | None:
    node: JsonNode | None = parse(text) if not _is_empty(text) else None
    for key in keys:
        node = node.find(key) if node and isinstance(node.value, dict) else None
    return node


def with_value(text: str, keys: Keys, value: Any) -> str:
    """The text with a value under these keys. Raises `Unclear`."""
    if _is_empty(text):
        return text + json.dumps(nested(keys, value), indent=2, ensure_ascii=False) + "\n"
    root = node = parse(text)
    for depth, key in enumerate(keys):
        if not isinstance(node.value, dict):
            raise Unclear(f"{'.'.join(keys[:depth]) or 'the whole'} is not an object")
        found = node.find(key)
        if found is None:
            piece = (json.dumps(key) + ": ", nested(keys[depth + 1 :], value))
            return _checked(_with_part(text, node, *piece), root, keys, value)
        node = found
    if _is_same(node.value, value):
        return text
    written = _dumped(value, text, _indent(text, node.start))
    return _checked(text[: node.start] + written + text[node.end :], root, keys, value)


def with_object(text: str, keys: Keys, value: dict[str, Any]) -> str:
    """The text with an object under these keys; what else a person has put into it stays. Raises `Unclear`."""
    if not isinstance(value_at(text, keys), dict):
        return with_value(text, keys, value)
    for key, one in value.items():
        text = with_value(text, [*keys, key], one)
    return text


def with_item(text: str, keys: Keys, item: Any, is_ours: Callable[[Any], bool]) -> str:
    """The text with an item in the array under these keys: in the place of the one that is ours, else at the end.
    Raises `Unclear`."""
    array = _at(text, keys)
    if array is None or array.value is None:
        return with_value(text, keys, [item])
    items, root = array.value, parse(text)
    if not isinstance(items, list):
        raise Unclear(f"{'.'.join(keys)} is not a list")
    for number, (_, start, node) in enumerate(array.parts):
        if is_ours(node.value):
            if _is_same(node.value, item):
                return text
            written = _dumped(item, text, _indent(text, start))
            replaced = [*items[:number], item, *items[number + 1 :]]
            return _checked(text[:start] + written + text[node.end :], root, keys, replaced)
    return _checked(_with_part(text, array, "", item), root, keys, [*items, item])


def without(text: str, keys: Keys) -> str:
    """The text without the value under these keys, and without the objects and arrays that are empty then; an empty
    text if nothing is left. Raises `Unclear`."""
    left = _without(text, keys) if keys else "" if _EMPTY.fullmatch(text) else text
    return without(left, keys[:-1]) if left != text and value_at(left, keys[:-1]) in ({}, []) else left


def _without(text: str, keys: Keys) -> str:
    node = _at(text, keys[:-1])
    names = [name for name, _, _ in node.parts] if node and isinstance(node.value, dict) else []
    return _without_part(text, node, names.index(keys[-1])) if node and keys[-1] in names else text


def without_item(text: str, keys: Keys, is_ours: Callable[[Any], bool]) -> str:
    """The text without the items of the array under these keys that are ours, likewise. Raises `Unclear`."""
    while (array := _at(text, keys)) and isinstance(array.value, list):
        ours = [number for number, item in enumerate(array.value) if is_ours(item)]
        if not ours:
            break
        text = _without_part(text, array, ours[0])
        if len(array.value) == 1:
            return without(text, keys)
    return text


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text

    def value(self, at: int) -> JsonNode:
        opening = self.text[at : at + 1]
        if opening and opening in "{[":
            return self._parts(at, opening)
        if opening == '"':
            string, end = self._string(at)
            return JsonNode(at, end, string)
        if plain := _PLAIN.match(self.text, at):
            return JsonNode(at, plain.end(), json.loads(plain[0]))
        return _refuse(self.text, at)

    def _parts(self, start: int, opening: str) -> JsonNode:
        is_object = opening == "{"
        closing = "}" if is_object else "]"
        parts: list[tuple[str, int, JsonNode]] = []
        comma, at = None, _blank(self.text, start + 1)
        while self.text[at : at + 1] != closing:
            if parts and comma is None:
                _refuse(self.text, at)
            name, first = "", at
            if is_object:
                name, end = self._string(at) if self.text[at : at + 1] == '"' else _refuse(self.text, at)
                at = _blank(self.text, end)
                if self.text[at : at + 1] != ":":
                    _refuse(self.text, at)
                at = _blank(self.text, at + 1)
            node = self.value(at)
            parts.append((name, first, node))
            at = _blank(self.text, node.end)
            comma = at + 1 if self.text[at : at + 1] == "," else None
            at = _blank(self.text, comma or at)
        values = [node.value for _, _, node in parts]
        value = {name: one for (name, _, _), one in zip(parts, values, strict=True)} if is_object else values
        return JsonNode(start, at + 1, value, tuple(parts), comma)

    def _string(self, at: int) -> tuple[str, int]:
        try:
            string, end = scanstring(self.text, at + 1, True)
        except json.JSONDecodeError as error:
            raise Unclear(f"it is not JSON: {error}") from error
        return str(string), int(end)


def _refuse(text: str, at: int) -> NoReturn:
    line = text.count("\n", 0, at) + 1
    raise Unclear(f"it is not JSON: line {line} has something else at column {at - text.rfind(chr(10), 0, at)}")


def _blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _is_empty(text: str) -> bool:
    return _blank(text, 0) == len(text)


def _is_same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def nested(keys: Keys, value: Any) -> Any:
    """The object that has a value under these keys."""
    for key in reversed(keys):
        value = {key: value}
    return value


def _checked(text: str, before: JsonNode, keys: Keys, value: Any) -> str:
    """The changed text, if it holds what was there before and the value. Raises `Unclear`."""
    expected = inner = copy.deepcopy(before.value)
    for key in keys[:-1]:
        inner = inner.setdefault(key, {})
    inner[keys[-1]] = value
    if not _is_same(parse(text).value, expected):
        raise Unclear("it cannot be changed without changing something else")
    return text


def _indent(text: str, at: int) -> str:
    """The blanks at the beginning of a line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """The blanks of one level, as the text has them."""
    found = re.search(r"[{\[][ \t]*\r?\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _dumped(value: Any, text: str, indent: str) -> str:
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (_newline(text) + indent).join(lines)


def _with_part(text: str, node: JsonNode, name: str, value: Any) -> str:
    """The text with one more part at the end of an object or array, in the style of the others."""
    last = node.parts[-1][2].end if node.parts else node.start + 1
    if node.parts and "\n" not in text[node.start : node.end]:
        piece = name + json.dumps(value, ensure_ascii=False)
        return text[:last] + f", {piece}" + text[last:]
    is_first_of_line = node.parts and not text[text.rfind("\n", 0, node.parts[0][1]) + 1 : node.parts[0][1]].strip()
    indent = _indent(text, node.parts[0][1]) if is_first_of_line else _indent(text, node.start) + _unit(text)
    rest = _LINE_REST.match(text, node.comma or last)  # a comment behind the last part is about that
    line_end = rest.end() if rest else last
    comma = "" if node.comma or not node.parts else ","
    new = _newline(text) + indent + name + _dumped(value, text, indent) + ("," if node.comma else "")
    tail = text[line_end:]
    if tail.lstrip(" \t")[0] in "}]":
        tail = _newline(text) + _indent(text, node.start) + tail.lstrip(" \t")
    return text[:last] + comma + text[last:line_end] + new + tail


def _without_part(text: str, node: JsonNode, number: int) -> str:
    start, end = node.parts[number][1], node.parts[number][2].end
    following = _blank(text, end)
    is_last = number == len(node.parts) - 1
    if text[following] == "," and not (is_last and number):
        end = following + 1
    elif number:  # the last one: the comma before it goes, unless others end with one too
        before = node.parts[number - 1][2].end
        comma = _blank(text, before)
        if text[following] == ",":
            end = following + 1
        else:
            text = text[:comma] + text[comma + 1 :]
            start, end = start - 1, end - 1
            start = start if text[comma:start].strip(" ") else comma  # it is on the same line
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip() and (text[end : end + 1] in ("\r", "\n") or not text[end:].strip(" \t")):
        start, end = line, text.find("\n", end) + 1
    return text[:start] + text[end:]
