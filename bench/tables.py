"""How benches take times, and print their figures: a table on the terminal, or one JSON document."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Mapping
from statistics import fmean
from typing import TypeAlias

Figures: TypeAlias = Mapping[str, float | int | None]
"""A row; `None` is not measured. Shares are floats; counts are integers."""
Rows: TypeAlias = Mapping[str, Figures]


def report(tables: Mapping[str, Rows], is_json: bool) -> None:
    """Prints tables by name, each of rows of the same columns, or of some of them."""
    if is_json:
        print(json.dumps(tables))
        return
    print("\n\n".join(f"{name}\n{table(rows)}" for name, rows in tables.items()))


def table(rows: Rows) -> str:
    """The rows below a line with the names of their columns."""
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    cells = [["", *columns], *([name, *(number(row.get(column)) for column in columns)] for name, row in rows.items())]
    first, *others = (max(map(len, column)) + 2 for column in zip(*cells, strict=True))
    return "\n".join(
        f"{name:{first}}" + "".join(f"{cell:>{width}}" for cell, width in zip(line, others, strict=True))
        for name, *line in cells
    )


def means(rows: Iterable[Figures]) -> Figures:
    """The means of figures of the same names; of counts, too."""
    rows = list(rows)
    return {name: fmean(row[name] or 0 for row in rows) for name in rows[0]} if rows else {}


def number(value: float | int | None) -> str:
    """A figure in a short form: `0.745`, `12.3`, `1,024`."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) > 1:
        return f"{value:,.1f}"
    return f"{value:.3f}"


def seconds(act: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """How long it takes, by a clock."""
    began = clock()
    act()
    return clock() - began


def parser(says: str, dense: bool = False) -> argparse.ArgumentParser:
    """The arguments that benches share; `says` is what the bench says of itself in its first line."""
    arguments = argparse.ArgumentParser(description=says)
    arguments.add_argument("--json", action="store_true", help="print the figures as JSON")
    if dense:
        arguments.add_argument("--dense", action="store_true", help="by meaning too, with the extra of that name")
    return arguments
