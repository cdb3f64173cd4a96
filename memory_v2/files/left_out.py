"""What is left out of a folder, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder of the source that is no document, and why, in a sentence. `is_expected` tells that nothing of
    the user's is in it, such as an index that a program keeps."""

    name: str
    reason: str
    is_expected: bool = False


def left_out_in_a_line(left_out: Sequence[LeftOut], most: int = 4) -> str:
    """What is left out, in one line: how many for each reason, and a single one by its name. At most so many reasons,
    those first of which there may be something of the user's in it; empty if nothing is left out."""
    by_reason: dict[str, list[LeftOut]] = {}
    for left in sorted(left_out, key=lambda left: left.is_expected):
        by_reason.setdefault(left.reason, []).append(left)
    told = [
        f"{len(alike)} × {reason}" if len(alike) > 1 else f"{alike[0].name}: {reason}"
        for reason, alike in sorted(by_reason.items(), key=lambda item: (item[1][0].is_expected, -len(item[1])))
    ]
    more = [f"{len(told) - most} other reasons"] if len(told) > most + 1 else []
    return "; ".join([*told[:most], *more] if more else told)
