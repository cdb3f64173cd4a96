"""Putting blocks on a page that has some of their headings already: a heading that was repeated goes away again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory_v2.tree.block import Block
from memory_v2.tree.edit import PageEdit, Run
from memory_v2.tree.headings import REPEATED, Outline, digest, noted, repeated_on
from memory_v2.tree.page import Page, top_of
from memory_v2.tree.titles import as_section, noted_heading, section_blocks, with_rules


@dataclass
class _Folded:
    """Where the blocks go: behind blocks of the page by number, first text and then sections, and at its `end`. `met`
    are the digests of the headings that go away."""

    texts: dict[int, list[Run]] = field(default_factory=dict)
    sections: dict[int, list[Run]] = field(default_factory=dict)
    end: list[Run] = field(default_factory=list)
    met: set[str] = field(default_factory=set)

    def on(self, page: Page) -> Page:
        """The page with the blocks."""
        if not page.blocks:
            return page.with_body(self.end)
        last = len(page.blocks)
        places = [*self.texts, *self.sections, last]
        inserted = {place: [*self.texts.get(place, ()), *self.sections.get(place, ())] for place in places}
        inserted[last] += self.end
        return PageEdit(inserted).apply(page)


def merged(page: Page, child: Page, now: datetime) -> Page:
    """The page with the blocks of a child at its end, verbatim; but a title that was the heading of a section is one
    again, what is under a repeated heading joins the section of that heading, and a title with nothing left below
    it goes away."""
    page, child = with_rules(page, now), as_section(child, now)
    repeated = {*repeated_on(page), *repeated_on(child)}
    folded = _folded(page, [child.blocks], repeated, None)
    if folded.met and child.blocks[0].level == 1:
        untitled = _folded(page, [child.blocks[1:]], repeated, None)
        folded = folded if untitled.end else untitled
    return _with_note(folded, page, repeated_on(child), now)


def extended(page: Page, runs: Iterable[Run], repeated: Collection[str], now: datetime) -> Page:
    """The page with these runs, of whose headings some are `repeated`, each in its section or at the end; what has no
    heading goes above the first section."""
    first = next((number for number, level in enumerate(Outline(page.blocks).levels) if level), None)
    return _with_note(_folded(page, runs, {*repeated_on(page), *repeated}, first and first - 1), page, repeated, now)


def _folded(page: Page, runs: Iterable[Run], repeated: Collection[str], start: int | None) -> _Folded:
    """Where the blocks go; those above the first heading go behind the block `start`, or to the end. A section never
    leaves the one that it is in."""
    outline = Outline(page.blocks)
    known = _known(outline, noted_heading(page)) if repeated else {}
    folded = _Folded()
    place, joined, outer, is_text = start, 0, 0, True
    for run in runs:
        part: list[Block] = []
        for block in run:
            if block.kind == "heading":
                lead = part[-1:] if part and part[-1].kind == "front matter" else []  # it stays with what it leads
                _put(folded, place, part[: len(part) - len(lead)], is_text)
                part = lead
                outer = 0 if block.level <= outer else outer
                if not outer and (key := digest(block)) in repeated and key in known and key not in folded.met:
                    joined, is_text = known[key], True
                    place = _text_end(outline, joined)
                    folded.met.add(key)
                    continue
                is_text = False
                outer = outer or (block.level if block.level > 1 else 0)
                if joined and block.level > outline.levels[joined]:
                    place = _end(outline, joined)
                else:
                    place, joined = None, 0
            part.append(block)
        _put(folded, place, part, is_text)
    return folded


def _known(outline: Outline, title: Block | None) -> dict[str, int]:
    """The headings that stand on the page once, by their digests; its title is one if it was the heading `title`."""
    digests = {number: digest(outline.blocks[number - 1]) for number, level in enumerate(outline.levels) if level}
    digests |= {top_of(outline.blocks): digest(title)} if title else {}
    counts = Counter(digests.values())
    return {key: number for number, key in digests.items() if counts[key] == 1}


def _put(folded: _Folded, place: int | None, part: Sequence[Block], is_text: bool) -> None:
    if not part:
        return
    if place is None:
        folded.end.append(tuple(part))
    else:
        (folded.texts if is_text else folded.sections).setdefault(place, []).append(tuple(part))


def _text_end(outline: Outline, heading: int) -> int:
    """The last block below a heading that is in none of its subsections."""
    end = _end(outline, heading)
    return next((number for number in range(heading + 1, end + 1) if outline.levels[number]), end + 1) - 1


def _end(outline: Outline, heading: int) -> int:
    """The last block of a section; the title of the page has all its blocks below it."""
    return outline.ends[heading] if outline.levels[heading] else len(outline.blocks)


def _with_note(folded: _Folded, page: Page, others: Collection[str], now: datetime) -> Page:
    """The page with a note of the headings that are still repeated: of two that met, one may be the first."""
    mine = repeated_on(page)
    left = [key for key in [*mine, *others] if key not in folded.met or (key in mine and key in others)]
    made = folded.on(page)
    repeated = noted(section_blocks(made), left)
    return made.stamped(now, **{REPEATED: repeated}) if repeated or mine else made
