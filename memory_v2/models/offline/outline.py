"""The structure of a page: its sections, its days, and its recurring subjects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from memory_v2.models.offline.naming import common_stems
from memory_v2.text.dates import Span, leading_date
from memory_v2.text.lists import fillers, stopwords
from memory_v2.text.speakers import speaker
from memory_v2.text.words import stem, words
from memory_v2.tree.block import Block, readable
from memory_v2.tree.headings import Outline

MAX_SECTION_SHARE = 0.8
"""Limits one section, as a share of the page: a larger one is nearly the page, so its own sections are used instead."""
MIN_MENTIONS = 3
"""The least blocks that must name a subject for it to be recurring: two may be chance."""

_NAMED = re.compile(r"(?<![.!?:]\s)(?<=[\w,;)'’\"] )[A-ZÀ-ÖØ-Þ][\w'’.-]*\w")
_MARKED = re.compile(r"\*\*([^*\n]{2,40}?)(?<![:：])\*\*(?!\s*[:：])|`([^`\n]{2,40})`")


@dataclass(frozen=True)
class Section:
    """A heading and the blocks below it, by number, with the date in the heading, if it has one."""

    heading: str
    numbers: tuple[int, ...]
    span: Span | None


def find_sections(blocks: Sequence[Block], body: Sequence[int]) -> list[Section]:
    """The sections of the highest level that has several. If one is nearly the whole page, a lower level is used."""
    for level in sorted({blocks[n - 1].level for n in body if blocks[n - 1].kind == "heading"}):
        sections = _sections_at(blocks, body, level)
        whole = sum(blocks[n - 1].size for n in body)
        largest = max((sum(blocks[n - 1].size for n in s.numbers) for s in sections), default=0)
        if len(sections) > 1 and largest < MAX_SECTION_SHARE * whole:
            return sections
    return []


def _sections_at(blocks: Sequence[Block], body: Sequence[int], level: int) -> list[Section]:
    sections: list[list[int]] = []
    inside = False
    for number in body:
        block = blocks[number - 1]
        if block.kind == "heading" and block.level <= level:
            inside = block.level == level
            if inside:
                sections.append([])
        if inside:
            sections[-1].append(number)
    return [
        Section(heading := readable(blocks[numbers[0] - 1].words), tuple(numbers), leading_date(heading))
        for numbers in sections
    ]


def dated_runs(blocks: Sequence[Block], body: Sequence[int]) -> list[tuple[Span, tuple[int, ...]]]:
    """Runs of blocks in order, each with the date at its start. Blocks before the first date are left out, and so is a
    section without a date beside the one with the date."""
    runs: list[tuple[Span, list[int]]] = []
    level, is_dated = 0, False
    for number in body:
        block = blocks[number - 1]
        span = leading_date(readable(block.words))
        if span is not None:
            runs.append((span, [number]))
            level, is_dated = block.level, True
        elif block.kind == "heading" and block.level <= level:
            is_dated = False
        elif is_dated:
            runs[-1][1].append(number)
    return [(span, tuple(numbers)) for span, numbers in runs]


def find_units(
    blocks: Sequence[Block], body: Sequence[int], full: float, size: Callable[[Sequence[int]], int]
) -> list[tuple[int, ...]]:
    """What moves as one: a section of at most `full` bytes, or else a block, with the headings directly above it."""
    outline = Outline(blocks)
    units: list[tuple[int, ...]] = []
    waiting: list[int] = []
    done = 0
    for number in body:
        if number <= done:
            continue
        section = range(number, outline.ends[number] + 1)
        if len(section) > 1 and size(section) > full:
            waiting.append(number)
        elif _ends_text(blocks, number) and units and not waiting:
            units[-1] += (number,)
        else:
            units.append((*waiting, *section))
            waiting, done = [], section[-1]
    return [*units, tuple(waiting)] if waiting else units


def _ends_text(blocks: Sequence[Block], number: int) -> bool:
    """Whether a block is a rule below a text."""
    return blocks[number - 1].kind == "rule" and number > 1 and blocks[number - 2].kind != "rule"


def recurring_subjects(
    blocks: Sequence[Block], units: Sequence[tuple[int, ...]], known: frozenset[str]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Recurring names and terms, most frequent first, each with its blocks; what moves as one belongs to the most
    frequent subject that it names.

    Conversations are not divided, because a speaker is not a subject. Neither are the subjects of the whole page, whose
    stems are in `known`.
    """
    texts = [[readable(blocks[n - 1].content) for n in unit if blocks[n - 1].kind != "heading"] for unit in units]
    if sum(1 for unit in texts for text in unit if speaker(text)) > 0.5 * sum(map(len, texts)):
        return
    named = [_named_in("\n".join(unit)) for unit in texts]
    spread = Counter(stemmed for terms in named for stemmed in terms)
    most = max(MIN_MENTIONS, 0.6 * len(texts))
    left = {s: c for s, c in spread.items() if c >= MIN_MENTIONS and s not in known and c <= most}
    naming: dict[str, list[int]] = {stemmed: [] for stemmed in left}
    for place, terms in enumerate(named):
        for stemmed in left.keys() & terms:
            naming[stemmed].append(place)
    waiting = set(range(len(units)))
    queue = [(-count, subject) for subject, count in left.items()]
    heapify(queue)
    while queue:
        count, subject = heappop(queue)
        if -count > left[subject]:  # others have taken some of its blocks since
            if left[subject] >= MIN_MENTIONS:
                heappush(queue, (-left[subject], subject))
            continue
        places = [place for place in naming[subject] if place in waiting]
        forms = Counter(named[place][subject] for place in naming[subject])
        yield min(forms, key=lambda f: (-forms[f], f)), tuple(sorted(n for place in places for n in units[place]))
        waiting.difference_update(places)
        for stemmed in (s for place in places for s in left.keys() & named[place]):
            left[stemmed] -= 1


def _named_in(text: str) -> dict[str, str]:
    """The names in a text and capitalised words at its start: stem → spelling."""
    found = _NAMED.findall(text) + [bold or code for bold, code in _MARKED.findall(text)]
    opening = [word for word in re.findall(r"[^\W_][\w'’+-]*", text)[:3] if word[:1].isupper()]
    names: dict[str, str] = {}
    for form in [*opening, *found]:
        plain_words = words(form)
        if len(plain_words) != 1 or plain_words[0] in stopwords() or plain_words[0] in fillers():
            continue
        stemmed = stem(plain_words[0])
        if stemmed not in common_stems() and len(stemmed) > 2 and not stemmed[0].isdigit():
            names.setdefault(stemmed, form.strip(".'’-"))
    return names
