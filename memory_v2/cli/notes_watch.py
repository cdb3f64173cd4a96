"""The verb that tells what changes in a folder of notes, while it runs."""

from __future__ import annotations

import time

import click

from memory_v2.cli.notes import touched, with_notes
from memory_v2.cli.show import out, out_json, tell
from memory_v2.cli.verb import json_option
from memory_v2.documents import document
from memory_v2.notes.notes import Notes
from memory_v2.text.amounts import counted


@click.command()
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="How often to look at the folder.",
)
@json_option
@with_notes
def watch(notes: Notes, interval: float, as_json: bool) -> None:
    """Tell what changes in a folder of notes, and read it. Ctrl-C ends it.

    With --json, each change is one JSON document on a line of its own.

    \b
    Example:
      silica notes watch ~/agent/memory
    """
    try:
        found = notes.refresh()
        tell(f"watching {counted(found.files, 'file')} in {notes.folder}; Ctrl-C ends it")
        while True:
            if not found.is_current:
                if as_json:
                    out_json(document(found))
                else:
                    out("\n".join(touched(found)))
            time.sleep(interval)
            found = notes.refresh()
    except KeyboardInterrupt:
        tell("stopped")
