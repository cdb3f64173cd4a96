"""The day that a text gives as its own: the day on which it was said. Other days in it are what it speaks of."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import cache

from memory_v2.text.dates import Span, find_dates, leading_date

_MARKER = re.compile(r"[ \t]{0,3}(?:>[ \t]?)*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_AT_END = re.compile(r"[\s.,;:)\]）*_!]*")
_SET_OFF = re.compile(r"(?:[(\[（—–·|]|\s--?)[\s*_]*$")

_FORMER = (
    r"(?<!\w)[(\[（]?(?:before|previously|formerly|antes|anteriormente|avant|auparavant|vorher|früher|zuvor|prima|以前|之前|此前)"
    r"(?:\s+that)?\s?[:：][^\n]*?(?:[)\]）]|$)"
)
_TO_COME = (
    r"(?<!\w)(?:deadlines?|due|expir\w*|valid\w*|appointments?|frist\w*|fällig\w*|gültig\w*|termine?|plazo|vence\w*"
    r"|caduca\w*|válid\w*|cita|prazo|échéance|valable|rendez-vous|scadenza|scade)(?!\w)|到期|截止|有效|期限|预约"
)


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


def newest_part(text: str) -> str:
    """The text without what it says was so before: `(before: Node 20 since 2025-01-10)`."""
    return _pattern(_FORMER).sub("", text) if ":" in text or "：" in text else text


def unmarked(text: str) -> str:
    """The text without the marker of a list or a quote at its start."""
    return text[found.end() :] if (found := _MARKER.match(text)) else text


def last_date(text: str) -> tuple[Span, str] | None:
    """The date that ends a text, and the end of the text before it."""
    last = text.rsplit("\n", 1)[-1][-120:]
    found = (pair for pair in reversed(find_dates(last)) if _AT_END.fullmatch(last, pair[2]))
    return next(((span, last[:start]) for span, start, _ in found), None)


def own_day(text: str, is_speech: bool = False) -> Span | None:
    """The day that a text begins with, as a line of a log does, or that is set off at its end: `… (2026-02-03)`. A
    deadline, "valid until 2026-02-03" and "(before: Node 20 since 2025-01-10)" are not when it was said; nor is any
    date at the end of speech."""
    newest = newest_part(text).rstrip()
    if found := leading_date(unmarked(newest)):
        return found
    if is_speech or not (last := last_date(newest)):
        return None
    span, ahead = last
    return span if _SET_OFF.search(ahead) and not speaks_of_what_comes(ahead) else None


def heading_day(words: str) -> Span | None:
    """The day that a heading gives to the text below it."""
    found = find_dates(newest_part(words))
    return found[0][0] if found and not speaks_of_what_comes(words) else None


def speaks_of_what_comes(text: str) -> bool:
    """Whether a text is about a deadline, an appointment, or how long something is valid."""
    return _pattern(_TO_COME).search(text) is not None


def spoken_of(span: Span) -> str:
    """A span for people to read: `2026-03-01`, `Mar 2026`, `2026`, `2026-03-01 to 2026-03-09`."""
    start, end = span.start, span.end
    if start == end:
        return start.isoformat()
    if (start.month, start.day, end.month, end.day) == (1, 1, 12, 31) and start.year == end.year:
        return str(start.year)
    if span.granularity == "month" and start.day == 1 and (end + timedelta(days=1)).day == 1:
        return f"{_MONTHS[start.month - 1]} {start.year}"
    return f"{start} to {end}"


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
