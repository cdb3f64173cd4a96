"""Whether what was found answers a question, by how much of it the best places tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memory_v2.index.base import Hit
from memory_v2.index.coverage import BEST, FLOOR
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.terms import asked_at_once
from memory_v2.operations.results import EntryResult, SearchResult


def with_confidence(
    found: Sequence[SearchResult], query: str, index: FullTextIndex, with_entries: bool = False
) -> list[SearchResult]:
    """The results, each with how much of what a question asks for it tells."""
    shares = index.told(query, [(_told(one.path, one.section, one.excerpt), one.date) for one in found], with_entries)
    return [replace(one, confidence=round(share, 2)) for one, share in zip(found, shares, strict=True)]


def is_answered(
    found: Sequence[SearchResult],
    places: Sequence[Hit],
    query: str,
    index: FullTextIndex,
    with_entries: bool = False,
) -> bool:
    """Whether one of the best results or places tells enough to be an answer, to one of the questions that are asked
    at once. Places count too, as a few results only may be asked for; entries that are past do not."""
    past = {hit.entry.id for hit in places if hit.entry and hit.entry.past}
    found = [one for one in found if not (isinstance(one, EntryResult) and one.entry in past)]
    places = [hit for hit in places if not (hit.entry and hit.entry.past)]
    if any(one.confidence > FLOOR for one in found[:BEST]):  # a share above it, however it was rounded
        return True
    texts = [(_told(one.path, one.section, one.excerpt), one.date) for one in found[:BEST]]
    texts += [(_told(place.path, place.section, place.text), place.date) for place in places[:BEST]]
    return any(share >= FLOOR for asked in asked_at_once(query) for share in index.told(asked, texts, with_entries))


def _told(path: str, section: Iterable[str], text: str) -> str:
    return "\n".join((path.replace("/", " ").replace("-", " "), *section, text))
