"""Telling a person at a terminal that something takes a while, and how far it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from memory_v2.cli.show import on_terminal
from memory_v2.progress import heard_by

DELAY_SECONDS = 0.4
"""Nothing is said about what takes less time than this: a flicker tells nobody anything."""
STEP_SECONDS = 0.2
"""How often the count is drawn anew."""


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

    def hear(counted: str, done: int, total: int) -> None:
        is_over = done == total  # and something else begins, which may take its time
        count[0] = "" if is_over else f"{done:,} of {total:,} {counted}" if total else f"{done:,} {counted}"

    drawing = Thread(target=draw, name="progress", daemon=True)
    drawing.start()
    try:
        with heard_by(hear):
            yield
    finally:
        ended.set()
        drawing.join()
