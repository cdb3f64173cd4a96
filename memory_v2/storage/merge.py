"""Bringing together what a change made of a page and what somebody made of it by hand at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memory_v2.tree.block import decode, encode, split_lines


def merged(before: bytes | None, by_hand: bytes, after: bytes | None) -> bytes:
    """The page with both edits. Every line that either side added is there; a line is gone only if one side removed it.
    Of a page that the change removes, what was added by hand is left. A page that was edited by hand after the change
    had been written to it is right as it is."""
    old, hand, new = (split_lines(decode(data or b"")) for data in (before, by_hand, after))
    if _distance(new, hand) <= _distance(old, hand):
        return by_hand
    by_program, by_person = _edits(old, new), _edits(old, hand)
    lines: list[str] = []
    for place in range(len(old) + 1):
        theirs, ours = by_person.inserted.get(place, []), by_program.inserted.get(place, [])
        lines += theirs if theirs == ours else [*theirs, *ours]
        if place < len(old) and place not in by_program.removed | by_person.removed:
            lines.append(old[place])
    return encode("".join(lines))


class _Edits(NamedTuple):
    removed: set[int]
    inserted: dict[int, list[str]]


def _edits(old: Sequence[str], new: Sequence[str]) -> _Edits:
    """The lines of the old text that are gone, and those that stand before each of its places."""
    from difflib import SequenceMatcher  # which only recovery needs

    edits = _Edits(set(), {})
    for tag, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            edits.removed.update(range(start, end))
            edits.inserted[start] = list(new[new_start:new_end])
    return edits


def _distance(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are removed and added between two texts."""
    edits = _edits(one, other)
    return len(edits.removed) + sum(map(len, edits.inserted.values()))
