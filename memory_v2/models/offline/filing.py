"""Writing offline: a document becomes a page of its own; a note goes to the page and section that it is about; an
observation to the page that it names, or to that of its domain. The text stays verbatim, together and in order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Any

from memory_v2.models.base import ToolCall
from memory_v2.models.briefs import ConsolidateBrief, Observed, WriteBrief
from memory_v2.models.offline.documents import (
    LONG_TEXT,
    SHORT_NOTE,
    Document,
    own_title,
    read_document,
    read_introduction,
)
from memory_v2.models.offline.outline import together
from memory_v2.models.offline.page_features import Catalogue, Look, date_of, is_conversation
from memory_v2.models.offline.subjects import Subject
from memory_v2.text.dates import Span, named_span
from memory_v2.text.days import heading_day
from memory_v2.text.lists import fillers
from memory_v2.text.retelling import are_versions
from memory_v2.text.speakers import speaker
from memory_v2.text.words import content_words, normal, stem, words
from memory_v2.tree.block import Block, readable
from memory_v2.tree.headings import Outline
from memory_v2.tree.numbers import parse_numbers, show_numbers
from memory_v2.tree.page import Page
from memory_v2.tree.path import ROOT

MAX_LEVEL = 6
"""The level of the lowest heading."""
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
MOST_ITEMS = 12
"""In how many items of a list at most each is looked at alone. A longer one is hardly a note."""
SHARED_ELSEWHERE = 0.67
"""The least share of the words of two statements, relative to the longer one, that makes one go to the other's page."""
MIN_KNOWN_WORDS = 4
"""The least content words of a turn that counts as known when it is repeated. People repeat shorter ones
("thanks!")."""


def file_text(brief: WriteBrief, plainly: bool = False) -> tuple[ToolCall, ...]:
    """The calls that file the text; `plainly` puts it at the end of the given page, or of the root."""
    everything = range(1, len(brief.blocks) + 1)
    if plainly:
        return (place(brief.path or ROOT, everything, None),)
    known = _whole_on_a_page(brief) or known_blocks(brief)
    if (
        _in_order(known)
        and any(brief.blocks[number - 1].kind != "heading" for number in known)
        and all(number in known or _says_nothing(block) for number, block in enumerate(brief.blocks, 1))
        and not came_back(brief, everything, brief.source.day)
    ):
        return tuple(nothing_new([number], *known[number]) for number in sorted(known))
    if (below := _below_its_title(brief)) is not None:
        return below
    if (document := read_document(brief)) is not None:
        return (create_page(document, everything),)
    looks = {view.page.path: Look(view.page) for view in brief.pages if view.page.piece is None}
    catalogue = Catalogue(brief.tree)
    subject = Subject(brief, looks, brief.blocks, catalogue)
    if (document := _introduction(brief, subject)) is not None:
        return (create_page(document, everything),)
    path = _page_for(brief, looks, subject, catalogue)
    if (older := _older_version(brief, looks, path)) is not None:
        return (place(older[0], everything, older[1]),)
    page = next((view.page for view in brief.pages if view.page.path == path), None)
    if page is None:
        return (place(path, everything, _place_shown(brief, path)),)
    section = _own_section(brief, page)
    if section is not None:
        heading, after = section
        return (nothing_new([1], page.path, heading), place(page.path, everything[1:], after))
    return (place(page.path, everything, _position(brief, page) or _above_other_days(brief, page)),)


def _introduction(brief: WriteBrief, subject: Subject) -> Document | None:
    """The page to be created for a note about something new, unless the note names a page that there is."""
    known = [*(readable(view.page.body) for view in brief.pages), *(hit.text for hit in brief.places)]
    document = read_introduction(brief, known)
    return document if document and subject.page(by_name=True) is None else None


