"""Page names: how they are made from words, and whether a name is meaningful."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from memory_v2.text.lists import empty_names
from memory_v2.text.words import composed, unaccented

_DEVICE = re.compile(r"con|prn|aux|nul|conin|conout|(?:com|lpt)[0-9]")
_MAX_BYTES = 100
"""Limits a name, in bytes; the same as `tree.path.MAX_SEGMENT_BYTES`, which this room may not import."""
_APOSTROPHE = re.compile(r"(?<=\w)['’ʼ](?=\w)")


def slug(words: str, limit: int = 48) -> str:
    """A name for the last part of a path, at most `limit` and 100 bytes; empty if no letter or digit is left.

    Lower-case letters and digits of any script, accents included, joined by hyphens and cut between words if possible.
    The name is valid for a page on every file system, Windows included.
    """
    kept: list[str] = []
    for c in composed(_APOSTROPHE.sub("", words).lower()):
        category = unicodedata.category(c)
        # A mark belongs to the letter before it. Alone, such as the one that colours an emoji, it would be invisible.
        mark = category in ("Mn", "Mc") and bool(kept) and kept[-1] != "-"
        kept.append(c if category[0] == "L" or category == "Nd" or mark else "-")
    name = composed(re.sub(r"-{2,}", "-", "".join(kept)).strip("-"))
    name = _cut(name, max(0, min(limit, _MAX_BYTES)))
    return f"{name}-notes" if _DEVICE.fullmatch(name) else name


def _cut(name: str, limit: int) -> str:
    if len(name.encode()) <= limit:
        return name
    short = name.encode()[:limit].decode(errors="ignore")
    if name[len(short)] != "-":
        whole = short.rpartition("-")[0]
        # If a long word follows a short one, cut the long word rather than drop it.
        short = whole if len(whole.encode()) > limit // 2 else short
    return short.strip("-")


def is_meaningful(segment: str) -> bool:
    """Whether a name says something about the page.

    `misc`, `part-2`, `other-stuff` and `17` do not; `test-plan`, `2026-03` and `q1-report` do.
    """
    parts = re.findall(r"\d+|[^\W\d_]+", unaccented(segment))
    numbers = [part for part in parts if part.isdecimal()]
    if len(numbers) == len(parts):
        return _is_date(numbers)
    empty = _empty_names()
    said = [part for part in parts if part not in empty and not part.isdecimal()]
    # The date makes "page-2026-03" meaningful.
    return bool(said) or _is_date(numbers)


def _is_date(numbers: list[str]) -> bool:
    """Whether the numbers are one or more years, or a month or day of a year, written as one number or several."""
    if len(numbers) == 1 and len(numbers[0]) == 8:
        numbers = [numbers[0][:4], numbers[0][4:6], numbers[0][6:]]
    if len(numbers) > 1 and len(numbers[-1]) == 4:
        numbers = numbers[::-1]
    years = [number for number in numbers if len(number) == 4 and number.isascii() and number[:2] in ("19", "20")]
    if not numbers or numbers[0] not in years:
        return False
    rest = numbers[1:]
    return len(years) == len(numbers) or (len(rest) <= 2 and all(len(n) <= 2 and 1 <= int(n) <= 31 for n in rest))


@cache
def _empty_names() -> frozenset[str]:
    return frozenset(map(unaccented, empty_names()))
