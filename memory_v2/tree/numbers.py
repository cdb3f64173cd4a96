"""Block numbers as models write them: `3`, `"3-5, 8"`, `"n1-n4"`, `[1, "4-6"]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from memory_v2.errors import ToolProblem

_RANGE = re.compile(r"\[?([a-zA-Z]?)(\d{1,6})\]?(?:-\[?([a-zA-Z]?)(\d{1,6})\]?)?")
_DASH = re.compile(r"(?<!\s)\s*(?:-|–|\bto\b|\.\.)\s*")


Numbers: TypeAlias = int | str | list[int | str]
"""Numbers of blocks or links in the forms that a tool accepts."""


def parse_numbers(given: int | str | Sequence[int | str], count: int, prefix: str = "") -> list[int]:
    """The numbers that are meant, from 1 to `count`, in the order given. Raises `ToolProblem` for any other number, and
    for one that is named twice."""
    numbers: list[int] = []
    for part in _parts(given):
        numbers += _range(part, count, prefix)
        if len(numbers) > count:  # one is named twice, so stop reading
            break
    if not numbers:
        raise ToolProblem(f"name at least one block, such as {prefix}1 or {prefix}2-{prefix}5")
    first = {number: place for place, number in reversed(list(enumerate(numbers)))}
    if len(first) < len(numbers):
        twice = next(n for place, n in enumerate(numbers) if first[n] < place)
        raise ToolProblem(f"block {prefix}{twice} is named twice; name each block once")
    return numbers


def _parts(given: int | str | Sequence[int | str]) -> list[str]:
    if isinstance(given, int | str):
        given = [given]
    joined = (_DASH.sub("-", str(item)) for item in given)
    return [part for item in joined for part in re.split(r"[,;\s]+", item) if part]


def _range(part: str, count: int, prefix: str) -> list[int]:
    found = _RANGE.fullmatch(part.strip())
    letters = {letter.lower() for letter in (found[1], found[3]) if letter} if found else set()
    if not found or letters - {prefix}:
        raise ToolProblem(
            f"{part[:40]!r} is no block; use numbers such as {prefix}1 or ranges such as {prefix}2-{prefix}5"
        )
    first, last = int(found[2]), int(found[4] or found[2])
    if not 1 <= first <= last <= count:
        raise ToolProblem(f"{part!r} is out of range; the blocks shown are {prefix}1 to {prefix}{count}")
    return list(range(first, last + 1))


def number_runs(numbers: Iterable[int]) -> list[list[int]]:
    """`[1, 2, 3, 7]` → `[[1, 2, 3], [7]]`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def show_numbers(numbers: Iterable[int], prefix: str = "") -> str:
    """`[1, 2, 3, 7]` → `1-3, 7`."""
    return ", ".join(
        f"{prefix}{run[0]}" if len(run) == 1 else f"{prefix}{run[0]}-{prefix}{run[-1]}" for run in number_runs(numbers)
    )
