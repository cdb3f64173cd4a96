"""What was extracted of notes as observations for a memory: each item once, whatever it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from memory_v2.notes.extracting import Extracted
from memory_v2.notes.judging import GRADES, Grade

CHANNEL = "notes"
"""How they came into the memory."""
CONFIDENCE: Mapping[Grade, float] = {"marker": 0.9, "heading": 0.7, "model": 0.7, "keyword": 0.5}
"""How sure it is that an item is what it was extracted as."""


def observations(found: Iterable[Extracted], stored: Collection[str]) -> Iterator[dict[str, Any]]:
    """The arguments with which each item is captured, unless its location is among those `stored`. The location has the
    item's id, so it stays the same when lines above it change."""
    items: dict[str, list[Extracted]] = {}
    for one in found:
        items.setdefault(one.item, []).append(one)
    for same in items.values():
        best = min(same, key=lambda one: GRADES.index(one.grade))
        location = f"{best.file}#{best.item}"
        if location not in stored:
            yield {
                "text": best.text,
                "kind": best.category,
                "tags": sorted({one.category for one in same}),
                "confidence": CONFIDENCE[best.grade],
                "channel": CHANNEL,
                "location": location,
                **({"date": best.day.isoformat()} if best.day else {}),
            }
