"""Writing offline: the text is kept verbatim, together and in order; what is decided is the page and the section."""

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
from memory_v2.text.speakers import speaker, speakers
from memory_v2.text.words import FILLERS, content_words, words
from memory_v2.tree.block import Block, readable
from memory_v2.tree.numbers import show_numbers
from memory_v2.tree.page import Page
from memory_v2.tree.path import ROOT

TOPIC_SHARE = 0.45
"""How much of what the text speaks of must stand on a page for it to belong there."""
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
COMMON_SHARE = 0.05
"""A name that this share of all other passages holds is a common word."""
SMALL_TALK = 4
"""A turn of a conversation with fewer words than this is said again without being known already."""


def file_text(brief: WriteBrief, plainly: bool = False) -> tuple[ToolCall, ...]:
    """The calls that put the text in its place; `plainly`: at the end of the page it was given, else of the root."""
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
    """The new blocks that stand on a page which is shown, checked against the page itself."""
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
    """Whether two texts are equal but for the mark of a list item, blanks, and a full stop: `PATH` is not `path`."""
    return _bare(old) == _bare(new)


def _bare(text: str) -> str:
    return " ".join(_ITEM.sub("", text).split()).removesuffix(".")


def _in_order(known: Mapping[int, tuple[str, int]]) -> bool:
    """Whether what is known stands on one page, one behind the other: a list in another order says something else."""
    places = [known[number] for number in sorted(known)]
    return all(a[0] == b[0] and a[1] < b[1] for a, b in pairwise(places))


def _heading_place(
    heading: Block, pages: Mapping[str, Page], found: Mapping[int, tuple[str, int]]
) -> tuple[str, int] | None:
    """The same heading on a page that says what stands below it."""
    for path in dict.fromkeys(path for path, _ in found.values()):
        for number, block in enumerate(pages[path].blocks, 1):
            if block.kind == "heading" and block.content == heading.content:
                return path, number
    return None


def _small_talk(block: Block) -> bool:
    said = readable(block.content)
    return speaker(said) is not None and len(set(content_words(said)) - FILLERS) < SMALL_TALK


def _says_nothing(block: Block) -> bool:
    return block.kind == "rule"


# which page


@dataclass(frozen=True)
class _Look:
    """What is counted about one page."""

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
        """Number, block and terms of each heading but the title."""
        return [
            (number, block, frozenset(content_words(readable(block.words))))
            for number, block in enumerate(self.page.blocks, 1)
            if block.kind == "heading" and number > 1
        ]

    @cached_property
    def days(self) -> list[Span]:
        """The dates with which its blocks begin."""
        return [span for block in self.body if (span := leading_date(readable(block.words)))]

    @cached_property
    def is_log(self) -> bool:
        """Whether it is written from day to day: most of it is dated, or is what people said."""
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
        return root  # what is said today goes on where it went on yesterday
    return _topical(brief, looks) or root


def _dated(looks: dict[str, _Look], span: Span) -> Page | None:
    """The page that was made for that time; unless the root still holds the newest of that time."""
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
    """The date with which the text begins."""
    first = next((block for block in blocks if block.content.strip()), None)
    return leading_date(readable(first.words)) if first else None


def _is_conversation(blocks: Sequence[Block]) -> bool:
    lines = [line for block in blocks for line in readable(block.content).splitlines() if line.strip()]
    said = sum(1 for line in lines if speaker(line))
    return bool(lines) and said >= 0.6 * len(lines)


def _topical(brief: WriteBrief, looks: dict[str, _Look]) -> Page | None:
    """The page that is named in the text, or on which most of what the text speaks of stands already."""
    wanted = set(content_words(readable(brief.text))) - FILLERS
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
            continue  # a topic does not belong into the diary of another day
        if named or (share >= TOPIC_SHARE and len(wanted & look.terms) >= 3):
            scores[path] = named + share + (0.0 if path == ROOT else 0.1)
    if not scores:
        return None
    return looks[max(scores, key=lambda path: (scores[path], path))].page


def _telling(names: frozenset[str], elsewhere: Sequence[set[str]]) -> bool:
    """Whether what a page is called is hardly spoken of elsewhere: `memory` tells nothing in notes about memories."""
    return sum(1 for passage in elsewhere if names <= passage) <= max(1, COMMON_SHARE * len(elsewhere))


def _names(look: _Look) -> list[frozenset[str]]:
    """What the page and its sections are called."""
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
    """If the text is one section, and the page has a section of that heading: that heading, and the section's end."""
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
    # Where several documents stand on one page, their sections are called alike and are not the same.
    return (same[0], _section_end(page, same[0])) if len(same) == 1 and titles <= 1 else None


def _position(brief: WriteBrief, page: Page) -> int | None:
    """The block behind which the text goes; `None`: the end."""
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
    """The last block below a heading before the next heading."""
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
