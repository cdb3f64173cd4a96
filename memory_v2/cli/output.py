"""What verbs print: lines that are safe on any terminal, tables, notices, progress, and one JSON document with --json.

A verb yields its output: a `str` is a line, `bytes` are printed as they are, a `Document` is what --json prints instead
of both, and a `Notice` goes to standard error either way.
"""

from __future__ import annotations

import os
import re
import sys
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TextIO, TypeAlias

import click

from memory_v2.errors import StorageError
from memory_v2.progress import heard_by
from memory_v2.serialize import document
from memory_v2.tree.block import split_lines


class Notice(str):
    """A sentence for standard error."""


class Hint(Notice):
    """A sentence for standard error that whoever reads the document does not need."""


class Document:
    """What --json prints: the document of a result, and `more` beside it."""

    def __init__(self, result: Any = None, **more: Any) -> None:
        self.result, self.more = result, more


Output: TypeAlias = str | bytes | Notice | Document


def print_output(output: Iterable[Output], as_json: bool) -> None:
    """Prints what a verb yields, as it comes."""
    for one in output:
        if isinstance(one, Notice):
            if not (as_json and isinstance(one, Hint)):
                tell(one)
        elif isinstance(one, Document):
            if as_json:
                out_json(({} if one.result is None else document(one.result)) | document(one.more))
        elif not as_json:
            out(one, newline=isinstance(one, str))


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
    out(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


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


def set_off(line: str, query: str) -> str:
    """The line with the words of the query in bold, where output is coloured."""
    if not query or not has_colours():
        return line
    from memory_v2.index.terms import places_of_words  # loads SQLite, which other verbs do without

    parts, end = [], 0
    for start, stop in places_of_words(line, query):
        parts += [line[end:start], style(line[start:stop], bold=True)]
        end = stop
    return "".join([*parts, line[end:]])


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


def did_you_mean(names: Iterable[str]) -> str:
    """The question after a name that may be misspelled."""
    return f"did you mean {' or '.join(map(repr, names))}?"


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


def is_asked(yes: bool) -> bool:
    """Whether there is somebody to ask for confirmation, who has not given it with --yes."""
    return not yes and on_terminal(sys.stdin) and on_terminal(sys.stderr)


def confirmed(question: str, yes: bool, otherwise: str) -> bool:
    """Whether to go on: yes if nobody is asked, or they agree. If they do not, says that nothing was done."""
    if not is_asked(yes) or click.confirm(question, err=True):
        return True
    tell(otherwise)
    return False


MIN_ROOM = 24
"""Columns of the terminal that a long text keeps before other columns are left out for it; fewer say nothing."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. Where the terminal is too narrow, those with a `drop` are left out, the lowest first; then
    the one that `is_long` is cut."""

    head: str
    drop: int = 0
    is_long: bool = False
    is_number: bool = False


def table(columns: Sequence[Column], lines: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines under the heads on a terminal, without columns that are empty; in a pipe all cells, with tabs, which
    only the last cell of a line may have by itself."""
    rows = [[*(plain(cell).replace("\t", " ") for cell in line[:-1]), plain(line[-1])] for line in lines]
    if not rows or not on_terminal(sys.stdout):
        yield from ("\t".join(row) for row in rows)
        return
    rows = [[cell.expandtabs(4) for cell in row] for row in rows]
    widths = [max(width(row[i]) for row in [[c.head for c in columns], *rows]) for i in range(len(columns))]
    shown = _fitted(columns, rows, widths)
    heads = [pad(columns[i].head, widths[i], right=columns[i].is_number) for i in shown]
    yield style("  ".join(heads).rstrip(), dim=True)
    for row in rows:
        cells = [pad(cut(row[i], widths[i]), widths[i], right=columns[i].is_number) for i in shown]
        yield "  ".join([style(cells[0], fg="cyan"), *cells[1:]]).rstrip()


def moment(when: datetime) -> str:
    """A time in UTC, to the minute on a terminal."""
    return f"{when:%Y-%m-%d %H:%M}" if on_terminal(sys.stdout) else f"{when:%Y-%m-%dT%H:%M:%SZ}"


def older(count: int, most: int) -> Iterator[Notice]:
    """How many more than are listed there are, for a person."""
    if count > most and on_terminal(sys.stdout):
        yield Notice(f"{count - most:,} older not shown; -n {count} lists all")


def _fitted(columns: Sequence[Column], rows: Sequence[Sequence[str]], widths: list[int]) -> list[int]:
    """The columns that are shown; the width of the long one becomes what the others leave it."""
    shown = [i for i, column in enumerate(columns) if column.is_long or any(row[i] for row in rows)]
    long = next((i for i, column in enumerate(columns) if column.is_long), None)
    screen = screen_width()
    if long is None or screen is None:
        return shown

    def room() -> int:
        return screen - sum(widths[i] + 2 for i in shown if i != long)

    for i in sorted((i for i in shown if columns[i].drop), key=lambda i: columns[i].drop):
        if room() < MIN_ROOM:
            shown.remove(i)
    widths[long] = min(widths[long], max(room(), len(columns[long].head)))
    return shown


DELAY_SECONDS = 0.4
"""Nothing is said about what takes less time than this: a flicker tells nobody anything."""
STEP_SECONDS = 0.2
"""How often the count is drawn anew."""
LEAST_SECONDS = 5.0
"""Nothing is said about the time left before the work has taken so long, or if less is left: it would not be true."""


@contextmanager
def working(what: str) -> Iterator[None]:
    """Says on a terminal what is going on, with a count, if it takes a while; erases it at the end."""
    if not on_terminal(sys.stderr):
        yield
        return

    from threading import Event, Thread

    ended, count = Event(), [""]

    def draw() -> None:
        said, wait = "", DELAY_SECONDS
        while not ended.wait(wait):
            line, wait = f"{what} … {count[0]}".rstrip(), STEP_SECONDS
            if line != said:
                click.echo(f"\r\033[K{line}" if said else line, nl=False, err=True)
                said = line
        if said:
            click.echo("\r\033[K", nl=False, err=True)

    began: dict[str, tuple[float, int]] = {}

    def hear(counted: str, done: int, total: int) -> None:
        is_over = done == total  # and something else begins, which may take its time
        if is_over:
            began.clear()
        since, first = began.setdefault(counted, (time.monotonic(), done))
        left = time_left(time.monotonic() - since, done - first, total - done)
        count[0] = "" if is_over else f"{done:,} of {total:,} {counted}{left}" if total else f"{done:,} {counted}"

    drawing = Thread(target=draw, name="progress", daemon=True)
    drawing.start()
    try:
        with heard_by(hear):
            yield
    finally:
        ended.set()
        drawing.join()


def time_left(elapsed: float, done: int, left: int) -> str:
    """How long the rest will take at this speed, in words; empty if that is not known, or soon."""
    seconds = elapsed / done * left if done > 0 else 0.0
    if elapsed < LEAST_SECONDS or seconds < LEAST_SECONDS:
        return ""
    return f" · {seconds:.0f} s left" if seconds < 100 else f" · {seconds / 60:.0f} min left"
