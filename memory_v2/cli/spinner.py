"""Telling a person at a terminal that something takes a while, and how far it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from memory_v2.cli.show import on_terminal
from memory_v2.progress import heard_by

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
