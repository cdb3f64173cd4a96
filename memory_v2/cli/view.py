"""The verb that shows the memory in a browser."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import click

from memory_v2.cli.chosen_memory import ChosenMemory
from memory_v2.cli.output import Output, out, out_json, tell
from memory_v2.cli.verb import Option, verb
from memory_v2.notes.notes import Notes
from memory_v2.view.server import DEFAULT_PORT, serve
from memory_v2.view.visit import Subject


@verb()
def view(
    chosen: ChosenMemory,
    port: Annotated[int, Option("The port; 0: any free one.", type=click.IntRange(0, 65_535))] = DEFAULT_PORT,
    no_open: Annotated[bool, "Only print the link; open no browser."] = False,
    notes: Annotated[
        tuple[Path, ...], Option("Show this folder of notes too. May be repeated.", "--notes", "FOLDER")
    ] = (),
    as_json: bool = False,
) -> Iterator[Output]:
    """Show the memory in your browser: pages, graph, search, history, entries, traces.

    Serves this machine only, until Ctrl-C. The link works once; then a cookie holds the session. Changes that agents
    make appear by themselves. 'silica view' is the same for your default memory.

    \b
    Examples:
      silica memory view
      silica memory --path ./notes view --port 8000 --no-open
      silica memory view --notes ~/agent/memory
    """

    def report(address: str, link: str) -> None:
        if as_json:
            out_json({"address": address, "link": link})
        else:
            out(f"{link}\n")
            tell("this link works once: start the command again for another; Ctrl-C ends the page")
        if not (no_open or as_json) and _has_browser():
            webbrowser.open(link)

    with ExitStack() as opened:
        memory = opened.enter_context(chosen.opened())
        folders = [opened.enter_context(Notes.open(folder)) for folder in notes]
        for folder in folders:
            folder.refresh()
        serve(Subject(memory, folders), port, report)
    yield from ()


def _has_browser() -> bool:
    """Whether a browser with a window of its own can be opened: one in the terminal would take the terminal."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
