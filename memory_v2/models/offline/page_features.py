"""What the planner sees in texts and pages: days, voices, headings, terms, and the pages whose line has a word."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from memory_v2.models.offline.naming import common_stems
from memory_v2.text.dates import Span, leading_date, named_span
from memory_v2.text.lists import fillers
from memory_v2.text.speakers import speaker, speakers
from memory_v2.text.words import content_words, general, has_cjk
from memory_v2.tree.block import Block, readable
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page


@dataclass(frozen=True)
class Look:
    """What is measured on one page."""

    page: Page

    @cached_property
    def body(self) -> list[Block]:
        """The blocks without the title."""
        first_is_title = self.page.blocks[:1] and self.page.blocks[0].kind == "heading"
        return list(self.page.blocks[1:] if first_is_title else self.page.blocks)

    @cached_property
    def passages(self) -> list[frozenset[str]]:
        """The terms of each block, with those of the heading above it."""
        found, heading = [], frozenset[str]()
        for block in self.page.blocks:
            terms = frozenset(content_words(readable(block.content)))
            if block.kind == "heading":
                heading = terms
            found.append(terms | heading)
        return found

    @cached_property
    def terms(self) -> frozenset[str]:
        """The terms of its text."""
        return frozenset[str]().union(*self.passages)

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


def date_of(blocks: Sequence[Block]) -> Span | None:
    """The date at the start of a text."""
    first = next((block for block in blocks if block.content.strip()), None)
    return leading_date(readable(first.words)) if first else None


def is_conversation(blocks: Sequence[Block]) -> bool:
    """Whether most lines of a text are turns of a dialogue."""
    lines = [line for block in blocks for line in readable(block.content).splitlines() if line.strip()]
    said = sum(1 for line in lines if speaker(line))
    return bool(lines) and said >= 0.6 * len(lines)


def is_of_a_time(path: str) -> bool:
    """Whether a page, or one above it, is named for a day, a month or a year."""
    return any(named_span(part) is not None for part in path.split("/"))


def telling_terms(text: str) -> list[str]:
    """The terms of a text that are not common in notes of any kind, such as `work`, `week` or `use`."""
    ignored = _ignored()
    return [term for term in content_words(readable(text)) if term not in ignored and not term.isdecimal()]


@cache
def _ignored() -> frozenset[str]:
    return common_stems() | general() | fillers()


MOST_PAGES = 60
"""In how many pages' lines a word is looked for at most: one that stands in more tells nothing."""
MOST_CANDIDATES = 20
"""How many pages are compared with a text word by word: those that have the most and rarest of its words."""


class Catalogue:
    """One line for each page that can be reached, except the root: its name, its title, its description."""

    def __init__(self, tree: Graph) -> None:
        self._tree = tree

    @property
    def count(self) -> int:
        """How many pages there are."""
        return len(self._tree.pages)

    def pages_with(self, term: str) -> list[str]:
        """The pages whose line has a word that begins with this term, up to `MOST_PAGES`."""
        listing = self._tree.listing
        wanted = term if has_cjk(term) or len(term) > 4 else f" {term}"
        found: list[str] = []
        place = listing.text.find(wanted)
        while place >= 0 and len(found) < MOST_PAGES:
            line = bisect_right(listing.starts, place) - 1
            found.append(listing.paths[line])
            place = listing.text.find(wanted, listing.starts[line + 1])
        return found

    def name_terms(self, path: str) -> frozenset[str]:
        """The terms of the last part of a page's path."""
        return frozenset(content_words(path.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ")))

    def title_terms(self, path: str) -> frozenset[str]:
        """The terms of a page's title."""
        return frozenset(content_words(self._tree.pages[path].title))

    def described_terms(self, path: str) -> frozenset[str]:
        """The terms of the line by which a page is listed."""
        return frozenset(content_words(self._tree.descriptions.get(path, "")))

    def candidates(self, weights: Mapping[str, float], spread: Mapping[str, Iterable[str]]) -> list[str]:
        """The pages that have the most of these terms, by weight."""
        sums: dict[str, float] = defaultdict(float)
        for term, pages in spread.items():
            for path in pages:
                sums[path] += weights[term]
        return sorted(sums, key=lambda path: (-sums[path], path))[:MOST_CANDIDATES]