def _older_version(brief: WriteBrief, looks: Mapping[str, Look], path: str) -> tuple[str, int] | None:
    """The page of a statement that this one, a single block, tells anew, and the last block of what hangs together with
    it. On another page than the one at `path`, where it would go, the two share more words. A log and a document are
    not changed in their middle."""
    if brief.path is not None or len(brief.blocks) > 1 or brief.source.name or date_of(brief.blocks) is not None:
        return None
    said = _substance(brief.blocks[0].content)
    for hit in brief.places:
        look = looks.get(hit.path)
        if look is None or look.is_log or look.page.properties.get("source") or not hit.block:
            continue
        older = _substance(hit.text)
        is_near = hit.path == path or len(said & older) >= SHARED_ELSEWHERE * max(len(said), len(older))
        if is_near and are_versions(said, older):
            ends = together(look.page.blocks)
            return hit.path, max(end for start, end in enumerate(ends) if start <= hit.block <= end)
    return None


def _whole_on_a_page(brief: WriteBrief) -> dict[int, tuple[str, int]]:
    """Where each block of the text stands, if all of them stand on one of the shown pages in order."""
    for page in (view.page for view in brief.pages if view.page.piece is None):
        found: dict[int, tuple[str, int]] = {}
        blocks = iter(enumerate(page.blocks, 1))
        for number, new in enumerate(brief.blocks, 1):
            place = next((there for there, block in blocks if _says_the_same(block, new)), None)
            if place is None:
                break
            found[number] = (page.path, place)
        if len(found) == len(brief.blocks) and not any(map(_small_talk, brief.blocks)):
            return found
    return {}


def known_blocks(brief: WriteBrief) -> dict[int, tuple[str, int]]:
    """The new blocks that are already on a shown page, checked against the page itself."""
    pages = {view.page.path: view.page for view in brief.pages}
    found = {}
    for number, (path, block) in brief.known.items():
        page, new = pages.get(path), brief.blocks[number - 1]
        if page is None or block > len(page.blocks) or page.blocks[block - 1].kind == "piece":
            continue
        if _says_the_same(page.blocks[block - 1], new) and not _small_talk(new):
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


def _says_the_same(old: Block, new: Block) -> bool:
    """Whether two headings, or two other blocks, are equal except for their marks, white space and a final full stop.
    Case counts: `PATH`, `path`."""
    return (old.kind == "heading") == (new.kind == "heading") and _bare(old) == _bare(new)


def _bare(block: Block) -> str:
    return " ".join(_ITEM.sub("", block.words).split()).removesuffix(".")


def came_back(brief: WriteBrief, numbers: Sequence[int], said_on: date | None) -> bool:
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
            if block.kind == "heading" and block.words == heading.words:
                return path, number
    return None


def _small_talk(block: Block) -> bool:
    said = readable(block.content)
    return speaker(said) is not None and len(set(content_words(said)) - fillers()) < MIN_KNOWN_WORDS


def _says_nothing(block: Block) -> bool:
    return block.kind == "rule"


# which page


def _page_for(brief: WriteBrief, looks: dict[str, Look], subject: Subject, catalogue: Catalogue) -> str:
    if brief.path is not None:
        return brief.path
    if (span := date_of(brief.blocks)) is not None:
        return _dated(looks, span) or ROOT
    if is_conversation(brief.blocks):
        return ROOT  # a conversation continues where it was yesterday
    return ROOT if _is_mixed(brief, looks, catalogue) else subject.page() or ROOT


def _is_mixed(brief: WriteBrief, looks: dict[str, Look], catalogue: Catalogue) -> bool:
    """Whether the items of a list name different pages. It stays together, and belongs to none of them."""
    items = [block for block in brief.blocks if block.kind == "item"]
    if not 2 <= len(items) <= MOST_ITEMS:
        return False
    named = {Subject(brief, looks, [item], catalogue).page(by_name=True) for item in items}
    return len(named - {None}) > 1


