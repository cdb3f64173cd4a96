"""Telling a person at a terminal that something takes a while."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from memory_v2.cli.show import on_terminal

DELAY_SECONDS = 0.4
"""Nothing is said about what takes less time than this: a flicker tells nobody anything."""


@contextmanager
def working(what: str) -> Iterator[None]:
    """Says on a terminal what is going on, if it takes a while; erases it at the end."""
    if not on_terminal(sys.stderr):
        yield
        return
    said: list[str] = []

    from threading import Timer

    def say() -> None:
        said.append(what)
        click.echo(f"{what} …", nl=False, err=True)

    timer = Timer(DELAY_SECONDS, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if said:
            click.echo("\r\033[K", nl=False, err=True)
