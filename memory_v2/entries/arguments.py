"""Whether the arguments of an operation on entries or checkpoints are of the types that its row of the table names, and
on one line where a header has a line for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, TypeGuard

from memory_v2.errors import InvalidSetting
from memory_v2.operations.row import Row


def check_arguments(row: Row[Any], given: Mapping[str, Any]) -> None:
    """Raises `InvalidSetting` for the first argument of another type. What a value means is for the operation to
    check, and so are dates and decays, which may be strings of many forms."""
    for argument in row.arguments:
        fits, what = _TYPES.get(argument.type, (_is_anything, ""))
        value = given[argument.name]
        if argument.choices and value not in argument.choices:
            raise InvalidSetting(f"{argument.name} must be one of {', '.join(argument.choices)}, not {value!r}")
        if not fits(value):
            raise InvalidSetting(f"{argument.name} must be {what}, not {value!r}")


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


def share_given(name: str, value: object) -> float:
    """A number from 0 to 1. Raises `InvalidSetting`."""
    if not _is_number(value) or not 0 <= value <= 1:
        raise InvalidSetting(f"{name} must be a number from 0 to 1, not {value!r}")
    return float(value)


def _is_anything(_: object) -> bool:
    return True


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _or_none(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or fits(value)


def _are_lines(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _are_strings(value: object) -> bool:
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        return False
    return isinstance(value, Iterator) or all(map(_is_string, value))  # an iterator can be read once only


def _are_files(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(data, bytes) for data in value.values())


_TYPES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "str": (_is_string, "a string"),
    "str | None": (_or_none(_is_string), "a string or None"),
    "str | Path": (lambda value: isinstance(value, str | Path) and value != "", "a path"),
    "float": (_is_number, "a number"),
    "float | None": (_or_none(_is_number), "a number or None"),
    "bool": (lambda value: isinstance(value, bool), "True or False"),
    "Iterable[str]": (_are_strings, "a list of strings"),
    "Iterable[str | Mapping[str, Any]]": (_are_lines, "a list of lines or mappings"),
    "Mapping[str, bytes]": (_are_files, "the bytes of files by name"),
}
