"""Writing offline: a document becomes a page of its own; a note goes to the page and section that it is about; an
observation to the page that it names, or to that of its domain. The text stays verbatim, together and in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise
from typing import Any

from memory_v2.models.base import ToolCall
from memory_v2.models.briefs import ConsolidateBrief, WriteBrief
from memory_v2.models.offline.documents import (
    LONG_TEXT,
    SHORT_NOTE,
    DocumentPage,
    read_document,
    read_introduction,
    title_block,
)
from memory_v2.models.offline.outline import date_of, headings_of, is_conversation, is_log, together
from memory_v2.models.offline.subjects import Pages
from memory_v2.text.dates import leading_date, named_span
from memory_v2.text.days import heading_day
from memory_v2.text.lists import fillers
from memory_v2.text.retelling import are_versions
from memory_v2.text.speakers import is_message, speaker
from memory_v2.text.words import content_words, normal, stem, words
from memory_v2.tree.block import Block, readable
from memory_v2.tree.edit import parse_numbers, show_numbers
from memory_v2.tree.headings import Outline
from memory_v2.tree.page import Page, page_source
from memory_v2.tree.path import ROOT

MAX_LEVEL = 6
"""The level of the lowest heading."""
MOST_ITEMS = 12
"""In how many items of a list at most each is looked at alone. A longer one is hardly a note."""
SHARED_ELSEWHERE = 0.67
"""The least share of the words of two statements, relative to the longer one, that makes one go to the other's page."""
MIN_KNOWN_WORDS = 4
"""The least content words of a turn that counts as known when it is repeated. People repeat shorter ones
("thanks!")."""
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")


def file_text(brief: WriteBrief, plainly: bool = False) -> tuple[ToolCall, ...]:
    """The calls that file the text; `plainly` puts it at the end of the given page, or of the root."""
    everything = range(1, len(brief.blocks) + 1)
    if plainly:
        return (_place(brief.path or ROOT, everything, None),)
    if nothing := _nothing_new(brief, everything):
        return nothing
    if is_message(brief.blocks[0].content):  # a transcript stays in order, and is filed by nothing that it speaks of
        return (_place(brief.path or ROOT, everything, None),)
    if below := tuple(_below_its_title(brief)):
        return below
    pages = Pages(brief)
    if (document := read_document(brief) or _introduction(brief, pages)) is not None:
        return (_create_page(document, everything),)
    path = _page_for(brief, pages)
    if (older := _older_version(brief, pages, path)) is not None:
        return (_place(older[0], everything, older[1]),)
    page = next((view.page for view in brief.pages if view.page.path == path), None)
    if page is None:
        return (_place(path, everything, _place_shown(brief, path)),)
    if (heading := _own_section(brief, page)) is not None:
        return (_said([1], page.path, heading), _place(page.path, everything[1:], _section_end(page, heading)))
    return (_place(page.path, everything, _position(brief, page) or _above_other_days(brief, page)),)


def file_observations(brief: ConsolidateBrief, accepted: Sequence[ToolCall] | None = None) -> tuple[ToolCall, ...]:
    """The calls that file the observations. If only some calls were `accepted`, what is left goes to the page that the
    observations are sorted to, or to the root."""
    if accepted is None:
        return tuple(_observed(brief))
    done = {number for call in accepted for number in parse_numbers(call.arguments["blocks"], len(brief.blocks), "n")}
    left = [number for number in range(1, len(brief.blocks) + 1) if number not in done]
    return (_place(brief.path or brief.home or ROOT, left, None),)


def _observed(brief: ConsolidateBrief) -> Iterator[ToolCall]:
    known, pages = _known_blocks(brief), Pages(brief)
    first: dict[tuple[date | None, tuple[str, ...]], Sequence[int]] = {}
    on: dict[str, list[int]] = {}
    for one in brief.observed:
        numbers, blocks = one.numbers, [brief.blocks[number - 1] for number in one.numbers]
        said = one.source.day, tuple(normal(block.content) for block in blocks)
        if all(number in known for number in numbers) and not _came_back(brief, numbers, one.source.day):
            yield from (_said([number], *known[number]) for number in numbers)
        elif (other := first.setdefault(said, numbers)) is not numbers:
            for number, same in zip(numbers, other, strict=True):
                yield ToolCall("same_as", {"blocks": f"n{number}", "said_in": f"n{same}"})
        else:
            path = brief.path or pages.about(blocks, by_name=bool(brief.home)) or brief.home or ROOT
            on.setdefault(path, []).extend(numbers)
    yield from (_place(path, placed, None) for path, placed in on.items())


