"""The verbs that look back at what was done: trace, replay."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from memory_v2.cli.edge import FINDINGS
from memory_v2.cli.show import (
    counted,
    cut,
    dollars,
    on_terminal,
    out,
    out_json,
    plain,
    screen_width,
    style,
    table,
    tell,
    width,
    working,
)
from memory_v2.cli.verb import Verb, json_option, with_memory, word
from memory_v2.errors import InvalidText, SilicaError
from memory_v2.memory import Memory

COLUMNS = ("trace", "when (UTC)", "did", "about", "decided by", "calls", "in", "out", "money", "outcome")
ABOUT = COLUMNS.index("about")
NUMBERS = tuple(COLUMNS.index(name) for name in ("calls", "in", "out", "money"))
MIN_ABOUT = 24
"""Columns that a terminal has for what an operation was about; if it has fewer, others are left out, in this order:"""
LEFT_OUT_FIRST = ("calls", "in", "out", "decided by", "money")


@click.command(cls=Verb)
@click.argument("name", required=False, type=word)
@click.option(
    "-n", "most", metavar="COUNT", type=click.IntRange(1), default=20, show_default=True, help="The most traces listed."
)
@click.option("--full", is_flag=True, help="Cut nothing short; show the system's words, the tools and diffs too.")
@json_option
@with_memory
def trace(memory: Memory, name: str | None, most: int, full: bool, as_json: bool) -> None:
    """Show what was decided, why, and what it cost.

    Whatever writes, splits, searches or arranges leaves a trace. Without NAME they are listed, the newest last. With
    NAME, a part of it, or 'last', one is told step by step: what a model was shown, what it decided, what it was told
    back, which pages were stored.

    \b
    Examples:
      silica memory trace
      silica memory trace last
      silica memory trace 3fa09c --full
    """
    if name is None:
        if full:
            raise click.UsageError("--full goes with the NAME of a trace", click.get_current_context())
        _list(memory, most, as_json)
        return
    from memory_v2.cli.documents import trace_document
    from memory_v2.cli.story import story

    with _whole(name):
        found = memory.trace(name)
        lines = [] if as_json else list(story(found.events, full))
    if as_json:
        out_json(trace_document(found))
        return
    out(style(f"trace {plain(found.name)}", dim=True))
    for line in lines:
        out(line)
    if not full and on_terminal(sys.stdout):
        tell("--full cuts nothing short, and shows the system's words, the tools and diffs too")


@click.command(cls=Verb)
@click.argument("name", metavar="[NAME|FILE]", required=False, type=word)
@json_option
@click.pass_context
@with_memory
def replay(memory: Memory, context: click.Context, name: str | None, as_json: bool) -> None:
    """Do an operation again, and see whether the bytes agree.

    It is done on the tree as it was before, with the answers that the models gave then, and away from the memory:
    nothing is changed, nobody is asked, nothing is paid. NAME is that of a trace, a part of it, or 'last', which goes
    without saying; FILE is one that holds a trace. The exit code is 0 if all agrees, and 1 if anything differs.

    \b
    Examples:
      silica memory replay
      silica memory replay 3fa09c
      silica memory replay some/trace.jsonl
    """
    from memory_v2.agent.traces import LAST
    from memory_v2.models.recorded import SUFFIX

    name = LAST if name is None else name
    is_file = name != LAST and os.path.isfile(name)  # noqa: PTH113 - `Path` raises for a name that is too long
    if name.endswith(SUFFIX) and not is_file:
        raise click.UsageError(f"there is no file {name}", context)
    with working("replaying"):
        done = memory.replay(Path(name) if is_file else name)
    if as_json:
        from memory_v2.cli.documents import replay_document

        out_json(replay_document(done))
    elif done.agrees:
        count = counted(len(done.pages), "page")
        compared = "the same places are found" if done.operation == "search" else f"{count}, byte for byte"
        out(f"{plain(done.trace)} {style('agrees', fg='green')}: {compared if done.pages else 'nothing changes'}")
    else:
        for difference in done.differences:
            out(f"{plain(done.trace)} {style('differs', fg='red')}: {plain(difference)}")
    if not done.agrees:
        context.exit(FINDINGS)


def _list(memory: Memory, most: int, as_json: bool) -> None:
    names = memory.traces()
    summaries = [_summary(memory, name) for name in names[-most:]]
    if as_json:
        out_json({"traces": summaries})
    elif names:
        seen = on_terminal(sys.stdout)
        rows = [_row(one, _short(one["name"], names) if seen else one["name"], seen) for one in summaries]
        for line in _table(rows):
            out(line)
    if not names:
        tell(
            f"there is no trace in {memory.storage.where} yet: every write, split and search leaves one, "
            "unless SILICA_MEMORY_TRACES, how many are kept, is 0"
        )
    elif len(names) > most and on_terminal(sys.stdout):
        tell(f"{len(names) - most:,} older not shown; -n {len(names)} lists all")


def _summary(memory: Memory, name: str) -> dict[str, Any]:
    """What came of an operation; of a file that is no trace, why it is none."""
    from memory_v2.cli.documents import summary_document

    try:
        with _whole(name):
            return summary_document(memory.trace(name))
    except SilicaError as error:
        return {"name": name, "broken": str(error)}


@contextmanager
def _whole(name: str) -> Iterator[None]:
    """Tells what stands in a trace. A file that somebody made by hand may hold anything: then it is `InvalidText`."""
    try:
        yield
    except SilicaError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InvalidText(f"{name} is no whole trace ({type(error).__name__}: {error})") from error


def _short(name: str, names: list[str]) -> str:
    """The end of the name, if that is enough to name it."""
    end = name.rpartition("-")[2]
    return end if sum(end in other for other in names) == 1 else name


def _row(summary: dict[str, Any], name: str, seen: bool) -> list[str]:
    """A trace in the list: as a person reads it where it is `seen`, else as a program does."""
    if "broken" in summary:
        cells = [name, "", "", summary["broken"], *[""] * 5, "broken"]
    else:
        started = datetime.fromisoformat(summary["started"]).astimezone(UTC)
        cost = summary["cost"] or {}
        counts = [cost.get(key, 0) for key in ("calls", "input_tokens", "output_tokens")]
        money = cost.get("money", 0)
        cells = [
            name,
            f"{started:%Y-%m-%d %H:%M}" if seen else f"{started:%Y-%m-%dT%H:%M:%SZ}",
            summary["operation"],
            summary["about"],
            ", ".join(summary["decided_by"]),
            *((f"{count:,}" if count else "") if seen else str(count) for count in counts),
            "?" if money is None else (dollars(money) if money else "") if seen else f"{money:.6f}",
            _outcome(summary),
        ]
    return [plain(cell).replace("\t", " ") for cell in cells]


def _outcome(summary: dict[str, Any]) -> str:
    if summary["error"]:
        return str(summary["error"]["kind"])
    changed = counted(len(summary["changed_pages"]), "page") if summary["changed_pages"] else "no change"
    outcome = changed if summary["found"] is None else f"{summary['found']} found"
    return f"{outcome}, degraded" if summary["degraded"] else outcome


def _table(rows: list[list[str]]) -> Iterator[str]:
    """In a pipe all columns; on a terminal those that hold something, as far as there is room."""
    shown = list(range(len(COLUMNS)))
    if columns := screen_width():
        widths = [max(width(row[i]) for row in [COLUMNS, *rows]) + 2 for i in shown]
        shown = [i for i in shown if any(row[i] for row in rows)]

        def room() -> int:
            return columns - sum(widths[i] for i in shown if i != ABOUT)

        for i in map(COLUMNS.index, LEFT_OUT_FIRST):
            if room() < MIN_ABOUT and i in shown:
                shown.remove(i)
        for row in rows:
            row[ABOUT] = cut(row[ABOUT], max(room(), len("about")))
    right = [place for place, i in enumerate(shown) if i in NUMBERS]
    return table([COLUMNS[i] for i in shown], [[row[i] for i in shown] for row in rows], right)
