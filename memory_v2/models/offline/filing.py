"""Writing offline: choosing page and section for a text that stays verbatim, together and in order."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from memory_v2.models.base import ToolCall
from memory_v2.models.briefs import WriteBrief
from memory_v2.text.dates import Span, find_dates, leading_date, named_span
from memory_v2.text.lists import fillers
from memory_v2.text.speakers import speaker, speakers
from memory_v2.text.words import content_words, words
from memory_v2.tree.block import Block, readable
from memory_v2.tree.numbers import show_numbers
from memory_v2.tree.page import Page
from memory_v2.tree.path import ROOT

MIN_TOPIC_SHARE = 0.45
"""The least share of a text's terms, by weight, that a page must contain for the text to belong there."""
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
MAX_NAMED_SHARE = 0.05
"""Limits how many other passages may contain the name of a page, as a share: a more frequent name is a common word."""
MIN_KNOWN_WORDS = 4
"""The least content words of a turn that counts as known when it is repeated. People repeat shorter ones
("thanks!")."""


def file_text(brief: WriteBrief, plainly: bool = False) -> tuple[ToolCall, ...]:
    """The calls that file the text; `plainly` puts it at the end of the given page, or of the root."""
    everything = range(1, len(brief.blocks) + 1)
    if plainly:
        return (_place(brief.path or ROOT, everything, None),)
    known = _known(brief)
    if (
        _in_order(known)
        and any(brief.blocks[number - 1].kind != "heading" for number in known)
        and all(number in known or _says_nothing(block) for number, block in enumerate(brief.blocks, 1))
    ):
        return tuple(_nothing_new([number], *known[number]) for number in sorted(known))
    page = _page_for(brief)
    section = _own_section(brief, page)
    if section is not None:
        heading, after = section
        return (_nothing_new([1], page.path, heading), _place(page.path, everything[1:], after))
    return (_place(page.path, everything, _position(brief, page)),)


def _known(brief: WriteBrief) -> dict[int, tuple[str, int]]:
    """The new blocks that are already on a shown page, checked against the page itself."""
    pages = {view.page.path: view.page for view in brief.pages}
    found = {}
    for number, (path, block) in brief.known.items():
        page, new = pages.get(path), brief.blocks[number - 1]
        if page is None or block > len(page.blocks) or page.blocks[block - 1].kind == "piece":
            continue
        if _says_the_same(page.blocks[block - 1].content, new.content) and not _small_talk(new):
            found[number] = (path, block)
    for number, new in enumerate(brief.blocks, 1):
        if (
            new.kind == "heading"
            and words(new.content)
            and number not in found
            and (place := _heading_place(new, pages, found))
        ):
            found[number] = place
    return found


def _says_the_same(old: str, new: str) -> bool:
    """Whether two texts are equal except for item marks, white space and a final full stop. Case counts: `PATH`,
    `path`."""
    return _bare(old) == _bare(new)


def _bare(text: str) -> str:
    return " ".join(_ITEM.sub("", text).split()).removesuffix(".")


def _in_order(known: Mapping[int, tuple[str, int]]) -> bool:
    """Whether the known blocks are on one page, in the same order: a list in another order says something else."""
    places = [known[number] for number in sorted(known)]
    return all(a[0] == b[0] and a[1] < b[1] for a, b in pairwise(places))


def _heading_place(
    heading: Block, pages: Mapping[str, Page], found: Mapping[int, tuple[str, int]]
) -> tuple[str, int] | None:
    """The place of the same heading on a page that has the text below it."""
    for path in dict.fromkeys(path for path, _ in found.values()):
        for number, block in enumerate(pages[path].blocks, 1):
            if block.kind == "heading" and block.content == heading.content:
                return path, number
    return None


def _small_talk(block: Block) -> bool:
    said = readable(block.content)
    return speaker(said) is not None and len(set(content_words(said)) - fillers()) < MIN_KNOWN_WORDS


def _says_nothing(block: Block) -> bool:
    return block.kind == "rule"


# which page


@dataclass(frozen=True)
class _Look:
    """What is measured on one page."""

    page: Page

    @cached_property
    def body(self) -> list[Block]:
        first_is_title = self.page.blocks[:1] and self.page.blocks[0].kind == "heading"
        return list(self.page.blocks[1:] if first_is_title else self.page.blocks)

    @cached_property
    def terms(self) -> set[str]:
        described = [entry.description for entry in self.page.children]
        return set(content_words(readable("\n".join([*(b.content for b in self.page.blocks), *described]))))

    @cached_property
    def headings(self) -> list[tuple[int, Block, frozenset[str]]]:
        """The number, block and terms of each heading except the title."""
        return [
            (number, block, frozenset(content_words(readable(block.words))))
            for number, block in enumerate(self.page.blocks, 1)
            if block.kind == "heading" and number > 1
        ]

    @cached_property
    def days(self) -> list[Span]:
        """The dates at the start of its blocks."""
        return [span for block in self.body if (span := leading_date(readable(block.words)))]

    @cached_property
    def is_log(self) -> bool:
        """Whether the page is a log: most of its blocks are dated, or are turns of a dialogue."""
        body = self.body
        if not body:
            return False
        dated = 0
        under_date = False
        for block in body:
            if leading_date(readable(block.words)):
                under_date = True
            elif block.kind == "heading":
                under_date = False
            dated += under_date
        spoken = sum(speakers([readable(b.content) for b in body]).values())
        return max(dated, spoken) >= 0.6 * len(body)


