"""Reading a note: its bytes become sections and items, each item with its lines, headings, day and id.

The Markdown parser says what code, a quote and a list is. A line that only underlines the one above it with `---` is a
divider here, and no heading: in notes that is what it is meant to be.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from typing import TypeAlias

from memory_v2.files.decoding import decode_text
from memory_v2.files.listing import LeftOut
from memory_v2.notes.languages import CATEGORIES, LONGEST, WORD, bare, mentioned, says, topics
from memory_v2.notes.measures import readings
from memory_v2.notes.note import DatedBy, Item, Kind, Note, Section
from memory_v2.notes.people import handles
from memory_v2.text.dates import Span
from memory_v2.text.days import DAY, heading_day, named_day, own_day
from memory_v2.text.words import normal, plain, sentences, shorten, words
from memory_v2.tree.block import (
    MAX_NESTING,
    Block,
    is_blank,
    markdown,
    parse_blocks,
    readable,
    split_lines,
    uncollected,
)
from memory_v2.tree.front_matter import read_front_matter

LONGEST_LEAD = 160
"""How long a line may be that introduces others, in characters."""
_MARK = re.compile(r"\A[ \t>]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|\Z)")
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
            first, last = tokens[place - 1].map or (0, 0)
            words = Block("".join(lines[first:last]), "heading", 1).words
            yield Heading(readable(words), int(tokens[place - 1].tag[1]), first)
        elif kind == "inline" and before in ("paragraph_open", "heading_open"):
            yield from _units(reader, "paragraph", start, end)
        if kind not in ("paragraph_open", "inline", "bullet_list_open", "ordered_list_open", "table_open"):
            reader.lead = ""
        before = kind


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
    if not (reader.open or reader.leads):
        return Unit(kind, text, start, end, (), is_done)
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


Dated: TypeAlias = tuple[date | None, DatedBy]
"""A day, and what says so."""
MARK = "<!-- silica notes: generated"
"""How a file begins that this program has made from notes. It is never read as one."""
LONGEST_DATED = 2_000
"""In how much of an item its own day is looked for, in characters: it stands at the beginning or the end of a line."""
ID_LENGTH = 12
"""Hexadecimal digits of an id: among a million items, two are the same once in a thousand folders."""


@uncollected()
def read_note(name: str, data: bytes) -> Note | LeftOut:
    """The note of a file. Left out is what is no text, is empty, or was generated by this program."""
    decoded = decode_text(name, data)
    if isinstance(decoded, LeftOut):
        return decoded
    text = readable(decoded.text)
    if text.lstrip().startswith(MARK):
        return LeftOut(name, "generated by silica notes", is_expected=True)
    front = read_front_matter(text)
    by_file: Dated = (front.date, "front matter") if front.date else (named_day(name), "file name")
    parts = list(read_units(text))
    items = list(_items(name, parts, by_file))
    lines = [item.first_line for item in items]
    sections = [
        described(section, items[bisect_left(lines, section.first_line) : bisect_right(lines, section.last_line)])
        for section in _sections(parts, len(split_lines(text)))
    ]
    title = next((section.heading for section in sections if section.level == 1), "")
    return Note(
        name=name,
        sha256=sha256(data).hexdigest(),
        words=len(words(text)),
        day=by_file[0],
        tags=front.tags,
        sections=tuple(section for section in sections if section.level or section.summary),
        items=tuple(items),
        trouble=decoded.notes,
        titles=tuple(dict.fromkeys(filter(None, (front.title, *front.aliases, title)))),
    )


def _sections(parts: Sequence[Heading | Unit], count: int) -> Iterator[Section]:
    headings = [part for part in parts if isinstance(part, Heading)]
    starts = [Heading("", 0, 0), *headings] if not headings or headings[0].line else headings
    for heading, following in zip(starts, [*(start.line for start in starts[1:]), count], strict=True):
        yield Section(heading.words, heading.level, heading.line + 1, max(following, heading.line + 1))


def _items(name: str, parts: Sequence[Heading | Unit], by_file: Dated) -> Iterator[Item]:
    above: list[Heading] = []
    headings: tuple[str, ...] = ()
    in_section: date | None = None
    seen: Counter[str] = Counter()
    own: dict[int, date] = {}  # by the first line of the unit
    for part in parts:
        if isinstance(part, Heading):
            above = [*(one for one in above if one.level < part.level), part]
            headings = tuple(one.words for one in above if one.words)
            in_section = next(filter(None, (_day(heading_day(one.words)) for one in reversed(above))), None)
            continue
        if not WORD.search(part.text):
            continue
        is_short = part.kind != "code" and len(part.text) <= LONGEST_DATED
        day = _day(own_day(part.text)) if is_short else None
        if day:
            own[part.start] = day
        held = next((own[unit.start] for unit in reversed(part.above) if unit.start in own), None)
        dated: Dated = by_file if by_file[0] else (None, "")
        if day or held:
            dated = (day or held, "own")
        elif in_section:
            dated = (in_section, "section")
        key = "\0".join((name, *headings, normal(part.text)))
        seen[key] += 1
        number = sha256(f"{key}\0{seen[key]}".encode()).hexdigest()[:ID_LENGTH]
        yield Item(number, part.kind, part.text, part.start + 1, part.end, headings, part.leads, *dated, part.is_done)


def _day(span: Span | None) -> date | None:
    """The day that a span of time is; `None` if it is none, or longer."""
    return span.start if span and span.granularity == "day" else None


MAX_SUMMARY = 120
"""The length of a summary, in characters, unless the first sentence is shorter."""
MIN_SUMMARY = 9
"""The least length of a sentence that is a summary alone, in characters: `1.` and `E.g.` are none."""
MAX_ENTITIES = 30
"""How many names of a section are told: more would be the section itself."""

_MONEY = re.compile(r"[$€£] ?\d")
_HASHTAG = re.compile(r"(?<![\w#/&])#([^\W\d_][\w-]{1,40})(?![\w#])")
_ENTITY = re.compile(
    r"\[\[([^\[\]|#\r\n]+)|`([^`\s]{2,60})`|(https?://[^\s<>()\"'`*]+[^\s<>()\"'`*.,;:!?])"
    r"|(?<![\w.])((?:[A-ZÀ-Þ][\w.&'’-]*[\w])(?: (?:de |del |da |von |of )?[A-ZÀ-Þ][\w.&'’-]*[\w]){1,3})"
)


def described(section: Section, items: Sequence[Item]) -> Section:
    """The section with its summary, tags and entities."""
    texts = [item.text[:LONGEST] for item in items if item.kind != "code"]
    first = next((item.text for item in items if item.is_prose), "")
    return replace(
        section,
        summary=_summary(first),
        tags=_tags(section.heading, texts, any(item.day and item.dated_by == "own" for item in items)),
        entities=_entities([section.heading, *texts]),
    )


def _summary(text: str) -> str:
    sentence = next(sentences(plain(text)), "").rstrip()
    is_short = MIN_SUMMARY <= len(sentence) <= MAX_SUMMARY and sentence.endswith(tuple(".!?。！？"))
    return sentence if is_short else shorten(text, MAX_SUMMARY)


def _tags(heading: str, texts: Sequence[str], is_dated: bool) -> tuple[str, ...]:
    found: set[str] = set()
    for text in map(bare, [heading, *texts]):
        found.update(mentioned(text))
        found.update(topics(text))
        if readings(text, is_stated=False):
            found.add("metrics")
    for kind in ("titles", "headings"):
        found.update(category for category in CATEGORIES if says(bare(heading), category, kind))
    found.update(tag.casefold() for text in texts for tag in _HASHTAG.findall(text))
    if is_dated:
        found.add("temporal")
    if any(map(_MONEY.search, texts)):
        found.add("financial")
    if any(map(handles, texts)):
        found.add("person")
    return tuple(sorted(found))


def _entities(texts: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for text in texts:
        found |= dict.fromkeys(handles(text))
        found |= dict.fromkeys(plain(next(filter(None, match.groups()))) for match in _ENTITY.finditer(text))
        if len(found) >= MAX_ENTITIES:
            break
    return tuple(filter(None, found))[:MAX_ENTITIES]
