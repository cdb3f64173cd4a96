"""How things look: colours and columns on a terminal, plain in a pipe, and no control character of somebody's text."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO

import click

from memory_v2.errors import StorageError

PATIENCE_SECONDS = 0.4
"""How long something may take before a terminal is told that it goes on."""
MIN_ROOM = 24
"""Columns of a terminal that a long text has in a table, before other columns make room for it."""

# Controls but the tab, line separators, what turns the direction of writing round, and halves of pairs.
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
    """Lets what is still in a buffer go nowhere, or the interpreter complains about it at its end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def out_json(document: Any) -> None:
    """Prints one JSON document. What could upset a terminal is written as its number, which means the same."""
    import json

    try:
        text = json.dumps(document, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    except ValueError:  # a model's number that is none
        finite = json.loads(json.dumps(document), parse_constant=lambda name: None)
        text = json.dumps(finite, ensure_ascii=False, separators=(", ", ": "))
    out(_UNSAFE.sub(_as_json, text))


def tell(sentence: str) -> None:
    """Says something to the person at the terminal, on standard error."""
    click.echo(f"silica: {plain(sentence)}", err=True)


def on_terminal(stream: TextIO | None) -> bool:
    """Whether somebody looks at it."""
    return stream is not None and stream.isatty()


def plain(text: str) -> str:
    """One line that does nothing to a terminal: controls, and bytes that are not UTF-8, are written as numbers."""
    return _UNSAFE.sub(_as_number, text)


def plain_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "".join(part if _LINE_END.fullmatch(part) else plain(part) for part in _LINE_END.split(text))


def style(text: str, **look: Any) -> str:
    """Coloured on a terminal, unless NO_COLOR is set."""
    coloured = on_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return click.style(text, **look) if coloured and text else text


def screen_width() -> int | None:
    """The columns of the terminal; none in a pipe, where a line is as long as it is."""
    import shutil

    return shutil.get_terminal_size().columns if on_terminal(sys.stdout) else None


def width(text: str) -> int:
    """The columns that a text takes: two for a wide character, none for one that combines."""
    return sum(_columns(c) for c in text)


def pad(text: str, columns: int, right: bool = False) -> str:
    """The text with blanks up to so many columns."""
    blanks = " " * (columns - width(text))
    return blanks + text if right else text + blanks


def cut(text: str, columns: int) -> str:
    """As much of the text as so many columns hold, with `…` if that is not all."""
    if width(text) <= columns:
        return text
    kept, used = [], 1
    for character in text:
        used += _columns(character)
        if used > columns:
            break
        kept.append(character)
    return "".join(kept) + "…" if columns > 0 else ""


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> Iterator[str]:
    """Aligned columns under a head on a terminal; in a pipe only the rows, with tabs, for other programs to cut."""
    if not on_terminal(sys.stdout):
        yield from ("\t".join(row) for row in rows)
        return
    columns = [max(width(row[i]) for row in [head, *rows]) for i in range(len(head))]
    yield style("  ".join(_cells(head, columns, right)).rstrip(), dim=True)
    for row in rows:
        first, *rest = _cells(row, columns, right)
        yield "  ".join([style(first, fg="cyan"), *rest]).rstrip()


def fitted(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    long: str,
    left_out_first: Sequence[str],
    right: Collection[str] = (),
) -> Iterator[str]:
    """A table as wide as the terminal: columns that hold nothing are left out, then those of `left_out_first` until
    there is room, and the column `long` is cut. In a pipe all is there."""
    shown = list(range(len(head)))
    if columns := screen_width():
        cut_one = head.index(long)
        widths = [max(width(row[i]) for row in [head, *rows]) + 2 for i in shown]
        shown = [i for i in shown if i == cut_one or any(row[i] for row in rows)]

        def room() -> int:
            return columns - sum(widths[i] for i in shown if i != cut_one)

        for name in left_out_first:
            if room() < MIN_ROOM and (i := head.index(name)) in shown:
                shown.remove(i)
        most = max(room(), len(long))
        rows = [[cut(cell, most) if i == cut_one else cell for i, cell in enumerate(row)] for row in rows]
    places = [place for place, i in enumerate(shown) if head[i] in right]
    return table([head[i] for i in shown], [[row[i] for i in shown] for row in rows], places)


def size(count: int) -> str:
    """`3,412 bytes`."""
    return counted(count, "byte")


def counted(count: int, noun: str) -> str:
    """`1 call`, `3,412 calls`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def dollars(money: float | None) -> str:
    """`$0.0123`, or that nobody knows."""
    if money is None:
        return "price not known"
    return "<$0.0001" if 0 < money < 0.0001 else f"${money:.4f}"


def spent(tokens_in: int, tokens_out: int, cached: int, money: float | None) -> str:
    """`3,120 tokens in (2,048 cached), 88 out, $0.0123`; empty if nothing was paid."""
    tokens = f"{counted(tokens_in, 'token')} in"
    kept = f" ({cached:,} cached)" if cached else ""
    parts = [
        f"{tokens}{kept}, {tokens_out:,} out" if tokens_in or tokens_out else "",
        dollars(money) if money != 0 else "",
    ]
    return ", ".join(filter(None, parts))


def named(names: Sequence[str], most: int = 6) -> str:
    """`a, b, c`; of many, the first and how many more."""
    shown = ", ".join(plain(name) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


@contextmanager
def working(what: str) -> Iterator[None]:
    """Says on a terminal what goes on, if it takes long, and takes it back at the end."""
    if not on_terminal(sys.stderr):
        yield
        return
    said: list[str] = []

    from threading import Timer

    def say() -> None:
        said.append(what)
        click.echo(f"{what} …", nl=False, err=True)

    timer = Timer(PATIENCE_SECONDS, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if said:
            click.echo("\r\033[K", nl=False, err=True)


def _cells(row: Sequence[str], columns: Sequence[int], right: Collection[int]) -> list[str]:
    return [pad(cell, columns[i], right=i in right) for i, cell in enumerate(row)]


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
