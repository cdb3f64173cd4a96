"""Cutting a page into passages, the places that a search can find, with the days that are named for them.

A passage is one block, or part of a block that is long or a conversation: small enough to be an answer, and always the
exact words of the page. Its context (headings, speaker, day) is stored with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby, pairwise
from typing import Literal, NamedTuple, TypeAlias

from memory_v2.text.dates import Span, find_dates, leading_date, may_have_year, named_span
from memory_v2.text.days import heading_day, last_date, named_day, newest_part, own_day, unmarked
from memory_v2.text.speakers import speaker, speakers
from memory_v2.text.words import normal, sentences
from memory_v2.tree.block import Block, is_blank, readable, size_of, split_lines
from memory_v2.tree.page import Page, page_source
from memory_v2.tree.sections import CHILD_LINK, OURS, PROPERTY
from memory_v2.tree.source import DATE, SOURCE, Source, is_source_line, told_sources

_LINK = re.compile(r"\[\[[^\[\]|\r\n]*(?:\\?\|([^\[\]\r\n]*))?\]\]")


@lru_cache(20_000)
def line_id(line: str) -> int | None:
    """A number made from the words of a line, without its markers and spacing and without the targets of its links;
    `None` if it has no words. It fits into 64 bits."""
    plain = normal(_LINK.sub(lambda link: link[1] or "", line.removeprefix("\ufeff")))
    if not plain:
        return None
    return int.from_bytes(blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


def line_ids(lines: Iterable[str]) -> tuple[int, ...]:
    """The ids of the lines that have words, each once."""
    return tuple(dict.fromkeys(found for line in lines if (found := line_id(line)) is not None))


class Named(NamedTuple):
    """A day, or days from `since` to `until` (as ordinals), that a place names as those on which it was said. If they
    stand in a line for the whole page, that has this `line` id: what was written after it has another day."""

    since: int
    until: int
    line: int | None = None


def named_by(span: Span, line: int | None = None) -> Named:
    """These days, as named by a line for the whole page if its id is given."""
    return Named(span.start.toordinal(), span.end.toordinal(), line)


def day_of_source(source: Source) -> tuple[Named, ...]:
    """The day of a source, or the one in its name; none if it has neither."""
    day = source.day or named_day(source.name)
    return (named_by(Span(day, day)),) if day else ()


def days_of_page(page: Page) -> tuple[Named, ...]:
    """The days of the page as a whole: as it was said, or as its path says."""
    last = page.path.rsplit("/", 1)[-1]
    by_name = [
        span
        for span in (named_span(last) or next((span for span, _, _ in find_dates(last)), None), heading_day(page.title))
        if span
    ]
    if (day := page.said_on) is None:
        return tuple(map(named_by, by_name))
    told = next((line for line in _told(page) if str(day) in line and not line.startswith("last_updated")), "")
    return tuple(map(named_by, (Span(day, day), *by_name), (line_id(told), *(None for _ in by_name))))


def _told(page: Page) -> Iterator[str]:
    """The lines of the metadata and of the front matter."""
    yield from split_lines(page.metadata)
    if page.blocks[:1] and page.blocks[0].kind == "front matter":
        yield from split_lines(page.blocks[0].text)


Kind: TypeAlias = Literal["text", "heading", "child link"]

PASSAGE_BYTES = 400
"""The approximate size of a passage of a block with many lines, in bytes."""
LINE_BYTES = 1200
"""The size, in bytes, up to which a single line stays whole. A longer one is cut at the ends of sentences."""

_SAYS = re.compile(r"[A-Za-z0-9]|[^\x00-\x7f\s]")
"""A text without such a sign says nothing that can be looked up: a marker without an item, a row of dashes."""
KEPT = 20_000
"""Of how many texts the days are kept: a page is indexed again whenever a line of it changes or it is split."""


@dataclass(slots=True)
class Passage:
    """Lines `first_line` to `last_line` (from 1) of a page, in block number `block` (0 for `## Links`).

    Passages of one `run` are under the same heading; only they are read as each other's surroundings.
    """

    kind: Kind
    block: int
    first_line: int
    last_line: int
    text: str
    section: tuple[str, ...] = ()
    source: str = ""
    """The name of where it came from, if that is told."""
    run: int = 0
    speaker: str | None = None
    date: Span | None = None
    """The days that it speaks of: its own date, or an inherited one."""
    named: tuple[Named, ...] = ()
    """The days that it names as those on which it was said: its own, those of its headings, that of its source."""
    line: int | None = None
    """The id of its line, if it is a part of one: the history knows by ids when lines were written."""
    question: bool = False


class _Position(NamedTuple):
    """Where text stands: what the passages of a block, or of a part of it, have in common. `line` is its first."""

    kind: Kind
    block: int
    line: int
    section: tuple[str, ...]
    source: str
    run: int
    named: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class _Heading:
    number: int
    level: int
    words: str
    date: Span | None
    said: Span | None


def passages(page: Page) -> list[Passage]:
    """The passages of a page, in order: its text, its headings without text, and its child links, but no metadata."""
    readable_lines = [split_lines(readable(block.text)) for block in page.blocks]
    voices = speakers([line for lines in readable_lines for line in lines])
    found: list[Passage] = []
    run: list[Passage] = []
    above: list[_Heading] = []
    runs = 1
    told, of_page, page_days = told_sources(page.blocks), page_source(page), days_of_page(page)
    sourced = {number: day_of_source(source) for number, source in told.items()}
    apart = _program_lines(page)
    page_date = inherited = _date_in(page.path.rsplit("/", 1)[-1]) or _date_in(page.title)
    section, of_section = tuple[str, ...](), page_days
    for number, ((start, block), lines) in enumerate(zip(page.placed_blocks(), readable_lines, strict=True), 1):
        line = page.line_of(start)
        source = readable(told.get(number, of_page).name)
        if line in apart and block.kind == "heading":
            pass
        elif block.kind == "heading":
            found += _dated(run, inherited)
            run, runs = [], runs + 1
            above = _below(above, number, block)
            inherited = next((heading.date for heading in reversed(above) if heading.date), page_date)
            section, of_section = _section(above), (*_named(above, number, {}), *page_days)
            if above[-1].words and _is_bare(page.blocks, number):
                named = (*_named(above, number, sourced), *page_days)
                place = _Position("heading", number, line, _section(above[:-1]), source, runs, named)
                found += _dated([*_cut(place, 0, lines, LINE_BYTES)], inherited)
        elif block.kind != "rule" and not (number in told and is_source_line(block)):
            named = (*_named(above, number, sourced), *page_days) if number in told else of_section
            for first, kept in _without(lines, line, apart):
                place = _Position("text", number, first, section, source, runs, named)
                run += map(_described, _parts(place, kept, voices))
    return [*found, *_dated(run, inherited), *_listed(page, apart, runs + 1)]


def _below(above: Sequence[_Heading], number: int, block: Block) -> list[_Heading]:
    """The headings above the text that follows this heading, which is the last of them."""
    words = readable(block.words)
    kept = [heading for heading in above if heading.level < block.level]
    return [*kept, _Heading(number, block.level, words, _date_in(words), heading_day(words))]


def _named(above: Sequence[_Heading], number: int, sourced: Mapping[int, tuple[Named, ...]]) -> Iterator[Named]:
    """The days of the headings above a block and of its source, the innermost first: a heading that came with the text
    of the source is further inside, and any other one was there before."""
    if not (own := sourced.get(number, ())):
        yield from (named_by(heading.said) for heading in reversed(above) if heading.said)
        return
    came_with = [heading for heading in above if sourced.get(heading.number) == own]
    was_there = [heading for heading in above if heading not in came_with]
    yield from (named_by(heading.said) for heading in reversed(came_with) if heading.said)
    yield from own
    yield from (named_by(heading.said) for heading in reversed(was_there) if heading.said)


def _section(above: Sequence[_Heading]) -> tuple[str, ...]:
    return tuple(heading.words for heading in above if heading.words)


def _program_lines(page: Page) -> frozenset[int]:
    """The numbers of the lines of the program's sections. A key of the metadata that it does not know is a person's."""
    lines, sections = split_lines(page.text), page.sections
    known = {
        number
        for number in sections.metadata
        if number == sections.metadata.start
        or ((found := PROPERTY.match(lines[number])) and found[1] in (*OURS, SOURCE, DATE))
    }
    return frozenset(number + 1 for number in {*sections.links, *known})


def _without(lines: Sequence[str], first: int, apart: frozenset[int]) -> Iterator[tuple[int, Sequence[str]]]:
    """The runs of lines that are not `apart`, each with the number of its first line; `first` is that of all."""
    if apart.isdisjoint(range(first, first + len(lines))):
        yield first, lines
        return
    numbered = enumerate(lines, first)
    for is_apart, run in groupby(numbered, key=lambda pair: pair[0] in apart):
        if not is_apart:
            kept = list(run)
            yield kept[0][0], [line for _, line in kept]


def _is_bare(blocks: Sequence[Block], number: int) -> bool:
    """Whether nothing below the heading with this number says anything, up to the next heading that is as high."""
    level = blocks[number - 1].level
    for block in map(blocks.__getitem__, range(number, len(blocks))):  # a slice for each heading would be quadratic
        if block.kind == "heading" and block.level <= level:
            return True
        if block.kind != "rule" and _SAYS.search(block.words):
            return False
    return True


def _parts(place: _Position, lines: Sequence[str], voices: Collection[str]) -> Iterable[Passage]:
    """The passages of one block: the turns of a conversation, or runs of lines; the whole block if it is short."""
    if not voices:
        return _cut(place, 0, lines, PASSAGE_BYTES)
    names = [name if (name := speaker(line)) in voices else None for line in lines]
    turns = [number for number, name in enumerate(names) if name]
    bounds = pairwise([*([] if turns[:1] == [0] else [0]), *turns, len(lines)])
    return [
        part for first, last in bounds for part in _cut(place, first, lines[first:last], PASSAGE_BYTES, names[first])
    ]


def _cut(
    place: _Position, first: int, lines: Sequence[str], limit: int, said_by: str | None = None
) -> Iterator[Passage]:
    """The lines from the one `first` of their place as passages of at most about `limit` bytes, without the blank lines
    around them."""
    start = size = 0
    if size_of("".join(lines)) > limit:
        for number, line in enumerate(lines):
            length = size_of(line)
            if size and size + length > limit and not is_blank(line):
                yield from _passage(place, first + start, lines[start:number], said_by)
                start, size = number, 0
            size += length if size or not is_blank(line) else 0
    yield from _passage(place, first + start, lines[start:], said_by)


def _passage(place: _Position, first: int, lines: Sequence[str], said_by: str | None) -> Iterator[Passage]:
    start, end = 0, len(lines)
    while start < end - 1 and is_blank(lines[start]):
        start += 1
    while start < end - 1 and is_blank(lines[end - 1]):
        end -= 1
    first, lines = first + start, lines[start:end]
    text = "".join(lines).rstrip("\r\n")
    if not _SAYS.search(text):
        return
    at = place.line + first
    is_whole = len(lines) > 1 or size_of(text) <= LINE_BYTES
    for piece in [text] if is_whole else _pieces(text):
        yield Passage(
            *(place.kind, place.block, at, at + len(lines) - 1, piece, place.section, place.source, place.run, said_by),
            named=place.named,
            line=None if is_whole else line_id(text),
        )


def _pieces(line: str) -> Iterator[str]:
    """A long line in pieces of about `PASSAGE_BYTES`: cut at the ends of sentences, else at spaces, else anywhere."""
    piece = ""
    for sentence in sentences(line):
        if piece and size_of(piece + sentence) > PASSAGE_BYTES:
            yield piece.rstrip(" \t")
            piece = ""
        piece += sentence
        while size_of(piece) > LINE_BYTES:
            end = piece.rfind(" ", PASSAGE_BYTES // 2, PASSAGE_BYTES) + 1 or PASSAGE_BYTES
            yield piece[:end].rstrip(" \t")
            piece = piece[end:]
    if piece.strip():
        yield piece


def _described(part: Passage) -> Passage:
    """The passage with the days that it names, and whether it asks."""
    own, part.date = days_in(part.text, part.speaker is not None)
    if own:
        part.named = (named_by(own), *part.named)
    part.question = "?" in part.text or "？" in part.text
    return part


@lru_cache(KEPT)
def days_in(text: str, is_said: bool) -> tuple[Span | None, Span | None]:
    """The day of a text, and the days that it speaks of."""
    return (own_day(text, is_said), _own_date(text, is_said)) if may_have_year(text) else (None, None)


def _own_date(text: str, is_said: bool) -> Span | None:
    """The date of a text: at its start, or as its last words (`… until 2026-02-03`). In a conversation, a date at the
    end is about something else. What it says was so before has no say."""
    newest = newest_part(text)
    if (date := leading_date(unmarked(newest))) or is_said:
        return date
    found = last_date(newest)
    return found[0] if found else None


def _date_in(words: str) -> Span | None:
    return next((span for span, _, _ in find_dates(words)), None)


def _dated(run: Sequence[Passage], inherited: Span | None) -> Sequence[Passage]:
    """The passages under one heading, each with its own date or an inherited one. If most have their own, as in a log,
    a passage without one inherits that of the passage before it."""
    own = {passage.date for passage in run if passage.date}
    is_log = len(own) > 1 and 2 * sum(passage.date is not None for passage in run) >= len(run)
    for passage in run:
        if is_log:
            inherited = passage.date or inherited
        passage.date = passage.date or inherited
    return run


def _listed(page: Page, apart: Collection[int], run: int) -> Iterator[Passage]:
    """The lines of `## Links`: they describe children, and are not answers themselves. Then a person's lines among the
    metadata, which are."""
    lines = split_lines(page.text)
    for number in page.sections.links:
        if CHILD_LINK.match(lines[number]):
            text = readable(lines[number]).rstrip("\r\n")
            yield Passage("child link", 0, number + 1, number + 1, text, run=run)
    for number in page.sections.metadata if page.metadata else ():
        if number + 1 not in apart and not is_blank(lines[number]):
            text = readable(lines[number]).rstrip("\r\n")
            below = Passage("text", 0, number + 1, number + 1, text, run=run + 1)
            yield _described(below)
