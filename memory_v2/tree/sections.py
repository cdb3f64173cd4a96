"""The two sections that the program writes at the end of a page, and how to tell them from a person's text.

Each line of `## Links` is an item that begins with a link. Each line of `## Metadata` is `key: value`, and at least one
key is the program's. A section in any other form, or longer than the program writes, belongs to the person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_v2.tree.block import is_blank, split_lines

CHILD_LINK = re.compile(r"[-*+] \[\[([^\[\]|#\r\n\\]+)[^\[\]\r\n]*\]\](?:[ \t]+(?:[-–—:][ \t]+)?([^\r\n]*))?")
"""A line of `## Links`: the child and its description."""
PROPERTY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+([^\r\n]*))?[ \t]*(?:\r\n|\r|\n)?\Z")
"""A line of `## Metadata`: a key and its value."""
MAX_CHARACTERS = 1_000
"""Limits a line of `## Links`, and all of `## Metadata`, in characters. Longer text is a person's."""

_LINKS = re.compile(r"## Links[ \t]*(?:\r\n|\r|\n)?\Z")
_METADATA = re.compile(r"## Metadata[ \t]*(?:\r\n|\r|\n)?\Z")
_OURS = frozenset({"last_updated", "size_bytes", "split_from", "piece"})


def part(text: str) -> tuple[str, str, str]:
    """The body, the `## Links` and the `## Metadata` of a page; together they are the text."""
    lines = split_lines(text)
    metadata = _metadata_start(lines)
    links = _links_start(lines[:metadata], metadata < len(lines))
    return "".join(lines[:links]), "".join(lines[links:metadata]), "".join(lines[metadata:])


def part_in_the_middle(text: str) -> tuple[str, str, str, str] | None:
    """The same for a page on which a person wrote below the program's sections: the text above, both sections, the text
    below. Here a section counts as the program's only if it has both keys that the program always writes.
    """
    lines = split_lines(text)
    for start in range(len(lines) - 1, -1, -1):
        if not _METADATA.match(lines[start]):
            continue
        end = start + 1
        while end < len(lines) and (is_blank(lines[end]) or PROPERTY.match(lines[end])):
            end += 1
        while is_blank(lines[end - 1]):
            end -= 1
        keys = {found[1] for line in lines[start:end] if (found := PROPERTY.match(line))}
        is_ours = {"last_updated", "size_bytes"} <= keys and len("".join(lines[start:end])) <= MAX_CHARACTERS
        if end < len(lines) and is_ours:
            links = _links_start(lines[:start], True)
            above, listed = "".join(lines[:links]), "".join(lines[links:start])
            return above, listed, "".join(lines[start:end]), "".join(lines[end:])
    return None


def _metadata_start(lines: Sequence[str]) -> int:
    known, length = False, 0
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        length += len(line)
        if _METADATA.match(line):
            return number if known else len(lines)
        if length <= MAX_CHARACTERS and (found := PROPERTY.match(line)):
            known = known or found[1] in _OURS
        elif not is_blank(line):
            break
    return len(lines)


def _links_start(lines: Sequence[str], noted: bool) -> int:
    """Where `## Links` begins; an empty section is the program's only directly above `## Metadata`."""
    listed = False
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if _LINKS.match(line):
            return number if listed or noted else len(lines)
        if len(line) <= MAX_CHARACTERS and CHILD_LINK.match(line):
            listed = True
        elif not is_blank(line):
            break
    return len(lines)
