"""The verbs about traces: trace, replay."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from memory_v2.cli.edge import FINDINGS
from memory_v2.cli.output import (
    Column,
    Document,
    Hint,
    Notice,
    Output,
    cut,
    moment,
    older,
    on_terminal,
    plain,
    screen_width,
    style,
    table,
    width,
    working,
)
from memory_v2.cli.show import renders, show
from memory_v2.cli.verb import Option, ended, misuse, verb
from memory_v2.errors import InvalidText, SilicaError
from memory_v2.memory import Memory
from memory_v2.text.amounts import counted, dollars
from memory_v2.trace.recording import LAST, SUFFIX, Event
from memory_v2.trace.story import Line, summary
from memory_v2.trace.story import story as story_lines

if TYPE_CHECKING:
    from memory_v2.operations.replay import Replay

TRACES = (
    Column("trace"),
    Column("when (UTC)"),
    Column("did"),
    Column("about", is_long=True),
    Column("decided by", drop=4),
    Column("calls", drop=1, is_number=True),
    Column("in", drop=2, is_number=True),
    Column("out", drop=3, is_number=True),
    Column("money", drop=5, is_number=True),
    Column("outcome"),
)


@verb(None, "name")
def trace(
    memory: Memory,
    name: str | None,
    most: Annotated[int, Option("The maximum number of traces listed.", "-n --limit", least=1)] = 20,
    full: Annotated[bool, "Shorten nothing; show the system prompt, the tools and diffs too."] = False,
) -> Iterator[Output]:
    """Show what was decided, why, and what it cost.

    Every operation that changes or searches the memory leaves a trace. Without NAME, lists them, newest last. With
    NAME, a part of it, or 'last', shows one step by step: what a model was shown, what it decided, what it was
    answered, and which pages were stored.

    \b
    Examples:
      silica memory trace
      silica memory trace last
      silica memory trace 3fa09c --full
    """
    if name is None:
        if full:
            raise misuse("--full needs the NAME of a trace")
        yield from _list(memory, most)
        return
    with _whole(name):
        found = memory.trace(name)
        lines = list(story(found.events, full))
    yield Document(trace=found.name, events=found.events)
    yield style(f"trace {plain(found.name)}", dim=True)
    yield from lines
    if not full and on_terminal(sys.stdout):
        yield Hint("--full shortens nothing, and shows the system prompt, the tools and diffs too")


@verb()
def replay(
    memory: Memory, name: Annotated[str, Option(metavar="NAME|FILE", is_positional=True)] = LAST
) -> Iterator[Output]:
    """Run an operation again and compare the result, byte for byte.

    Runs on a copy of the tree as it was before, with the recorded answers: the memory is not changed, no model is
    asked, and nothing is paid. NAME is the name of a trace, a part of it, or 'last' (the default); FILE is a file that
    holds a trace. Exits with 0 if the results agree, and with 1 if they differ.

    \b
    Examples:
      silica memory replay
      silica memory replay 3fa09c
      silica memory replay some/trace.jsonl
    """
    is_file = name != LAST and os.path.isfile(name)  # noqa: PTH113 - `Path` raises for a name that is too long
    if name.endswith(SUFFIX) and not is_file:
        raise misuse(f"there is no file {name}")
    with working("replaying"):
        done = memory.replay(Path(name) if is_file else name)
    yield from show(done)
    if not done.agrees:
        raise ended(FINDINGS)


@renders("Replay")
def _replay(done: Replay) -> Iterator[Output]:
    if done.agrees:
        count = counted(len(done.pages), "page")
        compared = "the same places are found" if done.operation == "search" else f"{count}, byte for byte"
        yield f"{plain(done.trace)} {style('agrees', fg='green')}: {compared if done.pages else 'nothing changes'}"
    for difference in done.differences:
        yield f"{plain(done.trace)} {style('differs', fg='red')}: {plain(difference)}"


def _list(memory: Memory, most: int) -> Iterator[Output]:
    names = memory.traces()
    summaries = [_summary(memory, name) for name in names[-most:]]
    yield Document(traces=summaries)
    yield from table(TRACES, (_row(one, names) for one in summaries))
    yield from older(len(names), most)
    if not names:
        yield Notice(
            f"{memory.storage.where} has no traces yet; every write, split and search leaves one "
            "unless SILICA_MEMORY_TRACES is 0"
        )


def _summary(memory: Memory, name: str) -> dict[str, Any]:
    """What came of an operation; of a file that is no trace, why it is none."""
    try:
        with _whole(name):
            return summary(memory.trace(name))
    except SilicaError as error:
        return {"name": name, "broken": str(error)}


@contextmanager
def _whole(name: str) -> Iterator[None]:
    """Tells what is in a trace. A file that somebody made by hand may hold anything: then it is `InvalidText`."""
    try:
        yield
    except SilicaError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InvalidText(f"{name} is no whole trace ({type(error).__name__}: {error})") from error


def _short(name: str, names: list[str]) -> str:
    """The end of the name, if no other trace has it."""
    end = name.rpartition("-")[2]
    return end if sum(end in other for other in names) == 1 else name


def _row(summary: dict[str, Any], names: list[str]) -> list[str]:
    """A trace as a row: for a person if it is seen on a terminal, else for a program."""
    seen = on_terminal(sys.stdout)
    name = _short(summary["name"], names) if seen else summary["name"]
    if "broken" in summary:
        return [name, "", "", summary["broken"], *[""] * 5, "broken"]
    cost = summary["cost"] or {}
    counts = [cost.get(key, 0) for key in ("calls", "input_tokens", "output_tokens")]
    money = cost.get("money", 0)
    return [
        name,
        moment(datetime.fromisoformat(summary["started"]).astimezone(UTC)),
        summary["operation"],
        summary["about"],
        ", ".join(summary["decided_by"]),
        *((f"{count:,}" if count else "") if seen else str(count) for count in counts),
        "?" if money is None else (dollars(money) if money else "") if seen else f"{money:.6f}",
        _outcome(summary),
    ]


def _outcome(summary: dict[str, Any]) -> str:
    if summary["error"]:
        return str(summary["error"]["kind"])
    changed = counted(len(summary["changed_pages"]), "page") if summary["changed_pages"] else "no change"
    outcome = changed if summary["found"] is None else f"{summary['found']} found"
    return f"{outcome}, degraded" if summary["degraded"] else outcome


WIDEST_LINE = 160
"""Columns of a quoted line in a pipe; on a terminal, its width is the limit."""
MAX_VALUE = 240
"""Columns of one argument, or of a text of one line: about three lines of a terminal."""
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "dim": {"dim": True},
    "name": {"fg": "cyan"},
    "tool": {"bold": True},
    "good": {"fg": "green"},
    "bad": {"fg": "red"},
    "warning": {"fg": "yellow"},
    "+": {"fg": "green"},
    "-": {"fg": "red"},
    "@": {"fg": "cyan"},
}


def story(events: Iterable[Event], full: bool = False) -> Iterator[str]:
    """What happened, line by line, safe to print on a terminal. `full` leaves nothing out."""
    columns = screen_width() or WIDEST_LINE
    for line in story_lines(events, full, width):
        yield _printed(line, None if full else columns)


def _printed(line: Line, columns: int | None) -> str:
    """The line, its long parts cut to fit into this many columns; without `columns` nothing is cut."""
    printed, used = "", 0
    for text, look in line:
        text = plain(text)
        if columns is not None and look == "quote":
            text = cut(text.expandtabs(4), columns - used)
        elif columns is not None and look == "value":
            text = cut(text, MAX_VALUE)
        used += width(text)
        printed += style(text, **LOOKS.get(look, {}))
    return printed
