"""Traces: what a model was shown, what it decided, and what was refused, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from typing import Any

from memory_v2.errors import InvalidText, SilicaError
from memory_v2.trace.recording import Trace
from memory_v2.trace.story import Line, story, summary
from memory_v2.view.visit import Visit
from memory_v2.view.web import Response

MOST_TRACES = 25
"""Traces that are listed at once: each is a file that has to be read."""
MALFORMED = (LookupError, TypeError, ValueError, AttributeError)
"""What a file raises that is no whole trace: a person may have made or cut it."""


def traces(visit: Visit) -> Response:
    """The operations that left a trace, newest first."""
    visit.require_entries()
    shown, place = visit.part(visit.memory.traces()[::-1], MOST_TRACES)
    return visit.show("traces", traces=[_summary(visit, name) for name in shown], **place)


def trace(visit: Visit, name: str) -> Response:
    """An operation step by step; `full` shortens nothing."""
    visit.require_entries()
    full = bool(visit.asked("full"))
    kept = visit.memory.trace(name)
    try:
        about, steps = summary(kept), list(_steps(kept, full))
    except MALFORMED as error:
        raise InvalidText(f"{name} is no whole trace ({type(error).__name__}: {error})") from error
    return visit.show(
        "trace", name=kept.name, about=about, steps=steps, full=full, started=datetime.fromisoformat(about["started"])
    )


def _steps(kept: Trace, full: bool) -> Iterator[list[Line]]:
    """The lines of a trace, those that belong together in a list."""
    for is_blank, lines in groupby(story(kept.events, full), lambda line: not line):
        if not is_blank:
            yield list(lines)


def _summary(visit: Visit, name: str) -> dict[str, Any]:
    try:
        return summary(visit.memory.trace(name))
    except (SilicaError, *MALFORMED) as error:
        return {"name": name, "broken": str(error)}
