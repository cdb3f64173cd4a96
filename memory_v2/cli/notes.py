"""What the verbs of `silica notes` share: the folder, its options, and what is told of reading it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import click

from memory_v2.cli.output import named, plain, tell
from memory_v2.cli.verb import json_option
from memory_v2.notes.folder import Refreshed
from memory_v2.notes.notes import Notes
from memory_v2.text.amounts import counted
from memory_v2.validate import checked_day

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])
MOST_TOLD = 5
"""How many of the files that are left out are told by name; --json has all."""


def file_option(name: str, about: str, *, metavar: str = "FILE", variable: str = "") -> Callable[[F], F]:
    """An option that takes a file; a folder if it is called so."""
    kind = click.Path(path_type=Path, dir_okay=metavar != "FILE", file_okay=metavar == "FILE")
    return click.option(name, *filter(None, [variable]), type=kind, metavar=metavar, help=about)


def count_option(
    *names: str, about: str, least: int = 1, default: int | None = None, metavar: str = "COUNT"
) -> Callable[[F], F]:
    """An option that takes a number."""
    kind, shown = click.IntRange(min=least), default is not None
    return click.option(*names, type=kind, default=default, show_default=shown, metavar=metavar, help=about)


def day_option(name: str, about: str) -> Callable[[F], F]:
    """An option that takes a day."""

    def day(_: click.Context, option: click.Parameter, text: str | None) -> date | None:
        return checked_day(option.opts[0], text)

    return click.option(name, callback=day, metavar="DAY", help=about)


people_option = file_option("--people", "Who is who: on each line 'Name = another name, @handle'.")


def with_notes(verb: Callable[Concatenate[Notes, P], None]) -> Callable[P, None]:
    """Opens the folder of notes for a verb, which gets its options after it."""

    @json_option
    @click.argument("folder", default=".", type=click.Path(path_type=Path), metavar="[FOLDER]")
    @file_option(
        "--cache",
        "Where what is read is kept. Default: a folder for these notes in your cache folder.",
        metavar="FOLDER",
    )
    @wraps(verb)
    def run(folder: Path, cache: Path | None, *args: P.args, **options: P.kwargs) -> None:
        with Notes.open(folder, cache) as notes:
            if notes.trouble:
                tell(notes.trouble)
            verb(notes, *args, **options)

    return run  # type: ignore[return-value]  # click gives it the folder


def tell_left_out(found: Refreshed) -> None:
    """Tells which files are not read, and why."""
    for left in found.left_out[:MOST_TOLD]:
        tell(f"{left.name} is left out: {left.reason}")
    if len(found.left_out) > MOST_TOLD:
        tell(f"{counted(len(found.left_out) - MOST_TOLD, 'other file')} left out too; --json has all")


def touched(found: Refreshed) -> list[str]:
    """What has changed in the folder, in lines."""
    groups = (("new", found.new), ("changed", found.changed), ("removed", found.removed), ("behind", found.behind))
    return [f"{len(names):,} {what}: {plain(named(names))}" for what, names in groups if names]
