"""Cutting a note into units: bullets, paragraphs, rows, quotes and code, with the lines they stand on.

The parser says what code, a quote and a list is. A line that only underlines the one above it with `---` is a divider
here, and no heading: in notes that is what it is meant to be.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memory_v2.notes.note import Kind
from memory_v2.text.calendar import DAY
from memory_v2.tree.block import MAX_NESTING, Block, is_blank, markdown, parse_blocks, readable, split_lines

if TYPE_CHECKING:
    from markdown_it.token import Token

LONGEST_LEAD = 160
"""How long a line may be that introduces others, in characters."""
_MARK = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|\Z)")
_BOX = re.compile(r"\[([ xX✓✔])\](?:[ \t]+|\Z)")
_BOLD = re.compile(r"\*\*[^*]+\*{1,2}[:：]?\Z|__[^_]+__[:：]?\Z")
"""Bold words and nothing else. Where broken bytes have swallowed a star, one is enough."""
_STARTS = re.compile(rf"\[?{DAY}|\[?\d\d?:\d\d|\*\*[^*]{{1,60}}\*\*|\*\*[^*]{{1,60}}[:：]|[A-Z]{{3,20}}:|•")
"""How a line of a paragraph begins that is a unit of its own: with a day or a time, a label, a mark that is no word."""
_HARD_BREAK = re.compile(r"(?:[ \t]{2,}|\\)(?:\r\n|\r|\n)?\Z")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, with its line (from 0)."""

    words: str
    level: int
    line: int


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of a note; `start` and `end` are its lines, counted from 0, the end excluded. `above` are the units that
    it is nested in, outermost first."""

    kind: Kind
    text: str
    start: int
    end: int
    leads: tuple[str, ...] = ()
    is_done: bool | None = None
    above: tuple[Unit, ...] = ()


@dataclass
class _Open:
    """A list item or a quote that is being read."""

    is_quote: bool
    unit: Unit | None = None


@dataclass
class _Reader:
    lines: Sequence[str]
    open: list[_Open] = field(default_factory=list)
    leads: list[str] = field(default_factory=list)
    """For each open list or table the line that introduces it; empty if there is none."""
    lead: str = ""
    """The paragraph just read, if it introduces what follows."""
    head: str = ""
    """The head of the table that is being read."""


def read_units(text: str) -> Iterator[Heading | Unit]:
    """The headings and units of a text, in order."""
    lines = split_lines(text)
    tokens = markdown(text)
    if any(token.level >= MAX_NESTING - 2 for token in tokens):  # the parser has ignored the rest
        yield from _by_block(parse_blocks(text))
        return
    reader, before, in_head = _Reader(lines), "", False
    for place, token in enumerate(tokens):
        kind, lead = token.type, reader.lead
        if kind in ("list_item_open", "blockquote_open"):
            reader.open.append(_Open(kind == "blockquote_open"))
        elif kind in ("list_item_close", "blockquote_close"):
            reader.open.pop()
        elif kind in ("bullet_list_open", "ordered_list_open", "table_open"):
            reader.leads.append(lead)
            reader.head = ""
        elif kind in ("bullet_list_close", "ordered_list_close", "table_close"):
            reader.leads.pop()
        elif kind in ("thead_open", "thead_close"):
            in_head = kind == "thead_open"
        if token.map is None or token.nesting < 0:
            continue
        start, end = token.map
        if kind == "tr_open":
            row = lines[start].strip()
            if in_head:
                reader.head = row
            else:
                yield from _units(reader, "row", start, end)
        elif kind in ("fence", "code_block"):
            yield _unit(reader, "code", "".join(lines[start:end]).rstrip("\r\n"), start, end)
        elif kind == "inline" and before == "heading_open" and tokens[place - 1].markup != "-":
            yield _heading(lines, tokens[place - 1])
        elif kind == "inline" and before in ("paragraph_open", "heading_open"):
            yield from _units(reader, "paragraph", start, end)
        if kind not in ("paragraph_open", "inline", "bullet_list_open", "ordered_list_open", "table_open"):
            reader.lead = ""
        before = kind


def _heading(lines: Sequence[str], token: Token) -> Heading:
    start, end = token.map or (0, 0)
    return Heading(readable(Block("".join(lines[start:end]), "heading", 1).words), int(token.tag[1]), start)


def _units(reader: _Reader, kind: Kind, start: int, end: int) -> Iterator[Unit]:
    """The units on these lines: one, or one for each line that begins as one does."""
    holder = reader.open[-1] if reader.open else None
    in_quote = any(one.is_quote for one in reader.open)
    is_bullet = holder is not None and not holder.is_quote and holder.unit is None
    starts = [start, *(n for n in range(start + 1, end) if _begins(reader.lines, n))]
    for first, last in zip(starts, [*starts[1:], end], strict=True):
        text = "\n".join(line.strip(" \t\r\n") for line in reader.lines[first:last]).strip()
        is_done: bool | None = None
        if is_bullet and first == start:
            text = _MARK.sub("", text, count=1)
            while _MARK.match(text) and not text.startswith("**"):  # a list that begins on the line of its item
                text = _MARK.sub("", text, count=1)
        elif in_quote:
            text = text.lstrip("> \t")
        if kind != "row" and (box := _BOX.match(text)):
            is_done, text = box[1] != " ", text[box.end() :]
        own: Kind = "quote" if in_quote else "bullet" if is_bullet and first == start else kind
        unit = _unit(reader, own, text, first, last, is_done)
        if own == "bullet" and holder is not None:
            holder.unit = unit
        reader.lead = text if first == starts[-1] and _introduces(text) else ""
        yield unit


def _unit(reader: _Reader, kind: Kind, text: str, start: int, end: int, is_done: bool | None = None) -> Unit:
    above = tuple(one.unit for one in reader.open if one.unit is not None)
    leads = filter(None, [*reader.leads, reader.head if kind == "row" else ""])
    return Unit(kind, text, start, end, tuple(dict.fromkeys(leads)), is_done, above)


def _introduces(text: str) -> bool:
    """Whether a text stands for those below it: it ends in a colon, or is nothing but bold words."""
    if len(text) > LONGEST_LEAD or "\n" in text:
        return False
    return text.rstrip("*_ ").endswith((":", "：")) or _BOLD.match(text) is not None


def _begins(lines: Sequence[str], number: int) -> bool:
    line = lines[number].lstrip(" \t>")
    if _HARD_BREAK.search(lines[number - 1]) or _STARTS.match(line):
        return True
    return bool(line) and unicodedata.category(line[0]) == "So"


def _by_block(blocks: Sequence[Block]) -> Iterator[Heading | Unit]:
    """The same for a text that is nested deeper than anybody writes: its blocks, not taken apart."""
    line = 0
    kinds: dict[str, Kind] = {"item": "bullet", "fence": "code", "code": "code", "quote": "quote"}
    for block in blocks:
        lines = split_lines(block.text)
        if block.kind == "heading":
            yield Heading(block.words, block.level, line)
        elif block.kind not in ("rule", "html", "front matter") and not all(map(is_blank, lines)):
            kind = kinds.get(block.kind, "paragraph")
            yield Unit(kind, _MARK.sub("", block.content, count=1), line, line + len(lines))
        line += len(lines)
