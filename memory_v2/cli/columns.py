"""A table: aligned and as wide as the terminal, or rows with tabs for other programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_v2.cli.show import cut, on_terminal, pad, screen_width, style, width

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


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows under their heads on a terminal, without columns that are empty; in a pipe all cells, with tabs."""
    if not on_terminal(sys.stdout):
        yield from ("\t".join(row) for row in rows)
        return
    widths = [max(width(row[i]) for row in [[c.head for c in columns], *rows]) for i in range(len(columns))]
    shown = _fitted(columns, rows, widths)
    heads = [pad(columns[i].head, widths[i], right=columns[i].is_number) for i in shown]
    yield style("  ".join(heads).rstrip(), dim=True)
    for row in rows:
        cells = [pad(cut(row[i], widths[i]), widths[i], right=columns[i].is_number) for i in shown]
        yield "  ".join([style(cells[0], fg="cyan"), *cells[1:]]).rstrip()


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
