"""How a page hangs together inside: its sections, its days, and the subjects that recur in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memory_v2.models.offline.naming import COMMON
from memory_v2.text.dates import Span, leading_date
from memory_v2.text.speakers import speaker
from memory_v2.text.words import FILLERS, STOPWORDS, stem, words
from memory_v2.tree.block import Block, readable

ONE_IS_ALL = 0.8
"""A section with this share of the page is not one of several: its own sections are looked at."""
RECURS = 3

_NAMED = re.compile(r"(?<![.!?:]\s)(?<=[\w,;)'’\"] )[A-ZÀ-ÖØ-Þ][\w'’.-]*\w")
_MARKED = re.compile(r"\*\*([^*\n]{2,40}?)\*\*|`([^`\n]{2,40})`")


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it, by number, with the day it is of, if it says one."""

    heading: str
    numbers: tuple[int, ...]
    span: Span | None


def find_sections(blocks: Sequence[Block], body: Sequence[int]) -> list[Section]:
    """The sections of the highest level that has several; a section that is nearly all of the page is opened."""
    for level in sorted({blocks[n - 1].level for n in body if blocks[n - 1].kind == "heading"}):
        sections = _sections_at(blocks, body, level)
        whole = sum(blocks[n - 1].size for n in body)
        largest = max((sum(blocks[n - 1].size for n in s.numbers) for s in sections), default=0)
        if len(sections) > 1 and largest < ONE_IS_ALL * whole:
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
    """The blocks in order, each run with the date it begins with; what stands before the first date is left out."""
    runs: list[tuple[Span, list[int]]] = []
    for number in body:
        span = leading_date(readable(blocks[number - 1].words))
        if span is not None:
            runs.append((span, [number]))
        elif runs:
            runs[-1][1].append(number)
    return [(span, tuple(numbers)) for span, numbers in runs]


def recurring_subjects(
    blocks: Sequence[Block], body: Sequence[int], known: frozenset[str]
) -> list[tuple[str, tuple[int, ...]]]:
    """Names and terms that recur, each with the blocks that are about it; a block belongs to the first that it names.

    What is said in conversation is left together: who speaks is no subject. Nor is what the whole page is about: the
    stems in `known`.
    """
    texts = {n: readable(blocks[n - 1].content) for n in body if blocks[n - 1].kind != "heading"}
    if sum(1 for text in texts.values() if speaker(text)) > 0.5 * len(texts):
        return []
    named = {number: _named_in(text) for number, text in texts.items()}
    spread = Counter(stemmed for terms in named.values() for stemmed in terms)
    spellings = Counter((stemmed, form) for terms in named.values() for stemmed, form in terms.items())
    subjects: list[tuple[str, tuple[int, ...]]] = []
    left = set(named)
    while True:
        here = Counter(stemmed for number in left for stemmed in named[number])
        usable = {
            s: c
            for s, c in here.items()
            if c >= RECURS and s not in known and spread[s] <= max(RECURS, 0.6 * len(texts))
        }
        if not usable:
            return subjects
        subject = min(usable, key=lambda s: (-usable[s], s))
        numbers = tuple(sorted(number for number in left if subject in named[number]))
        form = min((f for s, f in spellings if s == subject), key=lambda f: (-spellings[subject, f], f))
        subjects.append((form, numbers))
        left -= set(numbers)


def _named_in(text: str) -> dict[str, str]:
    """The names in a text, and its first word that says something: stem → as it is written."""
    found = _NAMED.findall(text) + [bold or code for bold, code in _MARKED.findall(text)]
    opening = [word for word in re.findall(r"[^\W_][\w'’+-]*", text)[:3] if word[:1].isupper()]
    names: dict[str, str] = {}
    for form in [*opening, *found]:
        plain_words = words(form)
        if len(plain_words) != 1 or plain_words[0] in STOPWORDS or plain_words[0] in FILLERS:
            continue
        stemmed = stem(plain_words[0])
        if stemmed not in COMMON and len(stemmed) > 2 and not stemmed[0].isdigit():
            names.setdefault(stemmed, form.strip(".'’-"))
    return names