def _page_for(brief: WriteBrief) -> Page:
    looks = {view.page.path: _Look(view.page) for view in brief.pages if view.page.piece is None}
    if brief.path is not None:
        return next(view.page for view in brief.pages if view.page.path == brief.path)
    root = looks[ROOT].page
    if (span := _date_of(brief.blocks)) is not None:
        return _dated(looks, span) or root
    if _is_conversation(brief.blocks):
        return root  # a conversation continues where it was yesterday
    return _topical(brief, looks) or root


def _dated(looks: dict[str, _Look], span: Span) -> Page | None:
    """The page for that period, unless the root still holds days of the same month."""
    months = {(day.start.year, day.start.month) for day in looks[ROOT].days}
    made = {
        path: for_it
        for path in looks
        if (for_it := named_span(path.rsplit("/", 1)[-1])) and for_it.start <= span.start <= for_it.end
    }
    if (span.start.year, span.start.month) in months or not made:
        return None
    return looks[min(made, key=lambda path: (made[path].end - made[path].start, path))].page


def _date_of(blocks: Sequence[Block]) -> Span | None:
    """The date at the start of the text."""
    first = next((block for block in blocks if block.content.strip()), None)
    return leading_date(readable(first.words)) if first else None


def _is_conversation(blocks: Sequence[Block]) -> bool:
    lines = [line for block in blocks for line in readable(block.content).splitlines() if line.strip()]
    said = sum(1 for line in lines if speaker(line))
    return bool(lines) and said >= 0.6 * len(lines)


def _topical(brief: WriteBrief, looks: dict[str, _Look]) -> Page | None:
    """The page that the text names, or the one that already contains most of its terms."""
    wanted = set(content_words(readable(brief.text))) - fillers()
    if not wanted:
        return None
    passages = [(p, set(content_words(readable(b.content)))) for p, look in looks.items() for b in look.body]
    passages += [(hit.path, set(content_words(hit.text))) for hit in brief.places if hit.path not in looks]
    spread = Counter(term for _, passage in passages for term in passage & wanted)
    weight = {term: math.log(1 + (1 + len(passages)) / (0.5 + spread[term])) for term in wanted}
    total = sum(weight.values())
    scores: dict[str, float] = {}
    for path, look in looks.items():
        share = sum(weight[term] for term in wanted & look.terms) / total
        elsewhere = [passage for other, passage in passages if other != path]
        named = max((len(n) for n in _names(look) if n <= wanted and _telling(n, elsewhere)), default=0)
        if look.is_log and not named:
            continue  # a topic does not belong in a log, unless the text names it
        if named or (share >= MIN_TOPIC_SHARE and len(wanted & look.terms) >= 3):
            scores[path] = named + share + (0.0 if path == ROOT else 0.1)
    if not scores:
        return None
    return looks[max(scores, key=lambda path: (scores[path], path))].page


def _telling(names: frozenset[str], elsewhere: Sequence[set[str]]) -> bool:
    """Whether the name of a page is rare elsewhere: in notes about memories, `memory` says nothing."""
    return sum(1 for passage in elsewhere if names <= passage) <= max(1, MAX_NAMED_SHARE * len(elsewhere))


def _names(look: _Look) -> list[frozenset[str]]:
    """The terms of the names of the page and its sections."""
    title = frozenset(content_words(readable(look.page.title)))
    names = (
        []
        if look.page.path == ROOT
        else [title, frozenset(content_words(look.page.path.rsplit("/", 1)[-1].replace("-", " ")))]
    )
    dated = [terms for _, block, terms in look.headings if not find_dates(readable(block.words))]
    return [name for name in [*names, *dated] if name]


# which place on it


def _own_section(brief: WriteBrief, page: Page) -> tuple[int, int] | None:
    """If the text is one section and the page has a section with the same heading: that heading and the section's
    end."""
    first = brief.blocks[0]
    if (
        first.kind != "heading"
        or not words(first.content)
        or len(brief.blocks) < 2
        or any(b.kind == "heading" for b in brief.blocks[1:])
    ):
        return None
    same = [n for n, block in enumerate(page.blocks, 1) if block.kind == "heading" and block.content == first.content]
    titles = sum(1 for block in page.blocks if block.kind == "heading" and block.level == 1)
    # If a page holds several documents, sections with equal headings are different sections.
    return (same[0], _section_end(page, same[0])) if len(same) == 1 and titles <= 1 else None


def _position(brief: WriteBrief, page: Page) -> int | None:
    """The block after which the text goes; `None` for the end."""
    look = _Look(page)
    if look.is_log or brief.blocks[0].kind == "heading" or _date_of(brief.blocks) or _is_conversation(brief.blocks):
        return None
    wanted = set(content_words(readable(brief.text)))
    named = [(len(terms), number) for number, _, terms in look.headings if terms and terms <= wanted]
    if named:
        return _section_end(page, max(named)[1])
    if not look.headings:
        return None
    return look.headings[0][0] - 1


def _section_end(page: Page, heading: int) -> int:
    """The last block before the next heading."""
    number = heading
    while number < len(page.blocks) and page.blocks[number].kind != "heading":
        number += 1
    return number


# the calls


def _place(path: str, numbers: Sequence[int], after: int | None) -> ToolCall:
    arguments: dict[str, Any] = {"blocks": show_numbers(numbers, "n"), "page": path}
    return ToolCall("place", arguments if after is None else {**arguments, "after": after})


def _nothing_new(numbers: Sequence[int], path: str, block: int) -> ToolCall:
    return ToolCall(
        "nothing_new", {"blocks": show_numbers(numbers, "n"), "said_in": [{"page": path, "blocks": str(block)}]}
    )
