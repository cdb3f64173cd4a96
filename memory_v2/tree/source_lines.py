"""Source lines on a page that is changed: each says what it said before, of the same blocks, and new text gets its own.

The lines are made again from what they say of each block. So a line moves with its text, does not take in other text,
and goes away with the last block that it is for; where nothing changes, its bytes stay. A line that is for no text is a
person's, and stays too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby

from memory_v2.text.dates import Span
from memory_v2.text.days import heading_day, own_day
from memory_v2.text.kept import kept
from memory_v2.tree.block import Block, line_end, readable, split_lines, take_runs
from memory_v2.tree.page import Page, page_source
from memory_v2.tree.sections import PROPERTY
from memory_v2.tree.source import (
    DATE,
    NO_SOURCE,
    NO_TEXT,
    SOURCE,
    Source,
    closing_lines,
    is_source_line,
    read_source_line,
    text_lines,
)

_NEW = -2
"""The place of a line that is not on the page yet."""
_APART = Block("# -\n\n", "heading", 1)
"""Keeps the lines of one page from being for the text of another."""


@dataclass(frozen=True, slots=True)
class _SourcedBlock:
    """A block, its place on the page (from 0), its source, and the text that it is part of: the number of the line that
    was for it, or a negative number for new text."""

    block: Block
    place: int
    source: Source = NO_SOURCE
    text: int = 0


def signed(page: Page, before: Sequence[Block], source: Source, late: Source = NO_SOURCE) -> Page:
    """The page, changed from these blocks, with lines that name the source of what is new on it. A line that new text
    brings with it is for that text. New text below a heading that was there and names earlier days is from `late`."""
    places = _late(page, before, late.day) if late.day else frozenset[int]()
    if not source and not places and not any(map(is_source_line, (*before, *page.blocks))):
        return page
    return signed_each(page, before, lambda place, _: late if place in places else source)


def _late(page: Page, before: Sequence[Block], day: date) -> frozenset[int]:
    """The places of the blocks that do not begin or end with a day of their own, and stand below a heading that was
    there and names days before this one."""
    earlier = {span for span in headed_days(before) if span and span.end < day}
    if not earlier:
        return frozenset()
    below = ((place, page.blocks[place]) for place, span in enumerate(headed_days(page.blocks)) if span in earlier)
    return frozenset(place for place, block in below if own_day(block.content) is None)


def gathered(page: Page, others: Sequence[Page]) -> Page:
    """The page, made of blocks of these pages, with the lines that name the source of each. If the pages have different
    sources in their metadata, lines say so too."""
    sources = {page_source(other) for other in (page, *others)}
    if len(sources) == 1 and not any(other.has_source_lines for other in others):
        return page
    parts = [other.blocks if len(sources) == 1 else spelled_out(other) for other in others]
    before = [block for part in parts for block in (_APART, *part)]
    made = signed_each(_without_respelled(page, before), before, lambda *_: NO_SOURCE)
    return made if len(sources) == 1 else replace(made, metadata=_without_source(made))


def _without_respelled(page: Page, before: Sequence[Block]) -> Page:
    """The page without the lines for its text that are spelled otherwise in the blocks of which it is made."""
    own, origins = text_lines(page.blocks), _origins(before, page.blocks)
    kept = [number for number, origin in enumerate(origins, 1) if origin or number not in own]
    return page if len(kept) == len(page.blocks) else page.with_body(take_runs(page.blocks, kept))


def of_one_source(page: Page) -> Page:
    """The page with its source in its metadata if all its text is from one, without lines that say the same."""
    if not page.metadata:
        return page
    blocks, lines = page.blocks, closing_lines(page.blocks)
    closing = {lines[n] for n, block in enumerate(blocks) if not (block.kind in NO_TEXT or is_source_line(block))}
    sources = {_said(blocks, line) for line in closing}
    if len(sources) != 1 or 0 in closing:
        return page if 0 in closing else replace(page, metadata=_without_source(page))
    (source,) = sources
    told = text_lines(blocks)
    kept = [number for number in range(1, len(blocks) + 1) if number not in told]
    made = replace(page.with_body(take_runs(blocks, kept)), metadata=_without_source(page))
    added = [f"{key}: {value}" for key, value in source.properties.items() if value]
    return replace(made, metadata=made.metadata + "".join(f"{line}{line_end(page.text)}" for line in added))


def spelled_out(page: Page) -> list[Block]:
    """The blocks of the page, with lines that say what its metadata says of its source."""
    source = page_source(page)
    return _spelled(page, lambda _, said: said or source)


def with_days(page: Page, days: Sequence[date | None]) -> Page:
    """The page with lines that say these days of its blocks, one for each that is no source line, where a line says
    none yet."""
    numbers = (number for number, block in enumerate(page.blocks, 1) if not is_source_line(block))
    days_of = dict(zip(numbers, days, strict=False))
    blocks = _spelled(page, lambda number, said: replace(said, day=said.day or days_of.get(number)))
    return page.with_body([(block,) for block in blocks])


def _spelled(page: Page, source_of: Callable[[int, Source], Source]) -> list[Block]:
    """The blocks of the page; `source_of` tells the source of each, by its number and what a line says of it."""
    lines, own = closing_lines(page.blocks), text_lines(page.blocks)
    told = (
        _SourcedBlock(
            block, n - 1, NO_SOURCE if is_source_line(block) else source_of(n, _said(page.blocks, line)), line
        )
        for n, (block, line) in enumerate(zip(page.blocks, lines, strict=True), 1)
        if n not in own
    )
    return [block for _, block in _placed(page, _texts(told), {})]


def headed_days(blocks: Sequence[Block]) -> list[Span | None]:
    """The days that each block has of the innermost heading above it that names some."""
    above: list[tuple[int, Span | None]] = []
    said: Span | None = None
    found = []
    for block in blocks:
        if block.kind == "heading":
            above = [one for one in above if one[0] < block.level]
            above.append((block.level, heading_day(readable(block.words))))
            said = next((day for _, day in reversed(above) if day), None)
        found.append(said)
    return found


def left_days(divided: Page, parts: Sequence[Page]) -> list[list[date | None]]:
    """For each part of a divided page the days that its blocks, but for source lines, had of a heading that did not
    come along."""
    was = headed_days(divided.blocks)
    if not any(was):
        return [[] for _ in parts]
    texts = [[block for block in part.blocks if not is_source_line(block)] for part in parts]
    # All parts are compared at once: each alone with the whole would be quadratic.
    origins = iter(_origins(divided.blocks, [block for text in texts for block in text]))

    def day_left(block: Block, now: Span | None) -> date | None:
        number = next(origins)
        has_left = number and block.kind not in NO_TEXT and was[number - 1] != now
        return one_day(was[number - 1]) if has_left else None

    return [[day_left(block, now) for block, now in zip(text, headed_days(text), strict=True)] for text in texts]


def one_day(span: Span | None) -> date | None:
    """The day, if it is one."""
    return span.start if span and span.start == span.end else None


def _without_source(page: Page) -> str:
    lines = split_lines(page.metadata)
    return "".join(line for line in lines if not ((found := PROPERTY.match(line)) and found[1] in (SOURCE, DATE)))


def signed_each(page: Page, before: Sequence[Block], source_of: Callable[[int, Block], Source]) -> Page:
    """The page, changed from these blocks, with its lines made again, and one for each text that is new on it;
    `source_of` tells the source of a new block, by its place (from 0) and itself."""
    origins = _origins(before, page.blocks)
    lines = {n: place for place, n in enumerate(origins) if n and is_source_line(before[n - 1])}
    placed = _placed(page, _texts(_told(page, before, origins, source_of)), lines)
    if [block for _, block in placed] == list(page.blocks):
        return page
    runs: list[list[Block]] = []
    last = _NEW
    for place, block in placed:
        if not runs or place != last + 1:
            runs.append([])
        runs[-1].append(block)
        last = place
    return page.with_body(runs)


def _placed(page: Page, texts: Sequence[Sequence[_SourcedBlock]], lines: Mapping[int, int]) -> list[tuple[int, Block]]:
    """The blocks, each with its place on the page, and behind each text its line: the one that is on the page, by
    its number and place, if it says the same."""
    placed: list[tuple[int, Block]] = []
    for text in texts:
        end = _end(text)
        first = len(placed)
        placed += [(one.place, one.block) for one in text[:end]]
        if end and text[0].source:
            line = _line([block for _, block in placed], first, text[0].source, line_end(page.text))
            place = lines.get(next((one.text for one in text if one.text > 0), 0))
            if place is not None and page.blocks[place].content == line.content:
                placed.append((place, page.blocks[place]))
            else:
                placed.append((_NEW, line))
        placed += [(one.place, one.block) for one in text[end:]]
    return placed


def _told(
    page: Page, before: Sequence[Block], origins: Sequence[int], source_of: Callable[[int, Block], Source]
) -> Iterator[_SourcedBlock]:
    """The blocks of the page without its lines, each with its source."""
    known, known_own = closing_lines(before), text_lines(before)
    for is_new, numbered in groupby(enumerate(origins), key=lambda one: not one[1]):
        run = list(numbered)
        around = [page.blocks[place] for place, _ in run] if is_new else before
        lines, own = (closing_lines(around), text_lines(around)) if is_new else (known, known_own)
        for position, (place, origin) in enumerate(run, 1):
            block, number = page.blocks[place], position if is_new else origin
            line = lines[number - 1]
            if number in own:
                continue
            if is_source_line(block):
                yield _SourcedBlock(block, place)
            elif line:
                text = -(run[0][0] + line + 1) if is_new else line
                yield _SourcedBlock(block, place, _said(around, line), text)
            else:
                yield (
                    _SourcedBlock(block, place, source_of(place, block), -1)
                    if is_new and place >= page.top
                    else _SourcedBlock(block, place)
                )


def _said(blocks: Sequence[Block], line: int) -> Source:
    """What the source line with this number says, or nothing if the number is 0."""
    return (read_source_line(blocks[line - 1]) if line else None) or NO_SOURCE


def _origins(before: Sequence[Block], now: Sequence[Block]) -> list[int]:
    """For each block the number that it had before (from 1); 0 if it is new. A block that was moved is not new."""
    was, has = ([(block.kind, block.content) for block in blocks] for blocks in (before, now))
    origins = [0] * len(now)
    for place, new_place in kept(was, has):
        origins[new_place] = place + 1
    left: dict[tuple[str, str], deque[int]] = {}
    for number in sorted(set(range(1, len(before) + 1)).difference(origins)):
        left.setdefault(was[number - 1], deque()).append(number)
    for place, origin in enumerate(origins):
        if not origin and left.get(has[place]):
            origins[place] = left[has[place]].popleft()
    return origins


def _texts(told: Iterable[_SourcedBlock]) -> list[list[_SourcedBlock]]:
    """The texts: neighbours of one source. What is new joins the text beside it if that has the same source and no
    heading is between them."""
    texts: list[list[_SourcedBlock]] = []
    for one in told:
        last = texts[-1][-1] if texts else None
        if last is not None and last.source == one.source:
            is_new = last.text < 0 or one.text < 0
            if last.text == one.text or (is_new and not _is_headed(texts[-1], one)):
                texts[-1].append(one)
                continue
        texts.append([one])
    return texts


def _is_headed(text: Sequence[_SourcedBlock], following: _SourcedBlock) -> bool:
    return following.block.kind == "heading" or not following.source


def _end(text: Sequence[_SourcedBlock]) -> int:
    """How many blocks of a text its line is behind: all but the headings at its end, unless they are all that is
    below its front matter."""
    kinds = [one.block.kind for one in text]
    end = next((n for n in range(len(kinds), 0, -1) if kinds[n - 1] not in NO_TEXT), 0)
    return len(kinds) if end and kinds[end - 1] == "front matter" else end


def _line(blocks: Sequence[Block], first: int, source: Source, newline: str) -> Block:
    """The line for the last of these blocks, from `first` on. It says how many if that is not what a line is for by
    itself: all text up to another line, or to a heading. A heading that names days is no part of a text that came
    without it: the text has a day of its own."""
    start = len(blocks)
    while start > 0 and not is_source_line(blocks[start - 1]):
        start -= 1
        if blocks[start].kind == "heading":
            break
    headings = blocks[start:first]
    is_exact = start <= first and all(block.kind == "heading" for block in headings) and not any(headed_days(headings))
    count = len(blocks) - first
    counted = "" if is_exact else f" ({count} block{'s' if count > 1 else ''})"
    return Block(f"{source.line}{counted}{newline}{newline}")
