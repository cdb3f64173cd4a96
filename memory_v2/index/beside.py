"""Places beside the pages that a search finds too: entries.

Both sets are ranked as one: how rare a word is, and how long a place is on average, is counted over both together, and
the points of each place are held against the best of both. So an exact entry comes before a vague page, and the other
way round.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Protocol

from memory_v2.index.base import Hit
from memory_v2.index.lookup import Facts, Found
from memory_v2.index.question import Question
from memory_v2.index.ranking import Ranked
from memory_v2.index.said import Said
from memory_v2.index.tables import SLOT_BITS
from memory_v2.index.told import Terms

PAGE_SHIFT = 1 << 40
"""What is added to the ids of pages that stand beside, so that they are no page's of the tree."""
PLACE_SHIFT = PAGE_SHIFT << SLOT_BITS
"""The same for the ids of places."""
WIDER = 3
"""How many more places are ranked than are asked for: some are left out, or weigh less than they say."""


class Beside(Protocol):
    """The places beside the pages, as one search sees them."""

    @property
    def alone(self) -> bool:
        """Whether no page is searched."""

    def look_up(self, question: Question, limit: int) -> Found:
        """The places that may answer, by ids that are `shifted`."""

    def hits(self, ranked: Sequence[Ranked]) -> list[Hit]:
        """A hit for each of these places, which are its own."""

    def terms(self, question: Question) -> Terms:
        """What of a question is known there."""

    def arranged(self, hits: Sequence[Hit], limit: int) -> list[Hit]:
        """All hits in their order, pages and its own, as they are shown."""


def is_beside(ranked: Ranked) -> bool:
    """Whether a place is none of the tree's."""
    return ranked.place.id >= PLACE_SHIFT


def shifted(found: Found) -> Found:
    """What was found, by ids that no page of the tree has."""

    def read_said(places: Collection[int]) -> dict[int, Said]:
        said = found.read_said([place - PLACE_SHIFT for place in places])
        return {place + PLACE_SHIFT: one for place, one in said.items()}

    return replace(
        found,
        places={
            place + PLACE_SHIFT: one._replace(id=one.id + PLACE_SHIFT, page=one.page + PAGE_SHIFT)
            for place, one in found.places.items()
        },
        candidates=[place + PLACE_SHIFT for place in found.candidates],
        voiced=frozenset(page + PAGE_SHIFT for page in found.voiced),
        paths={page + PAGE_SHIFT: one for page, one in found.paths.items()},
        read_said=read_said,
        links={},  # what entries link to are pages of the tree, which are not among these
    )


def joined(found: Found, beside: Found) -> Found:
    """What was found in the tree and beside it, as one."""

    def read_said(places: Collection[int]) -> dict[int, Said]:
        own = [place for place in places if place < PLACE_SHIFT]
        others = [place for place in places if place >= PLACE_SHIFT]
        return (found.read_said(own) if own else {}) | (beside.read_said(others) if others else {})

    terms = found.frequency | beside.frequency
    one, other = found.facts, beside.facts
    count = one.count + other.count
    length = (one.count * one.length + other.count * other.length) / max(count, 1)
    return replace(
        found,
        places=found.places | beside.places,
        candidates=[*found.candidates, *beside.candidates],
        frequency={term: found.frequency.get(term, 0) + beside.frequency.get(term, 0) for term in terms},
        words=found.words | beside.words,
        facts=Facts(one.names, count, length, one.vocabulary),
        voiced=found.voiced | beside.voiced,
        name_terms=found.name_terms,
        paths=found.paths | beside.paths,
        read_said=read_said,
        related={term: sorted({*found.related.get(term, ()), *beside.related.get(term, ())}) for term in terms},
    )
