"""What else a place in notes is ranked by, beside its words: where it stands, how new it is, and what marks it.

The points are small beside those for words, where a place that has all words of a question gets about eight. So they
order places that answer about as well: they put no place first that does not answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from memory_v2.files.listing import without_suffix
from memory_v2.text.calendar import named_day

LASTING = "memory"
"""The name of the file in which agents keep what lasts, as `notes.judging` has it."""
CURATED, KEPT = 0.5, 0.25
"""It stands in `MEMORY.md`; in another file that is no daily log."""
NEW = 0.5
"""It is from the newest day among the places that were found; half of it `HALF_LIFE` days before that."""
HALF_LIFE = 30
MARKED = {"marker": 0.5, "heading": 0.25}
"""A label on the line says that it is a decision, a lesson or the like; a heading does."""


def weighed(
    name: str, day: date | None, newest: date | None, marks: Sequence[tuple[str, str]]
) -> list[tuple[str, float]]:
    """What adds to the score of a place: each sign in words, with its points."""
    signs = []
    if without_suffix(name.rpartition("/")[2]).casefold() == LASTING:
        signs.append(("kept in MEMORY.md", CURATED))
    elif named_day(name) is None:
        signs.append(("no daily log", KEPT))
    if day and newest:
        signs.append((f"from {day}", round(NEW * 0.5 ** ((newest - day).days / HALF_LIFE), 2)))
    if marks:
        category, grade = max(marks, key=lambda mark: MARKED[mark[1]])
        signs.append((f"{category} by {grade}", MARKED[grade]))
    return [sign for sign in signs if sign[1]]
