"""Merging a change of a page with an edit that was made by hand at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memory_v2.text.kept import kept
from memory_v2.tree.block import decode, encode, split_lines


def merged(before: bytes | None, by_hand: bytes, after: bytes | None) -> bytes:
    """Merges both edits, line by line. It keeps every line that either side added, and drops a line only if one side
    removed it. If the change removes the page, the lines added by hand remain. If the edit was made after the change
    was written, the edited page is returned as it is."""
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
    """The line numbers of the old text that were removed, and the lines inserted before each line number."""
    edits = _Edits(set(range(len(old))), {})
    end = 0
    for place, new_place in [*kept(old, new), (len(old), len(new))]:
        edits.removed.discard(place)
        if new_place > end:
            edits.inserted[place] = list(new[end:new_place])
        end = new_place + 1
    return edits


def _distance(old: Sequence[str], new: Sequence[str]) -> int:
    """The number of lines removed and added between two texts."""
    edits = _edits(old, new)
    return len(edits.removed) + sum(map(len, edits.inserted.values()))