# what is known


def _nothing_new(brief: WriteBrief, everything: Sequence[int]) -> tuple[ToolCall, ...]:
    """The calls that say where all of the text stands already, in the same order: a list in another order says
    something else."""
    known = _whole_on_a_page(brief) or _known_blocks(brief)
    places = [known[number] for number in sorted(known)]
    is_in_order = all(one[0] == other[0] and one[1] < other[1] for one, other in pairwise(places))
    is_all = all(number in known or brief.blocks[number - 1].kind == "rule" for number in everything)
    says_more = any(brief.blocks[number - 1].kind != "heading" for number in known)
    if not (is_in_order and is_all and says_more) or _came_back(brief, everything, brief.source.day):
        return ()
    return tuple(_said([number], *known[number]) for number in sorted(known))


def _whole_on_a_page(brief: WriteBrief) -> dict[int, tuple[str, int]]:
    """Where each block of the text stands, if all of them stand on one of the shown pages in order."""
    if any(map(_is_small_talk, brief.blocks)):
        return {}
    for page in (view.page for view in brief.pages if view.page.piece is None):
        blocks = iter(enumerate(page.blocks, 1))
        found = [next((n for n, block in blocks if _says_the_same(block, new)), 0) for new in brief.blocks]
        if all(found):
            return {number: (page.path, place) for number, place in enumerate(found, 1)}
    return {}


def _known_blocks(brief: WriteBrief) -> dict[int, tuple[str, int]]:
    """The new blocks that are already on a shown page, checked against the page itself, and the headings that stand
    there too."""
    pages = {view.page.path: view.page for view in brief.pages}
    found: dict[int, tuple[str, int]] = {}
    for number, (path, block) in brief.known.items():
        page, new = pages.get(path), brief.blocks[number - 1]
        if page is None or block > len(page.blocks) or page.blocks[block - 1].kind == "piece":
            continue
        if _says_the_same(page.blocks[block - 1], new) and not _is_small_talk(new):
            found[number] = (path, block)
    for number, new in enumerate(brief.blocks, 1):
        if new.kind != "heading" or number in found or not words(new.content):
            continue
        places = (
            (path, place)
            for path in dict.fromkeys(path for path, _ in found.values())
            for place, block in enumerate(pages[path].blocks, 1)
            if block.kind == "heading" and block.words == new.words
        )
        if (heading := next(places, None)) is not None:
            found[number] = heading
    return found


def _says_the_same(old: Block, new: Block) -> bool:
    """Whether two headings, or two other blocks, are equal except for their marks, white space and a final full stop.
    Case counts: `PATH`, `path`."""
    return (old.kind == "heading") == (new.kind == "heading") and _bare(old) == _bare(new)


def _bare(block: Block) -> str:
    return " ".join(_ITEM.sub("", block.words).split()).removesuffix(".")


def _is_small_talk(block: Block) -> bool:
    said = readable(block.content)
    return speaker(said) is not None and len(set(content_words(said)) - fillers()) < MIN_KNOWN_WORDS


def _came_back(brief: WriteBrief, numbers: Sequence[int], said_on: date | None) -> bool:
    """Whether a known statement, one block, is so again: on a later day than it was told last, but not later than this
    one, something else was told in its place."""
    new, day = brief.blocks[numbers[0] - 1], said_on or brief.today
    told = [(hit.date, hit.text) for hit in brief.places if hit.date and hit.date <= day]
    last = max((on for on, text in told if normal(text) == normal(new.content)), default=None)
    if last is None or len(numbers) > 1:
        return False
    return any(on > last and are_versions(_substance(new.content), _substance(text)) for on, text in told)


def _substance(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in content_words(readable(text))) - fillers()


# which page


