"""What a page covers, in order: its sections, or else the beginnings of its items and paragraphs, as short phrases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memory_v2.models.offline.looks import telling_terms
from memory_v2.models.offline.sentences import LABEL, STAMP, has_value, is_code, phrase, runs, split
from memory_v2.text.lists import headings, labels
from memory_v2.text.plain import plain
from memory_v2.text.words import folded, words
from memory_v2.tree.block import Block, readable

MAX_LEAD = 60
"""Limits the words of an item or a paragraph that stand for it, in characters, unless it is the only one."""
_NUMBERING = re.compile(
    r"^(?:[^\w\s(\"'“‘¿¡`~/]+\s*)*(?:(?:\d{1,2}(?:\.\d{1,2})*|[A-Za-z]|\d{1,2}[a-z])[.):]\s+|\d{1,2}(?:\.\d{1,2})+\s+)?"
)
_BRACKETS = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_DAY = re.compile(r"\b\d{4}-\d\d(?:-\d\d)?\b")
_PARTS = re.compile(r"\s+[-–—|]+\s+|:\s+|\s*：\s*")
_ENUMERATED = re.compile(r"[^\W\d_]+ \d{1,2}[a-z]?")
_LINK = re.compile(r"!?\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\)")
_KEY = re.compile(r"([\w.-]+)=\S")
_TRAILING = re.compile(r"[^\w)\]\"'”’»…%+#!?]+$")
_BOLD = re.compile(r"\W*\*\*([^*\n]{2,60}?)[.:：]?\*\*")
_CELL = re.compile(r"^[ \t]*\|?([^|\n]*)\|", re.M)


@dataclass(frozen=True)
class Topic:
    """One part of a page: its heading or first words, its size in bytes, and how deep below others it stands."""

    words: str
    size: int
    depth: int
    is_said: bool = False
    """Whether it is told by what it says, and not by a heading or label."""


def is_common_heading(heading: str) -> bool:
    """Whether a heading stands in notes of any kind, such as `Key findings`, and does not say what its own is about."""
    told = re.findall(r"[^\W_]+(?:-[^\W_]+)*", bare(heading).casefold())
    return not any(telling_terms(word) for word in told if word not in headings())


def bare(heading: str) -> str:
    """A heading without its number, brackets, days, times and marks: many other titles have a day too."""
    shown = " ".join(_DAY.sub(" ", _BRACKETS.sub(" ", STAMP.sub("", plain(heading)))).split())
    return _TRAILING.sub("", _NUMBERING.sub("", shown) or shown)


def subject_of(heading: str) -> str:
    """What a heading says of its own, without what any heading may begin with: `Update: The new server` is about the
    new server, and so is `Step 2: The new server`."""
    told = bare(heading)
    for part in _PARTS.finditer(told):
        before = told[: part.start()]
        if not (is_common_heading(before) or _ENUMERATED.fullmatch(before)):
            break
        if not is_common_heading(told[part.end() :]):
            return subject_of(told[part.end() :])
    return told


def topics_of(blocks: Sequence[Block], title: str, keep_values: bool) -> list[Topic]:
    """The parts of a page, those of the same name as one. Items with values, which change while the line about the
    page stays, are left out unless they are to be kept."""
    found: dict[str, Topic] = {}
    for topic in _topics(blocks, frozenset(words(title)), 0):
        if topic.is_said and not keep_values and has_value(topic.words):
            continue
        same = found.get(key := folded(topic.words))
        found[key] = replace(same, size=same.size + topic.size) if same else topic
    return list(found.values())


def _topics(blocks: Sequence[Block], known: frozenset[str], depth: int) -> Iterator[Topic]:
    """The sections of the highest level, those below each of them one deeper. A heading that says nothing of its own
    gives its place to what is below it."""
    top = min((block.level for block in blocks if block.kind == "heading"), default=0)
    starts = [place for place, block in enumerate(blocks) if block.kind == "heading" and block.level == top]
    yield from _leads(blocks[: starts[0]] if starts else blocks, known, depth + 1)
    for start, end in pairwise([*starts, len(blocks)]):
        told = subject_of(readable(blocks[start].words))
        is_title = len(starts) == 1 and start == depth == 0 and not known.issuperset(words(told))
        is_passed_over = not is_title and (is_common_heading(told) or known.issuperset(words(told)))
        if not is_passed_over:
            yield Topic(told, _size(blocks[start:end]), depth)
        yield from _topics(blocks[start + 1 : end], known, depth if is_title or is_passed_over else depth + 1)


def _leads(blocks: Iterable[Block], known: frozenset[str], depth: int) -> Iterator[Topic]:
    for block in blocks:
        text = readable(block.content)
        said = list(_cells(text)) if block.kind == "table" else []
        if block.kind in ("paragraph", "item", "quote"):
            said = runs(text)[: 1 if block.kind == "item" and "\n " in text else None]
        for each in said:
            label = _label(each)
            lead = label or _beginning(each)
            if lead and not known.issuperset(words(lead)):
                yield Topic(lead, block.size // len(said), depth, is_said=not label)


def _cells(table: str) -> Iterator[str]:
    """The first cells of the rows of a table."""
    yield from (cell.strip() for cell in _CELL.findall(table)[2:])


def _size(blocks: Iterable[Block]) -> int:
    return sum(block.size for block in blocks)


def _label(run: str) -> str:
    """What is emphasised at the start of an item or a paragraph or stands before a colon, if that says something."""
    found = LABEL.match(run) or _BOLD.match(run)
    label = bare(next(filter(None, found.groups()))) if found else ""
    says_something = telling_terms(label) and not is_common_heading(label) and not labels().issuperset(words(label))
    return label if says_something and not is_code(label) else ""


def _beginning(run: str) -> str:
    """How an item or a paragraph begins, behind a label; nothing of an aside, a link and what is struck out."""
    if run.startswith(("(", "*(", "_(", "~~")) or _LINK.fullmatch(run):
        return ""
    if found := LABEL.match(run):
        run = run[found.end() :]
    told = _TRAILING.sub("", _NUMBERING.sub("", next(split(plain(run)))))
    told = key[1] if (key := _KEY.match(told)) else phrase(told, MAX_LEAD)
    return "" if is_code(told) or not telling_terms(told) else told
