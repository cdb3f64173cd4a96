"""Checking the texts that users pass: what is to be written, and what is searched for."""

from __future__ import annotations

import unicodedata
from datetime import date

from memory_v2.errors import InvalidSetting, InvalidText
from memory_v2.text.calendar import Calendar, iso_day, named_day
from memory_v2.tree.block import Block
from memory_v2.tree.edit import new_blocks
from memory_v2.tree.source import NO_SOURCE, Source
from memory_v2.validate import checked_day

MAX_SOURCE = 200
"""Limits the name of a source, in characters: it is in one line behind its text, and in the metadata of a page."""
MAX_TEXT = 1_000_000
"""The largest text of one operation, in bytes: it is divided into pages within some ten seconds."""


def checked_blocks(text: str) -> tuple[Block, ...]:
    """Returns the blocks of a text. Raises `InvalidText` if it is empty or cannot be stored."""
    check_text(text, "a text")
    if all(c.isspace() or unicodedata.category(c) in ("Cc", "Cf") for c in text):
        raise InvalidText("there is nothing to write: the text is empty")
    return new_blocks(text)


def checked_source(source: object, day: object, calendar: Calendar) -> Source:
    """Returns where a text came from and the day it was said. If no day is given, a day in the name counts, unless it
    is still to come. Raises `InvalidSetting`."""
    if source is None and day is None:
        return NO_SOURCE
    said = _checked_day(day, calendar)
    if source is None:
        return Source(day=said)
    if not isinstance(source, str) or not source.strip():
        raise InvalidSetting(f"source must name where the text came from, such as notes/monday.md, not {source!r}")
    name = source.strip()
    if any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in name):
        raise InvalidSetting(f"source must be one line without control characters, not {source!r}")
    if len(name) > MAX_SOURCE:
        raise InvalidSetting(f"source must have at most {MAX_SOURCE} characters, not {len(name)}: {name[:40]!r}…")
    named = named_day(name)
    return Source(name, said or (named if named and named <= calendar.today else None))


def _checked_day(day: object, calendar: Calendar) -> date | None:
    said = checked_day("date", day)
    check_year(said)
    if said and said > (today := calendar.today):
        told = f"{said} is after today, {today} ({calendar.zone})"
        raise InvalidSetting(f"date must be the day on which the text was said; {told}")
    return said


def check_year(said: date | None) -> None:
    """Raises `InvalidSetting` if the day of a text could not be read again where it is on a page."""
    if said and not iso_day(said.isoformat()):
        raise InvalidSetting(f"date must be a day of the years 1900 to 2999, such as 2026-02-03, not {said}")


def check_question(query: str) -> None:
    """Raises `InvalidText` if a question is empty, or is not valid Unicode."""
    check_text(query, "a question")
    if not query.strip():
        raise InvalidText("there is nothing to search for: the query is empty")


def check_text(text: str, what: str) -> None:
    """Raises `InvalidText` unless it is a string of at most `MAX_TEXT` bytes that UTF-8 can encode, which a lone
    surrogate is not."""
    if not isinstance(text, str):
        raise InvalidText(f"{what} is a string, not {type(text).__name__}")
    try:
        bytes_in_all = len(text.encode())
    except UnicodeEncodeError as error:
        code, place = ord(text[error.start]), f"character {error.start}"
        if 0xDC80 <= code <= 0xDCFF:  # a byte of an argument, as the shell gave it
            told = f"the text is not UTF-8: {place} is the byte 0x{code - 0xDC00:02X}; convert it to UTF-8 first"
            raise InvalidText(told) from error
        raise InvalidText(f"the text is not valid Unicode: {place} is half of a pair") from error
    if bytes_in_all > MAX_TEXT:
        told = f"{what} has at most {MAX_TEXT:,} bytes, not {bytes_in_all:,}"
        raise InvalidText(f"{told}; bring it in by parts, or as a file with 'silica memory import'")