def _introduction(brief: WriteBrief, pages: Pages) -> DocumentPage | None:
    """The page to be created for a note about something new, unless the note names a page that there is."""
    known = [*(readable(view.page.body) for view in brief.pages), *(hit.text for hit in brief.places)]
    document = read_introduction(brief, known)
    return document if document and pages.about(brief.blocks, by_name=True) is None else None


def _page_for(brief: WriteBrief, pages: Pages) -> str:
    """The page of a note. A conversation continues where it was yesterday, and a list whose items name different pages
    belongs to none of them."""
    if brief.path is not None:
        return brief.path
    if date_of(brief.blocks) is not None:
        return _dated(brief, pages)
    items = [block for block in brief.blocks if block.kind == "item"]
    named = {pages.about([item], by_name=True) for item in items} if 1 < len(items) <= MOST_ITEMS else set()
    if is_conversation(brief.blocks) or len(named - {None}) > 1:
        return ROOT
    return pages.about(brief.blocks) or ROOT


def _dated(brief: WriteBrief, pages: Pages) -> str:
    """The page for the time of a text, unless the root still holds days of the same month."""
    span = date_of(brief.blocks)
    spans = {path: named for path in pages.shown if (named := named_span(path.rsplit("/", 1)[-1]))}
    made = [path for path, named in spans.items() if span and named.start <= span.start <= named.end]
    days = [day.start for block in pages.shown[ROOT].blocks if (day := leading_date(readable(block.words)))]
    if span is None or any((day.year, day.month) == (span.start.year, span.start.month) for day in days):
        return ROOT
    return min(made, key=lambda path: (spans[path].end - spans[path].start, path), default=ROOT)


def _older_version(brief: WriteBrief, pages: Pages, path: str) -> tuple[str, int] | None:
    """The page of a statement that this one, a single block, tells anew, and the last block of what hangs together with
    it. On another page than the one at `path`, where it would go, the two share more words. A log and a document are
    not changed in their middle."""
    if brief.path is not None or len(brief.blocks) > 1 or brief.source.name or date_of(brief.blocks) is not None:
        return None
    said = _substance(brief.blocks[0].content)
    for hit in brief.places:
        page = pages.shown.get(hit.path)
        if page is None or not hit.block or page_source(page).is_document or is_log(page):
            continue
        if hit.block > len(page.blocks):  # others have shortened the page since it was searched
            continue
        older = _substance(hit.text)
        is_near = hit.path == path or len(said & older) >= SHARED_ELSEWHERE * max(len(said), len(older))
        if is_near and are_versions(said, older):
            ends = together(page.blocks)
            return hit.path, max(end for start, end in enumerate(ends) if start <= hit.block <= end)
    return None


# which place on it


def _below_its_title(brief: WriteBrief) -> Iterator[ToolCall]:
    """A text that begins with the title of the page it goes to, without that title; nothing if there is no such page.

    Without a path, only a short note goes to the page or section that its title names, unless the page came from
    elsewhere."""
    title = title_block(brief.blocks)
    rest = brief.blocks[1:]
    if title is None or brief.blocks[0] is not title or not rest:
        return
    if brief.path is None and (brief.size > SHORT_NOTE or any(block.kind == "heading" for block in rest)):
        return
    for page in (view.page for view in brief.pages if view.page.piece is None):
        if brief.path is None and brief.source.name not in ("", page.properties.get("source", "")):
            continue
        for number, block in enumerate(page.blocks, 1):
            is_title = number == 1 and page.path != ROOT
            if block.kind == "heading" and block.words == title.words and (is_title or not brief.path):
                yield _said([1], page.path, number)
                at_end = is_title and (brief.path is None or is_log(page))
                yield from _below(page, None if at_end else _section_end(page, number), rest)
                return


def _below(page: Page, intro: int | None, rest: Sequence[Block]) -> Iterator[ToolCall]:
    """Puts what stands above a text's own sections behind this block of the page, and the sections at its end."""
    first = next((number for number, block in enumerate(rest, 2) if block.kind == "heading"), len(rest) + 2)
    if first > 2:
        yield _place(page.path, range(2, first), None if intro == len(page.blocks) else intro)
    if first < len(rest) + 2:
        yield _place(page.path, range(first, len(rest) + 2), None)


