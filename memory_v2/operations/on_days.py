"""Lifting what was said on the days that a question names.

The index knows the days that a text names for itself or in a heading. On which day a line was written, or its source
said it, is known only of what was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from memory_v2.index.base import Hit
from memory_v2.index.lookup import CANDIDATES
from memory_v2.index.ranking import QUESTION, raised
from memory_v2.text.dates import PartialDate, Span

POOL = CANDIDATES
"""Among how many of the best places those of the days asked for are looked for. The index proposes as many anyway."""
SIGN = "the day asked for"
"""How a ranking calls it that a place names the day asked for."""


def lifted(hits: Sequence[Hit], days: Sequence[Span | PartialDate]) -> list[Hit]:
    """The hits, best first, with as many points for the day on which they were said as for one that they name. Entries
    have theirs."""
    return sorted((_lifted(hit, days) for hit in hits), key=lambda hit: -hit.score)


def _lifted(hit: Hit, days: Sequence[Span | PartialDate]) -> Hit:
    if hit.entry or not hit.date or SIGN in dict(hit.signs) or not any(_has(span, hit.date) for span in days):
        return hit
    points = QUESTION.note.day
    return replace(hit, score=raised(hit.score, points), signs=(*hit.signs, (SIGN, points)))


def _has(days: Span | PartialDate, day: date) -> bool:
    return days.matches(Span(day, day)) if isinstance(days, PartialDate) else days.start <= day <= days.end
