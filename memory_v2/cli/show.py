"""Printing: colours on a terminal, plain text in a pipe, and never a control character out of a page."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, TextIO

import click

from memory_v2.errors import StorageError
from memory_v2.tree.block import split_lines

# Control characters but the tab, line separators, marks that reverse the direction of writing, lone surrogates.
_UNSAFE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LINE_END = re.compile("(\r?\n)")


def out(text: str | bytes, newline: bool = True) -> None:
    """Prints to standard output; a full disk behind it is a `StorageError`."""
    try:
        click.echo(text, nl=newline)
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_output()
        raise StorageError(f"cannot print the output: {error.strerror or error}") from error


def drop_output() -> None:
    """Discards what is still buffered; else the interpreter complains about it when it exits."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def out_json(document: Any) -> None:
    """Prints one JSON document. Characters that could upset a terminal are escaped."""
    import json

    try:
        text = json.dumps(document, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    except ValueError:  # NaN or infinity, given by a model
        finite = json.loads(json.dumps(document), parse_constant=lambda name: None)
        text = json.dumps(finite, ensure_ascii=False, separators=(", ", ": "))
    out(_UNSAFE.sub(_as_json, text))


def tell(sentence: str) -> None:
    """Prints a notice on standard error."""
    click.echo(f"silica: {plain(sentence)}", err=True)


def on_terminal(stream: TextIO | None) -> bool:
    """Whether it is a terminal."""
    return stream is not None and stream.isatty()


def plain(text: str) -> str:
    """One line that is safe on a terminal: control characters, and bytes that are not UTF-8, are escaped."""
    return _UNSAFE.sub(_as_number, text)


def plain_lines(text: str) -> str:
    """Several lines that are safe on a terminal."""
    return "".join(part if _LINE_END.fullmatch(part) else plain(part) for part in _LINE_END.split(text))


def has_colours() -> bool:
    """Whether output is coloured: on a terminal, unless NO_COLOR is set."""
    return on_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def style(text: str, **look: Any) -> str:
    """Coloured where output is."""
    return click.style(text, **look) if text and has_colours() else text


def screen_width() -> int | None:
    """The columns of the terminal; `None` in a pipe, where nothing is cut."""
    import shutil

    return shutil.get_terminal_size().columns if on_terminal(sys.stdout) else None


def width(text: str) -> int:
    """The columns that a text takes: two for a wide character, none for a combining one."""
    return sum(_columns(c) for c in text)


def pad(text: str, columns: int, right: bool = False) -> str:
    """The text, padded with blanks to this many columns."""
    blanks = " " * (columns - width(text))
    return blanks + text if right else text + blanks


def cut(text: str, columns: int) -> str:
    """As much of the text as fits into this many columns, with `…` if some is cut off."""
    if width(text) <= columns:
        return text
    kept, used = [], 1
    for character in text:
        used += _columns(character)
        if used > columns:
            break
        kept.append(character)
    return "".join(kept) + "…" if columns > 0 else ""


def named(names: Sequence[str], most: int = 6) -> str:
    """`a, b, c`; of many, the first and how many more."""
    shown = ", ".join(plain(name) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def diff_lines(text: str) -> Iterator[str]:
    """A unified diff, line by line. A carriage return is escaped: it may be the only difference."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in split_lines(text):
        yield style(plain(line.removesuffix("\n")), fg=colours.get(line[:1]))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _as_number(found: re.Match[str]) -> str:
    number = ord(found[0])
    if 0xDC80 <= number <= 0xDCFF:
        number -= 0xDC00
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def _as_json(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