def _dated(looks: dict[str, Look], span: Span) -> str | None:
    """The page for that period, unless the root still holds days of the same month."""
    months = {(day.start.year, day.start.month) for day in looks[ROOT].days}
    made = {
        path: for_it
        for path in looks
        if (for_it := named_span(path.rsplit("/", 1)[-1])) and for_it.start <= span.start <= for_it.end
    }
    if (span.start.year, span.start.month) in months or not made:
        return None
    return min(made, key=lambda path: (made[path].end - made[path].start, path))


# which place on it


def _below_its_title(brief: WriteBrief) -> tuple[ToolCall, ...] | None:
    """A text that begins with the title of the page it goes to, without that title; `None` if there is no such page.

    Without a path, only a short note goes to the page or section that its title names, unless the page came from
    elsewhere."""
    title = own_title(brief.blocks)
    if title is None or brief.blocks[0] is not title or len(brief.blocks) < 2:
        return None
    rest = brief.blocks[1:]
    if brief.path is None and (brief.size > SHORT_NOTE or _has_headings(rest)):
        return None
    for page in (view.page for view in brief.pages if view.page.piece is None):
        if brief.path is None and brief.source.name not in ("", page.properties.get("source", "")):
            continue
        for number, block in enumerate(page.blocks, 1):
            is_title = number == 1 and page.path != ROOT
            if block.kind != "heading" or block.words != title.words or (brief.path and not is_title):
                continue
            intro = _section_end(page, number)
            if is_title and (brief.path is None or Look(page).is_log):
                intro = len(page.blocks)
            return (nothing_new([1], page.path, number), *_below(page, intro, rest))
    return None


def _below(page: Page, intro: int, rest: Sequence[Block]) -> Iterable[ToolCall]:
    """Puts what stands above a text's own sections behind this block of the page, and the sections at its end."""
    first = next((number for number, block in enumerate(rest, 2) if block.kind == "heading"), len(rest) + 2)
    if first > 2:
        yield place(page.path, range(2, first), None if intro == len(page.blocks) else intro)
    if first < len(rest) + 2:
        yield place(page.path, range(first, len(rest) + 2), None)


def _has_headings(blocks: Iterable[Block]) -> bool:
    return any(block.kind == "heading" for block in blocks)


def _place_shown(brief: WriteBrief, path: str) -> int | None:
    """The last of the blocks of a page that were shown as passages: next to it stands what is like the text. A text of
    several blocks goes to the end, and so does any text on a long page, which may be a document: nothing comes between
    its parts."""
    if len(brief.blocks) > 1 or brief.tree.pages[path].size >= LONG_TEXT:
        return None
    return max((hit.block for hit in brief.places if hit.path == path and hit.block), default=None)


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
    same = [n for n, block in enumerate(page.blocks, 1) if block.kind == "heading" and block.words == first.words]
    titles = sum(1 for block in page.blocks if block.kind == "heading" and block.level == 1)
    # If a page holds several documents, sections with equal headings are different sections.
    return (same[0], _section_end(page, same[0])) if len(same) == 1 and titles <= 1 else None


def _position(brief: WriteBrief, page: Page) -> int | None:
    """The block after which the text goes; `None` for the end."""
    look = Look(page)
    is_single = len(brief.blocks) == 1  # `Recipe: lentil soup` is no conversation
    if look.is_log or brief.blocks[0].kind == "heading" or date_of(brief.blocks):
        return None
    if not is_single and is_conversation(brief.blocks):
        return None
    is_long = page.size >= LONG_TEXT and not (is_single and page.path == ROOT)
    if page.properties.get("source") or brief.size > SHORT_NOTE or is_long:
        return None  # a long page may be a document: nothing comes between its parts; a long text has its own subjects
    wanted = set(content_words(readable(brief.text)))
    named = [(len(terms), number) for number, _, terms in look.headings if terms and terms <= wanted]
    if named:
        return _section_end(page, max(named)[1])
    if not look.headings:
        return None
    return look.headings[0][0] - 1


