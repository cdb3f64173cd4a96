"""Printing the story of a trace: coloured on a terminal, cut to its width, control characters escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memory_v2.cli.show import cut, plain, screen_width, style, width

if TYPE_CHECKING:
    from memory_v2.trace.recording import Event
    from memory_v2.trace.story import Line

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
    from memory_v2.trace.story import story as tell

    columns = screen_width() or WIDEST_LINE
    for line in tell(events, full, width):
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
