"""What a memory, its entries and its checkpoints are given, checked before it is used: the types of arguments, and the
texts that are to be written or searched for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import date, datetime, tzinfo
from functools import cache
from inspect import signature
from math import isfinite
from pathlib import Path
from typing import Any, Literal, TypeGuard, get_args, get_origin, get_type_hints

from memory_v2.errors import InvalidSetting, InvalidText
from memory_v2.settings import MIN_THRESHOLD, Limits, is_count
from memory_v2.text.days import DAY, Calendar, iso_day, named_day
from memory_v2.tree.block import Block, new_blocks
from memory_v2.tree.source import NO_SOURCE, Source

MAX_SOURCE = 200
"""Limits the name of a source, in characters: it is in one line behind its text, and in the metadata of a page."""
MAX_TEXT = 1_000_000
"""The largest text of one operation, in bytes: it is divided into pages within some ten seconds."""


def checked_arguments(operation: Callable[..., Any], /, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """The arguments of an operation by name, without those that are empty by default and are not given. Raises
    `InvalidSetting` for the first one of another type than the operation's signature says. What a value means is for
    the operation to check, and so are days and decays, which may be strings of many forms."""
    arguments: dict[str, Any] = {}
    parameters = _parameters(operation)
    values = dict(zip(parameters, args, strict=False)) | kwargs
    for name, (kind, default) in parameters.items():
        value = values.get(name, default)
        _check(name, kind, value)
        told = [(name, value, default)]
        if is_dataclass(value):
            told = [(field.name, getattr(value, field.name), field.default) for field in fields(value)]
        arguments |= {key: given for key, given, default in told if given or given != default}
    return arguments


@cache
def _parameters(operation: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """The type and the default of each argument, after what the operation works with."""
    types = get_type_hints(operation)
    _, *arguments = signature(operation).parameters.values()
    return {argument.name: (types[argument.name], argument.default) for argument in arguments}


def _check(name: str, kind: Any, value: object) -> None:
    if get_origin(kind) is Literal:
        fits, what = get_args(kind).__contains__, f"one of {', '.join(get_args(kind))}"
    else:
        fits, what = _TYPES.get(kind, (lambda _: True, ""))
    if not fits(value):
        raise InvalidSetting(f"{name} must be {what}, not {value!r}")


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _or_none(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or fits(value)


def _are_lines(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _are_strings(value: object) -> bool:
    # An iterator can be read once only.
    return _are_lines(value) and (isinstance(value, Iterator) or all(map(_is_string, value)))


def _are_files(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(data, bytes) for data in value.values())


_TYPES: Mapping[Any, tuple[Callable[[Any], bool], str]] = {
    str: (_is_string, "a string"),
    str | None: (_or_none(_is_string), "a string or None"),
    str | Path: (lambda value: isinstance(value, str | Path) and value != "", "a path"),
    int: (lambda value: type(value) is int, "a number"),
    float: (_is_number, "a number"),
    float | None: (_or_none(_is_number), "a number or None"),
    bool: (lambda value: isinstance(value, bool), "True or False"),
    Iterable[str]: (_are_strings, "a list of strings"),
    Iterable[str | Mapping[str, Any]]: (_are_lines, "a list of lines or mappings"),
    Mapping[str, bytes]: (_are_files, "the bytes of files by name"),
}


def one_line(name: str, told: object) -> str | None:
    """A text on one line, without blanks around it. Raises `InvalidSetting` for anything else but `None`."""
    if told is None:
        return None
    if not isinstance(told, str) or not told.strip() or not told.strip().isprintable():
        raise InvalidSetting(f"{name} must be a text on one line, not {told!r}")
    return told.strip()


def lines(name: str, told: object) -> tuple[str, ...]:
    """Texts on one line each, every one once. Raises `InvalidSetting`."""
    if isinstance(told, str) or not isinstance(told, Iterable):
        raise InvalidSetting(f"{name} must be a list of texts, not {told!r}")
    return tuple(dict.fromkeys(filter(None, (one_line(name, one) for one in told))))


def each_tag(told: object) -> tuple[str, ...]:
    """Tags, every one once; one text may list several between commas. Raises `InvalidSetting`."""
    return lines("tags", (tag for listed in lines("tags", told) for tag in listed.split(",") if tag.strip()))


def share_given(name: str, value: object) -> float:
    """A number from 0 to 1. Raises `InvalidSetting`."""
    if not _is_number(value) or not 0 <= value <= 1:
        raise InvalidSetting(f"{name} must be a number from 0 to 1, not {value!r}")
    return float(value)


def check_given(
    storage: Any,
    model: Any,
    threshold: Any,
    limits: Any,
    now: Any,
    traces: Any,
    prices: Any,
    timezone: Any,
    agent: Any,
    dense: Any,
    on_event: Any,
) -> None:
    """Raises `InvalidSetting` for the first argument of a `Memory` that it cannot use."""
    is_model = isinstance(model, str) or (hasattr(model, "respond") and hasattr(model, "name"))
    require(hasattr(storage, "state"), "storage must be a storage (Memory.open() opens a folder)", storage)
    require(is_model, "model must be the name of a model, or a model", model)
    require(is_count(threshold, MIN_THRESHOLD), f"threshold must be at least {MIN_THRESHOLD} bytes", threshold)
    require(limits is None or isinstance(limits, Limits), "limits must be Limits or None", limits)
    require(now is None or callable(now), "now must be a function that returns the time, or None", now)
    require(is_count(traces, 0), "traces must be 0 or more", traces)
    require(prices is None or isinstance(prices, Path), "prices must be a Path or None", prices)
    require(isinstance(timezone, tzinfo), "timezone must be a tzinfo, such as a zoneinfo.ZoneInfo", timezone)
    require(isinstance(agent, str), "agent must be the name of an agent", agent)
    require(isinstance(dense, bool), "dense must be True or False", dense)
    require(on_event is None or callable(on_event), "on_event must be a function or None", on_event)


def require(is_so: bool, rule: str, given: object) -> None:
    """Raises `InvalidSetting` with the rule unless it is so."""
    if not is_so:
        raise InvalidSetting(f"{rule}, not {given!r}")


def tag_list(tags: object) -> list[str]:
    """Tags that are given in any order of their own, as a list. Raises `InvalidSetting`."""
    found = list(tags) if isinstance(tags, Iterable) and not isinstance(tags, str | bytes) else None
    if found is None or not all(isinstance(tag, str) and tag.strip() for tag in found):
        raise InvalidSetting(f"tags must be a list of tags, not {tags!r}")
    return found


def checked_day(name: str, day: object) -> date | None:
    """Returns a day that is given as such or as 2026-02-03, of any year. Raises `InvalidSetting`, naming the
    setting."""
    if day is None:
        return None
    said = day.date() if isinstance(day, datetime) else day
    if isinstance(day, str) and re.fullmatch(DAY, day):
        with suppress(ValueError):
            said = date.fromisoformat(day)
    if not isinstance(said, date):
        raise InvalidSetting(f"{name} must be a day of the calendar, such as 2026-02-03, not {day!r}")
    return said


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