def _place_shown(brief: WriteBrief, path: str) -> int | None:
    """The last of the blocks of a page that were shown as passages: next to it stands what is like the text. A text of
    several blocks goes to the end, and so does any text on a long page, which may be a document: nothing comes between
    its parts."""
    if len(brief.blocks) > 1 or brief.tree.pages[path].size >= LONG_TEXT:
        return None
    return max((hit.block for hit in brief.places if hit.path == path and hit.block), default=None)


def _own_section(brief: WriteBrief, page: Page) -> int | None:
    """If the text is one section and the page has one section with the same heading: that heading. If a page holds
    several documents, sections with equal headings are different sections."""
    first, *rest = brief.blocks
    if first.kind != "heading" or not words(first.content) or not rest or any(b.kind == "heading" for b in rest):
        return None
    same = [n for n, block in enumerate(page.blocks, 1) if block.kind == "heading" and block.words == first.words]
    titles = sum(1 for block in page.blocks if block.kind == "heading" and block.level == 1)
    return same[0] if len(same) == 1 and titles <= 1 else None


def _position(brief: WriteBrief, page: Page) -> int | None:
    """The block after which the text goes: the end of the section that it names, else above the first heading, for it
    does not belong to the last section. `None` for the end: of a document and of a log, for what is dated, long or has
    headings of its own, and, of a long page, for more than a statement or a list: either may be a document, between
    whose parts nothing comes."""
    is_single = len(brief.blocks) == 1  # `Recipe: lentil soup` is no conversation
    kinds = {block.kind for block in brief.blocks}
    if "heading" in kinds or date_of(brief.blocks) or brief.size > SHORT_NOTE:
        return None
    if page.path != ROOT and page.size >= LONG_TEXT and not (is_single or kinds == {"item"}):
        return None
    if page_source(page).is_document or is_log(page) or (not is_single and is_conversation(brief.blocks)):
        return None
    wanted, headings = set(content_words(readable(brief.text))), headings_of(page)
    terms = {number: set(content_words(readable(block.words))) for number, block in headings}
    named = [(len(name), number) for number, name in terms.items() if name and name <= wanted]
    if named:
        return _section_end(page, max(named)[1])
    return headings[0][0] - 1 if headings else None


def _above_other_days(brief: WriteBrief, page: Page) -> int | None:
    """The block above the days of a page and the heading that they are below, if the text would seem, at the end of the
    page, to belong to the day of a heading; else `None`, which is the end."""
    if date_of(brief.blocks):
        return None
    headings = headings_of(page)
    spans = {number: heading_day(readable(block.words)) for number, block in headings}
    days = [number for number, day in spans.items() if day is not None and day.end < brief.today]
    level = brief.blocks[0].level or MAX_LEVEL + 1
    for number, heading in reversed(headings):
        if heading.level < level:  # the text would stand below it
            level = heading.level
            if number in days:
                above, first = Outline(page.blocks).above, days[0]
                while above[first] > 1:
                    first = above[first]
                return first - 1
    return None


def _section_end(page: Page, heading: int) -> int:
    """The last block before the next heading."""
    number = heading
    while number < len(page.blocks) and page.blocks[number].kind != "heading":
        number += 1
    return number


# the calls


def _create_page(document: DocumentPage, numbers: Sequence[int]) -> ToolCall:
    """Creates a page of these new blocks."""
    arguments = {
        "path": document.path,
        "parent": document.parent,
        "title": document.title,
        "description": document.description,
        "blocks": show_numbers(numbers, "n"),
    }
    return ToolCall("create_page", arguments)


def _place(path: str, numbers: Sequence[int], after: int | None) -> ToolCall:
    """Puts these new blocks behind a block of a page; `None` is its end."""
    arguments: dict[str, Any] = {"blocks": show_numbers(numbers, "n"), "page": path}
    return ToolCall("place", arguments if after is None else {**arguments, "after": after})


def _said(numbers: Sequence[int], path: str, block: int) -> ToolCall:
    """Names the block of a page that says what these new blocks say."""
    return ToolCall(
        "nothing_new", {"blocks": show_numbers(numbers, "n"), "said_in": [{"page": path, "blocks": str(block)}]}
    )
