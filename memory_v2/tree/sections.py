"""The two sections at the end of a page that are the program's, and how they are told from a person's words.

By their form: each line of `## Links` is an item that begins with a link, each line of `## Metadata` is `key: value`,
one of them a key of the program's. What lacks this form, or is longer than the program writes, is a person's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_v2.tree.block import is_blank, split_lines

ENTRY = re.compile(r"[-*+] \[\[([^\[\]|#\r\n\\]+)[^\[\]\r\n]*\]\](?:[ \t]+(?:[-–—:][ \t]+)?([^\r\n]*))?")
"""A line of `## Links`: what it names, and what it says of it."""
PROPERTY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+([^\r\n]*))?[ \t]*(?:\r\n|\r|\n)?\Z")
"""A line of `## Metadata`: key and value."""
LONGEST = 1_000
"""Characters up to which an entry, or all metadata, may be the program's."""

_LINKS = re.compile(r"## Links[ \t]*(?:\r\n|\r|\n)?\Z")
_METADATA = re.compile(r"## Metadata[ \t]*(?:\r\n|\r|\n)?\Z")
_OURS = frozenset({"last_updated", "size_bytes", "split_from", "piece"})


def part(text: str) -> tuple[str, str, str]:
    """A page's body, its `## Links` and its `## Metadata`; together they are the text."""
    lines = split_lines(text)
    metadata = _metadata_start(lines)
    links = _links_start(lines[:metadata], metadata < len(lines))
    return "".join(lines[:links]), "".join(lines[links:metadata]), "".join(lines[metadata:])


def part_in_the_middle(text: str) -> tuple[str, str, str, str] | None:
    """The same where a person wrote on below the program's sections: what is above, the two, and what is below.

    Only a section with both of the keys that the program always writes is taken for one of its own here.
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
        if end < len(lines) and {"last_updated", "size_bytes"} <= keys and len("".join(lines[start:end])) <= LONGEST:
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
        if length <= LONGEST and (found := PROPERTY.match(line)):
            known = known or found[1] in _OURS
        elif not is_blank(line):
            break
    return len(lines)


def _links_start(lines: Sequence[str], noted: bool) -> int:
    """Where `## Links` begins; an empty one is the program's only above `## Metadata`."""
    listed = False
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if _LINKS.match(line):
            return number if listed or noted else len(lines)
        if len(line) <= LONGEST and ENTRY.match(line):
            listed = True
        elif not is_blank(line):
            break
    return len(lines)