def _above_other_days(brief: WriteBrief, page: Page) -> int | None:
    """The block above the days of a page and the heading that they are below, if the text would seem, at the end of the
    page, to belong to the day of a heading; else `None`, which is the end."""
    if date_of(brief.blocks):
        return None
    headings = Look(page).headings
    days = [number for number, heading, _ in headings if _is_past_day(heading, brief.today)]
    level = brief.blocks[0].level or MAX_LEVEL + 1
    for number, heading, _ in reversed(headings):
        if heading.level < level:  # the text would stand below it
            level = heading.level
            if number in days:
                above, first = Outline(page.blocks).above, days[0]
                while above[first] > 1:
                    first = above[first]
                return first - 1
    return None


def _is_past_day(heading: Block, today: date) -> bool:
    day = heading_day(readable(heading.words))
    return day is not None and day.end < today


def _section_end(page: Page, heading: int) -> int:
    """The last block before the next heading."""
    number = heading
    while number < len(page.blocks) and page.blocks[number].kind != "heading":
        number += 1
    return number


def create_page(document: Document, numbers: Sequence[int]) -> ToolCall:
    """Creates a page of these new blocks."""
    arguments = {
        "path": document.path,
        "parent": document.parent,
        "title": document.title,
        "description": document.description,
        "blocks": show_numbers(numbers, "n"),
    }
    return ToolCall("create_page", arguments)


def place(path: str, numbers: Sequence[int], after: int | None) -> ToolCall:
    """Puts these new blocks behind a block of a page; `None` is its end."""
    arguments: dict[str, Any] = {"blocks": show_numbers(numbers, "n"), "page": path}
    return ToolCall("place", arguments if after is None else {**arguments, "after": after})


def nothing_new(numbers: Sequence[int], path: str, block: int) -> ToolCall:
    """Names the block of a page that says what these new blocks say."""
    return ToolCall(
        "nothing_new", {"blocks": show_numbers(numbers, "n"), "said_in": [{"page": path, "blocks": str(block)}]}
    )


def file_observations(brief: ConsolidateBrief, accepted: Sequence[ToolCall] | None = None) -> tuple[ToolCall, ...]:
    """The calls that file the observations. If only some calls were `accepted`, what is left goes to the page that the
    observations are sorted to, or to the root."""
    if accepted is None:
        return tuple(_observed(brief))
    done = {number for call in accepted for number in parse_numbers(call.arguments["blocks"], len(brief.blocks), "n")}
    left = [number for number in range(1, len(brief.blocks) + 1) if number not in done]
    return (place(brief.path or brief.home or ROOT, left, None),)


def _observed(brief: ConsolidateBrief) -> Iterator[ToolCall]:
    known = known_blocks(brief)
    looks = {view.page.path: Look(view.page) for view in brief.pages if view.page.piece is None}
    catalogue = Catalogue(brief.tree)
    first: dict[tuple[date | None, tuple[str, ...]], Sequence[int]] = {}
    on: dict[str, list[int]] = {}
    for one in brief.observed:
        numbers = one.numbers
        if all(number in known for number in numbers) and not came_back(brief, numbers, one.source.day):
            yield from (nothing_new([number], *known[number]) for number in numbers)
            continue
        said = one.source.day, tuple(normal(brief.blocks[number - 1].content) for number in numbers)
        if (other := first.setdefault(said, numbers)) is not numbers:
            for number, same in zip(numbers, other, strict=True):
                yield ToolCall("same_as", {"blocks": f"n{number}", "said_in": f"n{same}"})
            continue
        on.setdefault(_page_of(brief, one, looks, catalogue), []).extend(numbers)
    yield from (place(path, placed, None) for path, placed in on.items())


def _page_of(brief: ConsolidateBrief, one: Observed, looks: dict[str, Look], catalogue: Catalogue) -> str:
    if brief.path is not None:
        return brief.path
    blocks = [brief.blocks[number - 1] for number in one.numbers]
    return Subject(brief, looks, blocks, catalogue).page(by_name=bool(brief.home)) or brief.home or ROOT
