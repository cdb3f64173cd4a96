"""One change of one file: what is put in, and how it is taken out again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_v2.hosts import json_text, toml_text
from memory_v2.hosts.place import Launch
from memory_v2.hosts.unclear import Unclear


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a file. `about` says what for; `put` and `take_out` turn its text into another, and raise `Unclear`
    where that is not safe. A file that does not exist is an empty text."""

    file: Path
    about: str
    put: Callable[[str], str]
    take_out: Callable[[str], str]


def _checked(server: Any, launch: Launch) -> None:
    if isinstance(server, dict) and not launch.is_server(server):
        name = f"a server {launch.name!r} of your own"
        raise Unclear(f"it lists {name}, with other arguments than ours; rename or remove that, and run this again")


def json_server(file: Path, keys: tuple[str, ...], server: Mapping[str, Any], launch: Launch) -> Edit:
    """The server under these keys of a JSON file. One that a person has written, or added arguments to, stays."""

    def put(text: str) -> str:
        _checked(json_text.value_at(text, keys), launch)
        return json_text.with_object(text, keys, dict(server))

    return Edit(file, "MCP server", put, lambda text: json_text.without(text, keys))


def json_hook(
    file: Path, keys: tuple[str, ...], hook: Mapping[str, Any], is_ours: Callable[[Any], bool], **top: Any
) -> Edit:
    """A hook in the list under these keys of a JSON file, which also needs the values of `top`."""

    def put(text: str) -> str:
        for key, value in top.items():
            if json_text.value_at(text, [key]) is None:
                text = json_text.with_value(text, [key], value)
        return json_text.with_item(text, keys, dict(hook), is_ours)

    return Edit(file, "hook at a session's start", put, lambda text: json_text.without_item(text, keys, is_ours))


def toml_server(file: Path, keys: tuple[str, ...], server: Mapping[str, toml_text.Value], launch: Launch) -> Edit:
    """The server under these keys of a TOML file, likewise."""

    def put(text: str) -> str:
        _checked(toml_text.table_at(text, keys), launch)
        return toml_text.with_table(text, keys, server)

    return Edit(file, "MCP server", put, lambda text: toml_text.without_table(text, keys))


def whole_file(file: Path, about: str, content: str) -> Edit:
    """A file of our own. A person's changes to it stay."""

    def take_out(text: str) -> str:
        if text not in (content, ""):
            raise Unclear("it was changed since; delete it yourself")
        return ""

    return Edit(file, about, lambda text: content if text == "" else text, take_out)
