"""The structure of a page: its sections, its days, and what on it hangs together."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from memory_v2.models.offline.naming import undated
from memory_v2.text.dates import Span, leading_date, named_span
from memory_v2.text.speakers import is_message, speaker
from memory_v2.tree.block import Block, readable
from memory_v2.tree.headings import Outline
from memory_v2.tree.page import Page
from memory_v2.tree.source import Source, is_source_line, told_sources

MAX_SECTION_SHARE = 0.8
"""Limits one section, as a share of the page: a larger one is nearly the page, so its own sections are used instead."""
OF_A_LOG = 0.6
"""From which share of its blocks that have a day, or of its lines that are turns of a dialogue, a page is a log."""
_LEADS = frozenset(["paragraph", "item"])
_LED = frozenset(["item", "fence", "code", "table", "quote"])
_BOLD_LINE = re.compile(r"\*\*[^*\n]+\*\*[^\n]*")
"""A line that stands above a list as a heading does."""
_NUMBER = re.compile(r"[ \t]*\d{1,9}[.)][ \t]")


def date_of(blocks: Sequence[Block]) -> Span | None:
    """The date at the start of a text."""
    first = next((block for block in blocks if block.content.strip()), None)
    return leading_date(readable(first.words)) if first else None


def is_conversation(blocks: Sequence[Block]) -> bool:
    """Whether a text is a message of a transcript, or most of its lines are turns of a dialogue."""
    lines = [line for block in blocks for line in readable(block.content).splitlines() if line.strip()]
    return bool(lines) and (is_message(lines[0]) or sum(map(bool, map(speaker, lines))) >= OF_A_LOG * len(lines))


def is_log(page: Page) -> bool:
    """Whether most blocks of a page are dated, or it is a conversation."""
    body = page.blocks[1 if page.blocks[:1] and page.blocks[0].kind == "heading" else 0 :]
    dated, is_under_date = 0, False
    for block in body:
        if leading_date(readable(block.words)):
            is_under_date = True
        elif block.kind == "heading":
            is_under_date = False
        dated += is_under_date
    return bool(body) and (dated >= OF_A_LOG * len(body) or is_conversation(body))


def is_of_a_time(path: str) -> bool:
    """Whether a page, or one above it, is named for a day, a month or a year."""
    return any(named_span(part) is not None for part in path.split("/"))


def headings_of(page: Page) -> list[tuple[int, Block]]:
    """The headings except the title, with their numbers."""
    return [(number, block) for number, block in enumerate(page.blocks, 1) if block.kind == "heading" and number > 1]


@dataclass(frozen=True)
class DatedSection:
    """A heading and the blocks below it, by number, with the date in the heading, if it has one."""

    heading: str
    numbers: tuple[int, ...]
    span: Span | None


def find_sections(blocks: Sequence[Block], body: Sequence[int]) -> list[DatedSection]:
    """The sections of the highest level that has several. If one is nearly the whole page, a lower level is used. What
    a source line gives another day than the heading has is in no section."""
    told = told_sources(blocks)
    for level in sorted({blocks[n - 1].level for n in body if blocks[n - 1].kind == "heading"}):
        sections = _sections_at(blocks, body, level, told)
        whole = sum(blocks[n - 1].size for n in body)
        largest = max((sum(blocks[n - 1].size for n in s.numbers) for s in sections), default=0)
        if len(sections) > 1 and largest < MAX_SECTION_SHARE * whole:
            return sections
    return []


def _sections_at(
    blocks: Sequence[Block], body: Sequence[int], level: int, told: Mapping[int, Source]
) -> list[DatedSection]:
    sections: list[tuple[Span | None, list[int]]] = []
    inside, span = False, None
    for number in body:
        block = blocks[number - 1]
        if block.kind == "heading" and block.level <= level:
            inside, span = block.level == level, leading_date(readable(block.words))
            if inside:
                sections.append((span, []))
        elif span and number in told and _is_of_another_day(told[number], span):
            inside = False
        if inside:
            sections[-1][1].append(number)
    return [DatedSection(readable(blocks[numbers[0] - 1].words), tuple(numbers), span) for span, numbers in sections]


def _is_of_another_day(source: Source, span: Span) -> bool:
    return source.day is not None and not span.start <= source.day <= span.end


def dated_runs(blocks: Sequence[Block], body: Sequence[int]) -> list[tuple[Span, tuple[int, ...]]]:
    """Runs of blocks in order, each with the day that it begins with. A heading, a line that is nothing but a day and
    the beginning of what somebody says are for what follows, up to the next day or section; any other block that begins
    with its day is for itself and what hangs together with it. What a source line gives another day is of that one.
    What is of no day is in no run."""
    runs: list[tuple[Span, list[int]]] = []
    level, is_open, told = 0, False, told_sources(blocks)
    spans = [leading_date(readable(blocks[number - 1].words)) for number in body]
    if not (any(spans) or any(source.day for source in told.values())):
        return []
    ends = together(blocks)
    for number, span in zip(body, spans, strict=True):
        block, said = blocks[number - 1], readable(blocks[number - 1].words)
        if span is not None:
            runs.append((span, [number]))
            is_above = block.kind == "heading" or not undated(said).strip(" \t*_:#—–-")
            level, is_open = block.level, is_above or speaker(said) is not None
        elif number in told and (day := told[number].day):
            if not runs or _is_of_another_day(told[number], runs[-1][0]):
                runs.append((Span(day, day), []))
                is_open = False
            runs[-1][1].append(number)
        elif block.kind == "heading" and block.level <= level:
            is_open = False
        elif runs and (is_open or number <= ends[runs[-1][1][-1]]):
            runs[-1][1].append(number)
    return [(span, tuple(numbers)) for span, numbers in runs]


def together(blocks: Sequence[Block]) -> list[int]:
    """The last block of what hangs together from each block on, by number: a numbered list, a quoted text, a line with
    the list, code, table or quotation that it leads into; and the source line below."""
    ends = list(range(len(blocks) + 1))
    numbered = [block.kind == "item" and _NUMBER.match(block.content) is not None for block in blocks]
    last_alike = len(blocks)  # of the neighbours of one kind that begin behind the block
    for number in range(len(blocks) - 1, 0, -1):
        block, following = blocks[number - 1], blocks[number]
        if number + 1 < len(blocks) and blocks[number + 1].kind != following.kind:
            last_alike = number + 1
        if is_source_line(following):
            ends[number] = number + 1
        elif (numbered[number - 1] and numbered[number]) or block.kind == following.kind == "quote":
            ends[number] = ends[number + 1]
        elif following.kind in _LED and _leads(block):
            ends[number] = ends[last_alike]
    return ends


def _leads(block: Block) -> bool:
    """Whether a block leads into the list, code, table or quotation behind it."""
    if block.kind == "paragraph" and not block.text.endswith(("\n\n", "\r\n\r\n")):
        return True
    if block.kind not in _LEADS:
        return False
    said = readable(block.content).strip()
    return said.rstrip("*_").endswith((":", "：")) or _BOLD_LINE.fullmatch(said) is not None


def find_units(outline: Outline, body: Sequence[int], full: float) -> list[tuple[int, ...]]:
    """What moves as one: a section, a message of a transcript, or what hangs together, of at most `full` bytes, or else
    a block, with the headings directly above it. Of what hangs together and is larger, as much as fits moves as one;
    what leads in is never alone."""
    blocks, held = outline.blocks, together(outline.blocks)
    ends = [end if level else last for level, end, last in zip(outline.levels, outline.ends, held, strict=True)]
    messages = [number for number in body if is_message(blocks[number - 1].content)]
    for start, following in pairwise([*messages, *(number + 1 for number in body[-1:])]):
        ends[start] = following - 1
    sizes = [0, *accumulate(block.size for block in blocks)]
    units: list[tuple[int, ...]] = []
    waiting: list[int] = []
    done = 0
    for number in body:
        if number <= done:
            continue
        is_large = sizes[ends[number]] - sizes[number - 1] > full
        if outline.levels[number] and ends[number] > number and is_large:
            waiting.append(number)
        elif _ends_text(blocks, number) and units and not waiting:
            units[-1] += (number,)
        else:
            fitting = bisect_right(sizes, sizes[number - 1] + full) - 1
            done = min(held[number], max(number + 1, fitting)) if is_large else ends[number]
            units.append((*waiting, *range(number, done + 1)))
            waiting = []
    return [*units, tuple(waiting)] if waiting else units


def _ends_text(blocks: Sequence[Block], number: int) -> bool:
    """Whether a block is a rule below a text."""
    return blocks[number - 1].kind == "rule" and number > 1 and blocks[number - 2].kind != "rule"
