"""The two sections that the program writes at the end of a page, and how to tell them from a person's text.

Each line of `## Links` is an item that begins with a link. Each line of `## Metadata` is `key: value`, and at least one
key is the program's. A section in any other form, or longer than the program writes, belongs to the person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_v2.tree.block import is_blank, split_lines

CHILD_LINK = re.compile(r"[-*+] \[\[([^\[\]|#\r\n\\]+)[^\[\]\r\n]*\]\](?:[ \t]+(?:[-–—:][ \t]+)?([^\r\n]*))?")
"""A line of `## Links`: the child and its description."""
PROPERTY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+([^\r\n]*))?[ \t]*(?:\r\n|\r|\n)?\Z")
"""A line of `## Metadata`: a key and its value."""
MAX_CHARACTERS = 1_000
"""Limits a line of `## Links`, and all of `## Metadata`, in characters. Longer text is a person's."""

_LINKS = re.compile(r"## Links[ \t]*(?:\r\n|\r|\n)?\Z")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|\Z)")
_METADATA = re.compile(r"## Metadata[ \t]*(?:\r\n|\r|\n)?\Z")
OURS = frozenset(
    {"last_updated", "size_bytes", "split_from", "piece", "repeated_headings", "title_level", "rules_below"}
)
"""The keys of `## Metadata` that the program writes. It keeps those of a person."""


def part(text: str) -> tuple[str, str, str]:
    """The body, the `## Links` and the `## Metadata` of a page; together they are the text."""
    lines = split_lines(text)
    metadata = _metadata_start(lines)
    links = _links_start(lines[:metadata], metadata < len(lines))
    return "".join(lines[:links]), "".join(lines[links:metadata]), "".join(lines[metadata:])


@dataclass(frozen=True, slots=True)
class Sections:
    """The lines of `## Links` and of `## Metadata`, counted from 0; an empty range where there is no such section."""

    links: range
    metadata: range


def end_sections(body: str, links: str, metadata: str) -> Sections:
    """The sections of a page of these three parts."""
    above, listed, noted = (len(split_lines(each)) for each in (body, links, metadata))
    return Sections(range(above, above + listed), range(above + listed, above + listed + noted))


def misplaced_sections(text: str) -> Sections | None:
    """The sections of a page on which a person wrote below one of them; `None` if there are none.

    Here a section counts as the program's only if it has what only the program writes: both keys that it always writes,
    or the description of a child. `## Links` with another section below it is a person's.
    """
    lines = split_lines(text)
    ended = end_sections(*part(text))
    metadata = ended.metadata or _metadata_with_text_below(lines)
    if ended.links or (links := _links_end_at(lines, metadata.start if metadata else len(lines))) is None:
        links = ended.links
    return None if ended == (found := Sections(links, metadata)) else found


def _links_end_at(lines: Sequence[str], end: int) -> range | None:
    """`## Links` directly above line `end`, or else the last such section above it that describes a child."""
    if (start := _links_start(lines[:end], end < len(lines))) < end:
        return range(start, end)
    for start in range(end - 1, -1, -1):
        if _LINKS.match(lines[start]):
            stop = next((n for n in range(start + 1, end) if not _is_listed(lines[n])), end)
            is_described = any((found := CHILD_LINK.match(line)) and found[2] for line in lines[start:stop])
            if is_described and not any(map(_HEADING.match, lines[stop:end])):
                return range(start, stop)
    return None


def _is_listed(line: str) -> bool:
    return is_blank(line) or (len(line) <= MAX_CHARACTERS and CHILD_LINK.match(line) is not None)


def _metadata_with_text_below(lines: Sequence[str]) -> range:
    for start in range(len(lines) - 1, -1, -1):
        if not _METADATA.match(lines[start]):
            continue
        end = start + 1
        while end < len(lines) and (is_blank(lines[end]) or PROPERTY.match(lines[end])):
            end += 1
        while is_blank(lines[end - 1]):
            end -= 1
        keys = {found[1] for line in lines[start:end] if (found := PROPERTY.match(line))}
        if {"last_updated", "size_bytes"} <= keys and len("".join(lines[start:end])) <= MAX_CHARACTERS:
            return range(start, end)
    return range(0)


def _metadata_start(lines: Sequence[str]) -> int:
    known, length = False, 0
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        length += len(line)
        if _METADATA.match(line):
            return number if known else len(lines)
        if length <= MAX_CHARACTERS and (found := PROPERTY.match(line)):
            known = known or found[1] in OURS
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
