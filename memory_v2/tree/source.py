"""Where a text came from and the day it was said, in forms that a person can read.

On a page of its own they stand in `## Metadata`, as `source: NAME` and `date: 2026-02-03`. Among other text, a line of
the program's is behind the text: `*Source: NAME · 2026-02-03*`, `*Source: NAME*` or `*Said on 2026-02-03*`. The
line is for the text above it, back to the line of another source or to the heading of its section, that one included.
Where that would be too much or too little, the line says how many blocks it is for: `*Source: NAME* (2 blocks)`. With
no text above it a line is a person's, such as one below the title of an article, and stays as any other text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from memory_v2.text.days import DAY, iso_day
from memory_v2.tree.block import Block

SOURCE = "source"
DATE = "date"
"""The keys in the metadata of a page."""
NO_TEXT = ("heading", "rule")
"""The kinds of blocks that have no source of their own."""

_LINE = re.compile(
    rf"\*(?:Source: (?P<name>\S.*?)(?: · (?P<day>{DAY}))?|Said on (?P<said>{DAY}))\*"
    r"(?: \((?P<count>[1-9]\d{0,3}) blocks?\))?"
)
_DOCUMENT = re.compile(r"[/\\]|\.[A-Za-z]\w{0,4}\s*\Z")
_ESCAPED = re.compile(r"\\([\\*`<\[\]&])|&middot;")
_SPECIAL = re.compile(r"[\\*`<\[\]]|&(?=middot;)")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a text came from, and the day it was said. Both may be unknown."""

    name: str = ""
    day: date | None = None

    def __bool__(self) -> bool:
        return bool(self.name or self.day)

    @property
    def is_document(self) -> bool:
        """Whether it is a file or an address, whose text stays together; a person or a session tells of many things."""
        return _DOCUMENT.search(self.name) is not None

    @property
    def line(self) -> str:
        """The line that is behind the text on a page with others."""
        if not self.name:
            return f"*Said on {self.day}*"
        name = _SPECIAL.sub(lambda sign: f"\\{sign[0]}", self.name)
        if self.day is None:
            name = re.sub(rf" · (?={DAY}\Z)", " &middot; ", name)  # else it would be read as the day
        return f"*Source: {name}" + (f" · {self.day}*" if self.day else "*")

    @property
    def properties(self) -> dict[str, str]:
        """What is in the metadata of a page of its own."""
        return {SOURCE: self.name, DATE: self.day.isoformat() if self.day else ""}


NO_SOURCE = Source()


def is_source_line(block: Block) -> bool:
    """Whether a block is a line of the program's that says where the text above it came from, or when it was said. It
    stays with the block in front of it."""
    return read_source_line(block) is not None


def read_source_line(block: Block) -> Source | None:
    """What a source line says; `None` if the block is none."""
    found = _matched(block)
    if found is None:
        return None
    day = iso_day(named := found["day"] or found["said"])
    if named and not day:
        return None
    return Source(_ESCAPED.sub(lambda sign: sign[1] or "·", found["name"] or ""), day)


def told_sources(blocks: Sequence[Block]) -> dict[int, Source]:
    """What the source line that is for a block says, by the number of each block that has one."""
    told: dict[int, Source] = {}
    for line, block in enumerate(blocks, 1):
        if said := read_source_line(block):
            told |= dict.fromkeys((*covered(blocks, line), line), said)
    return told


def closing_lines(blocks: Sequence[Block]) -> list[int]:
    """For each block the number of the source line that is for it; 0 if there is none. A line is for itself."""
    closing = [0] * len(blocks)
    for line, block in enumerate(blocks, 1):
        if is_source_line(block):
            for number in (*covered(blocks, line), line):
                closing[number - 1] = line
    return closing


def covered(blocks: Sequence[Block], line: int) -> range:
    """The numbers of the blocks that the source line with this number (from 1) is for."""
    found = _matched(blocks[line - 1])
    count = int(found["count"] or 0) if found else 0
    start = line
    while start > 1 and not is_source_line(blocks[start - 2]) and (not count or line - start < count):
        start -= 1
        if not count and blocks[start - 1].kind == "heading":
            break
    return range(start, line)


def text_lines(blocks: Sequence[Block]) -> set[int]:
    """The numbers of the source lines that are for some text, and not only for headings and rules or for nothing."""
    lines = (number for number, block in enumerate(blocks, 1) if is_source_line(block))
    return {line for line in lines if any(blocks[n - 1].kind not in NO_TEXT for n in covered(blocks, line))}


def _matched(block: Block) -> re.Match[str] | None:
    may_be_one = block.kind == "paragraph" and block.text.startswith("*S")
    return _LINE.fullmatch(block.content) if may_be_one else None
